/* test_trial.c - trials of processes with rollbacks, mocks, children and operators. */
#include "trial/case.h"

#include "engine/commit/search.h"
#include "value/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

/* --- the rig: a case whose scenario stands in it, and processes that it may start --- */

static const char *const processes[] = {
    "{'code':'add','input':[{'name':'a','type':'integer','required':true}],'steps':[{'code':'sum',"
    "'procedure':{'type':'compute.transform','data':{'sum':'=$.input.a + 1'}}}]}",
    "{'code':'slow','steps':[{'code':'ask','procedure':{'type':'wait.signal','signalType':'go'}},"
    "{'code':'rest','procedure':{'type':'wait.timer','duration':'3d'}},"
    "{'code':'done','procedure':{'type':'log','message':'slow is done'}}],'result':{'ok':true}}",
    "{'code':'broken','steps':[{'code':'fall','procedure':{'type':'compute.fail','code':'fell',"
    "'message':'it fell'}}]}",
};

struct rig {
    struct arena mem;
    struct {
        VEC_OF(const struct program *);
    } programs;
};

static struct value read_json(struct arena *mem, const char *quoted)
{
    struct str text = str_copy(mem, str_of(quoted));
    char *p = (char *)(uintptr_t)text.ptr;
    struct value v = value_absent();
    struct err err;

    for (size_t i = 0; i < text.len; i++)
        if (p[i] == '\'')
            p[i] = '"';
    if (!json_read(mem, text, &v, &err))
        fail_msg("%s: %s", quoted, err.message);
    return v;
}

static const struct program *compile(struct rig *rig, struct value definition)
{
    const struct program *program = NULL;
    struct findings findings = {0};

    define_compile_scenario(&rig->mem, define_env(&rig->mem), definition, 1, &findings, &program);
    for (size_t i = 0; i < findings.count; i++)
        if (!findings.items[i].is_warning)
            print_message("%.*s: %.*s\n", STR_ARG(findings.items[i].pointer),
                          STR_ARG(findings.items[i].message.text));
    assert_non_null(program);
    *VEC_ADD(&rig->mem, &rig->programs) = program;
    return program;
}

static const struct program *find_process(void *context, struct str code)
{
    struct rig *rig = context;

    for (size_t i = 0; i < ARRAY_SIZE(processes); i++) {
        struct value v = read_json(&rig->mem, processes[i]);
        if (str_eq(value_text(value_map_get_str(v, STR("code"))), code))
            return compile(rig, v);
    }
    return NULL;
}

static struct trial run(struct rig *rig, const char *text, const struct trial_world *world,
                        struct trial_problems *problems)
{
    struct findings findings = {0};
    struct trial trial = {0};
    struct trial_case c;
    struct err err;

    if (!case_read(&rig->mem, read_json(&rig->mem, text), &c, &err)) {
        *VEC_ADD(&rig->mem, problems) = sentence_copy(&rig->mem, err_sentence(&err));
        return trial;
    }
    case_run(&rig->mem, &c, compile(rig, c.definition), world, &trial, &findings, problems);
    return trial;
}

static void rig_end(struct rig *rig)
{
    for (size_t i = 0; i < rig->programs.count; i++)
        program_release(rig->programs.items[i]);
    arena_fini(&rig->mem);
}

/* A case must pass, or have this for its first problem. */
static void check(const char *text, const char *problem)
{
    struct rig rig = {0};
    struct trial_world world = {.context = &rig, .process = find_process};
    struct trial_problems problems = {0};

    arena_init(&rig.mem);
    (void)run(&rig, text, &world, &problems);
    if (problem == NULL && problems.count > 0)
        fail_msg("%s:\n%.*s", text, STR_ARG(problems.items[0].text));
    if (problem != NULL &&
        (problems.count == 0 || !str_eq(problems.items[0].text, str_of(problem))))
        fail_msg("%s:\nfound '%.*s', not '%s'", text,
                 STR_ARG(problems.count > 0 ? problems.items[0].text : STR_NONE), problem);
    rig_end(&rig);
}

#define STEP(code, procedure) "{'code':'" code "','procedure':" procedure "}"
#define LOG(message) "{'type':'log','message':'" message "'}"

/* --- rolling back --- */

