/*
 * test_suspend.c - claims about steps that are suspended while they hold writes
 * of records, and about records that others change first.
 */
#include "engine/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define SECOND INT64_C(1000000)

static struct rig kid;

static int setup(void **state)
{
    rig_setup(state);
    rig_init(&kid);
    rig_define(&kid, "{'code':'kid','steps':[{'code':'t','procedure':{'type':'wait.timer',"
                     "'duration':'2s'}}]}");
    *VEC_ADD(&rig.mem, &rig.processes) =
        (struct process_read){.code = STR("kid"), .program = kid.program};
    rig_record(&rig, "o", "x", 1, "{'n':1}");
    return 0;
}

static int teardown(void **state)
{
    rig_fini(&kid);
    return rig_teardown(state);
}

#define CLAIM_WITH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static void start(const char *steps)
{
    rig_define(&rig, rig_text(&rig, str_printf(&rig.mem, "{'code':'a','steps':[%s]}", steps)));
    rig_start(&rig, "{}");
}

/* All children have ended, and the parent looks. */
static void kids_end(void)
{
    rig_reload(&rig);
    rig.child =
        (struct child_read){.is_found = true, .status = STATUS_COMPLETED, .result = value_int(1)};
    rig_pass(&rig, 2 * SECOND);
    assert_true(rig_wake(&rig));
}

static void assert_x(int64_t version, const char *data)
{
    int64_t is;

    assert_string_equal(rig_find_record(&rig, "o", "x", &is), data);
    assert_int_equal(is, version);
}

static bool failed_with(const char *text)
{
    return str_find(rig.x->error_json, str_of(text), 0) >= 0;
}

/* --- what the expressions of an attempt may take --- */

/* The state of a step that waits, as if its expressions had taken so much before. */
static void spend(int64_t cost)
{
    struct str json = rig.stored.cursor_json;
    int64_t at = str_find(json, STR("\"frozen\":{"), 0);

    assert_true(at >= 0);
    at += 10;
    rig.stored.cursor_json = str_printf(&rig.mem, "%.*s\"spent\":[1,1,%lld],%.*s",
                                        STR_ARG(str_slice(json, 0, (size_t)at)), (long long)cost,
                                        STR_ARG(str_slice(json, (size_t)at, json.len)));
    rig_reload(&rig);
}

#define SPENDS                                                                                     \
    "{'code':'s','procedure':[{'type':'integration.http','url':'http://e.example/a'},"             \
    "{'type':'compute.transform','data':'=[1,2,3,4,5,6,7,8,9].map(x, x * 2).sum()'},"              \
    "{'type':'integration.http','url':'http://e.example/b'}]}"

static bool answer_all(void)
{
    return rig_event(&rig, (struct event){.kind = EVENT_ANSWER,
                                          .answer_key = rig.x->cursor.awaited,
                                          .answer_seq = rig.x->cursor.asked_seq,
                                          .answer_output = rig_value(
                                              &rig, "{'status_code':200,'headers':{},'body':1}"),
                                          .answer_error = value_absent()});
}

static void test_suspended__the_expressions_of_an_attempt_have_30_s_in_all(void **state)
{
    (void)state;
    start(SPENDS);
    spend(INT64_C(3000000000) - 10);
    assert_true(answer_all());
    assert_true(execution_is_held(rig.x));
    assert_true(str_find(rig.x->waiting_for_json, STR("\"code\":\"limit_time\""), 0) >= 0);
}

