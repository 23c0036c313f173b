/* test_reconcile.c - claims about finding out what became of an attempt. */
#include "engine/rig.h"
#include "engine/show.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define SECOND INT64_C(1000000)
#define ID "01020304-0506-7708-890a-0b0c0d0e0f10"

#define LOST                                                                                       \
    "{'type':'compute.fail','code':'no_answer','message':'lost','class':'indeterminate','details'" \
    ":{'sent':true}}"
#define LOST_ONCE                                                                                  \
    "[{'type':'compute.fail','code':'no_answer','message':'lost','class':'indeterminate','when':"  \
    "'execution.attempt == 1'},{'type':'compute.transform','data':{'id':'again'}}]"
/* The n-th question answers the n-th of a list. */
#define ANSWERS(list)                                                                              \
    "[{'type':'compute.set','values':{'asked':'=(has($.variables.asked) ? $.variables.asked : 0) " \
    "+ 1'}},{'type':'compute.transform','data':'=" list "[variables.asked - 1]'}]"
#define UNKNOWN "{'type':'compute.transform','data':{'outcome':'unknown'}}"
#define PAY(procedure, reconcile, more)                                                            \
    "{'code':'pay','input':{'sum':'=input.n * 10'},'procedure':" procedure                         \
    ",'reconcile':{'procedure':" reconcile ",'every':'5s','max':3}" more "}"
#define NO_RETRY ",'retry':{'maxAttempts':1}"
#define RETRY ",'retry':{'maxAttempts':2,'delay':'1m','jitter':'none'}"
#define UNDO ",'rollback':{'type':'compute.transform','data':['$.steps.pay.output','$.input.sum']}"
#define AFTER ",{'code':'after','procedure':{'type':'compute.transform','data':'$.steps.pay'}}"
#define SCENARIO(steps) "{'code':'a','steps':[" steps "]}"

static void start(const char *scenario)
{
    rig_define(&rig, scenario);
    rig_start(&rig, "{'n':1}");
}

static void run(const char *scenario)
{
    start(scenario);
    rig_settle(&rig);
}

static const char *waiting_for(void)
{
    return rig_text(&rig, rig.x->waiting_for_json);
}

static const char *error(void)
{
    return rig_text(&rig, rig.x->error_json);
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' is not in %s", part, text);
}

/* Row `n` of kind reconcile, from 0 on. */
static const struct history_row *question(unsigned n)
{
    for (size_t i = 0; i < rig.history.count; i++)
        if (rig.history.items[i].kind == HISTORY_RECONCILE && n-- == 0)
            return &rig.history.items[i];
    fail_msg("there is no such question");
    return NULL;
}

/* What the last rollback answered. */
static const char *undone(void)
{
    for (size_t i = rig.history.count; i-- > 0;)
        if (rig.history.items[i].kind == HISTORY_ROLLBACK)
            return rig_text(&rig, rig.history.items[i].output_json);
    fail_msg("nothing was rolled back");
    return NULL;
}

static bool resolve(const char *outcome, const char *output)
{
    struct event ev = {.kind = EVENT_RESOLVE, .note = STR("looked it up")};

    assert_non_null(rig.x->cursor.reconciling);
    ev.letter = rig.x->cursor.reconciling->letter;
    assert_true(verdict_read(str_of(outcome), &ev.verdict));
    if (output != NULL)
        ev.output = rig_value(&rig, output);
    return rig_event(&rig, ev);
}

static bool may(enum action action)
{
    struct stored_execution stored = rig.stored;

    return show_allows(&stored, action);
}

/* --- what it answers --- */

static void test_reconcile__succeeded_completes_the_step_with_the_output(void **state)
{
    (void)state;
    run(SCENARIO(PAY(LOST,
                     ANSWERS("[{\\'outcome\\':\\'succeeded\\',\\'output\\':{\\'id\\':\\'p1\\'}}]"),
                     NO_RETRY) AFTER));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "?pay pay after");
    assert_string_equal(rig_output(&rig, "pay"), "{'id':'p1'}");
    assert_has(rig_output(&rig, "after"), "'success':true");
    assert_string_equal(rig_text(&rig, question(0)->key), ID "-pay-reconcile-1");
    assert_string_equal(rig_text(&rig, rig_row(&rig, "pay")->input_json), "{'sum':10}");
    assert_int_equal(rig_row(&rig, "pay")->attempt, 1);
    assert_int_equal(rig.x->cursor.reconciling == NULL, true);
}

