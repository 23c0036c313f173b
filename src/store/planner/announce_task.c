/* announce_task.c - events about tasks, for triggers and subscriptions; see planner_rows.h. */
#include "store/planner/planner_rows.h"

#include "store/write/announce.h"
#include "value/object.h"

/* All of the task, and the row of the log that made it so, or null. */
static struct str event_json(struct arena *mem, const struct task *t,
                             const struct task_transition *row)
{
    struct buf json;
    struct err err;

    object_begin(&json, mem);
    task_show(&json, t);
    object_name(&json, "transition");
    if (row == NULL) {
        buf_text(&json, "null");
    } else {
        buf_char(&json, '{');
        if (!task_transition_show(&json, row, &err))
            PANIC("a row of the log that was written has no JSON form");
        buf_char(&json, '}');
    }
    return object_end(&json);
}

bool task_announce(struct planner_work *w, const char *what, const struct task *t,
                   const struct task_transition *row)
{
    struct announced_event e = {
        .name = str_printf(w->a->mem, "task.%s", what),
        .org_id = t->org_id,
        .key = t->id,
        .about = str_printf(w->a->mem, "task/%.*s", STR_ARG(t->id)),
        .now_us = w->change->change.now_us,
    };

    if (!event_is_wanted(w->m, e.name, e.org_id))
        return true;
    e.has_execution = t->execution_id.len > 0 && uuid_read(t->execution_id, &e.execution);
    e.payload_json = event_json(w->a->mem, t, row);
    return event_announce(w->a, w->m, &e);
}

bool task_announce_rows(struct planner_work *w, const struct task *t)
{
    size_t count = w->row_count;

    w->row_count = 0;
    for (size_t i = 0; i < count; i++)
        if (!task_announce(w, task_action_event(w->rows[i].action), t, &w->rows[i]))
            return false;
    return true;
}
