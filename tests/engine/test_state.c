/* test_state.c - claims about checkpoints, limits of the context, and what is shown. */
#include "engine/rig.h"
#include "engine/show.h"
#include "value/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

/* {'x': a text of that many bytes} */
static const char *big_input(size_t bytes)
{
    struct buf text;

    buf_init_arena(&text, &rig.mem);
    buf_text(&text, "{'x':'");
    for (size_t i = 0; i < bytes; i++)
        buf_char(&text, (char)('a' + i % 26));
    buf_text(&text, "'}");
    buf_char(&text, 0);
    return text.ptr;
}

static void test_state__a_small_context_is_checkpointed_with_every_commit(void **state)
{
    (void)state;
    rig_define(&rig, "{'code': 'a', 'steps': ["
                     "  {'code': 'a', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}},"
                     "  {'code': 'b', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}},"
                     "  {'code': 'c', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}]}");
    rig_start(&rig, "{}");
    assert_true(rig.last.writes_context);
    assert_true(rig_signal(&rig, "1", "x", "1"));
    assert_true(rig.last.writes_context);
    assert_int_equal(rig.x->checkpoint_seq, rig.x->seq);
    assert_int_equal(rig.x->log_bytes, 0);
}

static void test_state__a_large_context_only_when_the_log_has_outgrown_it(void **state)
{
    int64_t since = 0;
    unsigned checkpoints = 0;

    (void)state;
    rig_define(&rig, "{'code':'a','steps':[{'code':'w','procedure':{'type':'wait.signal',"
                     "'signalType':'never'}}]}");
    rig_start(&rig, big_input(20000));
    assert_false(rig.last.writes_context);
    for (int i = 0; i < 400; i++) {
        char id[16];
        snprintf(id, sizeof(id), "s%d", i);
        assert_true(rig_signal(&rig, id, "y", "'0123456789012345678901234567890123456789'"));
        since += state_row_bytes(&rig.last.history.items[0]);
        if (rig.last.writes_context) {
            assert_true(since >= 20000 / 2);
            since = 0;
            checkpoints++;
        } else {
            assert_true(rig.x->log_bytes < (int64_t)rig.x->context_bytes);
        }
        if (i % 50 == 0)
            rig_reload(&rig);
    }
    /* The context doubles from one to the next: cost stays linear in what happened. */
    assert_in_range(checkpoints, 1, 6);
}

static void test_state__a_result_that_overfills_the_context_fails_its_step(void **state)
{
    (void)state;
    rig_define(&rig, "{'code':'a','onError':'fail_fast','steps':["
                     "{'code':'big','onError':'continue','procedure':{'type':'compute.transform',"
                     "'data':'=input.x'}},"
                     "{'code':'b','procedure':{'type':'compute.transform','data':{'e':"
                     "'=steps.big.error.code'}}}]}");
    rig_start(&rig, big_input(600000));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_text(&rig, rig.x->result_json), "{'e':'limit_context_size'}");
    /* What it had made stays in history. */
    assert_int_equal(rig_row(&rig, "big")->output_json.len, 600002);
    assert_true(rig.x->context_bytes < 601000);
}

static void test_state__variables_and_errors_count_against_the_limit_too(void **state)
{
    (void)state;
    rig_define(&rig, "{'code':'a','steps':[{'code':'s','procedure':{'type':'compute.set','values':"
                     "{'copy':'=input.x'}}}]}");
    rig_start(&rig, big_input(600000));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_int_equal(rig.x->variables.len, 0);
    assert_non_null(strstr(rig_text(&rig, rig.x->waiting_for_json), "limit_context_size"));

    rig_define(&rig, "{'code':'a','steps':[{'code':'s','onError':'continue','procedure':{'type':"
                     "'compute.fail','code':'no','message':'no','details':'=input.x'}}]}");
    rig_start(&rig, big_input(600000));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_true(rig.x->context_bytes <= CONTEXT_BYTES_MAX);
    assert_non_null(strstr(rig_text(&rig, rig_row(&rig, "s")->error_json), "limit_context_size"));
}

