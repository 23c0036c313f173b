/*
 * change_shift.c - shifts, the policy of an organisation, and what time brings;
 * see planner.h.
 */
#include "store/planner/planner_rows.h"

#include "store/db/db.h"
#include "store/store.h"
#include "store/write/apply.h"
#include "store/write/row_locks.h"
#include "value/object.h"

/* --- shifts --- */

enum apply_result planner_shift_apply(struct apply *a, struct member *m)
{
    struct planner_work w = planner_begin(a, m);
    struct planner_change *c = w.change;
    struct value members = body_value(c, "members");
    struct value starts = body_value(c, "starts_at_us"), ends = body_value(c, "ends_at_us");
    struct str id = planner_new_id(&w);

    if (!actor_manages(c->actor.role))
        return planner_forbid(&w, "start shifts");
    if (starts.kind == VALUE_INT && ends.kind == VALUE_INT && ends.i <= starts.i) {
        c->field = "ends_at";
        return planner_refuse_with(&w, ERR_VALIDATION_ERROR, "a shift ends after it has started");
    }
    for (uint32_t i = 0; members.kind == VALUE_LIST && i < members.len; i++) {
        struct planner_person p = {.id = value_text(members.items[i])};

        if (!person_load(&w, c->org_id, &p))
            return APPLY_FAILED;
        if (!p.is_known) {
            c->field = "members";
            return planner_refuse_with(&w, ERR_VALIDATION_ERROR,
                                       "members names somebody who is not of this organisation");
        }
    }
    if (!apply_write(a, SQL_SHIFT_PUT,
                     DB_PARAMS(db_text(id), db_text(c->org_id), db_text(body_str(c, "name")),
                               db_int(starts.kind == VALUE_INT ? starts.i : c->change.now_us),
                               ends.kind == VALUE_INT ? db_int(ends.i) : db_null(),
                               db_text(c->actor.id), db_int(c->change.now_us))))
        return APPLY_FAILED;
    for (uint32_t i = 0; members.kind == VALUE_LIST && i < members.len; i++)
        if (!apply_write(a, SQL_SHIFT_MEMBER_PUT,
                         DB_PARAMS(db_text(id), db_text(value_text(members.items[i])))))
            return APPLY_FAILED;
    return apply_done_if(planner_answer_row(&w, 201, PLANNER_SHIFTS, c->org_id, id));
}

/* Give a task back to the pool because its owner's shift has ended. */
static bool release_task(struct planner_work *w, const struct task_name *task, struct str shift_id)
{
    struct planner_change *c = w->change;
    struct task_facts f = {.now_us = c->change.now_us,
                           .actor = {.role = ACTOR_SYSTEM, .role_name = STR("system")}};
    struct task_request request = {.action = STR("shift_release")};
    struct value_entry *entries = ARENA_ARRAY(w->a->mem, 2, struct value_entry);
    struct str note = body_str(c, "handover_note");
    struct task_decision d;
    size_t duplicate, count = 0;
    bool found;

    if (!task_load(w, task->org_id, task->id, &f.task, &found))
        return false;
    if (!found)
        return true;
    entries[count++] = (struct value_entry){value_key(STR("shift_id")), value_string(shift_id)};
    if (note.len > 0)
        entries[count++] =
            (struct value_entry){value_key(STR("handover_note")), value_string(note)};
    request.payload = value_map_make(w->a->mem, entries, count, &duplicate);
    request.expected_row_version = f.task.row_version;
    planner_decide(w->a->mem, &f, &request, &d);
    /* Submitted, or taken away meanwhile: nothing to release. */
    if (d.verdict != TASK_ACCEPTED)
        return true;
    c->task_id = f.task.id;
    c->project_id = f.task.project_id;
    c->status = d.after.status;
    return task_log(w, task->org_id, &d.rows[0]) && task_save(w, &d.after, f.task.row_version) &&
           contributors_drop(w, f.task.id);
}

/* End a shift and release what its members own. */
static bool end_shift(struct planner_work *w, struct str id)
{
    struct task_names members, tasks;

    if (!apply_write(w->a, SQL_SHIFT_END,
                     DB_PARAMS(db_text(id), db_int(w->change->change.now_us),
                               db_text_or_null(w->change->actor.id))) ||
        !planner_names(w, SQL_SHIFT_MEMBERS, DB_PARAMS(db_text(id)), false, &members))
        return false;
    for (size_t i = 0; i < members.count; i++) {
        if (!planner_names(w, SQL_TASK_OF_OWNER, DB_PARAMS(db_text(members.items[i].id)), true,
                           &tasks))
            return false;
        for (size_t k = 0; k < tasks.count; k++)
            if (!release_task(w, &tasks.items[k], id))
                return false;
    }
    return true;
}

enum apply_result planner_shift_end_apply(struct apply *a, struct member *m)
{
    struct planner_work w = planner_begin(a, m);
    struct planner_change *c = w.change;
    bool found, is_over = false;

    a->status = db_run(a->db, SQL_SHIFT_FIND, DB_PARAMS(db_text(c->id), db_text(c->org_id)));
    found = a->status == DB_ROW;
    if (found)
        is_over = db_column_int(a->db, SQL_SHIFT_FIND, 0) != 0;
    db_end(a->db, SQL_SHIFT_FIND);
    if (a->status > DB_DONE)
        return APPLY_FAILED;
    if (!found)
        return planner_refuse_with(&w, ERR_NOT_FOUND, "there is no such shift");
    if (!actor_manages(c->actor.role) && c->actor.role != ACTOR_SYSTEM)
        return planner_forbid(&w, "end shifts");
    if (is_over)
        return planner_refuse_with(&w, ERR_CONFLICT, "this shift has ended already");
    return apply_done_if(end_shift(&w, c->id) &&
                         planner_answer_row(&w, 200, PLANNER_SHIFTS, c->org_id, c->id));
}

