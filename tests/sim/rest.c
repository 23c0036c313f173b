/* rest.c - letting everything come to rest, and what must hold then; see sim.h. */
#include "engine/stored_execution.h"
#include "sim/automatic.h"
#include "sim/inbox.h"
#include "sim/planner.h"

#define SECOND INT64_C(1000000)
#define DAY (INT64_C(86400) * SECOND)

/* Everything that a node can do without time passing. Answers whether there was anything. */
static bool settle_node(struct sim_node *at, int64_t *next_us)
{
    bool any;

    *next_us = INT64_MAX;
    if (at->node == NULL)
        return false;
    any = node_pass(at->node);
    if (drain_has_ended(at)) {
        sim_open_node(at);
        return true;
    }
    any |= worker_settle(at);
    any |= store_write_one(at);
    any |= store_deliver_one(at);
    while (outside_answer_one(at))
        any = true;
    while (store_read_one(at))
        any = true;
    *next_us = node_next_wake_us(at->node);
    if (*next_us != INT64_MAX)
        *next_us -= clock_wall_us(&at->clock.clock);
    /* A loop that drains looks every 10 ms whether it is over. */
    if (at->is_draining && *next_us > 10000)
        *next_us = 10000;
    return any || *next_us <= 0 || !store_is_idle(at);
}

/* Whether the nodes have something to do, or will have within a second: *next_us. */
static bool settle_all(struct sim *sim, int64_t *next_us)
{
    bool any = false;

    *next_us = INT64_MAX;
    for (unsigned k = 0; k < sim->config.nodes; k++) {
        int64_t us;

        any |= settle_node(&sim->nodes[k], &us);
        if (us < *next_us)
            *next_us = us;
    }
    return any;
}

/* Grows with everything that gets on. */
static int64_t progress_of(const struct sim *sim)
{
    const struct disk *d = &sim->disk;

    return d->commits + d->settled + d->leases + sim->clients.answered + sim->drains;
}

/*
 * Nodes that share a store ask it every second what others have done. They are at rest when
 * that has changed nothing for some seconds; others, when they have nothing to do.
 */
void sim_settle(struct sim *sim)
{
    bool before = sim->no_faults, is_shared = sim_is_shared(sim);
    int64_t since_us = sim_mono_us(sim), changed_us = since_us;
    int64_t progress = progress_of(sim);
    unsigned idle = 0;

    sim->no_faults = true;
    for (unsigned i = 0; idle < 2; i++) {
        int64_t next_us;
        bool any = settle_all(sim, &next_us);

        if (i == 1000000 || sim_mono_us(sim) - since_us > 300 * SECOND)
            disk_check_nobody_sleeps(sim); /* says who */
        SIM_CHECK(sim, i < 1000000 && sim_mono_us(sim) - since_us < 300 * SECOND,
                  "the nodes do not come to rest");
        if (progress != progress_of(sim))
            changed_us = sim_mono_us(sim);
        progress = progress_of(sim);
        if (!any && next_us > 0 && next_us <= SECOND) {
            if (is_shared && sim_mono_us(sim) - changed_us >= 3 * SECOND)
                break;
            sim_let_pass(sim, next_us);
            any = true;
        }
        idle = any ? 0 : idle + 1;
    }
    sim->no_faults = before;
}

void sim_calm(struct sim *sim)
{
    bool before = sim->no_faults;

    sim->no_faults = true;
    sim_settle(sim);
    /* What failed is tried again within a minute; from then on nothing may be late. */
    sim_let_pass(sim, 61 * SECOND);
    sim_settle(sim);
    sim_let_pass(sim, 6 * SECOND);
    sim_settle(sim);
    disk_check_nobody_sleeps(sim);
    outside_check_heard(sim);
    sim->no_faults = before;
}

/* An operator must act: it is stopped by a debugger, held, in doubt, or has ended the server too often. */
static bool needs_somebody(const struct stored_execution *s)
{
    return s->crash_count >= 5 || s->status == STATUS_WAITING_DEBUG ||
           str_find(s->waiting_for_json, STR("\"incident\""), 0) >= 0 ||
           str_find(s->waiting_for_json, STR("\"parked\":true"), 0) >= 0;
}

void sim_come_to_rest(struct sim *sim)
{
    static const int64_t leaps[] = {SECOND, 600 * SECOND, 4 * 3600 * SECOND, DAY, 32 * DAY};
    int64_t behind_us;

    sim->no_faults = true;
    sim_calm(sim);
    ticks_come_to_rest(sim);
    for (size_t i = 0; i < ARRAY_SIZE(leaps); i++) {
        sim_let_pass(sim, leaps[i]);
        sim_settle(sim);
        /* A deadline that ended a pause lets what came meanwhile be looked at again. */
        sim_let_pass(sim, 6 * SECOND);
        sim_settle(sim);
        disk_check_nobody_sleeps(sim);
    }
    /* As far as a clock was set back, there may still be timers. */
    behind_us = sim->latest_wall_us - sim_wall_us(sim);
    if (behind_us > 0)
        sim_let_pass(sim, behind_us);
    sim_let_pass(sim, 32 * DAY);
    sim_settle(sim);
    /* Those whose time was up then are rolled back, each rollback with five attempts. */
    for (unsigned i = 0; i < 100; i++) {
        sim_let_pass(sim, 2 * 3600 * SECOND);
        sim_settle(sim);
    }
    disk_check_nobody_sleeps(sim);
    SIM_CHECK(sim, sim->clients.pending.count == 0, "%zu requests were never answered",
              sim->clients.pending.count);
    for (size_t i = 0; i < sim->disk.executions.count; i++) {
        const struct stored_execution *s = &sim->disk.executions.items[i]->s;

        /* What somebody who is held has started late has time left. */
        SIM_CHECK(
            sim,
            status_is_terminal(s->status) || needs_somebody(s) ||
                s->deadline_at_us > sim_wall_us(sim),
            "execution %.*s (started by %.*s) is alive after its deadline %lld, now %lld: %.*s",
            STR_ARG(sim_id(sim, s->id)), STR_ARG(sim_id(sim, s->parent_id)),
            (long long)s->deadline_at_us, (long long)sim_wall_us(sim),
            STR_ARG(s->waiting_for_json));
    }
    disk_check_all(sim);
    effects_check(sim);
    plan_check(sim);
    inbox_check(sim);
}
