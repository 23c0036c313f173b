/* cases_nodes.c - named cases about several nodes that have one execution in memory; see cases.h. */
#include "sim/cases.h"

#define WAIT(code) "{'code':'" code "','procedure':{'type':'wait.signal','signalType':'go'}}"

/* Both nodes have the execution in memory, as it is. */
static struct uuid begin_with_two(const char *steps)
{
    struct uuid id;

    case_begin_nodes(2);
    case_define("p", steps, "");
    id = case_started(case_start("p", "{}", 0));
    case_ask(1);
    (void)case_wait(id, SECOND / 10);
    case_settle();
    case_ask(0);
    return id;
}

void case_refusal_knows_other_nodes(void)
{
    struct uuid id = begin_with_two(WAIT("w"));
    struct asked *pause, *resume, *again;

    case_ask(1);
    pause = case_pause(id);
    case_settle();
    case_ask(0);
    resume = case_resume(id); /* it is not paused, as this node knows it */
    case_settle();
    CLAIM(pause->ok && resume->ok);
    again = case_resume(id);
    case_settle();
    CLAIM(again->is_answered && again->code == ERR_CONFLICT);
    case_end();
}

void case_wait_knows_other_nodes(void)
{
    struct uuid id = begin_with_two(WAIT("w"));
    struct asked *cancel, *wait, *none;

    wait = case_wait(id, 20 * SECOND);
    case_settle();
    case_ask(1);
    cancel = case_cancel(id);
    case_settle();
    case_ask(0);
    none = case_wait(id, 0);
    case_settle();
    CLAIM(cancel->ok && none->ok && none->ended);
    case_let_pass(21 * SECOND);
    case_settle();
    CLAIM(wait->ok && wait->ended);
    case_end();
}

void case_follower_in_the_next_batch(void)
{
    struct uuid id = begin_with_two(WAIT("a") "," WAIT("b") "," WAIT("c"));
    struct uuid other = case_started(case_start("p", "{}", 0));
    struct asked *first, *second, *foreign;

    /* Two batches are under way, so the second signal is in the one that is being built. */
    first = case_signal(id, "s1", "1");
    case_pass();
    (void)case_signal(other, "s1", "1");
    case_pass();
    second = case_signal(id, "s2", "2");
    case_pass();
    CLAIM(only->store.batch_count == 2);
    case_ask(1);
    foreign = case_signal(id, "s3", "3");
    for (unsigned i = 0; i < 3; i++)
        (void)node_pass(sim.nodes[1].node);
    CLAIM(store_write_one(&sim.nodes[1]));
    case_ask(0);
    case_write();
    case_deliver();
    case_settle();
    CLAIM(first->ok && second->ok && foreign->ok);
    CLAIM(case_disk(id)->count == 3 && case_status(id) == STATUS_COMPLETED);
    case_end();
}
