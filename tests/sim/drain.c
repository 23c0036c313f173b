/*
 * drain.c - nodes that are stopped while requests, calls and deliveries are in flight; see sim.h.
 *
 * A node that has drained leaves nothing open: who asked is answered, what was
 * heard is recorded, so whoever goes on repeats none of it. It sends no message
 * from the moment at which it is told to stop. One that has given up is as one
 * that has crashed.
 */
#include "sim/sim.h"

static bool is_asked(const struct sim_node *at)
{
    const struct clients *c = &at->sim->clients;
    const struct workers *w = &at->sim->workers;

    for (size_t i = 0; i < c->pending.count; i++)
        if (c->pending.items[i]->at == at)
            return true;
    for (size_t i = 0; i < ARRAY_SIZE(w->polls); i++)
        if (w->polls[i].at == at)
            return true;
    return false;
}

/* Who waits is not to wait any longer. */
static void end_waits(struct sim_node *at)
{
    const struct clients *c = &at->sim->clients;
    int64_t now_us = sim_mono_us(at->sim);

    for (size_t i = 0; i < c->pending.count; i++)
        if (c->pending.items[i]->at == at && c->pending.items[i]->deadline_us > now_us)
            c->pending.items[i]->deadline_us = now_us;
}

void drain_begin(struct sim_node *at)
{
    if (at->node == NULL || at->is_draining)
        return;
    at->is_draining = true;
    at->draining_since_us = sim_mono_us(at->sim);
    at->sim->drains++;
    end_waits(at);
    node_stop(at->node);
}

bool drain_has_ended(struct sim_node *at)
{
    int64_t passed_us = sim_mono_us(at->sim) - at->draining_since_us;
    enum node_result result;

    if (!at->is_draining)
        return false;
    if (!node_has_stopped(at->node, &result)) {
        SIM_CHECK(at->sim, passed_us < DRAIN_MAX_US, "a node drains for longer than it may");
        return false;
    }
    sim_note(at->sim, 8000 + (uint64_t)result);
    SIM_CHECK(at->sim, result == NODE_UNDECIDED || !is_asked(at),
              "a node has drained and has not answered");
    if (passed_us < DRAIN_MAX_US) {
        outside_check_drained(at);
        outbox_check_drained(at);
    }
    outbox_leave_lanes(at);
    sim_forget_node(at);
    return true;
}