static void test_reconcile__failed_is_a_business_error_that_is_not_tried_again(void **state)
{
    (void)state;
    run(SCENARIO(PAY(LOST, ANSWERS("[{\\'outcome\\':\\'failed\\'}]"), RETRY)));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_string_equal(rig_trace(&rig), "?pay pay.failed");
    assert_has(error(), "'code':'external_failed'");
    assert_has(error(), "'class':'business','retryable':false");
    run(SCENARIO(PAY(LOST,
                     ANSWERS("[{\\'outcome\\':\\'failed\\',\\'error\\':{\\'code\\':\\'declined\\',"
                             "\\'message\\':\\'no funds\\',\\'class\\':\\'transient\\'}}]"),
                     RETRY)));
    assert_has(error(), "{'code':'declined','message':'no funds','class':'business'");
}

static void test_reconcile__not_happened_tries_again_with_the_same_key(void **state)
{
    (void)state;
    start(SCENARIO(PAY(LOST_ONCE, ANSWERS("[{\\'outcome\\':\\'not_happened\\'}]"), RETRY)));
    assert_true(rig_wake(&rig));
    assert_has(waiting_for(), "{'kind':'retry','step':'pay','attempt':2,'error':{'code':"
                              "'no_answer'");
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "?pay pay.failed pay(2)");
    assert_int_equal(rig_row(&rig, "pay")->visit, 1);
}

static void test_reconcile__not_happened_without_an_attempt_left_has_failed(void **state)
{
    (void)state;
    run(SCENARIO(PAY(LOST, ANSWERS("[{\\'outcome\\':\\'not_happened\\'}]"), NO_RETRY UNDO)));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    /* It has not happened, so there is nothing to undo and nothing to see. */
    assert_string_equal(rig_trace(&rig), "?pay pay.failed");
    assert_has(error(), "'code':'no_answer','message':'lost','class':'transient'");
    assert_int_equal(rig.last.dead_letters.count, 0);
}

static void test_reconcile__anything_else_is_asked_again_after_every(void **state)
{
    (void)state;
    start(SCENARIO(PAY(LOST,
                       ANSWERS("[{\\'outcome\\':\\'unknown\\'},7,{\\'outcome\\':\\'succeeded\\'}]"),
                       NO_RETRY)));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    assert_string_equal(waiting_for(),
                        "{'kind':'reconcile','step':'pay','asked':0,'error':{'code':'no_answer',"
                        "'message':'lost','class':'indeterminate','retryable':true,'details':"
                        "{'sent':true},'source':'/steps/0/procedure'},'since':"
                        "'2026-01-01T00:00:00Z','until':'2026-01-01T00:00:00Z'}");
    assert_true(rig_wake(&rig));
    assert_has(waiting_for(), "'asked':1");
    assert_has(waiting_for(), "'until':'2026-01-01T00:00:05Z'");
    assert_false(rig_wake(&rig));
    rig_pass(&rig, 5 * SECOND);
    rig_reload(&rig);
    assert_true(rig_wake(&rig));
    assert_has(waiting_for(), "'asked':2");
    assert_true(may(ACTION_CANCEL));
    assert_false(may(ACTION_RETRY));
    assert_false(may(ACTION_SKIP));
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_output(&rig, "pay"), "null");
    assert_string_equal(rig_text(&rig, question(2)->key), ID "-pay-reconcile-3");
    assert_int_equal(question(2)->attempt, 3);
}

static void test_reconcile__an_error_of_its_own_is_no_answer(void **state)
{
    (void)state;
    run(SCENARIO(
        PAY(LOST,
            "[{'type':'compute.set','values':{'asked':1}},{'type':'compute.transform','data':"
            "'=1 / 0'}]",
            NO_RETRY)));
    assert_string_equal(rig_trace(&rig), "?pay.failed ?pay.failed(2) ?pay.failed(3)");
    assert_has(rig_text(&rig, question(0)->error_json), "expression_");
    /* A question that failed leaves no trace. */
    assert_int_equal(rig.x->variables_json.len, 0);
    assert_has(waiting_for(), "'parked':true");
}

