/*
 * planner_time.c - what time brings to tasks: shifts that end, holds that are
 * over, due dates that pass; and the repair of tasks that are not as they
 * should be. See inner.h.
 *
 *     resting --look--> reading: when is the next? --now--> a change --> reading
 *        ^                           |
 *        +--------- later -----------+
 *
 * A look costs one cheap read, and is taken when something is due, when somebody
 * has changed a task, and once a minute. A sweep over all tasks that are blocked
 * or available begins at the start and every few minutes, and walks them in windows.
 */
#include "node/inner.h"

#include "base/log.h"
#include "store/planner.h"

#define LOOK_EVERY_US INT64_C(60000000)
#define NUDGED_US INT64_C(100000)
#define PAUSE_US INT64_C(20000)
#define SWEEP_EVERY_US INT64_C(300000000)

struct planner_time {
    struct node *node;
    int64_t next_us;  /* monotonic; when to look */
    int64_t sweep_us; /* monotonic; when the next sweep begins */
    bool is_busy;     /* a read or a request is under way */
    bool is_nudged;   /* meanwhile somebody changed something */
    bool is_sweeping;
    struct arena mem;
    struct planner_due due;
    bool ok;
    struct err err;
    struct node_read read;
    struct planner_change change;
    struct node_request request;
};

void planner_time_open(struct node *n)
{
    struct planner_time *t;

    if (!n->options.has_planner)
        return;
    t = n->planner_time = ARENA_NEW(&n->mem, struct planner_time);
    *t = (struct planner_time){.node = n};
    t->sweep_us = clock_mono_us(n->clock);
    arena_init(&t->mem);
}

void planner_time_close(struct node *n)
{
    if (n->planner_time != NULL)
        arena_fini(&n->planner_time->mem);
}

void node_planner_nudge(struct node *n)
{
    struct planner_time *t = n->planner_time;
    int64_t at_us;

    if (t == NULL)
        return;
    at_us = clock_mono_us(n->clock) + NUDGED_US;
    t->is_nudged = true;
    if (t->next_us > at_us)
        t->next_us = at_us;
}

static void planner_go_on_in(struct planner_time *t, int64_t us)
{
    t->is_busy = false;
    if (t->is_nudged && us > NUDGED_US)
        us = NUDGED_US;
    t->is_nudged = false;
    t->next_us = clock_mono_us(t->node->clock) + us;
    arena_reset(&t->mem);
}

static void planner_time_applied(struct node_request *r)
{
    struct planner_time *t = r->owner;

    if (!r->ok) {
        log_write(LOG_WARN, "what time brings to tasks could not be written",
                  LOG_FIELDS(log_str("reason", str_of(r->err.message))));
        planner_go_on_in(t, LOOK_EVERY_US);
        return;
    }
    for (int64_t i = 0; t->node->options.meters != NULL && i < t->change.repaired; i++)
        meter_count(t->node->options.meters, METER_PLANNER_REPAIRS, STR_NONE, STR_NONE, STR_NONE);
    if (t->change.repaired > 0)
        log_write(LOG_WARN, "tasks were not as they should be and are now",
                  LOG_FIELDS(log_int("tasks", t->change.repaired)));
    planner_go_on_in(t, PAUSE_US);
}

static void planner_time_change(struct planner_time *t)
{
    struct err err;

    t->change = (struct planner_change){
        .change = {.apply = planner_time_apply,
                   .tells = "task.",
                   .now_us = clock_wall_us(t->node->clock)},
        .seed = uuid_gen_next(&t->node->ids, clock_wall_us(t->node->clock) / 1000),
        .wrong = &t->due.wrong,
    };
    t->request = (struct node_request){.kind = NODE_CHANGE,
                                       .change = &t->change.change,
                                       .mem = &t->mem,
                                       .done = planner_time_applied,
                                       .owner = t};
    if (!node_submit(t->node, &t->request, &err))
        planner_go_on_in(t, LOOK_EVERY_US);
}

static void planner_time_run_read(struct node_read *read, struct reader *reader)
{
    struct planner_time *t = read->owner;

    t->ok = read_planner_due(reader, &t->mem, &t->due, &t->err);
}

static void planner_time_was_read(struct node_read *read)
{
    struct planner_time *t = read->owner;
    int64_t in_us = LOOK_EVERY_US;

    if (!t->ok || t->node->is_draining) {
        planner_go_on_in(t, LOOK_EVERY_US);
        return;
    }
    if (t->is_sweeping && t->due.is_sweep_over) {
        t->is_sweeping = false;
        t->due.after_row = 0;
        t->sweep_us = clock_mono_us(t->node->clock) + SWEEP_EVERY_US;
    }
    if (t->due.is_due || t->due.wrong.count > 0) {
        planner_time_change(t);
        return;
    }
    if (t->is_sweeping)
        in_us = PAUSE_US;
    else if (t->due.next_at_us > 0 && t->due.next_at_us - t->due.now_us < in_us)
        in_us = t->due.next_at_us - t->due.now_us;
    planner_go_on_in(t, in_us);
}

int64_t planner_time_in_us(const struct node *n)
{
    const struct planner_time *t = n->planner_time;
    int64_t us;

    if (t == NULL || t->is_busy || n->is_draining || !n->is_recovered)
        return INT64_MAX;
    us = t->next_us - clock_mono_us(n->clock);
    return us > 0 ? us : 0;
}

void planner_time_run(struct node *n)
{
    struct planner_time *t = n->planner_time;
    struct err err;

    if (planner_time_in_us(n) > 0)
        return;
    t->is_busy = true;
    t->is_nudged = false;
    if (!t->is_sweeping && clock_mono_us(n->clock) >= t->sweep_us)
        t->is_sweeping = true;
    t->due.now_us = clock_wall_us(n->clock);
    t->due.sweeps = t->is_sweeping;
    t->read = (struct node_read){.run = planner_time_run_read,
                                 .done = planner_time_was_read,
                                 .lane = LANE_CLIENT,
                                 .owner = t};
    if (!node_read(n, &t->read, &err))
        planner_go_on_in(t, LOOK_EVERY_US);
}
