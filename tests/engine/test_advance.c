/* test_advance.c - claims about steps, commands, errors and the ends of executions. */
#include "base/buf.h"
#include "engine/ident.h"
#include "engine/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

/* Start a scenario of these steps, with `rest` for other fields of it. */
static void start(const char *steps, const char *rest, const char *input)
{
    struct str text = str_printf(&rig.mem, "{'code':'a','steps':[%s]%s}", steps, rest);

    rig_define(&rig, text.ptr);
    rig_start(&rig, input);
}

static const char *result(void)
{
    return rig_text(&rig, rig.x->result_json);
}

static const char *error(void)
{
    return rig_text(&rig, rig.x->error_json);
}

static struct value error_field(const char *field)
{
    struct value v = value_null();

    assert_true(rig.x->error_json.len > 0);
    assert_true(rig.x->program != NULL);
    for (uint32_t i = 0; i < rig.program->step_count; i++)
        if (rig.x->steps[i].outcome == OUTCOME_FAILED)
            v = value_map_get_str(rig.x->steps[i].error, str_of(field));
    return v;
}

static bool waits_for(const char *text)
{
    return strstr(rig_text(&rig, rig.x->waiting_for_json), text) != NULL;
}

/* --- steps --- */

static void test_advance__a_scenario_without_steps_completes(void **state)
{
    (void)state;
    start("", "", "{}");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(result(), "null");
    assert_int_equal(rig.history.count, 1);
    rig_define(&rig, "{'code':'a','steps':[],'result':{'x':'$.input.x'}}");
    rig_start(&rig, "{'x':5}");
    assert_string_equal(result(), "{'x':5}");
}

static void test_advance__steps_of_one_turn_share_one_commit(void **state)
{
    (void)state;
    start("{'code': 'a', 'procedure': {'type': 'compute.transform', 'data': {'n': 1}}},"
          "{'code': 'b',"
          "  'procedure': {'type': 'compute.transform', 'data': {'n': '=steps.a.n + 1'}}},"
          "{'code': 'c',"
          "  'procedure': {'type': 'compute.transform', 'data': {'n': '=steps.b.n + 1'}}}",
          "", "{}");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_int_equal(rig.x->row_version, 1);
    assert_int_equal(rig.last.history.count, 3);
    assert_string_equal(result(), "{'n':3}");
    assert_string_equal(rig_text(&rig, rig.history.items[2].delta_json), "{'end':'completed'}");
}

static void test_advance__the_result_mapping_shapes_the_result(void **state)
{
    (void)state;
    start("{'code': 'a', 'procedure': {'type': 'compute.transform', 'data': {'n': 1}}}",
          ",'result':{'total':'=steps.a.n * 10'}", "{}");
    assert_string_equal(result(), "{'total':10}");
    assert_non_null(
        strstr(rig_text(&rig, rig.history.items[0].delta_json), "'result':{'total':10}"));
}

static void test_advance__an_error_in_the_result_holds(void **state)
{
    (void)state;
    start("{'code': 'a', 'procedure': {'type': 'compute.transform', 'data': {'n': 1}}}",
          ",'onError':'fail_fast','result':{'x':'=1 / (steps.a.n - 1)'}", "{}");
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_true(waits_for("'kind':'incident'"));
    assert_true(waits_for("/result/x"));
    assert_int_equal(rig.x->wake_at_us, 0);
    assert_false(rig_wake(&rig));
    rig_reload(&rig);
    assert_true(rig_cancel(&rig, "gave up"));
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
}

static void test_advance__a_skipped_step_is_null_and_recorded(void **state)
{
    (void)state;
    start("{'code': 'a', 'when': 'input.x > 1',"
          "  'procedure': {'type': 'compute.transform', 'data': 1}},"
          "{'code': 'b',"
          "  'procedure': {'type': 'compute.transform', 'data': {'skipped': '=steps.a == null'}}}",
          "", "{'x':1}");
    assert_string_equal(result(), "{'skipped':true}");
    assert_true(str_eq(rig_row(&rig, "a")->status, STR("skipped")));
    assert_int_equal(rig_row(&rig, "a")->visit, 1);
    assert_int_equal(rig_row(&rig, "a")->attempt, 1);
}