/* --- policy --- */

enum apply_result planner_policy_apply(struct apply *a, struct member *m)
{
    struct planner_work w = planner_begin(a, m);
    struct planner_change *c = w.change;
    struct planner_policy p;
    struct buf json;
    const struct {
        const char *name;
        int64_t *at;
    } numbers[] = {{"min_skill_to_take", &p.min_skill_to_take},
                   {"self_check_min_skill", &p.self_check_min_skill},
                   {"min_skill_to_invite", &p.min_skill_to_invite}};

    if (c->actor.role != ACTOR_SUPERVISOR && c->actor.role != ACTOR_ADMIN)
        return planner_forbid(&w, "change the policy");
    if (!policy_load(a->db, c->org_id, &p, &a->status))
        return APPLY_FAILED;
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        if (body_value(c, numbers[i].name).kind == VALUE_INT)
            *numbers[i].at = body_value(c, numbers[i].name).i;
    if (body_value(c, "allow_trade_override").kind == VALUE_BOOL)
        p.allow_trade_override = body_value(c, "allow_trade_override").b;
    if (!apply_write(a, SQL_POLICY_PUT,
                     DB_PARAMS(db_text(c->org_id), db_int(p.min_skill_to_take),
                               db_int(p.self_check_min_skill), db_int(p.min_skill_to_invite),
                               db_int(p.allow_trade_override), db_text(c->actor.id),
                               db_int(c->change.now_us))))
        return APPLY_FAILED;
    buf_init_arena(&json, a->mem);
    planner_policy_show(&json, &p);
    c->change.answer_status = 200;
    c->change.answer_json = buf_view(&json);
    return APPLY_DONE;
}

void planner_policy_show(struct buf *out, const struct planner_policy *p)
{
    buf_char(out, '{');
    object_int(out, "min_skill_to_take", p->min_skill_to_take);
    object_int(out, "self_check_min_skill", p->self_check_min_skill);
    object_int(out, "min_skill_to_invite", p->min_skill_to_invite);
    object_bool(out, "allow_trade_override", p->allow_trade_override);
    buf_char(out, '}');
}

/* --- what time brings --- */

/* A task that is past its due date gets an escalation of the system, once. */
static bool escalate_overdue(struct planner_work *w, const struct task_name *task)
{
    int64_t now_us = w->change->change.now_us;
    struct task t;
    bool found;

    return apply_write(w->a, SQL_TASK_OVERDUE, DB_PARAMS(db_text(task->id), db_int(now_us))) &&
           apply_put(w->a, SQL_ESCALATION_PUT,
                     DB_PARAMS(db_text(planner_new_id(w)), db_text(task->id),
                               db_text(STR("overdue")), db_text(STR("the due date has passed")),
                               db_null(), db_int(now_us))) &&
           task_load(w, task->org_id, task->id, &t, &found) &&
           (!found || task_announce(w, "overdue", &t, NULL));
}

/* A hold that is over ends by itself, and its task may be free. */
static bool end_hold(struct planner_work *w, const struct task_name *task)
{
    return apply_write(w->a, SQL_HOLDS_END,
                       DB_PARAMS(db_text(task->id), db_int(w->change->change.now_us))) &&
           task_reexamine(w, task->org_id, task->id, NULL);
}

/* What another session has locked is left for the next time. */
static bool act_if_free(struct planner_work *w, enum sql lock, const struct task_name *name,
                        bool (*act)(struct planner_work *w, const struct task_name *name))
{
    bool is_free;

    return row_locks_try(w->a, &lock, 1, name->id, &is_free) && (!is_free || act(w, name));
}

static bool for_each(struct planner_work *w, enum sql sql, enum sql lock,
                     bool (*act)(struct planner_work *w, const struct task_name *name))
{
    struct task_names names;

    if (!planner_names(w, sql, DB_PARAMS(db_int(w->change->change.now_us)), true, &names))
        return false;
    for (size_t i = 0; i < names.count; i++)
        if (!act_if_free(w, lock, &names.items[i], act))
            return false;
    return true;
}

static bool end_named_shift(struct planner_work *w, const struct task_name *shift)
{
    static const enum sql tasks = SQL_LOCK_SHIFT_TASKS;
    bool is_free;

    return row_locks_try(w->a, &tasks, 1, shift->id, &is_free) &&
           (!is_free || end_shift(w, shift->id));
}

/* A task that was found not to be as it should be. */
static bool repair_task(struct planner_work *w, const struct task_name *task)
{
    bool moved;

    if (!task_reexamine(w, task->org_id, task->id, &moved))
        return false;
    w->change->repaired += moved;
    return true;
}

enum apply_result planner_time_apply(struct apply *a, struct member *m)
{
    struct planner_work w = planner_begin(a, m);
    struct planner_change *c = w.change;

    c->repaired = 0;
    c->change.answer_status = 204;
    if (!for_each(&w, SQL_SHIFTS_TO_END, SQL_LOCK_SHIFTS, end_named_shift) ||
        !for_each(&w, SQL_HOLDS_OVER, SQL_LOCK_TASKS, end_hold) ||
        !for_each(&w, SQL_TASKS_OVERDUE, SQL_LOCK_TASKS, escalate_overdue))
        return APPLY_FAILED;
    for (size_t i = 0; c->wrong != NULL && i < c->wrong->count; i++)
        if (!act_if_free(&w, SQL_LOCK_TASKS, &c->wrong->items[i], repair_task))
            return APPLY_FAILED;
    return APPLY_DONE;
}
