/*
 * tasks.c - tasks on the disk of the simulator, as store/planner/apply_task.c has them,
 * and people who end them; see sim.h.
 */
#include "engine/commit/commit.h"
#include "engine/commit/task_act.h"
#include "engine/stored_execution.h"
#include "sim/disk.h"

static struct disk_task *task_find(const struct disk *d, struct str id)
{
    for (size_t i = d->tasks.count; i-- > 0;)
        if (str_eq(d->tasks.items[i]->id, id))
            return d->tasks.items[i];
    return NULL;
}

/* --- what executions are told --- */

static void task_notify(struct sim *sim, const struct disk_task *t, const char *what,
                        bool has_expired)
{
    struct arena *mem = &sim->disk.mem;
    struct notices notices = {0};

    *VEC_ADD(mem, &notices) = (struct notice){
        .execution = t->of->s.id,
        .kind = NOTICE_TASK,
        .key = str_printf(mem, "task:%.*s", STR_ARG(t->id)),
        .payload_json = str_printf(mem, "{%s%s}", what, has_expired ? ",\"expired\":true" : ""),
    };
    disk_notify(sim, &notices);
}

static const char *output_of(const struct disk_task *t)
{
    return t->has_ended ? "\"output\":{\"status\":\"done\"}" : "\"output\":{\"status\":\"open\"}";
}

/* --- with commits --- */

static void create_task(struct sim *sim, struct disk_execution *x, const struct task_act *act)
{
    struct disk *d = &sim->disk;
    struct disk_task *t = ARENA_NEW(&d->mem, struct disk_task);

    SIM_CHECK(sim, task_find(d, act->id) == NULL, "a task is made twice");
    *t = (struct disk_task){.of = x, .id = str_copy(&d->mem, act->id), .is_awaited = act->waits};
    /* Nobody can be given one. */
    if (value_map_get_str(act->body, STR("assign_to")).kind == VALUE_STRING) {
        task_notify(sim, t,
                    "\"error\":{\"code\":\"validation_task\",\"message\":\"no\",\"class\":"
                    "\"business\"}",
                    false);
        return;
    }
    *VEC_ADD(&d->mem, &d->tasks) = t;
    if (!act->waits)
        task_notify(sim, t, output_of(t), false);
}

static void expire_task(struct sim *sim, struct disk_task *t, bool keeps)
{
    bool had_ended = t->has_ended;

    t->has_ended |= !keeps;
    t->is_awaited = false;
    task_notify(sim, t, output_of(t), !had_ended);
}

void disk_write_tasks(struct sim *sim, struct disk_execution *x, const struct commit *c)
{
    for (size_t i = 0; i < c->tasks.count; i++) {
        const struct task_act *act = &c->tasks.items[i];
        struct disk_task *t = task_find(&sim->disk, act->id);

        sim_note(sim, 9000 + act->kind);
        if (act->kind == TASK_ACT_CREATE)
            create_task(sim, x, act);
        if (t == NULL)
            continue;
        SIM_CHECK(sim, t->of == x, "a commit is about a task of another execution");
        if (act->kind == TASK_ACT_EXPIRE)
            expire_task(sim, t, act->keeps);
        if (act->kind == TASK_ACT_LOOK && t->has_ended)
            task_notify(sim, t, output_of(t), false);
        if (act->kind == TASK_ACT_CANCEL && t->is_awaited) {
            t->has_ended = true;
            t->is_awaited = false;
        }
    }
}

/* --- people --- */

void people_act(struct sim *sim)
{
    struct disk *d = &sim->disk;
    struct disk_task *t;

    if (d->tasks.count == 0)
        return;
    t = d->tasks.items[dice_roll(&sim->dice, (unsigned)d->tasks.count)];
    if (t->has_ended)
        return;
    t->has_ended = true;
    d->tasks_ended++;
    if (t->is_awaited)
        task_notify(sim, t, output_of(t), false);
    t->is_awaited = false;
}

/* --- what must hold when nothing is under way --- */

static bool has_noticed(const struct disk *d, const struct disk_task *t)
{
    for (size_t i = 0; i < d->events.count; i++)
        if (d->events.items[i].of == t->of && str_ends_with(d->events.items[i].notice.key, t->id))
            return true;
    return false;
}

static bool is_waited_for(const struct disk_task *t)
{
    const struct stored_execution *s = &t->of->s;

    return !t->of->is_deleted && s->status == STATUS_WAITING && s->crash_count == 0 &&
           str_find(s->cursor_json, t->id, 0) >= 0;
}

void disk_check_tasks(struct sim *sim)
{
    const struct disk *d = &sim->disk;

    for (size_t i = 0; i < d->tasks.count; i++) {
        const struct disk_task *t = d->tasks.items[i];
        const struct stored_execution *s = &t->of->s;

        SIM_CHECK(sim, !t->is_awaited || !status_is_terminal(s->status),
                  "the task %.*s is open, and who waited for it has ended", STR_ARG(t->id));
        SIM_CHECK(sim,
                  !t->has_ended || !is_waited_for(t) || has_noticed(d, t) ||
                      str_find(s->waiting_for_json, STR("\"incident\""), 0) >= 0,
                  "execution %.*s sleeps: its task has ended, and it waits for %.*s",
                  STR_ARG(sim_id(sim, s->id)), STR_ARG(s->waiting_for_json));
    }
}