static void test_reconcile__sees_the_error_the_input_and_no_result(void **state)
{
    (void)state;
    run(SCENARIO("{'code':'before','procedure':{'type':'compute.transform','data':5}}," PAY(
        LOST,
        "{'type':'compute.transform','data':{'outcome':'succeeded','output':['$.error.code',"
        "'$.error.details.sent','$.input.sum','$.input.n','$.steps.pay','$.steps.before.output',"
        "'$.execution.attempt']}}",
        NO_RETRY)));
    assert_string_equal(rig_output(&rig, "pay"), "['no_answer',true,10,1,null,5,1]");
}

static void test_reconcile__may_be_a_named_procedure_with_its_input(void **state)
{
    (void)state;
    run("{'code':'a','procedures':{'look':{'commands':[{'type':'compute.transform','data':"
        "{'outcome':'succeeded','output':'$.input.of'}}]}},'steps':[{'code':'pay','input':{'sum':"
        "4},'retry':{'maxAttempts':1},'procedure':" LOST
        ",'reconcile':{'procedure':'look','input':{'of':'$.input.sum'}}}]}");
    assert_string_equal(rig_output(&rig, "pay"), "4");
    assert_string_equal(rig_text(&rig, question(0)->input_json), "{'of':4}");
}

static void test_reconcile__sees_the_loop_that_its_step_is_in(void **state)
{
    (void)state;
    run(SCENARIO("{'code':'l','loop':{'for':['x','y'],'as':'line','collect':'$.steps.pay.output',"
                 "'steps':[" PAY(LOST,
                                 "{'type':'compute.transform','data':{'outcome':'succeeded',"
                                 "'output':'$.loop.line'}}",
                                 NO_RETRY) "]}}"));
    assert_string_equal(rig_trace(&rig), "?pay pay ?pay2 pay2 l");
    assert_has(rig_output(&rig, "l"), "'items':['x','y']");
    assert_string_equal(rig_text(&rig, question(1)->key), ID "-pay-2-reconcile-1");
}

/* --- which attempts --- */

static void test_reconcile__is_not_asked_about_other_failures(void **state)
{
    (void)state;
    run(SCENARIO(
        PAY("{'type':'compute.fail','code':'no','message':'m'}", ANSWERS("[]"), NO_RETRY)));
    assert_string_equal(rig_trace(&rig), "pay.failed");
    run(SCENARIO(PAY("{'type':'compute.fail','code':'no','message':'m','class':'transient'}",
                     ANSWERS("[]"), RETRY)));
    assert_string_equal(rig_trace(&rig), "pay.failed pay.failed(2)");
}