/* What was spent stays spent when it asks again; another attempt has all of it. */
static void test_suspended__what_an_attempt_has_spent_is_kept_while_it_waits(void **state)
{
    (void)state;
    start(SPENDS);
    spend(INT64_C(500000000));
    assert_true(answer_all());
    assert_true(rig.x->cursor.awaited.len > 0);
    assert_true(str_find(rig.stored.cursor_json, STR("\"spent\":[1,1,500000"), 0) >= 0);
    start(SPENDS);
    spend(INT64_C(3000000000) - 10);
    assert_true(rig_event(
        &rig, (struct event){.kind = EVENT_ANSWER,
                             .answer_key = rig.x->cursor.awaited,
                             .answer_seq = rig.x->cursor.asked_seq,
                             .answer_output = value_absent(),
                             .answer_error = rig_value(&rig, "{'code':'external_x','message':'m',"
                                                             "'class':'transient'}")}));
    assert_int_equal(rig.x->cursor.phase, PHASE_RETRY);
    rig_pass(&rig, 3600 * SECOND);
    assert_true(rig_wake(&rig));
    assert_true(answer_all());
    assert_int_equal(rig.x->cursor.phase, PHASE_JOB);
    assert_true(answer_all());
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

/* --- a step that holds a write while it waits --- */

static void test_suspended__two_writes_of_one_record_in_one_wake_are_both_there(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'w1', 'procedure': [{'type': 'flow.start', 'code': 'kid', 'wait': true}]},"
          "   {'code': 'u1', 'procedure': [{'type': 'record.update', 'object': 'o', 'id': 'x',"
          "     'data': {'a': 1}}]}],"
          "  [{'code': 'u2', 'procedure': ["
          "    {'type': 'record.update', 'object': 'o', 'id': 'x', 'data': {'b': 1}},"
          "    {'type': 'flow.start', 'code': 'kid', 'wait': true}]}]]}}");
    assert_x(1, "{'n':1}");
    kids_end();
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_x(3, "{'n':1,'a':1,'b':1}");
}

static void test_suspended__an_update_is_laid_over_what_others_have_written(void **state)
{
    (void)state;
    start("{'code': 'u', 'procedure': ["
          "  {'type': 'record.update', 'object': 'o', 'id': 'x', 'data': {'b': 1}},"
          "  {'type': 'flow.start', 'code': 'kid', 'wait': true}]}");
    rig_record(&rig, "o", "x", 5, "{'n':7,'b':0}");
    kids_end();
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_x(6, "{'n':7,'b':1}");
}

static void test_suspended__what_rests_on_a_read_is_a_conflict_when_that_has_changed(void **state)
{
    (void)state;
    start("{'code': 'u', 'procedure': ["
          "  {'type': 'record.get', 'object': 'o', 'id': 'x', 'as': 'r'},"
          "  {'type': 'record.update', 'object': 'o', 'id': 'x', 'data': {'n': '=r.n + 1'}},"
          "  {'type': 'flow.start', 'code': 'kid', 'wait': true}]}");
    rig_record(&rig, "o", "x", 5, "{'n':7}");
    kids_end();
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_true(failed_with("conflict_version"));
    assert_x(5, "{'n':7}");
}

static void test_suspended__what_rests_on_a_read_is_stored_when_nobody_has_changed_it(void **state)
{
    (void)state;
    start("{'code': 'u', 'procedure': ["
          "  {'type': 'record.get', 'object': 'o', 'id': 'x', 'as': 'r'},"
          "  {'type': 'record.update', 'object': 'o', 'id': 'x', 'data': {'n': '=r.n + 1'}},"
          "  {'type': 'flow.start', 'code': 'kid', 'wait': true}]}");
    kids_end();
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_x(2, "{'n':2}");
}

static void test_suspended__an_expected_version_is_not_laid_over_another(void **state)
{
    (void)state;
    start("{'code': 'u', 'procedure': ["
          "  {'type': 'record.update', 'object': 'o', 'id': 'x', 'data': {'b': 1},"
          "    'expectedVersion': 1},"
          "  {'type': 'flow.start', 'code': 'kid', 'wait': true}]}");
    rig_record(&rig, "o", "x", 2, "{'n':2}");
    kids_end();
    assert_true(failed_with("conflict_version"));
    assert_x(2, "{'n':2}");
}

