/*
 * change_task_links.c - what tasks are connected with: holds, other tasks that
 * they wait for, contributors, comments, escalations; see planner.h.
 */
#include "store/planner/planner_rows.h"

#include "store/db/db.h"
#include "store/store.h"
#include "store/write/apply.h"

static enum apply_result refuse_over(struct planner_work *w, const struct task *t)
{
    return planner_refuse_with(w, ERR_TRANSITION_NOT_ALLOWED, "the task is %s",
                               task_status_name(t->status));
}

static bool answer_nothing(struct planner_work *w)
{
    w->change->change.answer_status = 204;
    w->change->change.answer_json = STR_NONE;
    return true;
}

/* --- holds --- */

enum apply_result planner_hold_apply(struct apply *a, struct member *m)
{
    struct planner_work w = planner_begin(a, m);
    struct planner_change *c = w.change;
    struct task t;
    enum apply_result end;
    struct str id;

    if (!planner_take_managed(&w, "hold tasks", &t, &end))
        return end;
    if (task_status_is_terminal(t.status))
        return refuse_over(&w, &t);
    id = planner_new_id(&w);
    return apply_done_if(
        apply_write(a, SQL_HOLD_PUT,
                    DB_PARAMS(db_text(id), db_text(t.id), db_text(body_str(c, "type")),
                              db_text_or_null(body_str(c, "reason")),
                              db_some_int(body_value(c, "until_us").i), db_text(c->actor.id),
                              db_int(c->change.now_us))) &&
        task_reexamine(&w, c->org_id, c->id, NULL) &&
        planner_answer_row(&w, 201, PLANNER_HOLDS, t.id, id));
}

enum apply_result planner_release_apply(struct apply *a, struct member *m)
{
    struct planner_work w = planner_begin(a, m);
    struct planner_change *c = w.change;
    struct task t;
    enum apply_result end;

    if (!planner_take_managed(&w, "release holds", &t, &end))
        return end;
    if (!apply_write(a, SQL_HOLD_RELEASE,
                     DB_PARAMS(db_text(c->other_id), db_text(t.id), db_text(c->actor.id),
                               db_int(c->change.now_us))))
        return APPLY_FAILED;
    if (db_changes(a->db) == 0)
        return planner_refuse_with(&w, ERR_NOT_FOUND, "the task has no such hold");
    return apply_done_if(task_reexamine(&w, c->org_id, c->id, NULL) && answer_nothing(&w));
}

/* --- dependencies --- */

enum apply_result planner_depend_apply(struct apply *a, struct member *m)
{
    struct planner_work w = planner_begin(a, m);
    struct planner_change *c = w.change;
    struct str other = body_str(c, "depends_on");
    struct task t, before;
    bool found, cycle;
    enum apply_result end;

    if (!planner_take_managed(&w, "change dependencies", &t, &end))
        return end;
    if (task_status_is_terminal(t.status))
        return refuse_over(&w, &t);
    if (!task_load(&w, c->org_id, other, &before, &found) ||
        !apply_finds(a, SQL_DEPENDENCY_CYCLE, DB_PARAMS(db_text(c->id), db_text(other)), &cycle))
        return APPLY_FAILED;
    c->field = "depends_on";
    if (!found)
        return planner_refuse_with(&w, ERR_VALIDATION_ERROR, "there is no such task to depend on");
    if (cycle)
        return planner_refuse_with(&w, ERR_VALIDATION_ERROR,
                                   "that would be a cycle: the other task waits for this one");
    return apply_done_if(apply_write(a, SQL_DEPENDENCY_PUT,
                                     DB_PARAMS(db_text(t.id), db_text(other), db_text(c->actor.id),
                                               db_int(c->change.now_us))) &&
                         task_reexamine(&w, c->org_id, c->id, NULL) &&
                         planner_answer_task(&w, 201, c->org_id, c->id));
}

enum apply_result planner_undepend_apply(struct apply *a, struct member *m)
{
    struct planner_work w = planner_begin(a, m);
    struct planner_change *c = w.change;
    struct task t;
    enum apply_result end;

    if (!planner_take_managed(&w, "change dependencies", &t, &end))
        return end;
    if (!apply_write(a, SQL_DEPENDENCY_DROP, DB_PARAMS(db_text(t.id), db_text(c->other_id))))
        return APPLY_FAILED;
    if (db_changes(a->db) == 0)
        return planner_refuse_with(&w, ERR_NOT_FOUND, "the task does not depend on that one");
    return apply_done_if(task_reexamine(&w, c->org_id, c->id, NULL) && answer_nothing(&w));
}

/* --- contributors --- */

enum apply_result planner_invite_apply(struct apply *a, struct member *m)
{
    struct planner_work w = planner_begin(a, m);
    struct planner_change *c = w.change;
    struct planner_person actor = c->actor, guest = {.id = body_str(c, "user_id")};
    struct planner_policy policy;
    struct task t;
    enum apply_result end;

