/* test_meter.c - counters and histograms: what they show, and that they stay bounded. */
#include "node/meter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const char *written(const struct meters *m, struct buf *out)
{
    buf_init(out);
    meters_write(m, out);
    buf_char(out, '\0');
    return out->ptr;
}

#define assert_has(text, part)                                                                     \
    do {                                                                                           \
        if (strstr(text, part) == NULL)                                                            \
            fail_msg("no %s in:\n%s", part, text);                                                 \
    } while (0)

static void test_meter__what_has_no_labels_is_there_from_the_beginning(void **state)
{
    struct meters m;
    struct buf out;
    const char *text;

    (void)state;
    meters_init(&m);
    text = written(&m, &out);
    assert_has(text, "# TYPE pawl_idempotency_conflicts_total counter\n"
                     "pawl_idempotency_conflicts_total 0\n");
    assert_has(text, "pawl_commit_batch_size_count 0\n");
    assert_has(text, "# TYPE saga_flow_transitions_total counter\n# HELP ");
    buf_fini(&out);
    meters_fini(&m);
}

static void test_meter__a_histogram_adds_up_from_bucket_to_bucket(void **state)
{
    const int64_t times_us[] = {0, 1000, 1001, 2000000, INT64_C(900000000000)};
    struct meters m;
    struct buf out;
    const char *text;

    (void)state;
    meters_init(&m);
    for (size_t i = 0; i < ARRAY_SIZE(times_us); i++)
        meter_take(&m, METER_E2E_LATENCY, STR("a"), STR_NONE, STR_NONE, times_us[i]);
    text = written(&m, &out);
    assert_has(text, "execution_e2e_latency_seconds_bucket{scenario=\"a\",le=\"0.001\"} 2\n");
    assert_has(text, "execution_e2e_latency_seconds_bucket{scenario=\"a\",le=\"0.005\"} 3\n");
    assert_has(text, "execution_e2e_latency_seconds_bucket{scenario=\"a\",le=\"1\"} 3\n");
    assert_has(text, "execution_e2e_latency_seconds_bucket{scenario=\"a\",le=\"5\"} 4\n");
    assert_has(text, "execution_e2e_latency_seconds_bucket{scenario=\"a\",le=\"604800\"} 4\n");
    assert_has(text, "execution_e2e_latency_seconds_bucket{scenario=\"a\",le=\"+Inf\"} 5\n");
    assert_has(text, "execution_e2e_latency_seconds_sum{scenario=\"a\"} 900002.002001\n");
    assert_has(text, "execution_e2e_latency_seconds_count{scenario=\"a\"} 5\n");
    buf_fini(&out);
    meters_fini(&m);
}

static void test_meter__labels_are_told_apart_and_escaped(void **state)
{
    struct meters m;
    struct buf out;
    const char *text;

    (void)state;
    meters_init(&m);
    meter_count(&m, METER_FLOW_TRANSITIONS, STR("ab"), STR("c"), STR("d"));
    meter_count(&m, METER_FLOW_TRANSITIONS, STR("a"), STR("bc"), STR("d"));
    meter_count(&m, METER_FLOW_TRANSITIONS, STR("a\"\\\n"), STR("b"), STR("c"));
    text = written(&m, &out);
    assert_has(text, "saga_flow_transitions_total{scenario=\"ab\",from=\"c\",to=\"d\"} 1\n");
    assert_has(text, "saga_flow_transitions_total{scenario=\"a\",from=\"bc\",to=\"d\"} 1\n");
    assert_has(text, "{scenario=\"a\\\"\\\\\\n\",from=\"b\",to=\"c\"} 1\n");
    buf_fini(&out);
    meters_fini(&m);
}

static void test_meter__beyond_the_bound_all_are_counted_as_others(void **state)
{
    static char long_name[1000];
    struct meters m;
    struct buf out;
    char name[20];

    (void)state;
    meters_init(&m);
    memset(long_name, 'x', sizeof(long_name));
    for (int i = 0; i < METER_SERIES_MAX + 100; i++) {
        (void)snprintf(name, sizeof(name), "command%d", i);
        meter_count(&m, METER_COMMANDS, str_of(name), STR_NONE, STR_NONE);
    }
    meter_count(&m, METER_COMMANDS, str_from(long_name, sizeof(long_name)), STR_NONE, STR_NONE);
    meter_count(&m, METER_COMMANDS, STR("command0"), STR_NONE, STR_NONE);
    /* One family cannot take the room of the others. */
    assert_true(m.families[METER_COMMANDS].count == METER_FAMILY_MAX + 1);
    assert_true(m.series.count <= METER_FAMILY_MAX + METER_COUNT);
    const char *text = written(&m, &out);
    assert_has(text, "command_executions_total{command=\"command0\"} 2\n");
    (void)snprintf(name, sizeof(name), "} %d\n", METER_SERIES_MAX - METER_FAMILY_MAX + 101);
    assert_has(text, "command_executions_total{command=\"other\"");
    assert_has(strstr(text, "{command=\"other\""), name);
    buf_fini(&out);
    meters_fini(&m);
}

static void test_meter__a_gauge_shows_what_it_was_set_to_or_nothing(void **state)
{
    struct meters m;
    struct buf out;
    const char *text;

    (void)state;
    meters_init(&m);
    text = written(&m, &out);
    assert_has(text, "# TYPE pawl_dead_letters gauge\n# HELP ");
    buf_fini(&out);
    meter_set(&m, METER_DEAD_LETTERS, STR_NONE, STR_NONE, STR_NONE, 7);
    meter_set(&m, METER_DEAD_LETTERS, STR_NONE, STR_NONE, STR_NONE, 5);
    meter_set(&m, METER_STORE_AWAY, STR_NONE, STR_NONE, STR_NONE, 1500000);
    meter_set(&m, METER_CLOCK_SKEW, STR_NONE, STR_NONE, STR_NONE, -51840);
    meter_set(&m, METER_COMMITS, STR_NONE, STR_NONE, STR_NONE, 12);
    text = written(&m, &out);
    assert_has(text, "\npawl_dead_letters 5\n");
    assert_has(text, "\npawl_store_silent_seconds 1.5\n");
    assert_has(text, "\npawl_clock_skew_seconds -0.05184\n");
    assert_has(text, "# TYPE pawl_commits_total counter\npawl_commits_total 12\n");
    buf_fini(&out);
    meter_hide(&m, METER_DEAD_LETTERS);
    text = written(&m, &out);
    assert_null(strstr(text, "\npawl_dead_letters 5"));
    buf_fini(&out);
    meters_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meter__what_has_no_labels_is_there_from_the_beginning),
        cmocka_unit_test(test_meter__a_histogram_adds_up_from_bucket_to_bucket),
        cmocka_unit_test(test_meter__labels_are_told_apart_and_escaped),
        cmocka_unit_test(test_meter__a_gauge_shows_what_it_was_set_to_or_nothing),
        cmocka_unit_test(test_meter__beyond_the_bound_all_are_counted_as_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