static void test_trial__rolls_back_what_was_done_days_ago(void **state)
{
    (void)state;
    check(
        "{'scenario':{'code':'p','steps':["
        "{'code':'reserve','procedure':{'type':'record.create','object':'seat','id':'A7',"
        "'data':{'free':false}},'rollback':{'type':'record.delete','object':'seat','id':'A7'}}," //
        STEP("ask",
             "{'type':'wait.signal','signalType':'paid','timeout':'5d'}") "]},"
                                                                          "'expect':{'status':'"
                                                                          "failed','error':{'code':"
                                                                          "'timeout_signal','"
                                                                          "compensation':"
                                                                          "{'compensated':['"
                                                                          "reserve'],'failed':[]}},"
                                                                          "'duration':'5d',"
                                                                          "'steps':['reserve','ask "
                                                                          "failed','reserve "
                                                                          "rollback'],'records':{'"
                                                                          "seat':{'A7':null}},"
                                                                          "'commands':['record."
                                                                          "create','wait.signal','"
                                                                          "record.delete']}}",
        NULL);
}

static void test_trial__reads_a_long_history_back_in_pages(void **state)
{
    (void)state;
    check("{'scenario':{'code':'p','steps':[{'code':'each','loop':{'for':'=lists.range(100)',"
          "'steps':[{'code':'put','procedure':{'type':'compute.transform','data':'$.loop.index'},"
          "'rollback':{'type':'compute.set','values':{'n':'=has($.variables.n) ? "
          "$.variables.n + 1 : 1'}}},"                                 //
          STEP("rest", "{'type':'wait.timer','duration':'1h'}") "]}}," //
          STEP("fall",
               "{'type':'compute.fail','code':'fell','message':'x'}") "]},"
                                                                      "'expect':{'status':'failed',"
                                                                      "'duration':'100h','context':"
                                                                      "{'variables':{'n':100}}}}",
          NULL);
}

static void test_trial__tells_of_a_rollback_that_failed(void **state)
{
    (void)state;
    check("{'scenario':{'code':'p','steps':["
          "{'code':'a','procedure':" LOG("a") ",'rollback':{'type':'compute.fail','code':'stuck',"
                                              "'message':'x'}}," STEP(
                                                  "fall",
                                                  "{'type':'compute.fail','code':'fell','message':'"
                                                  "x'}") "]},'expect':{'status':'failed','steps':['"
                                                         "a','fall failed','a rollback failed'],"
                                                         "'deadLetters':[{'kind':'compensation','"
                                                         "step':'a','cause':{'code':'stuck'}}]}}",
          NULL);
}

/* --- mocks --- */

#define EXTERNAL                                                                                   \
    "{'scenario':{'code':'p','steps':[{'code':'sync','procedure':'crm.sync',"                      \
    "'input':{'id':7},'retry':{'maxAttempts':3,'delay':'10s','jitter':'none'}},"                   \
    "{'code':'note','procedure':{'type':'log','message':'{{ steps.sync.name }}'}}]},"

static void test_trial__answers_for_external_procedures(void **state)
{
    (void)state;
    check(EXTERNAL "'mocks':{'procedures':{'crm.sync':{'name':'Ada'}}},"
                   "'expect':{'status':'completed','logs':['Ada'],'steps':['sync','note'],"
                   "'commands':['log'],'calls':{'crm.sync':[{'id':7}]}}}",
          NULL);
    check(EXTERNAL "'mocks':{'procedures':{'crm.sync':{'output':{'name':'Ada'}}}},"
                   "'expect':{'logs':['Ada']}}",
          NULL);
}

static void test_trial__a_mock_may_fail_before_it_answers(void **state)
{
    (void)state;
    check(EXTERNAL "'mocks':{'procedures':{'crm.sync':{'answers':[{'error':{'code':'external_down',"
                   "'message':'x','class':'transient'}},{'name':'Bo'}]}}},"
                   "'expect':{'status':'completed','logs':['Bo'],'duration':'10s',"
                   "'calls':{'crm.sync':2}}}",
          NULL);
    check(EXTERNAL "'mocks':{'procedures':{'crm.sync':{'error':{'code':'refused','message':'x'}}}},"
                   "'expect':{'status':'failed','error':{'code':'refused'}}}",
          NULL);
}

