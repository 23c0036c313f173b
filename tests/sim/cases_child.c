/* cases_child.c - named cases about executions that others start; see cases.h. */
#include "sim/cases.h"

#define WAIT "{'code':'w','procedure':{'type':'wait.signal','signalType':'go'}}"
#define START(code, more)                                                                          \
    "{'code':'" code "','procedure':{'type':'flow.start','code':'kid'" more "}}"

static struct uuid find_by_code(struct str code)
{
    for (size_t i = 0; i < sim.disk.executions.count; i++)
        if (str_eq(sim.disk.executions.items[i]->s.code, code))
            return sim.disk.executions.items[i]->s.id;
    sim_fail(&sim, "there is no execution of %.*s", STR_ARG(code));
}

#define JOINS ",'settings':{'onKeyConflict':'join'}"

/* Three rounds that begin at once start a child with the same key. */
#define THREE_AT_ONCE                                                                              \
    "{'code':'l','loop':{'for':[1,2,3],'max':9,'concurrency':3,'onError':'continue','steps':"      \
    "[" START("s", ",'key':'one'") "]}}"

void case_children_of_one_key(void)
{
    struct uuid id;

    case_begin();
    case_define("kid", WAIT, "");
    case_define("p", THREE_AT_ONCE, "");
    id = case_started(case_start("p", "{}", 0));
    CLAIM(case_status(id) == STATUS_COMPLETED);
    CLAIM(sim.disk.children == 1);
    CLAIM(str_find(case_disk(id)->s.result_json, STR("conflict_key"), 0) > 0);
    case_end();

    case_begin();
    case_define("kid", WAIT, JOINS);
    case_define("p", THREE_AT_ONCE, "");
    id = case_started(case_start("p", "{}", 0));
    CLAIM(case_status(id) == STATUS_COMPLETED);
    CLAIM(sim.disk.children == 1);
    CLAIM(str_find(case_disk(id)->s.result_json, STR("conflict_key"), 0) < 0);
    case_end();
}

/* A child with a key, for a branch that is left in the turn that was to start it. */
#define QUICK(code) "{'code':'" code "','procedure':{'type':'compute.transform','data':1}}"
#define LEFT_AT_ONCE                                                                               \
    "{'code':'any','parallel':{'join':'any','branches':[[" START(                                  \
        "s", ",'key':'one','wait':true") "],[" QUICK("a") "," QUICK("b") "," QUICK("c") "]]}}"
/* Another with that key: behind it; or beside it, and before it is left. */
#define BEHIND(more) LEFT_AT_ONCE "," START("t", ",'key':'one'" more)
#define BESIDE(more)                                                                               \
    "{'code':'all','parallel':{'join':'all','branches':[[" LEFT_AT_ONCE                            \
    "],[" START("t", ",'key':'one'" more) "]]}}"

/* The one child runs until the signal, and the parent, if it waits, with it. */
static void one_child_runs(const char *steps, const char *settings, bool waits)
{
    struct uuid parent;

    case_begin();
    case_define("kid", WAIT, settings);
    case_define("p", steps, "");
    parent = case_started(case_start("p", "{}", 0));
    CLAIM(sim.disk.children == 1);
    CLAIM(case_status(parent) == (waits ? STATUS_WAITING : STATUS_COMPLETED));
    (void)case_signal(find_by_code(STR("kid")), "s1", "1");
    case_settle();
    CLAIM(case_status(find_by_code(STR("kid"))) == STATUS_COMPLETED);
    CLAIM(case_status(parent) == STATUS_COMPLETED);
    case_end();
}

void case_key_of_one_that_never_begins(void)
{
    struct uuid parent;

    one_child_runs(BEHIND(",'wait':true"), JOINS, true);
    one_child_runs(BEHIND(",'wait':true"), "", true);
    one_child_runs(BEHIND(""), JOINS, false);
    one_child_runs(BESIDE(",'wait':true"), JOINS, true);
    one_child_runs(BESIDE(""), JOINS, false);
    /* Who waits for it now is who started it. */
    case_begin();
    case_define("kid", WAIT, JOINS);
    case_define("p", BESIDE(",'wait':true"), "");
    parent = case_started(case_start("p", "{}", 0));
    (void)case_cancel(parent);
    case_settle();
    CLAIM(case_status(find_by_code(STR("kid"))) == STATUS_CANCELLED);
    CLAIM(case_status(parent) == STATUS_CANCELLED);
    case_end();
}

void case_start_joins_after_reads(void)
{
    struct asked *a, *b;

    case_begin();
    case_define("kid", WAIT, "");
    case_define("p", START("s", "") "," WAIT, JOINS);
    a = case_start_key("p", "k", 0);
    (void)case_started(a);
    b = case_start_key("p", "k", 60 * SECOND);
    case_settle();
    CLAIM(a->ok && !a->joined && !b->is_answered);
    CLAIM(sim.disk.children == 1);
    (void)case_signal(a->id, "s1", "1");
    case_settle();
    CLAIM(b->ok && b->joined && b->ended && uuid_cmp(a->id, b->id) == 0);
    case_end();
}