static void test_suspended__an_update_of_what_is_gone_is_a_conflict(void **state)
{
    (void)state;
    start("{'code': 'p', 'parallel': {'branches': ["
          "  [{'code': 'w1', 'procedure': [{'type': 'flow.start', 'code': 'kid', 'wait': true}]},"
          "   {'code': 'd', 'procedure': [{'type': 'record.delete', 'object': 'o', 'id': 'x'}]}],"
          "  [{'code': 'u2', 'procedure': ["
          "    {'type': 'record.update', 'object': 'o', 'id': 'x', 'data': {'b': 1}},"
          "    {'type': 'flow.start', 'code': 'kid', 'wait': true}]}]]}}");
    kids_end();
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_true(failed_with("conflict_version"));
}

static void test_suspended__a_second_write_of_the_step_rests_on_its_first(void **state)
{
    (void)state;
    start("{'code': 'u', 'procedure': ["
          "  {'type': 'record.update', 'object': 'o', 'id': 'x', 'data': {'b': 1}, 'as': 'r'},"
          "  {'type': 'record.update', 'object': 'o', 'id': 'x', 'data': {'n': '=r.n + 1'}},"
          "  {'type': 'flow.start', 'code': 'kid', 'wait': true}]}");
    rig_record(&rig, "o", "x", 2, "{'n':5}");
    kids_end();
    assert_true(failed_with("conflict_version"));
    assert_x(2, "{'n':5}");
}

static void test_suspended__a_delete_is_of_what_is_there_then(void **state)
{
    (void)state;
    start("{'code': 'd', 'procedure': ["
          "  {'type': 'record.delete', 'object': 'o', 'id': 'x'},"
          "  {'type': 'flow.start', 'code': 'kid', 'wait': true}]}");
    rig_record(&rig, "o", "x", 4, "{'n':4}");
    kids_end();
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_x(0, "none");
}

/* --- records that others keep changing --- */

static void test_contended__giving_up_on_one_record_is_not_giving_up_on_others(void **state)
{
    int64_t version;

    (void)state;
    rig.contended = "x";
    start("{'code': 'hot', 'onError': 'continue', 'retry': {'maxAttempts': 1},"
          "  'procedure': {'type': 'record.update', 'object': 'o', 'id': 'x', 'data': {'a': 1}}},"
          "{'code': 'own',"
          "  'procedure': [{'type': 'record.create', 'object': 'o', 'id': 'mine', 'data': {}}]}");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_find_record(&rig, "o", "mine", &version), "{}");
    assert_x(1, "{'n':1}");
}

static void test_contended__a_rollback_is_no_attempt_until_it_can_be_stored(void **state)
{
    int64_t delay_us = 0;

    (void)state;
    start("{'code': 's', 'procedure': {'type': 'compute.transform', 'data': 1},"
          "  'retry': {'delay': '20ms', 'jitter': 'none'}, 'rollback': {'type': 'record.update',"
          "    'object': 'o', 'id': 'x', 'data': {'undone': true}}},"
          "{'code': 'w', 'procedure': [{'type': 'wait.signal', 'signalType': 'go'}]},"
          "{'code': 'f', 'procedure': [{'type': 'compute.fail', 'code': 'no', 'message': 'm'}]}");
    rig.contended = "x";
    assert_true(rig_signal(&rig, "1", "go", "1"));
    for (unsigned i = 0; i < 12; i++) {
        assert_int_equal(rig.x->status, STATUS_COMPENSATING);
        assert_int_equal(rig.last.dead_letters.count, 0);
        assert_int_equal(rig.x->waiting_kind, WAITING_RETRY);
        delay_us = rig.x->wake_at_us - rig.now_us;
        rig_reload(&rig);
        rig.now_us = rig.x->wake_at_us;
        assert_true(rig_wake(&rig));
    }
    assert_true(delay_us > SECOND && delay_us <= 60 * SECOND);
    rig.contended = NULL;
    rig.now_us = rig.x->wake_at_us;
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_string_equal(rig_trace(&rig), "s w f.failed -s");
    assert_x(2, "{'n':1,'undone':true}");
}

