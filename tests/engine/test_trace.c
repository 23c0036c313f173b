/* test_trace.c - which traceparents are taken over, and what spans are called. */
#include "engine/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void test_trace__a_traceparent_is_read_and_written(void **state)
{
    struct arena mem;
    struct trace trace;

    (void)state;
    arena_init(&mem);
    assert_true(trace_read(STR("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), &trace));
    assert_true(trace.has_parent && trace.is_sampled);
    assert_true(str_eq(trace_write(&mem, &trace, trace.parent),
                       STR("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")));
    assert_true(trace_read(STR("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"), &trace));
    assert_false(trace.is_sampled);
    /* Other flags say nothing to version 0, and later versions may have more. */
    assert_true(trace_read(STR("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03"), &trace));
    assert_true(trace.is_sampled);
    assert_true(
        trace_read(STR("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more"), &trace));
    arena_fini(&mem);
}

static void test_trace__what_is_no_traceparent_is_refused(void **state)
{
    static const char *const wrong[] = {
        "",
        "00",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "0g-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.more",
    };
    struct trace trace;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
        if (trace_read(str_of(wrong[i]), &trace))
            fail_msg("%s was taken", wrong[i]);
}

static void test_trace__an_execution_without_one_has_its_own_id(void **state)
{
    struct execution x = {.id = {.bytes = {1, 2, 3, 15, 16}}};
    struct arena mem;
    struct trace trace;

    (void)state;
    arena_init(&mem);
    trace_of(&x, &trace);
    assert_false(trace.has_parent);
    assert_true(trace.is_sampled);
    assert_true(str_eq(trace_id_text(&mem, &x), STR("0102030f100000000000000000000000")));
    arena_fini(&mem);
}

static bool is_same(struct span_id a, struct span_id b)
{
    return memcmp(a.bytes, b.bytes, sizeof(a.bytes)) == 0;
}

static void test_trace__attempts_visits_steps_and_kinds_have_spans_of_their_own(void **state)
{
    struct uuid id = {.bytes = {7}}, other = {.bytes = {8}};
    const struct history_row rows[] = {
        {.kind = HISTORY_FORWARD, .step = STR("a"), .visit = 1, .attempt = 1},
        {.kind = HISTORY_FORWARD, .step = STR("a"), .visit = 1, .attempt = 2},
        {.kind = HISTORY_FORWARD, .step = STR("a"), .visit = 2, .attempt = 1},
        {.kind = HISTORY_FORWARD, .step = STR("b"), .visit = 1, .attempt = 1},
        {.kind = HISTORY_ROLLBACK, .step = STR("a"), .visit = 1, .attempt = 1},
        {.kind = HISTORY_ROLLBACK, .step = STR("a"), .visit = 1, .attempt = 1, .part = 1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        assert_true(is_same(trace_row_span(id, &rows[i]), trace_row_span(id, &rows[i])));
        assert_false(is_same(trace_row_span(id, &rows[i]), trace_row_span(other, &rows[i])));
        assert_false(is_same(trace_row_span(id, &rows[i]), trace_span(id)));
        for (size_t k = 0; k < i; k++)
            assert_false(is_same(trace_row_span(id, &rows[i]), trace_row_span(id, &rows[k])));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trace__a_traceparent_is_read_and_written),
        cmocka_unit_test(test_trace__what_is_no_traceparent_is_refused),
        cmocka_unit_test(test_trace__an_execution_without_one_has_its_own_id),
        cmocka_unit_test(test_trace__attempts_visits_steps_and_kinds_have_spans_of_their_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
