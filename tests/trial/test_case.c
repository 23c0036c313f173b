/* test_case.c - declarative tests: what they take, and what they find. */
#include "trial/case.h"

#include "value/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define APPROVAL                                                                                   \
    "'scenario':{'code':'p','input':[{'name':'n','type':'integer','default':1}],'steps':["         \
    "{'code':'ask','procedure':{'type':'wait.signal','signalType':['yes','no'],'timeout':'2d',"    \
    "'onTimeout':'continue'}},"                                                                    \
    "{'code':'keep','when':'!steps.ask.timedOut','procedure':{'type':'record.create',"             \
    "'object':'doc','id':'d1','data':{'n':'$.input.n','said':'$.steps.ask.type'}}},"               \
    "{'code':'say','procedure':[{'type':'log','message':'done'},"                                  \
    "{'type':'compute.transform','data':{'said':'$.steps.ask.type','at':'$.now'}}]}]}"

/* A case, and the first problem that is found; empty when it passes. */
static const struct {
    const char *name, *text, *problem;
} cases[] = {
    {"status and steps",
     "'signals':[{'type':'yes'}],'expect':{'status':'completed',"
     "'steps':['ask','keep','say']}",
     ""},
    {"signals in short", "'signals':{'yes':null},'expect':{'status':'completed'}", ""},
    {"mocks hold signals too",
     "'mocks':{'signals':{'no':{'x':1}}},"
     "'expect':{'context':{'steps':{'ask':{'payload':{'x':1}}}}}",
     ""},
    {"a signal has its time",
     "'signals':[{'type':'yes','after':'5h'}],'expect':{'duration':'5h',"
     "'result':{'said':'yes','at':'2026-01-01T05:00:00Z'}}",
     ""},
    {"time passes by itself", "'expect':{'duration':'48h','steps':['ask','keep skipped','say']}",
     ""},
    {"the clock can be set",
     "'now':'2030-02-03T00:00:00Z','signals':[{'type':'no'}],"
     "'expect':{'result':{'said':'no','at':'2030-02-03T00:00:00Z'}}",
     ""},
    {"records are written",
     "'input':{'n':7},'signals':[{'type':'yes'}],"
     "'expect':{'records':{'doc':{'d1':{'n':7},'d2':null}}}",
     ""},
    {"records exist before",
     "'records':{'doc':{'d1':{'n':1}}},'signals':[{'type':'yes'}],"
     "'expect':{'status':'failed','error':{'code':'conflict_exists'}}",
     ""},
    {"log lines", "'expect':{'logs':['done']}", ""},
    {"a cancellation", "'cancel':{'after':'1h'},'expect':{'status':'cancelled','steps':[]}", ""},
    {"where it waits", "'expect':{'status':'waiting'}",
     "status: expected \"waiting\", is \"completed\""},
    {"a result is equal, not just alike",
     "'signals':[{'type':'yes'}],'expect':{'result':{'said':'yes'}}",
     "result.at: expected nothing, is \"2026-01-01T00:00:00Z\""},
    {"steps by their rows",
     "'signals':[{'type':'yes','after':'1h'}],'expect':{'steps':[{'step':'ask','output':{'type':"
     "'yes'}},'keep',{'step':'say','status':'completed'}]}",
     ""},
    {"steps by their codes",
     "'expect':{'steps':{'ask':'completed','keep':'skipped','say':{'attempt':1},'none':null}}", ""},
    {"another row",
     "'signals':[{'type':'yes'}],'expect':{'steps':['ask',{'step':'keep','output':{'n':2}},'say']}",
     "steps[1].output.n: expected 2, is 1"},
    {"another status of a step", "'expect':{'steps':{'keep':'completed'}}",
     "steps.keep: expected \"completed\", is \"skipped\""},
    {"a step that never ran", "'expect':{'steps':{'none':'skipped'}}",
     "steps.none: expected \"skipped\", is nothing"},
    {"a step that ran after all", "'expect':{'steps':{'ask':null}}",
     "steps.ask: expected null, is \"completed\""},
    {"other steps", "'signals':[{'type':'yes'}],'expect':{'steps':['ask','say']}",
     "steps: expected [\"ask\",\"say\"],\n    but they are [\"ask\",\"keep\",\"say\"]"},
    {"another duration", "'expect':{'duration':'1h'}", "duration: expected \"1h\", is \"2d\""},
    {"another record", "'signals':[{'type':'yes'}],'expect':{'records':{'doc':{'d1':{'n':2}}}}",
     "records.doc.d1.n: expected 2, is 1"},
    {"a signal too many",
     "'signals':[{'type':'yes'},{'type':'yes'}],'expect':{'status':'completed'}",
     "the signal 'yes' was never waited for"},
    {"a signal that comes too late",
     "'signals':[{'type':'yes','after':'3d'}],'expect':{'status':'completed'}",
     "the signal 'yes' comes too late: the execution was completed before; if that is meant, it "
     "says \"refused\": true"},
    {"one that is meant to",
     "'signals':[{'type':'yes','after':'3d','refused':true}],'expect':{'status':'completed',"
     "'duration':'2d'}",
     ""},
    {"with what is said",
     "'signals':[{'type':'yes','after':'3d','refused':{'message':'is completed'}}],'expect':{}",
     ""},
    {"or something else",
     "'signals':[{'type':'yes','after':'3d','refused':{'message':'cancelled'}}],'expect':{}",
     "the signal 'yes' was refused in other words: the execution is completed"},
    {"one behind the end, in turn",
     "'signals':[{'type':'yes'},{'type':'yes','refused':true}],'expect':{'status':'completed'}",
     ""},
    {"one that is received all the same",
     "'signals':[{'type':'yes','refused':true}],'expect':{'status':'completed'}",
     "the signal 'yes' was to be refused, but it was received"},
    {"refused is true or an object", "'signals':[{'type':'yes','refused':false}],'expect':{}",
     "'refused' is true, or what is said then: {\"message\"?, \"pointer\"?, \"code\"?}"},
    {"a start that is refused", "'input':{'n':'x'},'expect':{'refused':true}", ""},
    {"because of a field", "'input':{'n':'x'},'expect':{'refused':{'pointer':'/input/n'}}", ""},
    {"because of another field", "'input':{'n':'x'},'expect':{'refused':{'pointer':'/m'}}",
     "the start was refused in other words: the input is not what 'p' takes"},
    {"a start that is taken", "'signals':[{'type':'no'}],'expect':{'refused':true}",
     "the start was to be refused, but it was taken: it is completed"},
    {"nothing comes of a refused start", "'expect':{'refused':true,'status':'completed'}",
     "'refused' stands alone in 'expect': nothing else comes of a start that is refused"},
    {"no expectation", "'input':{}",
     "there is no 'expect': a test says there what must come of it, such as \"expect\": "
     "{\"status\": \"completed\"}"},
    {"input that does not fit", "'input':{'n':'x'},'expect':{}", "the input is not what 'p' takes"},
    {"unknown field", "'signal':[],'expect':{}",
     "there is no field 'signal' here; did you mean 'signals'?"},
    {"unknown expectation", "'expect':{'outcome':'completed'}",
     "there is no field 'outcome' here; there are: status result error waitingFor steps commands "
     "context records logs messages children deadLetters calls duration refused"},
    {"commands in the order in which they ran",
     "'signals':[{'type':'yes'}],'expect':{'commands':['wait.signal','record.create','log',"
     "'compute.transform']}",
     ""},
    {"other commands", "'expect':{'commands':['log']}",
     "commands: expected [\"log\"],\n    but they are [\"wait.signal\",\"log\","
     "\"compute.transform\"]"},
    {"a mock of nothing", "'mocks':{'procedures':{'crm.sync':1}},'expect':{}",
     "nothing calls a procedure 'crm.sync'"},
    {"an operator without an occasion", "'operator':[{'action':'retry'}],'expect':{}",
     "1 action of the operator had no occasion"},
    {"an action that there is not", "'operator':[{'action':'again'}],'expect':{}",
     "an operator's action is {\"action\": \"retry\", \"skip\", \"resolve\" or \"cancel\", "
     "\"after\"?, ...}"},
    {"an error without a shape", "'mocks':{'procedures':{'x.y':{'error':'down'}}},'expect':{}",
     "the error of the mock 'x.y' is {\"code\", \"message\", \"class\"?}"},
    {"a class that there is not",
     "'mocks':{'procedures':{'x.y':{'answers':[{'error':{'class':'bad'}}]}}},'expect':{}",
     "the class of an error is business, transient or indeterminate"},
    {"a bad time", "'signals':[{'type':'yes','after':'soon'}],'expect':{}",
     "'after' must be a duration such as \"30s\" or \"7d\""},
};