static void test_trial__says_which_worker_is_missing(void **state)
{
    (void)state;
    check(EXTERNAL "'expect':{'status':'waiting','waitingFor':{'kind':'job'},'duration':'0s'}}",
          NULL);
    check(EXTERNAL "'cancel':{'after':'1d'},'expect':{'status':'cancelled'}}", NULL);
    check(EXTERNAL "'expect':{'status':'completed'}}",
          "status: expected \"completed\", is \"waiting\"");
}

#define ASK STEP("ask", "{'type':'wait.signal','signalType':'x'}")

static void test_trial__what_just_waits_is_left_waiting(void **state)
{
    (void)state;
    check("{'scenario':{'code':'p','steps':[" ASK "]},"
          "'expect':{'status':'waiting','duration':'0s','waitingFor':{'kind':'signal'}}}",
          NULL);
    check("{'scenario':{'code':'p','settings':{'timeout':'20d'},'steps':[" ASK "]},"
          "'expect':{'status':'failed','duration':'20d','error':{'code':'timeout_execution'}}}",
          NULL);
    /* Whatever happens later finds that it has ended. */
    check("{'scenario':{'code':'p','steps':[" ASK "]},'cancel':{'after':'40d'},"
          "'expect':{'status':'failed','duration':'30d'}}",
          "1 action of the operator had no occasion");
    check(
        "{'scenario':{'code':'p','steps':[" STEP(
            "rest",
            "{'type':'wait.timer','duration':'40d'}") "]},'expect':{'status':'failed','duration':'"
                                                      "30d','error':{'code':'timeout_execution'}}}",
        NULL);
}

#define LOCAL                                                                                      \
    "{'scenario':{'code':'p','procedures':{'price':{'input':[{'name':'n','type':'integer',"        \
    "'required':true}],'commands':[{'type':'compute.transform','data':{'sum':'=$.input.n * "       \
    "2'}}]}},"

static void test_trial__a_mock_stands_in_for_a_procedure(void **state)
{
    (void)state;
    check(LOCAL
          "'steps':[{'code':'one','procedure':'price','input':{'n':3}},"
          "{'code':'two','procedure':[{'type':'flow.call','procedure':'price','input':{'n':4},"
          "'as':'p'},{'type':'compute.transform','data':'$.p.sum'}]}]},"
          "'mocks':{'procedures':{'price':{'answers':[{'sum':1},{'sum':2}]}}},"
          "'expect':{'status':'completed','result':2,'context':{'steps':{'one':{'sum':1}}},"
          "'commands':['flow.call','compute.transform'],"
          "'calls':{'price':[{'n':3},{'n':4}]}}}",
          NULL);
    /* Without it the procedure itself runs. */
    check(LOCAL "'steps':[{'code':'one','procedure':'price','input':{'n':3}}]},"
                "'expect':{'result':{'sum':6},'commands':['compute.transform']}}",
          NULL);
}

static void test_trial__what_a_mock_is_given_is_checked(void **state)
{
    (void)state;
    check(LOCAL "'steps':[{'code':'one','procedure':'price','input':{'n':'$.input.n'}}]},"
                "'input':{'n':'many'},"
                "'mocks':{'procedures':{'price':1}},"
                "'expect':{'status':'failed','error':{'code':'validation_input'},"
                "'calls':{'price':0}}}",
          NULL);
}

static void test_trial__mocks_answer_in_rollbacks_and_reminders(void **state)
{
    (void)state;
    check(LOCAL "'steps':[{'code':'a','procedure':" LOG(
              "a") ",'rollback':{'procedure':'price',"
                   "'input':{'n':1}}},{'code':'ask','procedure':{'type':'wait.signal',"
                   "'signalType':'x','timeout':'5h','reminder':{'every':'2h','procedure':'price',"
                   "'input':{'n':'$.reminder.index'}}}}]},'mocks':{'procedures':{'price':9}},"
                   "'expect':{'status':'failed','steps':['a','ask reminder','ask reminder',"
                   "'ask failed','a rollback'],'calls':{'price':[{'n':1},{'n':2},{'n':1}]}}}",
          NULL);
}