static void test_contended__the_time_for_rolling_back_ends_it(void **state)
{
    (void)state;
    rig_define(&rig, "{'code': 'a', 'settings': {'timeout': '10m'},"
                     "  'steps': ["
                     "    {'code': 's', 'procedure': {'type': 'compute.transform', 'data': 1},"
                     "      'rollback': {'type': 'record.update', 'object': 'o', 'id': 'x',"
                     "        'data': {'undone': true}}},"
                     "    {'code': 'f', 'procedure': {'type': 'compute.fail', 'code': 'no',"
                     "      'message': 'm'}}]}");
    rig.contended = "x";
    rig_start(&rig, "{}");
    for (unsigned i = 0; i < 40; i++) {
        rig.now_us = rig.x->wake_at_us > rig.now_us ? rig.x->wake_at_us : rig.now_us;
        assert_true(rig_wake(&rig));
    }
    assert_int_equal(rig.x->status, STATUS_COMPENSATING);
    rig_pass(&rig, INT64_C(24) * 3600 * 1000000);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_int_equal(rig.last.dead_letters.count, 1);
    assert_true(failed_with("\"failed\":[\"s\"]"));
}

/* --- history that is gone --- */

static void test_history__rolling_back_what_is_gone_is_a_dead_letter(void **state)
{
    (void)state;
    start("{'code': 's', 'procedure': {'type': 'compute.transform', 'data': 1},"
          "  'rollback': {'type': 'compute.transform', 'data': 1}},"
          "{'code': 'w', 'procedure': [{'type': 'wait.signal', 'signalType': 'go'}]}");
    rig.history_from = 3;
    assert_true(rig_cancel(&rig, ""));
    for (unsigned i = 0; i < 3 && rig.x->status == STATUS_COMPENSATING; i++)
        assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_int_equal(rig.last.dead_letters.count, 1);
    assert_true(
        str_find(rig.last.dead_letters.items[0].cause_json, STR("internal_history_gone"), 0) >= 0);
}

static void test_history__a_rollback_under_way_whose_row_is_gone_is_a_dead_letter(void **state)
{
    (void)state;
    start("{'code': 's', 'procedure': {'type': 'compute.transform', 'data': 1},"
          "  'rollback': {'type': 'compute.fail', 'code': 'later', 'message': 'm',"
          "    'class': 'transient'}},"
          "{'code': 'f', 'procedure': [{'type': 'compute.fail', 'code': 'no', 'message': 'm'}]}");
    assert_int_equal(rig.x->status, STATUS_COMPENSATING);
    rig.history_from = 100;
    rig_reload(&rig);
    rig.now_us = rig.x->wake_at_us;
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_int_equal(rig.last.dead_letters.count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM_WITH(test_suspended__the_expressions_of_an_attempt_have_30_s_in_all),
        CLAIM_WITH(test_suspended__what_an_attempt_has_spent_is_kept_while_it_waits),
        CLAIM_WITH(test_suspended__two_writes_of_one_record_in_one_wake_are_both_there),
        CLAIM_WITH(test_suspended__an_update_is_laid_over_what_others_have_written),
        CLAIM_WITH(test_suspended__what_rests_on_a_read_is_a_conflict_when_that_has_changed),
        CLAIM_WITH(test_suspended__what_rests_on_a_read_is_stored_when_nobody_has_changed_it),
        CLAIM_WITH(test_suspended__an_expected_version_is_not_laid_over_another),
        CLAIM_WITH(test_suspended__an_update_of_what_is_gone_is_a_conflict),
        CLAIM_WITH(test_suspended__a_second_write_of_the_step_rests_on_its_first),
        CLAIM_WITH(test_suspended__a_delete_is_of_what_is_there_then),
        CLAIM_WITH(test_contended__giving_up_on_one_record_is_not_giving_up_on_others),
        CLAIM_WITH(test_contended__a_rollback_is_no_attempt_until_it_can_be_stored),
        CLAIM_WITH(test_contended__the_time_for_rolling_back_ends_it),
        CLAIM_WITH(test_history__rolling_back_what_is_gone_is_a_dead_letter),
        CLAIM_WITH(test_history__a_rollback_under_way_whose_row_is_gone_is_a_dead_letter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