/* The same of a scenario that asks for tasks: one it waits for, one it does not. */
#define TASKS                                                                                      \
    "'scenario':{'code':'p','steps':[{'code':'made','procedure':{'type':'task.create','title':"    \
    "'weld','due_at':'2026-02-01T00:00:00Z'}},{'code':'work','procedure':{'type':'task.create',"   \
    "'title':'paint','depends_on':['=$.steps.made.output.id'],'wait':true,'timeout':'3d',"         \
    "'onTimeout':'continue'}},{'code':'last','procedure':{'type':'compute.transform','data':["     \
    "'$.steps.made.output.status','$.steps.made.output.due_at','$.steps.work.output.status',"      \
    "'$.steps.work.output.result','$.steps.work.output.timedOut']}}]}"

static const struct {
    const char *name, *text, *problem;
} task_cases[] = {
    {"a task that is done",
     "'mocks':{'tasks':{'work':{'result':{'n':1}}}},'expect':{'duration':'0s','result':["
     "'available','2026-02-01T00:00:00Z','done',{'n':1},false],'calls':{'task work':1}}",
     ""},
    {"a task that is canceled",
     "'mocks':{'tasks':{'work':{'status':'canceled'}}},'expect':{'result':["
     "'available','2026-02-01T00:00:00Z','canceled',null,false]}",
     ""},
    {"a task that is late",
     "'expect':{'duration':'72h','result':['available','2026-02-01T00:00:00Z','canceled',null,"
     "true]}",
     ""},
    {"a task that the planner refuses",
     "'mocks':{'tasks':{'made':{'error':{'code':'validation_task','message':'no'}}}},'expect':{"
     "'status':'failed','error':{'code':'validation_task'}}",
     ""},
    {"a task of no step", "'mocks':{'tasks':{'wrk':{}}},'expect':{}",
     "no step 'wrk' asks for a task; did you mean 'work'?"},
};