static void test_trial__a_retried_attempt_asks_again(void **state)
{
    (void)state;
    check(LOCAL "'steps':[{'code':'one','procedure':'price','input':{'n':3},'retry':"
                "{'maxAttempts':2,'delay':'1m','jitter':'none'}}]},'mocks':{'procedures':{'price':"
                "{'answers':[{'error':{'code':'x_down','message':'x','class':'transient'}},5]}}},"
                "'expect':{'status':'completed','result':5,'duration':'1m','calls':{'price':2}}}",
          NULL);
}

static void test_trial__a_step_that_stops_counts_its_commands_once(void **state)
{
    (void)state;
    check("{'scenario':{'code':'p','steps':[{'code':'s','procedure':["
          "{'type':'log','message':'before'},"
          "{'type':'flow.try','commands':[{'type':'flow.call','procedure':'crm.sync','as':'r'},"
          "{'type':'compute.transform','data':'$.r'}],'catch':[{'type':'log','message':'c'}]},"
          "{'type':'log','message':'after'}]}]},'mocks':{'procedures':{'crm.sync':1}},"
          "'expect':{'logs':['before','after'],'commands':['log','flow.try','flow.call',"
          "'compute.transform','log']}}",
          NULL);
}

/* --- processes that it starts --- */

#define STARTS(command) "{'scenario':{'code':'p','steps':[" STEP("go", command) "]},"

static void test_trial__waits_for_a_process_that_it_starts(void **state)
{
    (void)state;
    check(
        STARTS(
            "{'type':'flow.start','code':'add','input':{'a':4},'wait':true}") "'expect':{'status':'"
                                                                              "completed','result':"
                                                                              "{'sum':5},'duration'"
                                                                              ":'0s',"
                                                                              "'children':[{'code':"
                                                                              "'add','status':'"
                                                                              "completed','input':{"
                                                                              "'a':4},'steps':['"
                                                                              "sum']}]}}",
        NULL);
    check(STARTS("{'type':'flow.start','code':'slow','wait':true}") "'signals':[{'type':'go','to':'"
                                                                    "slow','after':'2h'}],"
                                                                    "'expect':{'status':'completed'"
                                                                    ",'result':{'ok':true},'"
                                                                    "duration':'74h',"
                                                                    "'logs':['slow is done']}}",
          NULL);
}

static void test_trial__the_failure_of_a_child_is_its_own(void **state)
{
    (void)state;
    check(STARTS("{'type':'flow.start','code':'broken','wait':true}") "'expect':{'status':'failed',"
                                                                      "'error':{'code':'fell'}}}",
          NULL);
    check(
        STARTS(
            "{'type':'flow.start','code':'nowhere'}") "'expect':{'status':'failed','error':{'code':"
                                                      "'not_found_process'},'children':[]}}",
        NULL);
}

static void test_trial__does_not_wait_unless_it_is_told_to(void **state)
{
    (void)state;
    check(
        STARTS(
            "{'type':'flow.start','code':'slow'}") "'signals':[{'type':'go','to':'slow'}],'expect':"
                                                   "{'status':'completed','duration':'0s',"
                                                   "'children':[{'status':'completed','result':{'"
                                                   "ok':true}}]}}",
        NULL);
}

static void test_trial__a_mock_stands_in_for_a_process(void **state)
{
    (void)state;
    check(
        STARTS(
            "{'type':'flow.start','code':'ship','input':{'x':1},'wait':true}") "'mocks':{'"
                                                                               "processes':{'ship':"
                                                                               "{'number':'$.not "
                                                                               "an expression'}}},"
                                                                               "'expect':{'result':"
                                                                               "{'number':'$.not "
                                                                               "an expression'},"
                                                                               "'children':[{'code'"
                                                                               ":'ship','input':{'"
                                                                               "x':1}}]}}",
        NULL);
    check(STARTS("{'type':'flow.start','code':'ship','wait':true}") "'mocks':{'processes':{'ship':{"
                                                                    "'error':{'code':'sunk','"
                                                                    "message':'deep'}}}},"
                                                                    "'expect':{'status':'failed','"
                                                                    "error':{'code':'sunk','"
                                                                    "message':'deep'}}}",
          NULL);
}

