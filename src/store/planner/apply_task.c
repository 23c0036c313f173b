/*
 * apply_task.c - tasks that executions ask for: what a commit wants of the
 * planner, and what the execution is notified of; see apply_commit.h and
 * engine/commit/task_act.h.
 *
 * A task that the planner refuses does not refuse the commit: the step is notified
 * why, by a row of the same transaction. So is one that waits for nothing, and
 * one whose time is up. The end of a task tells the execution that waits for
 * it wherever it comes from: task_save() calls task_notify().
 */
#include "store/write/apply_commit.h"

#include "define/define.h"
#include "engine/commit/commit.h"
#include "engine/commit/task_act.h"
#include "engine/execution.h"
#include "store/org.h"
#include "store/planner/facts.h"
#include "store/planner/planner_rows.h"
#include "store/write/gather.h"
#include "value/object.h"

/* --- notices to executions --- */

static bool write_notice(struct planner_work *w, struct str execution_id, struct str task_id,
                         struct str payload)
{
    struct uuid id;

    if (!uuid_read(execution_id, &id))
        return true;
    *VEC_ADD(w->a->mem, &w->change->change.notified) = id;
    return apply_notice(
        w->a, &(struct notice){.execution = id,
                               .kind = NOTICE_TASK,
                               .key = str_printf(w->a->mem, "task:%.*s", STR_ARG(task_id)),
                               .payload_json = payload});
}

bool task_notify(struct planner_work *w, const struct task *t, bool has_expired)
{
    struct buf json;

    buf_init_arena(&json, w->a->mem);
    buf_text(&json, "{\"output\":{");
    task_show(&json, t);
    buf_text(&json, has_expired ? "},\"expired\":true}" : "}}");
    return write_notice(w, t->execution_id, t->id, buf_view(&json));
}

/* The planner has refused it: an error of the step. */
static bool notify_refusal(struct planner_work *w, const struct task *t, const struct err *err)
{
    const struct planner_change *c = w->change;
    struct buf json, details;

    buf_init_arena(&json, w->a->mem);
    object_begin(&details, w->a->mem);
    if (c->guard != GUARD_NONE)
        object_text(&details, "guard", str_of(task_guard_name(c->guard)));
    if (c->field != NULL)
        object_text(&details, "field", str_of(c->field));
    buf_char(&details, '}');
    buf_text(&json, "{\"error\":{");
    object_text(&json, "code", STR("validation_task"));
    object_text(&json, "message", str_of(err->message));
    object_text(&json, "class", str_of(err_class_name(ERR_CLASS_BUSINESS)));
    object_json(&json, "details", buf_view(&details));
    buf_text(&json, "}}");
    return write_notice(w, t->execution_id, t->id, buf_view(&json));
}

/* --- making it --- */

struct value payload_of_text(struct arena *mem, const char *name, struct str text)
{
    struct value_entry *entry = ARENA_NEW(mem, struct value_entry);
    size_t duplicate;

    *entry = (struct value_entry){value_key(str_of(name)), value_string(text)};
    return value_map_make(mem, entry, 1, &duplicate);
}

/* Whether a task that was prepared may be given to somebody at once. False: a->status says why. */
static bool decide_assignment(struct planner_work *w, const struct task *t, struct str assign_to,
                              struct task_decision *d)
{
    struct task_facts facts = {.task = *t, .actor = w->change->actor, .target = {.id = assign_to}};
    struct task_request request = {.payload = payload_of_text(w->a->mem, "assign_to", assign_to)};

    facts.now_us = w->change->change.now_us;
    facts.task.status = TASK_AVAILABLE;
    facts.task.row_version = 1;
    facts.task.created_at_us = facts.now_us;
    if (!policy_find(w, t->org_id, &facts.policy) || !person_load(w, t->org_id, &facts.target))
        return false;
    planner_decide_new(&facts, &request, d);
    return true;
}

/* Nothing is written when it is refused: w->m says so. */
static enum apply_result make_asked(struct planner_work *w, const struct task_act *act,
                                    struct task *t)
{
    struct str assign_to = value_map_text(act->body, STR("assign_to"));
    struct task_decision d = {0};
    enum apply_result end = task_prepare(w, act->body, t);

    if (end != APPLY_DONE || w->m->result != MEMBER_APPLIED)
        return end;
    if (assign_to.len > 0 && !decide_assignment(w, t, assign_to, &d))
        return APPLY_FAILED;
    if (d.verdict == TASK_REFUSED)
        return planner_refuse(w, &d);
    if (!task_write(w, act->body, t))
        return APPLY_FAILED;
    if (assign_to.len == 0)
        return APPLY_DONE;
    return apply_done_if(task_log(w, t->org_id, &d.rows[0]) && task_save(w, &d.after, 1));
}