static struct value read_case(struct arena *mem, const char *scenario, const char *rest)
{
    struct str text = str_printf(mem, "{%s,%s}", scenario, rest);
    char *p = (char *)(uintptr_t)text.ptr;
    struct value v = value_absent();
    struct err err;

    for (size_t i = 0; i < text.len; i++)
        if (p[i] == '\'')
            p[i] = '"';
    if (!json_read(mem, text, &v, &err))
        fail_msg("%s: %s", rest, err.message);
    return v;
}

/* The first problem of a case. */
static struct str first_problem(struct arena *mem, const char *scenario, const char *text)
{
    struct trial_problems problems = {0};
    const struct program *program = NULL;
    struct findings findings = {0};
    struct trial_case c;
    struct trial trial;
    struct err err;

    if (!case_read(mem, read_case(mem, scenario, text), &c, &err))
        return str_copy(mem, str_of(err.message));
    define_compile_scenario(mem, define_env(mem), c.definition, 1, &findings, &program);
    assert_non_null(program);
    case_run(mem, &c, program, NULL, &trial, &findings, &problems);
    program_release(program);
    return problems.count > 0 ? problems.items[0].text : STR_NONE;
}

static void test_case__finds_what_is_not_as_expected(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct arena mem;
        struct str problem;

        arena_init(&mem);
        problem = first_problem(&mem, APPROVAL, cases[i].text);
        if (!str_eq(problem, str_of(cases[i].problem)))
            fail_msg("%s: found '%.*s', not '%s'", cases[i].name, STR_ARG(problem),
                     cases[i].problem);
        arena_fini(&mem);
    }
}

static void test_case__answers_for_the_planner(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(task_cases); i++) {
        struct arena mem;
        struct str problem;

        arena_init(&mem);
        problem = first_problem(&mem, TASKS, task_cases[i].text);
        if (!str_eq(problem, str_of(task_cases[i].problem)))
            fail_msg("%s: found '%.*s', not '%s'", task_cases[i].name, STR_ARG(problem),
                     task_cases[i].problem);
        arena_fini(&mem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_case__finds_what_is_not_as_expected),
        cmocka_unit_test(test_case__answers_for_the_planner),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
