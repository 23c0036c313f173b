/* test_timers.c - claims about the heap of timers and its index. */
#include "node/timers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static struct uuid id_of(unsigned n)
{
    return (struct uuid){.bytes = {(uint8_t)(n >> 8), (uint8_t)n, 7}};
}

static void test_timers__the_earliest_comes_first(void **state)
{
    struct timers t;
    struct uuid id;

    (void)state;
    timers_init(&t);
    assert_true(timers_next_us(&t) == INT64_MAX);
    timers_set(&t, id_of(1), 30);
    timers_set(&t, id_of(2), 10);
    timers_set(&t, id_of(3), 20);
    assert_int_equal(timers_next_us(&t), 10);
    assert_false(timers_take(&t, 9, &id));
    for (unsigned i = 0; i < 3; i++) {
        static const unsigned order[] = {2, 3, 1};
        assert_true(timers_take(&t, 30, &id));
        assert_int_equal(uuid_cmp(id, id_of(order[i])), 0);
    }
    assert_false(timers_take(&t, INT64_MAX, &id));
    timers_fini(&t);
}

static void test_timers__an_execution_has_one(void **state)
{
    struct timers t;
    struct uuid id;

    (void)state;
    timers_init(&t);
    timers_set(&t, id_of(1), 10);
    timers_set(&t, id_of(1), 20);
    assert_int_equal(t.count, 1);
    assert_int_equal(timers_next_us(&t), 20);
    timers_set_sooner(&t, id_of(1), 30);
    assert_int_equal(timers_next_us(&t), 20);
    timers_set_sooner(&t, id_of(1), 5);
    assert_int_equal(timers_next_us(&t), 5);
    timers_remove(&t, id_of(1));
    timers_remove(&t, id_of(1));
    assert_false(timers_take(&t, INT64_MAX, &id));
    timers_fini(&t);
}

/* Against a table that is searched from end to end. */
static void test_timers__agree_with_a_plain_table(void **state)
{
    enum { IDS = 300, ROUNDS = 20000 };
    static int64_t at[IDS]; /* 0 = none */
    uint64_t random = 1;
    struct timers t;

    (void)state;
    timers_init(&t);
    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned which, what;
        int64_t when;

        random = random * 6364136223846793005u + 1442695040888963407u;
        which = (unsigned)(random >> 33) % IDS;
        what = (unsigned)(random >> 50) % 4;
        when = 1 + (int64_t)(random >> 20) % 1000;
        if (i % 97 == 0) {
            timers_remove_after(&t, when);
            for (unsigned k = 0; k < IDS; k++)
                at[k] = at[k] > when ? 0 : at[k];
        } else if (what == 0) {
            timers_set(&t, id_of(which), when);
            at[which] = when;
        } else if (what == 1) {
            timers_set_sooner(&t, id_of(which), when);
            at[which] = at[which] == 0 || when < at[which] ? when : at[which];
        } else if (what == 2) {
            timers_remove(&t, id_of(which));
            at[which] = 0;
        } else {
            struct uuid id;
            unsigned least = IDS;
            for (unsigned k = 0; k < IDS; k++)
                if (at[k] > 0 && (least == IDS || at[k] < at[least]))
                    least = k;
            assert_int_equal(timers_take(&t, 500, &id), least < IDS && at[least] <= 500);
            if (least < IDS && at[least] <= 500) {
                assert_int_equal(uuid_cmp(id, id_of(least)), 0);
                at[least] = 0;
            }
        }
        if (i % 50 == 0)
            timers_check(&t);
    }
    timers_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timers__the_earliest_comes_first),
        cmocka_unit_test(test_timers__an_execution_has_one),
        cmocka_unit_test(test_timers__agree_with_a_plain_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
