/* test_schedule.c - which ticks of a schedule start something, after any time in which nothing ran. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "define/schedule.h"

enum { HOUR = 3600, DAY = 24 * HOUR };

/* 2026-01-01T00:00:00Z, a full hour. */
static const int64_t new_year = 1767225600;

static struct cron cron_of(const char *text)
{
    struct err mistake;
    struct cron cron;

    if (!cron_read(str_of(text), &cron, &mistake))
        fail_msg("%s: %s", text, mistake.message);
    return cron;
}

static struct schedule_plan plan_of(const char *text, enum catch_up catch_up, int64_t next,
                                    int64_t now)
{
    struct cron cron = cron_of(text);
    struct schedule_plan plan;

    schedule_plan(&cron, (struct tz){0}, catch_up, next, now, &plan);
    return plan;
}

static void test_schedule__nothing_is_due_before_its_time(void **state)
{
    (void)state;
    for (unsigned i = CATCH_UP_ONE; i <= CATCH_UP_ALL; i++) {
        assert_int_equal(
            plan_of("0 * * * *", (enum catch_up)i, new_year + HOUR, new_year + HOUR - 1).count, 0);
        assert_int_equal(plan_of("0 * * * *", (enum catch_up)i, 0, new_year).count, 0);
    }
}

static void test_schedule__a_tick_that_is_due_starts_and_leads_to_the_next(void **state)
{
    (void)state;
    for (unsigned i = CATCH_UP_ONE; i <= CATCH_UP_ALL; i++) {
        struct schedule_plan p = plan_of("0 * * * *", (enum catch_up)i, new_year, new_year + 59);

        assert_int_equal(p.count, 1);
        assert_true(p.ticks[0].starts);
        assert_int_equal(p.ticks[0].at, new_year);
        assert_int_equal(p.ticks[0].after, new_year + HOUR);
        assert_int_equal(p.left_out, 0);
    }
}

static void test_schedule__one_starts_the_last_of_those_that_are_due(void **state)
{
    struct schedule_plan p =
        plan_of("0 * * * *", CATCH_UP_ONE, new_year, new_year + 7 * DAY + HOUR / 2);

    (void)state;
    assert_int_equal(p.count, 1);
    assert_true(p.ticks[0].starts);
    assert_int_equal(p.ticks[0].at, new_year + 7 * DAY);
    assert_int_equal(p.ticks[0].after, new_year + 7 * DAY + HOUR);
    assert_int_equal(p.left_out, 7 * 24);
}

static void test_schedule__none_starts_the_last_one_unless_it_is_late(void **state)
{
    struct schedule_plan on_time =
        plan_of("0 * * * *", CATCH_UP_NONE, new_year, new_year + DAY + SCHEDULE_ON_TIME_SECONDS);
    struct schedule_plan late = plan_of("0 * * * *", CATCH_UP_NONE, new_year,
                                        new_year + DAY + SCHEDULE_ON_TIME_SECONDS + 1);

    (void)state;
    assert_true(on_time.ticks[0].starts);
    assert_int_equal(on_time.left_out, 24);
    assert_int_equal(late.count, 1);
    assert_false(late.ticks[0].starts);
    assert_int_equal(late.ticks[0].after, new_year + DAY + HOUR);
    assert_int_equal(late.left_out, 25);
}

/* The plans one after the other are all ticks, each once, in their order. */
static void test_schedule__all_starts_each_of_them_plan_by_plan(void **state)
{
    int64_t next = new_year, now = new_year + 5 * DAY;
    int64_t seen = 0;

    (void)state;
    for (;;) {
        struct schedule_plan p = plan_of("0 * * * *", CATCH_UP_ALL, next, now);

        if (p.count == 0)
            break;
        assert_int_equal(p.left_out, 0);
        for (size_t i = 0; i < p.count; i++) {
            assert_true(p.ticks[i].starts);
            assert_int_equal(p.ticks[i].at, new_year + seen++ * HOUR);
        }
        next = p.ticks[p.count - 1].after;
    }
    assert_int_equal(seen, 5 * 24 + 1);
}

static void test_schedule__all_leaves_out_what_is_more_than_a_thousand(void **state)
{
    int64_t now = new_year + 7 * DAY;
    struct schedule_plan p = plan_of("* * * * * *", CATCH_UP_ALL, new_year, now);

    (void)state;
    assert_int_equal(p.count, SCHEDULE_PLAN_MAX);
    assert_int_equal(p.ticks[0].at, now - SCHEDULE_ALL_MAX + 1);
    assert_int_equal(p.left_out, SCHEDULE_ALL_MAX + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedule__nothing_is_due_before_its_time),
        cmocka_unit_test(test_schedule__a_tick_that_is_due_starts_and_leads_to_the_next),
        cmocka_unit_test(test_schedule__one_starts_the_last_of_those_that_are_due),
        cmocka_unit_test(test_schedule__none_starts_the_last_one_unless_it_is_late),
        cmocka_unit_test(test_schedule__all_starts_each_of_them_plan_by_plan),
        cmocka_unit_test(test_schedule__all_leaves_out_what_is_more_than_a_thousand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