static void test_state__variables_set_again_do_not_pile_up(void **state)
{
    struct buf steps;

    (void)state;
    buf_init_arena(&steps, &rig.mem);
    buf_text(&steps, "{'code':'a','steps':[");
    for (int i = 0; i < 40; i++)
        buf_printf(&steps,
                   "%s{'code':'s%d','procedure':{'type':'compute.set','values':{'copy':'=input.x'},"
                   "'result':'=1'}}",
                   i == 0 ? "" : ",", i);
    buf_text(&steps, "]}");
    buf_char(&steps, 0);
    rig_define(&rig, steps.ptr);
    rig_start(&rig, big_input(100000));
    assert_int_equal(rig.x->status, STATUS_RUNNING); /* a turn writes so much, not more */
    while (rig.x->status == STATUS_RUNNING) {
        rig_reload(&rig);
        assert_true(rig_wake(&rig));
    }
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_state__a_newer_format_is_refused(void **state)
{
    struct execution *x;

    (void)state;
    rig_define(&rig, "{'code': 'a', 'steps': [{'code': 'a',"
                     "  'procedure': {'type': 'wait.signal', 'signalType': 'x'}}]}");
    rig_start(&rig, "{}");
    rig.stored.format = EXECUTION_FORMAT + 1;
    assert_false(state_restore(&rig.mem, rig.program, &rig.stored, &x, &rig.err));
    assert_int_equal(rig.err.code, ERR_INTERNAL);
}

static void test_state__damage_is_an_error_and_no_crash(void **state)
{
    static const struct {
        const char *context, *cursor;
    } cases[] = {
        {"{", "{}"},
        {"{\"steps\":{\"nobody\":{}}}", "{}"},
        {"{}", "{\"step\":\"nobody\",\"phase\":\"wait\"}"},
        {"{}", "{\"step\":\"a\",\"phase\":\"sideways\"}"},
        {"{}", "["},
    };

    (void)state;
    rig_define(&rig, "{'code': 'a', 'steps': [{'code': 'a',"
                     "  'procedure': {'type': 'wait.signal', 'signalType': 'x'}}]}");
    rig_start(&rig, "{}");
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct stored_execution stored = rig.stored;
        struct execution *x;

        stored.context_json = str_of(cases[i].context);
        stored.cursor_json = str_of(cases[i].cursor);
        assert_false(state_restore(&rig.mem, rig.program, &stored, &x, &rig.err));
        assert_int_equal(rig.err.code, ERR_INTERNAL);
    }
}

static void test_state__what_is_shown_is_the_same_from_memory_and_from_the_store(void **state)
{
    struct buf from_memory, from_store;
    struct stored_execution stored;
    struct value v;

    (void)state;
    rig_define(&rig,
               "{'code': 'a', 'steps': ["
               "  {'code': 't', 'procedure': {'type': 'compute.set', 'values': {'n': 1}}},"
               "  {'code': 'f', 'onError': 'continue',"
               "    'procedure': {'type': 'compute.fail', 'code': 'no', 'message': 'no'}},"
               "  {'code': 's', 'when': 'false', 'procedure': {'type': 'log', 'message': 'x'}},"
               "  {'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}}]}");
    rig_start(&rig, "{'a':1}");
    assert_true(rig_signal(&rig, "1", "y", "{'p':[1,2]}"));
    buf_init_arena(&from_memory, &rig.mem);
    buf_init_arena(&from_store, &rig.mem);
    show_execution(&from_memory, rig.x);
    stored = rig.stored;
    assert_true(show_stored(&rig.mem, &from_store, &stored, true, &rig.err));
    assert_string_equal(rig_text(&rig, buf_view(&from_memory)),
                        rig_text(&rig, buf_view(&from_store)));
    assert_true(json_read(&rig.mem, buf_view(&from_memory), &v, &rig.err));
    assert_true(str_eq(value_text(value_map_get_str(v, STR("currentStep"))), STR("w")));
}

static void test_state__fields_of_a_result_are_shown_beside_those_of_the_engine(void **state)
{
    struct buf text;

    (void)state;
    rig_define(&rig, "{'code':'a','steps':["
                     "{'code':'p','procedure':{'type':'compute.transform','data':{'x':1,'y':[2]}}},"
                     "{'code':'q','meta':{'m':1},'procedure':{'type':'compute.transform','data':"
                     "{'success':0,'x':{'z':1},'error':'e','y':'','meta':2}}},"
                     "{'code':'r','procedure':{'type':'compute.transform','data':{}}}]}");
    rig_start(&rig, "{}");
    buf_init_arena(&text, &rig.mem);
    show_execution(&text, rig.x);
    assert_non_null(
        strstr(rig_text(&rig, buf_view(&text)),
               "'steps':{"
               "'p':{'x':1,'y':[2],'success':true,'output':{'x':1,'y':[2]},'error':null,'meta':{}},"
               "'q':{'x':{'z':1},'y':'','success':true,'output':{'success':0,'x':{'z':1},"
               "'error':'e','y':'','meta':2},'error':null,'meta':{'m':1}},"
               "'r':{'success':true,'output':{},'error':null,'meta':{}}}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_state__a_small_context_is_checkpointed_with_every_commit),
        CLAIM(test_state__a_large_context_only_when_the_log_has_outgrown_it),
        CLAIM(test_state__a_result_that_overfills_the_context_fails_its_step),
        CLAIM(test_state__variables_and_errors_count_against_the_limit_too),
        CLAIM(test_state__variables_set_again_do_not_pile_up),
        CLAIM(test_state__a_newer_format_is_refused),
        CLAIM(test_state__damage_is_an_error_and_no_crash),
        CLAIM(test_state__what_is_shown_is_the_same_from_memory_and_from_the_store),
        CLAIM(test_state__fields_of_a_result_are_shown_beside_those_of_the_engine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
