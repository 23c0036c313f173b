/*
 * planner_time.c - what time brings to tasks: shifts that end, holds that are
 * over, due dates that pass; and the repair of tasks that are not as they
 * should be. See chore.h.
 *
 *     resting --look--> reading: when is the next? --now--> a change --> reading
 *        ^                           |
 *        +--------- later -----------+
 *
 * A look costs one cheap read, and is taken when something is due, when somebody
 * has changed a task, and once a minute. A sweep over all tasks that are blocked
 * or available begins at the start and every few minutes, and walks them in windows.
 */
#include "base/log.h"
#include "node/chore/chore.h"
#include "node/inner.h"
#include "node/meter.h"
#include "node/node.h"
#include "node/request.h"
#include "store/planner.h"
#include "store/read_planner.h"

#define LOOK_EVERY_US INT64_C(60000000)
#define CHANGED_US INT64_C(100000)
#define PAUSE_US INT64_C(20000)
#define SWEEP_EVERY_US INT64_C(300000000)

struct planner_time {
    struct chore chore; /* first: see chore.h */
    int64_t sweep_us;   /* monotonic; when the next sweep begins */
    bool is_changed;    /* meanwhile somebody changed something */
    bool is_sweeping;
    struct planner_due due;
    bool ok;
    struct err err;
    struct node_read read;
    struct planner_change change;
};

static bool planner_time_open(struct chore *c, struct err *err)
{
    (void)err;
    ((struct planner_time *)c)->sweep_us = clock_mono_us(c->node->clock);
    return true;
}

void node_tasks_changed(struct node *n)
{
    struct planner_time *t = (struct planner_time *)n->chores[CHORE_PLANNER_TIME];

    if (t == NULL)
        return;
    t->is_changed = true;
    chore_hurry(&t->chore, CHANGED_US);
}

static void planner_rest(struct planner_time *t, int64_t us)
{
    chore_rest(&t->chore, t->is_changed && us > CHANGED_US ? CHANGED_US : us);
    t->is_changed = false;
    arena_reset(&t->chore.mem);
}

static void planner_time_applied(struct node_request *r)
{
    struct planner_time *t = r->owner;

    if (!r->ok) {
        log_write(LOG_WARN, "what time brings to tasks could not be written",
                  LOG_FIELDS(log_str("reason", str_of(r->err.message))));
        planner_rest(t, LOOK_EVERY_US);
        return;
    }
    for (int64_t i = 0; t->chore.node->options.meters != NULL && i < t->change.repaired; i++)
        meter_count(t->chore.node->options.meters, METER_PLANNER_REPAIRS, STR_NONE, STR_NONE,
                    STR_NONE);
    if (t->change.repaired > 0)
        log_write(LOG_WARN, "tasks were not as they should be and are now",
                  LOG_FIELDS(log_int("tasks", t->change.repaired)));
    planner_rest(t, PAUSE_US);
}

static void planner_time_change(struct planner_time *t)
{
    struct node *n = t->chore.node;
    struct err err;

    t->change = (struct planner_change){
        .change = {.apply = planner_time_apply, .announces = "task."},
        .seed = uuid_gen_next(&n->ids, clock_wall_us(n->clock) / 1000),
        .wrong = &t->due.wrong,
    };
    if (!chore_change(&t->chore, &t->change.change, planner_time_applied, &err))
        planner_rest(t, LOOK_EVERY_US);
}

static void planner_time_run_read(struct node_read *read, struct reader *reader)
{
    struct planner_time *t = read->owner;

    t->ok = read_planner_due(reader, &t->chore.mem, &t->due, &t->err);
}

static void planner_time_was_read(struct node_read *read)
{
    struct planner_time *t = read->owner;
    int64_t in_us = LOOK_EVERY_US;

    if (!t->ok || t->chore.node->is_draining) {
        planner_rest(t, LOOK_EVERY_US);
        return;
    }
    if (t->is_sweeping && t->due.is_sweep_over) {
        t->is_sweeping = false;
        t->due.after_row = 0;
        t->sweep_us = clock_mono_us(t->chore.node->clock) + SWEEP_EVERY_US;
    }
    if (t->due.is_due || t->due.wrong.count > 0) {
        planner_time_change(t);
        return;
    }
    if (t->is_sweeping)
        in_us = PAUSE_US;
    else if (t->due.next_at_us > 0 && t->due.next_at_us - t->due.now_us < in_us)
        in_us = t->due.next_at_us - t->due.now_us;
    planner_rest(t, in_us);
}

static void planner_time_run(struct chore *c)
{
    struct planner_time *t = (struct planner_time *)c;
    struct node *n = c->node;
    struct err err;

    c->is_busy = true;
    t->is_changed = false;
    if (!t->is_sweeping && clock_mono_us(n->clock) >= t->sweep_us)
        t->is_sweeping = true;
    t->due.now_us = clock_wall_us(n->clock);
    t->due.sweeps = t->is_sweeping;
    t->read = (struct node_read){.run = planner_time_run_read,
                                 .done = planner_time_was_read,
                                 .lane = LANE_CLIENT,
                                 .owner = t};
    if (!node_read(n, &t->read, &err))
        planner_rest(t, LOOK_EVERY_US);
}

const struct chore_kind chore_planner_time = {
    .needs = CHORE_NEEDS_RUNNING | CHORE_NEEDS_RECOVERY,
    .size = sizeof(struct planner_time),
    .open = planner_time_open,
    .run = planner_time_run,
};