/* The findings of a signal that is refused stand in the memory of the execution, which is freed. */
static void test_trial__a_refusal_outlives_the_execution(void **state)
{
    (void)state;
    check("{'scenario':{'code':'p','steps':[{'code':'ask','procedure':{'type':'wait.signal',"
          "'signalType':'go','form':[{'name':'amount','type':'integer','required':true}]}}]},"
          "'signals':[{'type':'go','payload':{'amount':'many'},'refused':{'code':'nothing'}},"
          "{'type':'go','payload':{'amount':1}}],'expect':{'status':'completed'}}",
          "the signal 'go' was refused in other words: the payload does not fit the form: amount "
          "must be a whole number, not a text");
}

static void test_trial__who_is_cancelled_cancels_what_it_waits_for(void **state)
{
    (void)state;
    check(STARTS("{'type':'flow.start','code':'slow','wait':true}") "'cancel':{'after':'1h'},"
                                                                    "'expect':{'status':'cancelled'"
                                                                    ",'children':[{'code':'slow','"
                                                                    "status':'cancelled'}]}}",
          NULL);
}

static void test_trial__a_key_is_held_by_one(void **state)
{
    (void)state;
    check("{'scenario':{'code':'p','steps':["
          "{'code':'a','procedure':{'type':'flow.start','code':'slow','key':'k'}},"
          "{'code':'b','procedure':{'type':'wait.timer','duration':'1s'}},"
          "{'code':'c','procedure':{'type':'flow.start','code':'slow','key':'k'}}]},"
          "'expect':{'status':'failed','error':{'code':'conflict_key'},'children':[{'key':'k'}]}}",
          NULL);
}

/* --- operators --- */

#define HELD                                                                                       \
    "{'scenario':{'code':'p','input':[{'name':'ok','type':'boolean','default':false}],"            \
    "'onError':'hold','steps':[" STEP(                                                             \
        "a",                                                                                       \
        LOG("a")) ","                                                                              \
                  "{'code':'b','procedure':{'type':'flow.if','condition':'$.input.ok','then':"     \
                  "[" LOG(                                                                         \
                      "fine") "],'else':[{'type':'compute.fail','code':'bad','message':'x'}]}}]},"

static void test_trial__an_operator_mends_it(void **state)
{
    (void)state;
    check(HELD "'expect':{'status':'waiting','waitingFor':{'kind':'incident','step':'b'},"
               "'deadLetters':[{'kind':'incident','step':'b','cause':{'code':'bad'}}]}}",
          NULL);
    check(HELD "'operator':[{'action':'retry','input':{'ok':true}}],"
               "'expect':{'status':'completed','logs':['a','fine'],'steps':['a','b failed','b']}}",
          NULL);
    check(HELD "'operator':[{'action':'skip','output':{'n':1},'after':'2d'}],"
               "'expect':{'status':'completed','result':{'n':1},'duration':'2d'}}",
          NULL);
    check(HELD "'operator':[{'action':'retry'},{'action':'cancel','reason':'enough'}],"
               "'expect':{'status':'cancelled','steps':['a','b failed','b failed']}}",
          NULL);
}

static void test_trial__an_operator_tries_a_failure_again(void **state)
{
    (void)state;
    check("{'scenario':{'code':'p','onError':'fail_fast','input':[{'name':'n','type':'integer'}],"
          "'steps':[{'code':'a','procedure':{'type':'compute.validate','rules':[{'expr':"
          "'$.input.n > 0','code':'small','message':'x'}]}}]},'input':{'n':0},"
          "'operator':[{'action':'retry','input':{'n':1}}],'expect':{'status':'completed'}}",
          NULL);
}

/* --- limits, and what lies outside --- */

static bool is_late(void *context)
{
    int *left = context;

    return (*left)-- == 0;
}

#define ENDLESS                                                                                    \
    "{'scenario':{'code':'p','steps':[{'code':'each','loop':{'while':'true','max':100000,"         \
    "'steps':[" STEP("rest", "{'type':'wait.timer','duration':'1s'}") "]}}]},'expect':{}}"

static void test_trial__is_cut_when_it_goes_on_for_too_long(void **state)
{
    struct rig rig = {0};
    struct trial_problems problems = {0};
    int left = 10;
    struct trial_world world = {.context = &left, .is_late = is_late};

    (void)state;
    arena_init(&rig.mem);
    assert_int_equal(run(&rig, ENDLESS, &world, &problems).stop, TRIAL_STOPPED_TIME);
    world = (struct trial_world){.memory_max = rig.mem.held_bytes + (1 << 20)};
    assert_int_equal(run(&rig, ENDLESS, &world, &problems).stop, TRIAL_STOPPED_MEMORY);
    assert_int_equal(run(&rig, ENDLESS, NULL, &problems).stop, TRIAL_STOPPED_EVENTS);
    rig_end(&rig);
}

