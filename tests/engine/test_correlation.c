/* test_correlation.c - claims about waits that signals find by a correlation. */
#include "engine/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define SECOND INT64_C(1000000)

static void start(const char *steps, const char *input)
{
    rig_define(&rig, str_printf(&rig.mem, "{'code':'a','steps':[%s]}", steps).ptr);
    rig_start(&rig, input);
}

/* A signal that is kept for "o-1". */
static void keep(const char *id, const char *type, const char *payload)
{
    struct buffered_signal *signals = ARENA_ARRAY(&rig.mem, 8, struct buffered_signal);
    struct kept_read *read;

    rig.keeps_signals = true;
    if (rig.kept.count == 0)
        *VEC_ADD(&rig.mem, &rig.kept) = (struct kept_read){.correlation = STR("o-1")};
    read = &rig.kept.items[0];
    assert_true(read->count < 8);
    for (uint32_t i = 0; i < read->count; i++)
        signals[i] = read->signals[i];
    signals[read->count] = (struct buffered_signal){
        .row = 10 + read->count,
        .signal = {.id = str_of(id),
                   .type = str_of(type),
                   .payload = rig_value(&rig, payload),
                   .by = rig_value(&rig, "{'id':'u2','name':'Bob'}"),
                   .received_at_us = 5 * SECOND},
    };
    read->last_row = signals[read->count].row;
    read->signals = signals;
    read->count++;
}

static bool send(const char *id, const char *correlation, const char *payload)
{
    return rig_event(&rig, (struct event){.kind = EVENT_SIGNAL,
                                          .signal_id = str_of(id),
                                          .signal_type = STR("paid"),
                                          .signal_correlation = str_of(correlation),
                                          .signal_payload = rig_value(&rig, payload)});
}

/* "w 1 o-1", or "none". */
static const char *only(const struct listed_waits *waits)
{
    if (waits->count == 0)
        return "none";
    assert_int_equal(waits->count, 1);
    return str_printf(&rig.mem, "%.*s %lld %.*s", STR_ARG(waits->items[0].step),
                      (long long)waits->items[0].visit, STR_ARG(waits->items[0].correlation))
        .ptr;
}

/* --- what opens and closes --- */

static void test_correlation__a_commit_says_which_wait_opens_and_closes(void **state)
{
    (void)state;
    start("{'code': 'v', 'procedure': {'type': 'wait.signal', 'signalType': 'paid',"
          "  'correlation': '$.input.n'}},"
          "{'code': 'w',"
          "  'procedure': {'type': 'wait.signal', 'signalType': 'paid', 'correlation': 'o-2'}}",
          "{'n':'o-1'}");
    assert_string_equal(only(&rig.last.opened), "v 1 o-1");
    assert_string_equal(only(&rig.last.closed), "none");
    assert_string_equal(rig_text(&rig, rig.last.opened.items[0].types_json), "'paid'");
    /* One that it does not wait for changes nothing of it. */
    assert_true(rig_signal(&rig, "1", "other", "1"));
    assert_string_equal(only(&rig.last.opened), "none");
    assert_string_equal(only(&rig.last.closed), "none");
    assert_true(rig_signal(&rig, "2", "paid", "1"));
    assert_string_equal(only(&rig.last.opened), "w 1 o-2");
    assert_string_equal(only(&rig.last.closed), "v 1 o-1");
    rig_reload(&rig);
    assert_true(rig_cancel(&rig, "no"));
    assert_string_equal(only(&rig.last.closed), "w 1 o-2");
    assert_string_equal(only(&rig.last.opened), "none");
}

static void test_correlation__a_timeout_and_a_failure_close_the_wait(void **state)
{
    (void)state;
    start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'paid',"
          "  'correlation': 'o-1', 'timeout': '1h'}}",
          "{}");
    rig_pass(&rig, 3600 * SECOND);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_string_equal(only(&rig.last.closed), "w 1 o-1");
}

static void test_correlation__an_integer_is_its_digits(void **state)
{
    (void)state;
    start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'paid',"
          "  'correlation': '$.input.n'}}",
          "{'n':42}");
    assert_string_equal(only(&rig.last.opened), "w 1 42");
    assert_true(str_find(rig.x->waiting_for_json, STR("\"correlation\":\"42\""), 0) >= 0);
}