static void test_reconcile__each_attempt_in_doubt_has_its_own_questions(void **state)
{
    (void)state;
    run(SCENARIO(PAY(
        LOST, ANSWERS("[{\\'outcome\\':\\'not_happened\\'},0,0,{\\'outcome\\':\\'succeeded\\'}]"),
        RETRY)));
    assert_string_equal(rig_trace(&rig), "?pay pay.failed ?pay(2) ?pay(3) ?pay(4) "
                                         "pay(2)");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_reconcile__comes_before_the_policy_of_a_command(void **state)
{
    (void)state;
    run(SCENARIO(
        PAY("[{'type':'compute.fail','code':'no_answer','message':'lost','class':"
            "'indeterminate','retry':{'maxAttempts':2,'delay':'1m','jitter':'none'}}]",
            ANSWERS("[{\\'outcome\\':\\'not_happened\\'},{\\'outcome\\':\\'not_happened\\'}]"),
            NO_RETRY)));
    assert_string_equal(rig_trace(&rig), "?pay pay.failed ?pay(2) pay.failed(2)");
}

/* --- what the attempt had done --- */

static void test_reconcile__what_the_attempt_staged_is_applied_when_it_succeeded(void **state)
{
    int64_t version;

    (void)state;
    start(SCENARIO(PAY("[{'type':'compute.set','values':{'v':1}},{'type':'record.create','object':"
                       "'o','id':'1','data':{'k':2}}," LOST "]",
                       ANSWERS("[{\\'outcome\\':\\'succeeded\\'}]"), NO_RETRY)));
    assert_string_equal(rig_find_record(&rig, "o", "1", &version), "none");
    rig_reload(&rig);
    rig_settle(&rig);
    assert_string_equal(rig_find_record(&rig, "o", "1", &version), "{'k':2}");
    assert_string_equal(rig_text(&rig, rig.x->variables_json), "{'asked':1,'v':1}");
}

static void test_reconcile__what_the_attempt_staged_is_gone_when_it_failed(void **state)
{
    int64_t version;

    (void)state;
    run(SCENARIO(PAY("[{'type':'record.create','object':'o','id':'1','data':{'k':2}}," LOST "]",
                     ANSWERS("[{\\'outcome\\':\\'failed\\'}]"), NO_RETRY)));
    assert_string_equal(rig_find_record(&rig, "o", "1", &version), "none");
}

static void test_reconcile__finished_commands_are_not_repeated_and_are_undone(void **state)
{
    (void)state;
    run(SCENARIO(PAY("[{'type':'compute.transform','as':'first','data':'=$.execution.attempt',"
                     "'rollback':{'type':'compute.transform','data':'=$.first'}}," LOST "]",
                     ANSWERS("[{\\'outcome\\':\\'not_happened\\'},{\\'outcome\\':\\'failed\\'}]"),
                     RETRY)));
    assert_string_equal(rig_trace(&rig), "?pay pay.failed ?pay(2) pay.failed(2) -pay");
    assert_string_equal(undone(), "1");
    assert_has(error(), "'compensated':['pay']");
}

static void test_reconcile__a_step_that_succeeded_so_is_rolled_back_like_any_other(void **state)
{
    (void)state;
    run(SCENARIO(PAY(LOST, ANSWERS("[{\\'outcome\\':\\'succeeded\\',\\'output\\':7}]"),
                     NO_RETRY UNDO) ",{'code':'x','procedure':{'type':'compute.fail','code':'no',"
                                    "'message':'m'}}"));
    assert_string_equal(rig_trace(&rig), "?pay pay x.failed -pay");
    assert_string_equal(undone(), "[7,10]");
}

/* --- workers --- */

static bool answer(const char *key, const char *output, const char *failure)
{
    struct event ev = {.kind = EVENT_ANSWER, .answer_key = str_of(key)};

    if (output != NULL)
        ev.answer_output = rig_value(&rig, output);
    else
        ev.answer_error = rig_value(&rig, failure);
    return rig_event(&rig, ev);
}

static void test_reconcile__a_worker_may_be_in_doubt_and_another_asked(void **state)
{
    (void)state;
    start(SCENARIO(PAY("'bank.pay'", "'bank.find'", RETRY ",'timeout':'1h'")));
    assert_true(
        answer(ID "-pay", NULL, "{'code':'no_answer','message':'lost','class':'indeterminate'}"));
    assert_has(waiting_for(), "'kind':'reconcile'");
    assert_true(rig_wake(&rig));
    assert_has(waiting_for(),
               "{'kind':'job','step':'pay','procedure':'bank.find','reconcile':true");
    rig_reload(&rig);
    assert_false(answer(ID "-pay", "{}", NULL));
    assert_true(answer(ID "-pay-reconcile-1", NULL, "{'code':'down','message':'m'}"));
    assert_has(waiting_for(), "{'kind':'reconcile','step':'pay','asked':1");
    rig_pass(&rig, 5 * SECOND);
    assert_true(rig_wake(&rig));
    assert_true(answer(ID "-pay-reconcile-2", "{'outcome':'not_happened'}", NULL));
    assert_has(waiting_for(), "{'kind':'retry','step':'pay','attempt':2");
    rig_pass(&rig, 3600 * SECOND);
    assert_true(rig_wake(&rig));
    assert_true(answer(ID "-pay", "{'id':'p'}", NULL));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "?pay.failed ?pay(2) pay.failed pay(2)");
}

static void test_reconcile__a_worker_that_takes_too_long_has_not_answered(void **state)
{
    (void)state;
    start(SCENARIO(PAY(LOST, "'bank.find'", NO_RETRY ",'timeout':'1m'")));
    assert_true(rig_wake(&rig));
    rig_pass(&rig, 60 * SECOND);
    assert_true(rig_wake(&rig));
    assert_string_equal(rig_trace(&rig), "?pay.failed");
    assert_has(waiting_for(), "'asked':1");
    assert_int_equal(question(0)->completed_at_us - question(0)->started_at_us, 60 * SECOND);
}