    if (!planner_take_task(&w, &t, &end))
        return end;
    if (!actor_manages(actor.role) && actor.role != ACTOR_EXECUTOR)
        return planner_forbid(&w, "invite contributors");
    if (!person_load(&w, c->org_id, &actor) || !person_load(&w, c->org_id, &guest) ||
        !policy_load(a->db, c->org_id, &policy, &a->status))
        return APPLY_FAILED;
    if (t.assigned_to.len == 0 || task_status_is_terminal(t.status))
        return planner_refuse_with(&w, ERR_TRANSITION_NOT_ALLOWED,
                                   "only a task that somebody owns can have contributors");
    if (!actor_manages(c->actor.role)) {
        c->guard = str_eq(t.assigned_to, c->actor.id) ? GUARD_SKILL : GUARD_OWNER;
        if (c->guard == GUARD_OWNER)
            return planner_refuse_with(&w, ERR_GUARD_FAILED,
                                       "only the owner of the task may invite others");
        if (actor.skill < policy.min_skill_to_invite)
            return planner_refuse_with(&w, ERR_GUARD_FAILED, "inviting others needs skill %lld",
                                       (long long)policy.min_skill_to_invite);
    }
    c->guard = GUARD_ASSIGNEE;
    if (!guest.is_known || guest.role == ACTOR_OTHER || str_eq(guest.id, t.assigned_to))
        return planner_refuse_with(&w, ERR_GUARD_FAILED,
                                   "user_id is nobody of this organisation who could take part");
    return apply_done_if(apply_write(a, SQL_CONTRIBUTOR_PUT,
                                     DB_PARAMS(db_text(t.id), db_text(guest.id),
                                               db_text(c->actor.id), db_int(c->change.now_us))) &&
                         planner_answer_task(&w, 201, c->org_id, c->id));
}

enum apply_result planner_leave_apply(struct apply *a, struct member *m)
{
    struct planner_work w = planner_begin(a, m);
    struct planner_change *c = w.change;
    struct task t;
    enum apply_result end;

    if (!planner_take_task(&w, &t, &end))
        return end;
    if (!actor_manages(c->actor.role) && !str_eq(c->actor.id, c->other_id) &&
        !str_eq(c->actor.id, t.assigned_to))
        return planner_forbid(&w, "take others away from a task");
    if (!apply_write(a, SQL_CONTRIBUTOR_DROP, DB_PARAMS(db_text(t.id), db_text(c->other_id))))
        return APPLY_FAILED;
    if (db_changes(a->db) == 0)
        return planner_refuse_with(&w, ERR_NOT_FOUND, "that person is no contributor of the task");
    return apply_done_if(answer_nothing(&w));
}

/* --- comments, escalations --- */

enum apply_result planner_comment_apply(struct apply *a, struct member *m)
{
    struct planner_work w = planner_begin(a, m);
    struct planner_change *c = w.change;
    struct task t;
    enum apply_result end;
    struct str id;

    if (!planner_take_task(&w, &t, &end))
        return end;
    id = planner_new_id(&w);
    return apply_done_if(
        apply_write(a, SQL_COMMENT_PUT,
                    DB_PARAMS(db_text(id), db_text(t.id), db_text(body_str(c, "body")),
                              db_text(c->actor.id), db_int(c->change.now_us))) &&
        planner_answer_row(&w, 201, PLANNER_COMMENTS, t.id, id));
}

/* Somebody has acknowledged it before; a request that is sent again is answered like the first. */
static enum apply_result answer_acknowledged(struct planner_work *w, struct str task_id)
{
    bool found;

    if (!planner_answer_found(w, 200, PLANNER_ESCALATIONS, task_id, w->change->other_id, &found))
        return APPLY_FAILED;
    return found ? APPLY_DONE
                 : planner_refuse_with(w, ERR_NOT_FOUND, "the task has no such escalation");
}

/* The last open one that is acknowledged takes needs_attention away. */
enum apply_result planner_acknowledge_apply(struct apply *a, struct member *m)
{
    struct planner_work w = planner_begin(a, m);
    struct planner_change *c = w.change;
    struct task t;
    enum apply_result end;
    bool is_open;

    if (!planner_take_managed(&w, "acknowledge escalations", &t, &end))
        return end;
    if (!apply_write(a, SQL_ESCALATION_ACKNOWLEDGE,
                     DB_PARAMS(db_text(c->other_id), db_text(t.id), db_text(c->actor.id),
                               db_int(c->change.now_us))))
        return APPLY_FAILED;
    if (db_changes(a->db) == 0)
        return answer_acknowledged(&w, t.id);
    if (!apply_finds(a, SQL_ESCALATION_OPEN, DB_PARAMS(db_text(t.id)), &is_open))
        return APPLY_FAILED;
    return apply_done_if(
        (is_open || apply_write(a, SQL_TASK_ATTENTION,
                                DB_PARAMS(db_text(t.id), db_int(0), db_int(c->change.now_us)))) &&
        planner_answer_row(&w, 200, PLANNER_ESCALATIONS, t.id, c->other_id));
}
