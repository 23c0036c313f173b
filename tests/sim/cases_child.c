/* cases_child.c - named cases about executions that others start; see cases.h. */
#include "sim/cases.h"

#define WAIT "{'code':'w','procedure':{'type':'wait.signal','signalType':'go'}}"
#define START(code, more)                                                                          \
    "{'code':'" code "','procedure':{'type':'flow.start','code':'kid'" more "}}"

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
    case_define("kid", WAIT, ",'settings':{'onKeyConflict':'join'}");
    case_define("p", THREE_AT_ONCE, "");
    id = case_started(case_start("p", "{}", 0));
    CLAIM(case_status(id) == STATUS_COMPLETED);
    CLAIM(sim.disk.children == 1);
    CLAIM(str_find(case_disk(id)->s.result_json, STR("conflict_key"), 0) < 0);
    case_end();
}

void case_start_joins_after_reads(void)
{
    struct asked *a, *b;

    case_begin();
    case_define("kid", WAIT, "");
    case_define("p", START("s", "") "," WAIT, ",'settings':{'onKeyConflict':'join'}");
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