/* --- parked --- */

static void park(const char *more)
{
    char scenario[2000];

    (void)snprintf(scenario, sizeof(scenario), SCENARIO(PAY(LOST_ONCE, UNKNOWN, "%s") AFTER), more);
    run(scenario);
    assert_int_equal(rig.x->status, STATUS_WAITING);
}

static void test_reconcile__after_max_it_is_parked_with_a_dead_letter(void **state)
{
    const struct dead_letter *l;

    (void)state;
    park(NO_RETRY);
    assert_has(waiting_for(), "{'kind':'reconcile','parked':true,'step':'pay','asked':3,'error':"
                              "{'code':'no_answer'");
    assert_int_equal(rig.x->wake_at_us, 0);
    assert_int_equal(rig.last.dead_letters.count, 1);
    l = &rig.last.dead_letters.items[0];
    assert_string_equal(rig_text(&rig, l->kind), "reconcile");
    assert_string_equal(rig_text(&rig, l->step), "pay");
    assert_int_equal(l->attempts, 3);
    assert_string_equal(rig_text(&rig, l->payload_json), "{'sum':10}");
    assert_has(rig_text(&rig, l->cause_json), "'no_answer'");
    assert_true(may(ACTION_CANCEL));
    assert_true(may(ACTION_RETRY));
    assert_false(may(ACTION_SKIP));
    assert_false(rig_event(&rig, (struct event){.kind = EVENT_SKIP}));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    /* Its deadline does not decide it. */
    rig_pass(&rig, 100 * 86400 * SECOND);
    assert_false(rig_wake(&rig));
    assert_true(rig_signal(&rig, "s", "x", "1"));
    assert_int_equal(rig.last.incident.status, LETTER_OPEN);
}

static void test_reconcile__an_operator_says_that_it_succeeded(void **state)
{
    (void)state;
    park(NO_RETRY);
    rig_reload(&rig);
    rig_pass(&rig, 100 * 86400 * SECOND);
    assert_true(resolve("succeeded", "{'id':'by hand'}"));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_output(&rig, "pay"), "{'id':'by hand'}");
    assert_int_equal(rig.last.incident.status, LETTER_RESOLVED);
    assert_string_equal(rig_text(&rig, rig.last.incident.note), "looked it up");
}

static void test_reconcile__an_operator_says_that_it_failed(void **state)
{
    (void)state;
    park(NO_RETRY);
    assert_true(resolve("failed", NULL));
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_has(error(), "'class':'business'");
}

static void test_reconcile__an_operator_says_that_it_has_not_happened(void **state)
{
    (void)state;
    park(RETRY);
    rig_pass(&rig, 3600 * SECOND);
    assert_true(resolve("not_happened", NULL));
    assert_int_equal(rig.x->status, STATUS_WAITING);
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "?pay ?pay(2) ?pay(3) pay.failed pay(2) after");
}

static void test_reconcile__an_outcome_for_another_letter_is_refused(void **state)
{
    (void)state;
    park(NO_RETRY);
    assert_false(rig_event(&rig, (struct event){.kind = EVENT_RESOLVE,
                                                .letter = STR("01020304-0506-7708-890a-0b0c0d0e0f1"
                                                              "1")}));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
    start(SCENARIO(PAY(LOST, UNKNOWN, NO_RETRY)));
    assert_false(resolve("failed", NULL));
    assert_int_equal(rig.err.code, ERR_CONFLICT);
}

static void test_reconcile__a_retry_asks_anew_and_keys_count_on(void **state)
{
    (void)state;
    park(NO_RETRY);
    rig_reload(&rig);
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY}));
    assert_int_equal(rig.last.incident.status, LETTER_RETRIED);
    assert_has(waiting_for(), "{'kind':'reconcile','step':'pay','asked':0");
    rig_settle(&rig);
    assert_has(waiting_for(), "'parked':true,'step':'pay','asked':3");
    assert_int_equal(rig.last.dead_letters.count, 1);
    assert_string_equal(rig_text(&rig, question(5)->key), ID "-pay-reconcile-6");
    assert_true(resolve("succeeded", NULL));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
}