static bool create_task(struct planner_work *w, const struct task_act *act, struct str execution_id)
{
    struct task t = {.id = act->id,
                     .execution_id = execution_id,
                     .form_json = act->form_json,
                     .is_awaited = act->waits};
    bool wrote = w->a->wrote, found;

    /* Only what make_asked() itself has written could not be taken back. */
    w->a->wrote = false;
    if (make_asked(w, act, &t) == APPLY_FAILED)
        return false;
    w->a->wrote |= wrote;
    if (w->m->result != MEMBER_APPLIED)
        return notify_refusal(w, &t, &w->m->err);
    if (act->waits)
        return true;
    return task_load(w, t.org_id, t.id, &t, &found) && task_notify(w, &t, false);
}

/* --- ending it --- */

static bool cancel_task(struct planner_work *w, struct task *t, struct str reason)
{
    struct task_transition row =
        planner_cancel(t, payload_of_text(w->a->mem, "reason", reason), w->change->change.now_us);
    int64_t before = t->row_version;

    t->is_awaited = false;
    task_move(t, &row);
    return task_log(w, t->org_id, &row) && task_save(w, t, before) && contributors_drop(w, t->id) &&
           task_reexamine_successors(w, t);
}

static bool end_task(struct planner_work *w, const struct task_act *act)
{
    bool found, has_ended, is_awaited;
    struct task t;

    if (!task_load(w, w->change->org_id, act->id, &t, &found))
        return false;
    if (!found)
        return true;
    has_ended = task_status_is_terminal(t.status);
    is_awaited = t.is_awaited;
    switch (act->kind) {
    case TASK_ACT_CREATE:
        PANIC("a task is made elsewhere");
    case TASK_ACT_LOOK:
        return !has_ended || task_notify(w, &t, false);
    case TASK_ACT_EXPIRE:
        if (has_ended)
            return task_notify(w, &t, false);
        if (!(act->keeps ? apply_write(w->a, SQL_TASK_LET_GO, DB_PARAMS(db_text(t.id)))
                         : cancel_task(w, &t, act->reason)))
            return false;
        return task_notify(w, &t, true);
    case TASK_ACT_CANCEL:
        return has_ended || !is_awaited || cancel_task(w, &t, act->reason);
    }
    PANIC("unknown act of a commit");
}

bool apply_tasks(struct apply *a, struct member *m)
{
    const struct execution *e = m->commit->after;

    if (m->commit->tasks.count == 0)
        return true;
    /* The planner looks and writes by statements of its own. */
    a->status = gather_flush(a);
    for (size_t i = 0; a->status == DB_DONE && i < m->commit->tasks.count; i++) {
        const struct task_act *act = &m->commit->tasks.items[i];
        struct planner_change change = {
            .change = {.now_us = e->updated_at_us},
            .org_id = record_org(e->org_id),
            .actor = {.role = ACTOR_SYSTEM, .role_name = STR("system")},
        };
        /* The step is notified of what the planner refuses: the commit is as good as ever. */
        struct member asked = {.change = &change.change, .events = m->events};
        struct planner_work w = {.a = a,
                                 .m = &asked,
                                 .change = &change,
                                 .ids = (unsigned)e->seq << 8}; /* no two commits share one */

        if (!uuid_read(act->id, &change.seed))
            PANIC("a task that is asked for has no id");
        if (!(act->kind == TASK_ACT_CREATE ? create_task(&w, act, uuid_text(a->mem, e->id))
                                           : end_task(&w, act)))
            return false;
        a->status = DB_DONE;
    }
    /* What it has made and ended is not in what was gathered for transitions. */
    if (a->status == DB_DONE)
        a->status = gather_flush(a);
    facts_forget(a);
    return a->status == DB_DONE;
}

/* --- the form of a task --- */

void task_check_form(struct planner_work *w, struct task_facts *f)
{
    struct planner_change *c = w->change;
    struct value payload = c->request.payload;

    c->findings = (struct findings){0};
    f->filled = value_absent();
    if (f->task.form_json.len == 0 ||
        !str_eq(c->request.action, str_of(task_action_name(TASK_ACTION_SUBMIT))))
        return;
    define_check_form(w->a->mem, f->task.form_json, STR("/payload"), payload, &f->filled,
                      &c->findings);
    if (findings_have_errors(&c->findings))
        f->misfit = sentence_make(w->a->mem, "the payload does not fit the form: %pS",
                                  SENTENCE_ARG(c->findings.items[0].message));
}
