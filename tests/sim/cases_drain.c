/* cases_drain.c - named cases about nodes that stop: rule 31; see cases.h. */
#include "sim/cases.h"

#define CALL_STEP                                                                                  \
    "{'code':'pay','procedure':{'type':'integration.http','method':'POST',"                        \
    "'url':'http://s0.example/x'}}"
#define EVENT_STEP "{'code':'say','procedure':{'type':'event.publish','event':'E0','payload':1}}"

/* What the store has in hand happens, and time passes as in a loop that drains. */
static void loop_once(void)
{
    (void)node_pass(only->node);
    (void)store_write_one(only);
    (void)store_deliver_one(only);
    while (store_read_one(only)) {
    }
    case_let_pass(SECOND / 100);
}

/* The node is down afterwards. */
static void loop_until_drained(void)
{
    for (unsigned i = 0; !drain_has_ended(only); i++) {
        CLAIM(i < 100);
        loop_once();
    }
}

void case_drain_answers_workers_that_wait(void)
{
    case_begin();
    CLAIM(worker_ask(&sim, only, 30 * SECOND, 10 * SECOND));
    CLAIM(worker_ask(&sim, only, SECOND, 10 * SECOND));
    case_settle();
    drain_begin(only);
    loop_until_drained();
    sim_open_node(only);
    case_end();
}

void case_drain_records_what_was_delivered(void)
{
    case_begin();
    sim.config.mix |= MIX_OF(MESSAGES);
    sim_crash(only);
    case_settle();
    case_define("p", EVENT_STEP, "");
    (void)case_start("p", "{}", 0);
    while (sim.outside.under_way.count == 0)
        loop_once();
    drain_begin(only);
    CLAIM(!drain_has_ended(only));
    while (sim.outside.under_way.count > 0)
        CLAIM(outside_answer_one(only));
    /* It is not over before the store has it. */
    CLAIM(!drain_has_ended(only));
    loop_until_drained();
    sim_open_node(only);
    case_settle();
    CLAIM(sim.disk.outbox.count > 0 && sim.disk.outbox.items[0].sends == 1);
    case_end();
}

void case_drain_applies_what_was_answered(void)
{
    struct asked *a;

    case_begin();
    case_define("p", CALL_STEP, "");
    a = case_start("p", "{}", 0);
    while (sim.outside.under_way.count == 0)
        loop_once();
    drain_begin(only);
    CLAIM(!drain_has_ended(only));
    CLAIM(outside_answer_one(only));
    loop_until_drained();
    CLAIM(case_status(a->id) == STATUS_COMPLETED);
    sim_open_node(only);
    case_settle();
    CLAIM(sim.outside.calls == 1);
    case_end();
}

void case_drain_ends_without_a_store(void)
{
    struct asked *a;

    case_begin();
    case_define("p", EVENT_STEP, "");
    a = case_start("p", "{}", 0);
    case_pass();
    drain_begin(only);
    CLAIM(!drain_has_ended(only));
    case_let_pass(DRAIN_MAX_US - SECOND);
    case_pass();
    CLAIM(!drain_has_ended(only) && !a->is_answered);
    case_let_pass(SECOND);
    CLAIM(drain_has_ended(only));
    sim_open_node(only);
    case_settle();
    CLAIM(sim.disk.executions.count == 0);
    case_end();
}