/* A world with one record. */
static bool find_record(void *context, struct arena *mem, struct str object, struct str id,
                        struct record_read *out, struct err *err)
{
    struct rig *rig = context;

    (void)mem;
    (void)err;
    if (str_eq(object, STR("stock")) && str_eq(id, STR("bolt"))) {
        out->version = 4;
        out->data = read_json(&rig->mem, "{'left':10}");
    }
    return true;
}

static bool find_all(void *context, struct arena *mem, const struct search *search,
                     struct search_found *out, struct err *err)
{
    (void)context;
    (void)err;
    /* The trial has changed the only one, and hides it. */
    assert_true(search->hidden.count > 0 && str_eq(search->hidden.items[0], STR("bolt")));
    out->hidden = ARENA_ARRAY(mem, 1, struct search_hidden);
    out->hidden[out->hidden_count++] = (struct search_hidden){.id = STR("bolt"), .row = 1};
    return true;
}

static void test_trial__writes_lie_over_the_records_of_the_world(void **state)
{
    struct rig rig = {0};
    struct trial_world world = {.context = &rig, .record = find_record, .search = find_all};
    struct trial_problems problems = {0};

    (void)state;
    arena_init(&rig.mem);
    (void)run(&rig,
              "{'scenario':{'code':'p','steps':["
              "{'code':'take','procedure':{'type':'record.update','object':'stock','id':'bolt',"
              "'data':{'left':7}}},"
              "{'code':'new','procedure':{'type':'record.create','object':'stock','id':'nut',"
              "'data':{'left':1}}},{'code':'rest','procedure':{'type':'wait.timer',"
              "'duration':'1s'}},{'code':'all','procedure':{'type':'record.query',"
              "'object':'stock'}}],'result':'=$.steps.all.items.map(i, string(i.left) + \\'@\\' + "
              "string(i.version))'},'expect':{'result':['7@5','1@1']}}",
              &world, &problems);
    if (problems.count > 0)
        fail_msg("%.*s", STR_ARG(problems.items[0].text));
    rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trial__rolls_back_what_was_done_days_ago),
        cmocka_unit_test(test_trial__reads_a_long_history_back_in_pages),
        cmocka_unit_test(test_trial__tells_of_a_rollback_that_failed),
        cmocka_unit_test(test_trial__answers_for_external_procedures),
        cmocka_unit_test(test_trial__a_mock_may_fail_before_it_answers),
        cmocka_unit_test(test_trial__says_which_worker_is_missing),
        cmocka_unit_test(test_trial__what_just_waits_is_left_waiting),
        cmocka_unit_test(test_trial__a_mock_stands_in_for_a_procedure),
        cmocka_unit_test(test_trial__what_a_mock_is_given_is_checked),
        cmocka_unit_test(test_trial__mocks_answer_in_rollbacks_and_reminders),
        cmocka_unit_test(test_trial__a_retried_attempt_asks_again),
        cmocka_unit_test(test_trial__a_step_that_stops_counts_its_commands_once),
        cmocka_unit_test(test_trial__waits_for_a_process_that_it_starts),
        cmocka_unit_test(test_trial__the_failure_of_a_child_is_its_own),
        cmocka_unit_test(test_trial__does_not_wait_unless_it_is_told_to),
        cmocka_unit_test(test_trial__a_mock_stands_in_for_a_process),
        cmocka_unit_test(test_trial__a_refusal_outlives_the_execution),
        cmocka_unit_test(test_trial__who_is_cancelled_cancels_what_it_waits_for),
        cmocka_unit_test(test_trial__a_key_is_held_by_one),
        cmocka_unit_test(test_trial__an_operator_mends_it),
        cmocka_unit_test(test_trial__an_operator_tries_a_failure_again),
        cmocka_unit_test(test_trial__is_cut_when_it_goes_on_for_too_long),
        cmocka_unit_test(test_trial__writes_lie_over_the_records_of_the_world),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