static void test_correlation__nothing_to_be_found_by_is_an_error(void **state)
{
    static const char *const inputs[] = {"{'n':null}", "{'n':''}", "{'n':[1]}", "{'n':true}"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(inputs); i++) {
        rig_fini(&rig);
        rig_init(&rig);
        start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'paid',"
              "  'correlation': '$.input.n'}}",
              inputs[i]);
        assert_int_equal(rig.x->status, STATUS_FAILED);
        assert_true(str_find(rig.x->error_json, STR("validation_correlation"), 0) >= 0);
    }
}

/* --- a signal that comes by correlation --- */

static void test_correlation__a_signal_is_for_the_wait_that_has_it(void **state)
{
    (void)state;
    start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'paid',"
          "  'correlation': 'o-1', 'match': '$.signal.payload > 1'}},"
          "{'code': 'v',"
          "  'procedure': {'type': 'wait.signal', 'signalType': 'paid', 'correlation': 'o-2'}}",
          "{}");
    assert_false(send("1", "o-2", "5"));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    /* It is not left with an execution that does not take it. */
    assert_false(send("2", "o-1", "1"));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_int_equal(rig.x->signals.list.count, 0);
    assert_true(send("3", "o-1", "2"));
    assert_string_equal(rig_trace(&rig), "w");
    /* By id or key it comes as ever. */
    assert_true(rig_signal(&rig, "4", "paid", "1"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_false(send("5", "o-2", "1"));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
}

static void test_correlation__the_form_is_that_of_the_wait_that_is_meant(void **state)
{
    (void)state;
    start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'paid',"
          "  'correlation': 'o-1', 'form': [{'name': 'n', 'type': 'integer'}]}}",
          "{}");
    assert_false(send("1", "o-1", "{'n':'x'}"));
    assert_int_equal(rig.err.code, ERR_INVALID);
    assert_false(send("1", "o-2", "{'n':'x'}"));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_true(send("1", "o-1", "{'n':1}"));
}

/* --- signals that are kept --- */

static void test_correlation__a_wait_takes_the_oldest_that_is_kept_for_it(void **state)
{
    (void)state;
    keep("a", "other", "0");
    keep("b", "paid", "1");
    keep("c", "paid", "2");
    start("{'code': 'w',"
          "  'procedure': {'type': 'wait.signal', 'signalType': 'paid', 'correlation': 'o-1'}},"
          "{'code': 'v',"
          "  'procedure': {'type': 'wait.signal', 'signalType': 'paid', 'correlation': 'o-1'}},"
          "{'code': 'u',"
          "  'procedure': {'type': 'wait.signal', 'signalType': 'paid', 'correlation': 'o-1'}}",
          "{}");
    assert_int_equal(rig.needs, 1);
    assert_string_equal(rig_output(&rig, "w"),
                        "{'type':'paid','payload':1,'by':{'id':'u2','name':'Bob'},'receivedAt':"
                        "'1970-01-01T00:00:05Z','timedOut':false}");
    assert_true(strstr(rig_output(&rig, "v"), "'payload':2") != NULL);
    assert_int_equal(rig.last.buffered_taken.count, 2);
    assert_int_equal(rig.last.buffered_taken.items[0].row, 11);
    assert_int_equal(rig.last.buffered_taken.items[1].row, 12);
    assert_string_equal(only(&rig.last.opened), "u 1 o-1");
    assert_int_equal(rig.last.opened.items[0].buffered_up_to, 12);
    rig_reload(&rig);
    assert_int_equal(rig.x->signals.list.count, 2);
}

static void test_correlation__what_does_not_fit_stays_kept(void **state)
{
    (void)state;
    keep("a", "paid", "{'n':'x'}");
    keep("b", "paid", "{'n':1}");
    keep("c", "paid", "{'n':2}");
    start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'paid',"
          "  'correlation': 'o-1', 'match': '$.signal.payload.n != 1',"
          "  'form': ["
          "    {'name': 'n', 'type': 'integer'},"
          "    {'name': 'm', 'type': 'string', 'default': 'd'}]}}",
          "{}");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_true(strstr(rig_output(&rig, "w"), "'payload':{'n':2,'m':'d'}") != NULL);
    assert_int_equal(rig.last.buffered_taken.count, 1);
    assert_int_equal(rig.last.buffered_taken.items[0].row, 12);
}