static void test_reconcile__cancelling_a_parked_one_rolls_back_what_may_have_happened(void **state)
{
    (void)state;
    park(NO_RETRY UNDO);
    assert_true(rig_cancel(&rig, "enough"));
    assert_int_equal(rig.last.incident.status, LETTER_RESOLVED);
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "?pay ?pay(2) ?pay(3) pay.failed -pay");
    assert_string_equal(undone(), "[null,10]");
}

static void test_reconcile__a_parked_one_without_rollback_is_lost_when_it_is_cancelled(void **state)
{
    (void)state;
    park(NO_RETRY);
    assert_true(rig_cancel(&rig, "enough"));
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_int_equal(rig.last.dead_letters.count, 1);
    assert_string_equal(rig_text(&rig, rig.last.dead_letters.items[0].kind), "compensation");
    park(NO_RETRY);
    assert_true(
        rig_event(&rig, (struct event){.kind = EVENT_CANCEL, .cancel_rollback = CANCEL_LEAVES}));
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_int_equal(rig.last.dead_letters.count, 0);
}

/* --- rolling back while it asks --- */

static void test_reconcile__cancelling_finds_out_first(void **state)
{
    (void)state;
    start(SCENARIO(PAY(LOST, ANSWERS("[0,{\\'outcome\\':\\'succeeded\\',\\'output\\':7}]"),
                       RETRY UNDO) AFTER));
    assert_true(rig_wake(&rig));
    assert_true(rig_cancel(&rig, "enough"));
    assert_int_equal(rig.x->status, STATUS_COMPENSATING);
    assert_has(waiting_for(), "{'kind':'reconcile'");
    assert_false(may(ACTION_CANCEL));
    assert_false(rig_cancel(&rig, "again"));
    rig_reload(&rig);
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "?pay ?pay(2) pay -pay");
    assert_string_equal(undone(), "[7,10]");
}

static void test_reconcile__what_has_not_happened_is_not_tried_again_once_stopped(void **state)
{
    (void)state;
    start(SCENARIO(PAY(LOST, ANSWERS("[0,{\\'outcome\\':\\'not_happened\\'}]"), RETRY UNDO)));
    assert_true(rig_wake(&rig));
    assert_true(rig_cancel(&rig, "enough"));
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "?pay ?pay(2) pay.failed");
}

static void test_reconcile__what_stays_in_doubt_is_rolled_back_without_output(void **state)
{
    (void)state;
    start(SCENARIO(PAY(LOST, UNKNOWN, RETRY UNDO)));
    assert_true(rig_cancel(&rig, "enough"));
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "?pay ?pay(2) ?pay(3) pay.failed -pay");
    assert_string_equal(undone(), "[null,10]");
}

static void test_reconcile__a_worker_answers_while_it_is_rolled_back(void **state)
{
    (void)state;
    start(SCENARIO(PAY(LOST, "'bank.find'", NO_RETRY UNDO)));
    assert_true(rig_wake(&rig));
    assert_true(rig_cancel(&rig, "enough"));
    assert_has(waiting_for(), "'kind':'job'");
    rig_reload(&rig);
    assert_true(answer(ID "-pay-reconcile-1", "{'outcome':'succeeded','output':3}", NULL));
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_CANCELLED);
    assert_string_equal(rig_trace(&rig), "?pay pay -pay");
}

static void test_reconcile__the_deadline_finds_out_first(void **state)
{
    (void)state;
    rig_define(&rig, "{'code':'a','settings':{'timeout':'2s'},'steps':[" PAY(
                         LOST, ANSWERS("[0,{\\'outcome\\':\\'succeeded\\',\\'output\\':7}]"),
                         NO_RETRY UNDO) "]}");
    rig_start(&rig, "{'n':1}");
    assert_true(rig_wake(&rig));
    rig_pass(&rig, 2 * SECOND);
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_COMPENSATING);
    /* The budget of rolling back is as long, and ends it. */
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_FAILED);
    assert_has(error(), "'code':'timeout_execution'");
    assert_string_equal(rig_trace(&rig), "?pay pay.failed -pay.failed");
}