void case_child_ends_while_its_parent_looks(void)
{
    struct uuid parent, kid;

    case_begin();
    case_define("kid", WAIT, "");
    case_define("p", START("s", ",'wait':true"), "");
    parent = case_started(case_start("p", "{}", 0));
    kid = sim.disk.executions.items[1]->s.id;
    /* The parent looks now and then: it has read that the child is alive ... */
    case_let_pass(3580 * SECOND);
    case_settle();
    case_let_pass(30 * SECOND);
    (void)case_signal(kid, "s1", "1");
    case_pass();
    CLAIM(only->store.reads.count > 0 && only->store.batch_count == 1);
    while (store_read_one(only)) {
    }
    /* ... and before it goes on it is told of the end. */
    CLAIM(store_write_one(only) && store_deliver_one(only));
    case_settle();
    CLAIM(case_status(kid) == STATUS_COMPLETED);
    CLAIM(case_status(parent) == STATUS_COMPLETED);
    case_end();
}

/* A fan-out with a crash after so many things have happened. */
static void fan_out_with_crash(unsigned crash_at, bool keeps)
{
    struct uuid id;

    case_begin();
    case_define("kid", "{'code':'n','procedure':{'type':'wait.timer','duration':'1s'}}", "");
    case_define("p",
                "{'code':'l','loop':{'for':[1,2,3,4,5],'max':9,'concurrency':3,'steps':[" START(
                    "s", ",'wait':true") "]}}",
                "");
    id = case_started(case_start("p", "{}", 0));
    for (unsigned i = 0; i < 200; i++) {
        bool any = node_pass(only->node);

        any |= store_write_one(only);
        if (i == crash_at && keeps)
            sim_crash(only);
        any |= store_deliver_one(only);
        any |= store_read_one(only);
        if (i == crash_at && !keeps)
            sim_crash(only);
        if (!any)
            case_let_pass(SECOND / 4);
    }
    sim_calm(&sim); /* within a minute, and not when the parent looks by itself */
    CLAIM(case_status(id) == STATUS_COMPLETED);
    CLAIM(sim.disk.children == 5 && sim.disk.events.count == 0);
    case_end();
}

void case_parent_is_told_wherever_it_crashes(void)
{
    for (unsigned i = 1; i <= 120; i++) {
        fan_out_with_crash(i, true);
        fan_out_with_crash(i, false);
    }
}

/* The child of another ends and the node crashes after so many things; no time passes. */
static void join_with_crash(unsigned crash_at, bool keeps)
{
    struct uuid parent, joiner, kid;

    case_begin();
    case_define("kid", WAIT, JOINS);
    case_define("p", START("s", ",'key':'one','wait':true"), "");
    parent = case_started(case_start("p", "{}", 0));
    joiner = case_started(case_start("p", "{}", 0));
    CLAIM(sim.disk.children == 1);
    kid = find_by_code(STR("kid"));
    (void)case_signal(kid, "s1", "1");
    for (unsigned i = 1; i < 40; i++) {
        (void)node_pass(only->node);
        (void)store_write_one(only);
        if (i == crash_at && keeps)
            sim_crash(only);
        (void)store_deliver_one(only);
        (void)store_read_one(only);
        if (i == crash_at && !keeps)
            sim_crash(only);
    }
    if (crash_at > 0)
        sim_calm(&sim); /* within a minute */
    /* A signal that was not yet durable is lost with the node. */
    CLAIM(crash_at > 0 || case_status(kid) == STATUS_COMPLETED);
    CLAIM((case_status(kid) == STATUS_COMPLETED) == (case_status(parent) == STATUS_COMPLETED));
    CLAIM(case_status(joiner) == case_status(parent));
    case_end();
}

void case_joiner_is_told_at_once(void)
{
    join_with_crash(0, false);
    for (unsigned i = 1; i <= 12; i++) {
        join_with_crash(i, true);
        join_with_crash(i, false);
    }
}

void case_retry_looks_at_children(void)
{
    struct uuid parent, kid;
    struct asked *retry;

    case_begin();
    case_define("kid", WAIT, "");
    case_define("p",
                "{'code':'b','parallel':{'join':'all','branches':[[" START(
                    "s", ",'wait':true") "],[{'code':'n','procedure':{'type':'wait.timer',"
                                         "'duration':'5s'}},{'code':'f','procedure':{'type':"
                                         "'compute.fail','code':'no','message':'m','when':"
                                         "'input.n == 0'}}]]}}",
                ",'onError':'fail_fast'");
    parent = case_started(case_start("p", "{'n':0}", 0));
    kid = sim.disk.executions.items[1]->s.id;
    case_let_pass(5 * SECOND);
    case_settle();
    CLAIM(case_status(parent) == STATUS_FAILED);
    /* The child ends: who has ended is told nothing. */
    (void)case_signal(kid, "s1", "1");
    case_settle();
    CLAIM(case_status(kid) == STATUS_COMPLETED && sim.disk.events.count == 0);
    retry = case_retry(parent, "{'n':1}");
    case_settle();
    CLAIM(retry->ok && case_status(parent) == STATUS_COMPLETED);
    case_end();
}

