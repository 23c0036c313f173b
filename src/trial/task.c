/*
 * task.c - the planner of a trial: tasks that executions ask for; see inner.h.
 *
 * One that nobody waits for is there at once. One that is waited for ends when
 * a mock says how, else when its time is up.
 */
#include "define/program.h"
#include "engine/state.h"
#include "trial/inner.h"
#include "value/timefmt.h"

struct trial_task {
    const struct actor *of;
    struct str id;
    struct value body; /* as the step asked for it */
    bool waits;
    bool is_overdue, is_kept; /* its time is up; then it stays as it is */
};

void tasks_keep(struct trial_run *r, const struct actor *a, const struct task_acts *acts)
{
    for (size_t i = 0; i < acts->count; i++) {
        const struct task_act *act = &acts->items[i];

        if (act->kind == TASK_ACT_CREATE) {
            struct trial_task *task = ARENA_NEW(r->mem, struct trial_task);

            *task = (struct trial_task){.of = a,
                                        .id = str_copy(r->mem, act->id),
                                        .body = value_copy(r->mem, act->body),
                                        .waits = act->waits};
            *VEC_ADD(r->mem, &r->tasks) = task;
        }
        for (size_t k = 0; act->kind == TASK_ACT_EXPIRE && k < r->tasks.count; k++)
            if (str_eq(r->tasks.items[k]->id, act->id)) {
                r->tasks.items[k]->is_overdue = true;
                r->tasks.items[k]->is_kept = act->keeps;
            }
    }
}

static struct trial_task *task_find(const struct trial_run *r, const struct actor *a, struct str id)
{
    for (size_t i = 0; id.len > 0 && i < r->tasks.count; i++)
        if (r->tasks.items[i]->of == a && str_eq(r->tasks.items[i]->id, id))
            return r->tasks.items[i];
    return NULL;
}

/* The task as the planner would show it, as far as a trial knows it. */
static struct value task_view(struct trial_run *r, const struct trial_task *task,
                              const char *status)
{
    static const char *const names[] = {"title",          "project_id", "description",
                                        "required_trade", "min_skill",  "priority",
                                        "deliverable_id", "depends_on"};
    enum { MORE = 5 };
    struct value_entry *entries = ARENA_ARRAY(r->mem, ARRAY_SIZE(names) + MORE, struct value_entry);
    struct value due = value_map_get_str(task->body, STR("due_at_us"));
    struct value owner = value_map_get_str(task->body, STR("assign_to"));
    size_t count = 0, duplicate;

    value_entry_add(entries, &count, STR("id"), value_string(task->id));
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct value v = value_map_get_str(task->body, str_of(names[i]));

        if (v.kind == VALUE_ABSENT)
            v = str_eq(str_of(names[i]), STR("depends_on")) ? value_list(NULL, 0) : value_null();
        value_entry_add(entries, &count, str_of(names[i]), v);
    }
    due = due.kind == VALUE_INT ? timestamp_of_us(due.i) : value_null();
    value_entry_add(entries, &count, STR("due_at"), due);
    value_entry_add(entries, &count, STR("status"), value_string(str_of(status)));
    value_entry_add(entries, &count, STR("assigned_to"),
                    owner.kind == VALUE_ABSENT ? value_null() : owner);
    value_entry_add(entries, &count, STR("result"), value_null());
    return value_map_make(r->mem, entries, count, &duplicate);
}

/* What becomes of it now. False: nothing yet. */
static bool task_end(struct trial_run *r, const struct trial_task *task, struct str step,
                     struct task_answer *out)
{
    struct value mock = value_map_member(r->script->mocks.tasks, step), error, over;
    bool is_assigned = value_map_get_str(task->body, STR("assign_to")).kind == VALUE_STRING;
    const char *open = is_assigned ? "assigned" : "available";
    struct str name = str_printf(r->mem, "task %.*s", STR_ARG(step));

    *out = (struct task_answer){.id = task->id, .output = value_absent(), .error = value_absent()};
    if (task->is_overdue) {
        out->has_expired = true;
        out->output = task_view(r, task, task->is_kept ? open : "canceled");
        return true;
    }
    if (mock.kind == VALUE_ABSENT && task->waits)
        return false;
    out->output = task_view(r, task, task->waits ? "done" : open);
    if (mock.kind == VALUE_ABSENT)
        return true;
    mock_note(r, name, task->body);
    over = mock_answer(r, name, mock, &error);
    if (over.kind == VALUE_ABSENT) {
        out->output = value_absent();
        out->error = error;
    } else if (over.kind == VALUE_MAP) {
        out->output = state_merge(r->mem, out->output, over);
    }
    return true;
}

bool tasks_answer(struct trial_run *r, const struct actor *a, struct event *out)
{
    struct task_answers *answers;
    struct task_answer answer;

    for (uint32_t i = 0; !status_is_terminal(a->x->status) && i < execution_strands(a->x); i++) {
        const struct cursor *c = execution_cursor(a->x, i);
        const struct trial_task *task =
            a->x->pause == NULL && c->phase == PHASE_WAIT ? task_find(r, a, c->task) : NULL;

        if (task == NULL || !task_end(r, task, a->x->program->steps[c->step].code, &answer))
            continue;
        answers = ARENA_NEW(r->mem, struct task_answers);
        *VEC_ADD(r->mem, answers) = answer;
        *out = (struct event){.kind = EVENT_WAKE, .tasks = answers};
        return true;
    }
    return false;
}