static void test_advance__a_when_that_fails_fails_the_step(void **state)
{
    (void)state;
    start(
        "{'code':'a','when':'input.missing > 1','procedure':{'type':'compute.transform','data':1}}",
        ",'onError':'fail_fast'", "{}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_true(str_eq(value_text(error_field("code")), STR("expression_error")));
}

static void test_advance__the_input_of_a_step_is_laid_over_that_of_the_execution(void **state)
{
    (void)state;
    start("{'code': 'a', 'input': {'x': '=input.x * 2', 'z': 3},"
          "  'procedure': {'type': 'compute.transform', 'data': '=input'}},"
          "{'code': 'b', 'procedure': {'type': 'compute.transform', 'data': '=input'}}",
          "", "{'x':1,'y':2}");
    assert_string_equal(rig_output(&rig, "a"), "{'x':2,'y':2,'z':3}");
    assert_string_equal(rig_output(&rig, "b"), "{'x':1,'y':2}");
    assert_string_equal(rig_text(&rig, rig_row(&rig, "a")->input_json), "{'x':2,'z':3}");
}

static void test_advance__commands_see_the_results_named_before_them(void **state)
{
    (void)state;
    start("{'code':'a','procedure':["
          "{'type':'compute.transform','data':{'n':2},'as':'first'},"
          "{'type':'compute.transform','data':{'n':100},'when':'first.n > 5','as':'never'},"
          "{'type':'compute.transform','data':{'big':'=first.n * 10','more':[1,2,3]},"
          "'result':{'n':'=response.big + 1'},'as':'second'},"
          "{'type':'compute.transform','data':{'sum':'=first.n + second.n'}}]}",
          "", "{}");
    assert_string_equal(result(), "{'sum':23}");
}

static void test_advance__the_last_command_that_ran_gives_the_result(void **state)
{
    (void)state;
    start("{'code':'a','procedure':[{'type':'compute.transform','data':1},"
          "{'type':'compute.transform','data':2,'when':'false'}]}",
          "", "{}");
    assert_string_equal(result(), "1");
}

static void test_advance__engine_fields_of_a_step_win_over_those_of_its_result(void **state)
{
    (void)state;
    start("{'code': 'a', 'meta': {'owner': 'ann'}, 'procedure': {'type': 'compute.transform',"
          "  'data': {'success': 'no', 'error': 'x', 'meta': 'y', 'n': 1}}},"
          "{'code': 'b', 'procedure': {'type': 'compute.transform',"
          "  'data': {'s': '=steps.a.success', 'e': '=steps.a.error == null',"
          "    'm': '=steps.a.meta.owner', 'n': '=steps.a.n', 'o': '=steps.a.output.success'}}}",
          "", "{}");
    assert_string_equal(result(), "{'s':true,'e':true,'m':'ann','n':1,'o':'no'}");
}

static void test_advance__expressions_see_the_execution_user_and_time(void **state)
{
    (void)state;
    start("{'code': 'a', 'procedure': {'type': 'compute.transform',"
          "  'data': {'id': '=execution.id', 'v': '=execution.version',"
          "    'visit': '=execution.visit', 'user': '=user.name', 'now': '=now',"
          "    'key': '=execution.key == null'}}}",
          "", "{}");
    assert_string_equal(result(),
                        "{'id':'01020304-0506-7708-890a-0b0c0d0e0f10','v':1,'visit':1,'user':'Ann',"
                        "'now':'2026-01-01T00:00:00Z','key':true}");
}

/* --- values that become state --- */

static void test_advance__what_a_step_stores_is_what_a_restart_reads(void **state)
{
    (void)state;
    start("{'code': 'a', 'procedure': {'type': 'compute.transform',"
          "  'data': {'t': '=now', 'd': '=duration(\\'90s\\')', 'b': '=b\\'xyz\\'', 'u': '=7u',"
          "    'f': '=2.0', 'm': '={1: 2}'}}},"
          "{'code': 'b', 'procedure': {'type': 'compute.transform',"
          "  'data': {'t': '=type(steps.a.t) == string', 'd': '=type(steps.a.d) == string',"
          "    'u': '=type(steps.a.u) == int', 'f': '=type(steps.a.f) == double',"
          "    'm': '=steps.a.m[\\'1\\']'}}}",
          "", "{}");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(result(), "{'t':true,'d':true,'u':true,'f':true,'m':2}");
}

static void test_advance__a_text_with_a_zero_byte_fails_the_step(void **state)
{
    (void)state;
    start("{'code': 'a',"
          "  'procedure': {'type': 'compute.transform', 'data': '=\\'a\\\\u0000b\\''}}",
          ",'onError':'fail_fast'", "{}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_true(str_eq(value_text(error_field("code")), STR("expression_error")));
}

static void test_advance__what_is_nested_too_deep_fails_the_step(void **state)
{
    struct buf text;

    (void)state;
    buf_init_arena(&text, &rig.mem);
    for (unsigned i = 0; i < 230; i++)
        buf_char(&text, '[');
    for (unsigned i = 0; i < 230; i++)
        buf_char(&text, ']');
    start("{'code': 'a', 'procedure': {'type': 'compute.transform', 'data': '=input.x'}}",
          ",'onError':'fail_fast'",
          str_printf(&rig.mem, "{'x':%.*s}", STR_ARG(buf_view(&text))).ptr);
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_true(str_eq(value_text(error_field("code")), STR("limit_context_depth")));
}

/* --- set, log, fail --- */

static void test_advance__variables_last_and_are_staged(void **state)
{
    (void)state;
    start("{'code': 'a', 'procedure': ["
          "  {'type': 'compute.set', 'values': {'x': 1, 't': '=now'}},"
          "  {'type': 'compute.set', 'values': {'y': '=variables.x + 1'}}]},"
          "{'code': 'b', 'onError': 'continue', 'procedure': ["
          "  {'type': 'compute.set', 'values': {'x': 99}},"
          "  {'type': 'compute.fail', 'code': 'no', 'message': 'no'}]},"
          "{'code': 'c', 'procedure': {'type': 'compute.set', 'values': {'y': 5, 'z': '=[1,2]'}}},"
          "{'code': 'd', 'procedure': {'type': 'compute.transform', 'data': '=variables'}}",
          "", "{}");
    assert_string_equal(result(), "{'x':1,'t':'2026-01-01T00:00:00Z','y':5,'z':[1,2]}");
    assert_string_equal(rig_text(&rig, rig_row(&rig, "c")->delta_json),
                        "{'variables':{'y':5,'z':[1,2]}}");
}

static void test_advance__log_lines_leave_with_the_commit_of_a_completed_step(void **state)
{
    (void)state;
    start("{'code':'a','procedure':{'type':'log','level':'warn','message':'x is {{ input.x }}',"
          "'data':{'x':'=input.x'}}}," //
          "{'code':'b','onError':'continue','procedure':[{'type':'log','message':'never'},"
          "{'type':'compute.fail','code':'no','message':'no'}]}",
          "", "{'x':3}");
    assert_int_equal(rig.last.logs.count, 1);
    assert_string_equal(rig_text(&rig, rig.last.logs.items[0].message), "x is 3");
    assert_string_equal(rig_text(&rig, rig.last.logs.items[0].data_json), "{'x':3}");
    assert_string_equal(rig_output(&rig, "a"), "{'message':'x is 3'}");
}

static void test_advance__fail_carries_what_the_author_wrote(void **state)
{
    (void)state;
    start("{'code':'a','procedure':{'type':'compute.fail','code':'no_stock','message':'{{ input.n "
          "}} left','class':'transient','details':{'n':'=input.n'}}}",
          ",'onError':'fail_fast'", "{'n':0}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_string_equal(
        error(),
        "{'code':'no_stock','message':'0 left','class':'transient',"
        "'retryable':true,'details':{'n':0},'source':'/steps/0/procedure','version':1,'step':'a'}");
}

static void test_advance__details_without_a_json_form_become_the_error(void **state)
{
    (void)state;
    start("{'code':'a','procedure':{'type':'compute.fail','code':'bad','message':'x','details':"
          "'=double(\\'nan\\')'}}",
          ",'onError':'fail_fast'", "{}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_true(str_eq(value_text(error_field("code")), STR("expression_error")));
}

/* --- onError --- */

static void test_advance__compensate_fails_and_says_what_was_undone(void **state)
{
    (void)state;
    start("{'code': 'a', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'no'}},"
          "{'code': 'b', 'procedure': {'type': 'compute.transform', 'data': 1}}",
          "", "{}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_non_null(strstr(error(), "'compensation':{'compensated':[],'failed':[]}"));
    assert_null(rig_row(&rig, "b"));
}

static void test_advance__fail_fast_fails(void **state)
{
    (void)state;
    start("{'code': 'a', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'no'}}",
          ",'onError':'fail_fast'", "{}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_null(strstr(error(), "compensation"));
}

static void test_advance__continue_records_the_failure_and_goes_on(void **state)
{
    (void)state;
    start("{'code': 'a', 'onError': 'continue',"
          "  'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'no'}},"
          "{'code': 'b', 'procedure': {'type': 'compute.transform',"
          "  'data': {'ok': '=steps.a.success', 'code': '=steps.a.error.code'}}}",
          "", "{}");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(result(), "{'ok':false,'code':'no'}");
    assert_true(str_eq(rig_row(&rig, "a")->status, STR("failed")));
}

static void test_advance__hold_waits_as_an_incident(void **state)
{
    (void)state;
    start("{'code': 'a', 'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'no'}}",
          ",'onError':'hold'", "{}");
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_true(waits_for("'kind':'incident','step':'a','error':{'code':'no'"));
    assert_false(rig_wake(&rig));
    assert_true(rig_signal(&rig, "s1", "x", "1"));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_int_equal(rig.x->wake_at_us, 0);
    rig_reload(&rig);
    assert_int_equal(rig.x->cursor.phase, PHASE_HELD);
}

static void test_advance__a_step_says_for_itself_what_its_failure_does(void **state)
{
    (void)state;
    start("{'code': 'a', 'onError': 'hold',"
          "  'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'no'}}",
          ",'onError':'fail_fast'", "{}");
    assert_int_equal(rig.x->status, STATUS_WAITING);
    start("{'code': 'a', 'onError': 'fail_fast',"
          "  'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'no'}}",
          ",'onError':'hold'", "{}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
}

static void test_advance__errors_of_our_own_making_hold_unless_told_otherwise(void **state)
{
    static const char *const bad = "{'code':'a'%s,'procedure':{'type':'compute.transform','data':"
                                   "'=1 / input.zero'}}";
    static const struct {
        const char *step, *scenario;
        enum execution_status status;
    } cases[] = {
        {"", "", STATUS_WAITING},
        {"", ",'onError':'hold'", STATUS_WAITING},
        {"", ",'onError':'retry'", STATUS_WAITING},
        {"", ",'onError':'fail_fast'", STATUS_FAILED},
        {",'onError':'fail_fast'", "", STATUS_FAILED},
        {",'onError':'continue'", "", STATUS_COMPLETED},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char step[200];
        snprintf(step, sizeof(step), bad, cases[i].step);
        start(step, cases[i].scenario, "{'zero':0}");
        assert_int_equal(rig.x->status, cases[i].status);
        assert_non_null(strstr(rig_text(&rig, rig_row(&rig, "a")->error_json),
                               "'source':'/steps/0/procedure/data'"));
    }
}

static void test_advance__an_error_that_the_author_named_limit_does_not_hold(void **state)
{
    (void)state;
    start("{'code':'a','procedure':{'type':'compute.fail','code':'limit_of_credit','message':'x'}}",
          "", "{}");
    assert_int_equal(rig.x->status, STATUS_FAILED);
}

/* --- ends --- */

static void test_advance__nothing_moves_a_terminal_execution(void **state)
{
    (void)state;
    start("{'code': 'a', 'procedure': {'type': 'compute.transform', 'data': 1}}", "", "{}");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_false(rig_wake(&rig));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_false(rig_signal(&rig, "s1", "x", "1"));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    assert_false(rig_cancel(&rig, ""));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
}

static void test_advance__cancel_ends_a_waiting_execution(void **state)
{
    (void)state;
    start("{'code':'w','procedure':{'type':'wait.timer','duration':'1h'}}", "", "{}");
    assert_true(rig_cancel(&rig, "no \"longer\" needed"));
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_int_equal(rig.x->wake_at_us, 0);
    assert_true(rig.x->completed_at_us == rig.now_us);
    assert_string_equal(rig_text(&rig, rig.last.history.items[0].delta_json),
                        "{'cancel':{'reason':'no \\'longer\\' needed'},'end':'cancelled'}");
    assert_int_equal(rig.x->waiting_for_json.len, 0);
}

static void test_advance__the_deadline_fails_the_execution(void **state)
{
    (void)state;
    start("{'code':'w','procedure':{'type':'wait.signal','signalType':'x'}}",
          ",'settings':{'timeout':'10m'}", "{}");
    assert_true(rig.x->wake_at_us == rig.now_us + INT64_C(600000000));
    rig_pass(&rig, INT64_C(599999999));
    assert_false(rig_wake(&rig));
    rig_pass(&rig, 1);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_non_null(strstr(error(), "'code':'timeout_execution'"));
    assert_true(str_eq(rig.last.history.items[0].status, STR("timeout")));
}

static void test_advance__the_deadline_asks_the_execution_not_the_step(void **state)
{
    (void)state;
    start("{'code':'w','onError':'continue','procedure':{'type':'wait.signal','signalType':'x'}},"
          "{'code':'v','onError':'continue','procedure':{'type':'wait.signal','signalType':'x'}}",
          ",'settings':{'timeout':'10m'},'onError':'hold'", "{}");
    rig_pass(&rig, INT64_C(600000000));
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_true(waits_for("'kind':'incident'"));
    assert_true(waits_for("timeout_execution"));
    assert_false(rig_wake(&rig));
}

/* --- turns --- */

/* A program of many steps, more than a definition may have. */
static void define_many(unsigned count)
{
    struct program *p = ARENA_NEW(&rig.mem, struct program);
    struct step *steps = ARENA_ARRAY(&rig.mem, count, struct step);

    rig_define(&rig, "{'code': 'a', 'steps': [{'code': 'a',"
                     "  'procedure': {'type': 'compute.transform', 'data': 1}}]}");
    *p = *rig.program;
    for (unsigned i = 0; i < count; i++) {
        steps[i] = rig.program->steps[0];
        steps[i].index = i;
        steps[i].code = str_printf(&rig.mem, "s%u", i);
        steps[i].next = i + 1 < count ? i + 1 : NO_STEP;
    }
    p->steps = steps;
    p->step_count = count;
    p->by_code = NULL;
    p->slot_count = ROOT_COUNT + count;
    rig.program = p;
    rig_made(&rig, p, value_map_empty());
}

/* What one expression may cost is bounded; so is what those of one turn do together. */
static void test_advance__a_turn_ends_when_its_expressions_have_cost_enough(void **state)
{
    (void)state;
    rig_define(&rig, "{'code': 'a', 'steps': [{'code': 'l', 'loop': {'while': 'true', 'max': 20,"
                     "  'onError': 'continue', 'steps': [{'code': 's', 'procedure': ["
                     "    {'type': 'compute.transform',"
                     "      'data': '=size(lists.range(20000).map(i, i + 1))'},"
                     "    {'type': 'compute.transform',"
                     "      'data': '=size(lists.range(20000).map(i, i + 1))'}]}]}}]}");
    rig_start(&rig, "{}");
    assert_true(rig.last.history.count < 20);
    assert_true(rig.last.history.count > 1);
    assert_int_equal(rig.x->status, STATUS_RUNNING);
    assert_int_equal(rig.x->wake_at_us, WAKE_AT_ONCE);
    rig_reload(&rig);
    assert_true(rig_wake(&rig));
}

static void test_advance__a_turn_ends_after_64_steps_and_is_due_at_once(void **state)
{
    (void)state;
    define_many(150);
    rig_start(&rig, "{}");
    assert_int_equal(rig.x->status, STATUS_RUNNING);
    assert_int_equal(rig.last.history.count, TURN_STEPS_MAX);
    assert_true(rig.x->wake_at_us == WAKE_AT_ONCE);
    rig_reload(&rig);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->seq, 128);
    assert_true(rig_signal(&rig, "s1", "x", "1"));
    assert_int_equal(rig.x->status, STATUS_RUNNING);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_int_equal(rig.x->seq, 151);
}

static void test_advance__a_clock_set_back_leaves_ready_work_due(void **state)
{
    (void)state;
    define_many(150);
    rig_start(&rig, "{}");
    rig_pass(&rig, -INT64_C(86400000000));
    assert_true(rig_wake(&rig)); /* the rig checks that wake_at is not after now */
    assert_int_equal(rig.x->status, STATUS_RUNNING);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

/* --- ids --- */

static void test_advance__ids_are_made_from_what_is_known(void **state)
{
    struct uuid x = {.bytes = {1}}, y = {.bytes = {2}};
    struct uuid a = ident_make(x, 1, 0, 1000000), b = ident_make(x, 1, 0, 1000000);

    (void)state;
    assert_int_equal(uuid_cmp(a, b), 0);
    assert_int_not_equal(uuid_cmp(a, ident_make(x, 1, 1, 1000000)), 0);
    assert_int_not_equal(uuid_cmp(a, ident_make(x, 2, 0, 1000000)), 0);
    assert_int_not_equal(uuid_cmp(a, ident_make(y, 1, 0, 1000000)), 0);
    assert_int_equal(uuid_ms(a), 1000);
    assert_int_equal(ident_random(x, 1, 0), ident_random(x, 1, 0));
    assert_int_not_equal(ident_random(x, 1, 0), ident_random(x, 1, 1));
    assert_int_not_equal(uuid_cmp(engine_row_id(x, 1, 5), engine_row_id(x, 2, 5)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_advance__a_scenario_without_steps_completes),
        CLAIM(test_advance__steps_of_one_turn_share_one_commit),
        CLAIM(test_advance__the_result_mapping_shapes_the_result),
        CLAIM(test_advance__an_error_in_the_result_holds),
        CLAIM(test_advance__a_skipped_step_is_null_and_recorded),
        CLAIM(test_advance__a_when_that_fails_fails_the_step),
        CLAIM(test_advance__the_input_of_a_step_is_laid_over_that_of_the_execution),
        CLAIM(test_advance__commands_see_the_results_named_before_them),
        CLAIM(test_advance__the_last_command_that_ran_gives_the_result),
        CLAIM(test_advance__engine_fields_of_a_step_win_over_those_of_its_result),
        CLAIM(test_advance__expressions_see_the_execution_user_and_time),
        CLAIM(test_advance__what_a_step_stores_is_what_a_restart_reads),
        CLAIM(test_advance__a_text_with_a_zero_byte_fails_the_step),
        CLAIM(test_advance__what_is_nested_too_deep_fails_the_step),
        CLAIM(test_advance__variables_last_and_are_staged),
        CLAIM(test_advance__log_lines_leave_with_the_commit_of_a_completed_step),
        CLAIM(test_advance__fail_carries_what_the_author_wrote),
        CLAIM(test_advance__details_without_a_json_form_become_the_error),
        CLAIM(test_advance__compensate_fails_and_says_what_was_undone),
        CLAIM(test_advance__fail_fast_fails),
        CLAIM(test_advance__continue_records_the_failure_and_goes_on),
        CLAIM(test_advance__hold_waits_as_an_incident),
        CLAIM(test_advance__a_step_says_for_itself_what_its_failure_does),
        CLAIM(test_advance__errors_of_our_own_making_hold_unless_told_otherwise),
        CLAIM(test_advance__an_error_that_the_author_named_limit_does_not_hold),
        CLAIM(test_advance__nothing_moves_a_terminal_execution),
        CLAIM(test_advance__cancel_ends_a_waiting_execution),
        CLAIM(test_advance__the_deadline_fails_the_execution),
        CLAIM(test_advance__the_deadline_asks_the_execution_not_the_step),
        CLAIM(test_advance__a_turn_ends_after_64_steps_and_is_due_at_once),
        CLAIM(test_advance__a_turn_ends_when_its_expressions_have_cost_enough),
        CLAIM(test_advance__a_clock_set_back_leaves_ready_work_due),
        CLAIM(test_advance__ids_are_made_from_what_is_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