#define NAP "{'code':'n','procedure':{'type':'wait.timer','duration':'2s'}}"
#define UPDATE(data) "{'type':'record.update','object':'acc','id':'c0','data':{" data "}}"
#define READ "{'type':'record.get','object':'acc','id':'c0','as':'r'},"
/* Both branches are due with one wake, and the second holds its write until then. */
#define TWO_BRANCHES(one, two)                                                                     \
    "{'code':'b','parallel':{'join':'all','branches':[[" NAP ",{'code':'one','procedure':[" one    \
    "]}],[{'code':'two','procedure':[" two ",{'type':'flow.start','code':'kid','wait':true}]}]]}}"

static struct str acc_after(const char *steps, enum execution_status status)
{
    struct str data;
    struct uuid id;

    case_begin();
    case_define("kid", NAP, "");
    case_define("p", steps, "");
    id = case_started(case_start("p", "{}", 0));
    case_let_pass(2 * SECOND);
    case_settle();
    CLAIM(case_status(id) == status);
    data = disk_find_record(&sim.disk, STR("acc"), STR("c0"))->data_json;
    return data;
}

void case_write_is_held_beside_another(void)
{
    CLAIM(str_eq(acc_after(TWO_BRANCHES(UPDATE("'a':1"), UPDATE("'b':1")), STATUS_COMPLETED),
                 STR("{\"n\":0,\"a\":1,\"b\":1}")));
    case_end();
    /* What rests on a read that is not true any more is refused, and replaces nothing. */
    CLAIM(str_eq(
        acc_after(TWO_BRANCHES(UPDATE("'a':1"), READ UPDATE("'m':'=r.n + 1'")), STATUS_FAILED),
        STR("{\"n\":0,\"a\":1}")));
    case_end();
}

void case_contended_record_spares_others(void)
{
    struct uuid id;

    case_begin();
    case_define("p",
                "{'code':'hot','onError':'continue','retry':{'maxAttempts':1},'procedure':{'type':'"
                "record.update','object':"
                "'hot','id':'h0','data':{'n':1}}},{'code':'own','procedure':{'type':"
                "'record.create','object':'own','id':'{{ execution.id }}','data':{}}}",
                "");
    only->store.member_script = "dddddddddddddddddddddddddddddddddddddddd";
    id = case_started(case_start("p", "{}", 0));
    CLAIM(*only->store.member_script == 'd'); /* six times, not for ever */
    only->store.member_script = NULL;
    CLAIM(case_status(id) == STATUS_COMPLETED);
    CLAIM(str_find(case_disk(id)->history.items[0].error_json, STR("conflict_version"), 0) > 0);
    CLAIM(str_eq(case_disk(id)->history.items[1].status, STR("completed")));
    case_end();
}

/* Others have the key of its child for a moment, again and again; its record is its own. */
void case_contended_key_spares_records(void)
{
    struct uuid id;

    case_begin();
    case_define("kid", WAIT, "");
    case_define("p",
                WAIT ",{'code':'own','procedure':{'type':'record.create','object':'own','id':"
                     "'{{ execution.id }}','data':{}}}," START("k", ",'key':'one'"),
                "");
    id = case_started(case_start("p", "{}", 0));
    only->store.member_script = "kkkkkkkkkkkkkkkkkkkk";
    (void)case_signal(id, "s1", "1");
    case_settle();
    CLAIM(*only->store.member_script == '\0');
    only->store.member_script = NULL;
    CLAIM(case_status(id) == STATUS_COMPLETED && sim.disk.children == 1);
    case_end();
}

void case_foreign_cancel_hides_no_end(void)
{
    struct asked *cancel, *signal;
    struct uuid joiner;

    case_begin();
    case_define("grandkid", WAIT, "");
    case_define("kid",
                "{'code':'s','procedure':{'type':'flow.start','code':'grandkid','wait':true}}",
                JOINS);
    case_define("p", START("s", ",'key':'one','wait':true"), "");
    (void)case_started(case_start("p", "{}", 0));
    joiner = case_started(case_start("p", "{}", 0));
    CLAIM(sim.disk.children == 2);
    /* Both are told in one batch. */
    cancel = case_cancel(joiner);
    signal = case_signal(find_by_code(STR("grandkid")), "s1", "1");
    case_settle();
    CLAIM(cancel->ok && signal->ok);
    CLAIM(case_status(find_by_code(STR("kid"))) == STATUS_COMPLETED);
    case_end();
}