static void test_reconcile__a_deadline_that_holds_is_asked_anew_by_a_retry(void **state)
{
    (void)state;
    rig_define(&rig, "{'code':'a','onError':'hold','settings':{'timeout':'2s'},'steps':[" PAY(
                         LOST, ANSWERS("[0,{\\'outcome\\':\\'succeeded\\',\\'output\\':7}]"),
                         NO_RETRY) "]}");
    rig_start(&rig, "{'n':1}");
    assert_true(rig_wake(&rig));
    rig_pass(&rig, 2 * SECOND);
    assert_true(rig_wake(&rig));
    assert_has(waiting_for(), "{'kind':'incident'");
    assert_true(may(ACTION_SKIP));
    assert_true(rig_event(&rig, (struct event){.kind = EVENT_RETRY}));
    assert_has(waiting_for(), "{'kind':'reconcile'");
    rig_settle(&rig);
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(rig_trace(&rig), "?pay ?pay(2) pay");
}

static void test_reconcile__onerror_continue_passes_over_what_has_failed(void **state)
{
    (void)state;
    run(SCENARIO(PAY(LOST, ANSWERS("[{\\'outcome\\':\\'failed\\'}]"),
                     NO_RETRY ",'onError':'continue'") AFTER));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_has(rig_output(&rig, "after"), "'success':false");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_reconcile__succeeded_completes_the_step_with_the_output),
        CLAIM(test_reconcile__failed_is_a_business_error_that_is_not_tried_again),
        CLAIM(test_reconcile__not_happened_tries_again_with_the_same_key),
        CLAIM(test_reconcile__not_happened_without_an_attempt_left_has_failed),
        CLAIM(test_reconcile__anything_else_is_asked_again_after_every),
        CLAIM(test_reconcile__an_error_of_its_own_is_no_answer),
        CLAIM(test_reconcile__sees_the_error_the_input_and_no_result),
        CLAIM(test_reconcile__may_be_a_named_procedure_with_its_input),
        CLAIM(test_reconcile__sees_the_loop_that_its_step_is_in),
        CLAIM(test_reconcile__is_not_asked_about_other_failures),
        CLAIM(test_reconcile__each_attempt_in_doubt_has_its_own_questions),
        CLAIM(test_reconcile__comes_before_the_policy_of_a_command),
        CLAIM(test_reconcile__what_the_attempt_staged_is_applied_when_it_succeeded),
        CLAIM(test_reconcile__what_the_attempt_staged_is_gone_when_it_failed),
        CLAIM(test_reconcile__finished_commands_are_not_repeated_and_are_undone),
        CLAIM(test_reconcile__a_step_that_succeeded_so_is_rolled_back_like_any_other),
        CLAIM(test_reconcile__a_worker_may_be_in_doubt_and_another_asked),
        CLAIM(test_reconcile__a_worker_that_takes_too_long_has_not_answered),
        CLAIM(test_reconcile__after_max_it_is_parked_with_a_dead_letter),
        CLAIM(test_reconcile__an_operator_says_that_it_succeeded),
        CLAIM(test_reconcile__an_operator_says_that_it_failed),
        CLAIM(test_reconcile__an_operator_says_that_it_has_not_happened),
        CLAIM(test_reconcile__an_outcome_for_another_letter_is_refused),
        CLAIM(test_reconcile__a_retry_asks_anew_and_keys_count_on),
        CLAIM(test_reconcile__cancelling_a_parked_one_rolls_back_what_may_have_happened),
        CLAIM(test_reconcile__a_parked_one_without_rollback_is_lost_when_it_is_cancelled),
        CLAIM(test_reconcile__cancelling_finds_out_first),
        CLAIM(test_reconcile__what_has_not_happened_is_not_tried_again_once_stopped),
        CLAIM(test_reconcile__what_stays_in_doubt_is_rolled_back_without_output),
        CLAIM(test_reconcile__a_worker_answers_while_it_is_rolled_back),
        CLAIM(test_reconcile__the_deadline_finds_out_first),
        CLAIM(test_reconcile__a_deadline_that_holds_is_asked_anew_by_a_retry),
        CLAIM(test_reconcile__onerror_continue_passes_over_what_has_failed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