static void test_correlation__one_that_was_received_is_not_taken_again(void **state)
{
    (void)state;
    keep("a", "paid", "1");
    start("{'code':'t','procedure':{'type':'wait.timer','duration':'1h'}},"
          "{'code':'w','procedure':{'type':'wait.signal','signalType':'paid','match':"
          "'$.signal.payload == 2','correlation':'o-1'}}",
          "{}");
    assert_true(rig_signal(&rig, "a", "paid", "1"));
    rig_pass(&rig, 3600 * SECOND);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_int_equal(rig.last.buffered_taken.count, 0);
}

static void test_correlation__a_wait_for_new_ones_leaves_what_is_kept(void **state)
{
    (void)state;
    keep("a", "paid", "1");
    start("{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'paid',"
          "  'correlation': 'o-1', 'accept': 'new'}}",
          "{}");
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_int_equal(rig.needs, 0);
    assert_true(rig.last.opened.items[0].buffered_up_to == INT64_MAX);
}

static void test_correlation__without_one_nothing_is_asked_for(void **state)
{
    (void)state;
    keep("a", "paid", "1");
    start("{'code': 'w',"
          "  'procedure': {'type': 'wait.signal', 'signalType': 'paid', 'title': 'x'}}",
          "{}");
    assert_int_equal(rig.needs, 0);
    assert_string_equal(only(&rig.last.opened), "none");
}

/* Waits that began before there was a column for it. */
static void test_correlation__an_older_state_says_it_in_what_it_waits_for(void **state)
{
    struct str cursor;
    int64_t at;

    (void)state;
    start("{'code': 'w',"
          "  'procedure': {'type': 'wait.signal', 'signalType': 'paid', 'correlation': 'o-1'}}",
          "{}");
    cursor = rig.stored.cursor_json;
    at = str_find(cursor, STR(",\"correlation\":\"o-1\""), 0);
    assert_true(at > 0);
    rig.stored.cursor_json = str_printf(
        &rig.mem, "%.*s%.*s", (int)at, cursor.ptr,
        STR_ARG(str_slice(cursor, (size_t)at + strlen(",\"correlation\":\"o-1\""), cursor.len)));
    rig_reload(&rig);
    assert_true(send("1", "o-1", "1"));
    assert_string_equal(only(&rig.last.closed), "w 1 o-1");
}

static void test_kept__a_wait_that_opens_again_looks_at_what_is_kept(void **state)
{
    (void)state;
    rig_define(&rig, "{'code': 'a', 'onError': 'fail_fast', 'settings': {'timeout': '1h'},"
                     "  'steps': [{'code': 'p', 'parallel': {'branches': ["
                     "    [{'code': 't', 'procedure': {'type': 'wait.timer', 'duration': '2h'}}],"
                     "    [{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'paid',"
                     "      'correlation': 'o-1'}}]]}}]}");
    rig.keeps_signals = true;
    *VEC_ADD(&rig.mem, &rig.kept) = (struct kept_read){.correlation = STR("o-1")};
    rig_start(&rig, "{}");
    rig_pass(&rig, 3600 * SECOND);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_string_equal(only(&rig.last.closed), "w 1 o-1");
    keep("1", "paid", "7");
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY}));
    assert_string_equal(rig_trace(&rig), "w");
    assert_string_equal(only(&rig.last.opened), "none");
    assert_int_equal(rig.last.buffered_taken.count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_correlation__a_commit_says_which_wait_opens_and_closes),
        CLAIM(test_correlation__a_timeout_and_a_failure_close_the_wait),
        CLAIM(test_correlation__an_integer_is_its_digits),
        CLAIM(test_correlation__nothing_to_be_found_by_is_an_error),
        CLAIM(test_correlation__a_signal_is_for_the_wait_that_has_it),
        CLAIM(test_correlation__the_form_is_that_of_the_wait_that_is_meant),
        CLAIM(test_correlation__a_wait_takes_the_oldest_that_is_kept_for_it),
        CLAIM(test_correlation__what_does_not_fit_stays_kept),
        CLAIM(test_correlation__one_that_was_received_is_not_taken_again),
        CLAIM(test_correlation__a_wait_for_new_ones_leaves_what_is_kept),
        CLAIM(test_correlation__without_one_nothing_is_asked_for),
        CLAIM(test_correlation__an_older_state_says_it_in_what_it_waits_for),
        CLAIM(test_kept__a_wait_that_opens_again_looks_at_what_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
