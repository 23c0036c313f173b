/* change_task.c - tasks: moved, made, changed, deleted, split; see planner.h. */
#include "store/planner/facts.h"

#include "store/db/db.h"
#include "store/store.h"
#include "store/write/apply.h"
#include "value/json.h"
#include "value/object.h"

/* --- moving --- */

/* What was accepted under the event of the request, if anything. */
static bool load_event(struct planner_work *w, struct task_event *event, struct str *first_answer)
{
    const enum sql sql = SQL_TASK_EVENT;
    const struct planner_change *c = w->change;
    const struct cached_event *cached = facts_event(w->a, c->id, c->request.client_event_id);
    struct arena *mem = w->a->mem;
    struct db *db = w->a->db;

    if (cached != NULL) {
        *event = cached->event;
        *first_answer = cached->answer;
        return true;
    }
    w->a->status = db_run(db, sql, DB_PARAMS(db_text(c->id), db_text(c->request.client_event_id)));
    if (w->a->status == DB_ROW) {
        *event = (struct task_event){.actor_id = db_column_copy(db, mem, sql, 0),
                                     .action = db_column_copy(db, mem, sql, 1),
                                     .payload_json = db_column_copy(db, mem, sql, 2)};
        *first_answer = db_column_copy(db, mem, sql, 3);
    }
    db_end(db, sql);
    return w->a->status <= DB_DONE;
}

/* The facts that planner_decide() asks for. */
static bool load_facts(struct planner_work *w, struct task_facts *f, bool *found,
                       struct str *first_answer)
{
    const struct planner_change *c = w->change;

    *f = (struct task_facts){.actor = c->actor, .now_us = c->change.now_us};
    if (!task_load(w, c->org_id, c->id, &f->task, found))
        return false;
    if (!*found)
        return true;
    if (!load_event(w, &f->event, first_answer))
        return false;
    f->target.id = value_map_text(c->request.payload, STR("assign_to"));
    return policy_find(w, c->org_id, &f->policy) && person_load(w, c->org_id, &f->actor) &&
           (f->target.id.len == 0 || person_load(w, c->org_id, &f->target));
}

static bool write_escalation(struct planner_work *w)
{
    const struct planner_change *c = w->change;

    return apply_put(w->a, SQL_ESCALATION_PUT,
                     DB_PARAMS(db_text(planner_new_id(w)), db_text(c->id),
                               db_text(value_map_text(c->request.payload, STR("kind"))),
                               db_text_or_null(value_map_text(c->request.payload, STR("message"))),
                               db_text_or_null(c->actor.id), db_int(c->change.now_us)));
}

/* A rejected task may come with a defect, and that with a task to fix it. */
static bool write_defect(struct planner_work *w, const struct task_decision *d, struct str *fix_id)
{
    struct value payload = w->change->request.payload;
    struct value defect = value_map_get_str(payload, STR("defect"));
    struct fix_new fix = {.of = &d->after, .makes_task = d->makes_fix};

    fix.description = value_map_text(defect, STR("description"));
    fix.what_to_fix = value_map_text(defect, STR("what_to_fix"));
    if (fix.description.len == 0)
        fix.description = value_map_text(payload, STR("reason"));
    if (!planner_make_fix(w, &fix))
        return false;
    *fix_id = fix.task_id;
    return true;
}

/* What happens to a defect when the task that fixes it moves. */
static bool move_defect(struct planner_work *w, const struct task_decision *d)
{
    const struct task *t = &d->after;

    if (!t->is_fix)
        return true;
    if (d->effects & EFFECT_SUBMITTED)
        return apply_write(
            w->a, SQL_DEFECT_HOW_FIXED,
            DB_PARAMS(db_text(t->id), db_text_or_null(value_map_text(w->change->request.payload,
                                                                     STR("how_fixed")))));
    if (d->effects & EFFECT_REVIEWED)
        return apply_write(
            w->a, SQL_DEFECT_FIXED,
            DB_PARAMS(db_text(t->id), db_text(t->assigned_to), db_int(t->reviewed_at_us)));
    return true;
}

static bool write_move(struct planner_work *w, struct task_decision *d, int64_t before,
                       struct str *fix_id)
{
    for (size_t i = 0; i < d->count; i++)
        if (!task_log(w, w->change->org_id, &d->rows[i]))
            return false;
    if (!task_save(w, &d->after, before))
        return false;
    if (d->effects & EFFECT_CLEAR && !contributors_drop(w, d->after.id))
        return false;
    if (d->effects & EFFECT_ESCALATION && !write_escalation(w))
        return false;
    if (d->makes_defect && !write_defect(w, d, fix_id))
        return false;
    return move_defect(w, d) &&
           (!(d->effects & EFFECT_SUCCESSORS) || task_reexamine_successors(w, &d->after));
}

/* Keep the answer for a repetition of the event. */
static bool keep_event_answer(struct planner_work *w, struct str action, struct str payload)
{
    const struct planner_change *c = w->change;
    struct cached_event *cached = facts_event(w->a, c->id, c->request.client_event_id);

    if (cached != NULL)
        *cached = (struct cached_event){.is_known = true,
                                        .event = {c->actor.id, action, payload},
                                        .answer = c->change.answer_json};
    return apply_put(w->a, SQL_TASK_EVENT_PUT,
                     DB_PARAMS(db_text(c->id), db_text(c->request.client_event_id),
                               db_text(c->actor.id), db_text(action), db_text(payload),
                               db_text(c->change.answer_json)));
}

/* The actor as it is once the task has moved; `before` and `after` are the same task. */
static void count_own_task(struct planner_person *actor, const struct task *before,
                           const struct task *after)
{
    if (task_status_is_active(before->status) && str_eq(before->assigned_to, actor->id))
        actor->active_tasks--;
    if (task_status_is_active(after->status) && str_eq(after->assigned_to, actor->id))
        actor->active_tasks++;
}

/* {task, transition, fix_task}, which is kept for a repetition of the event. Nothing is read again. */
static bool answer_move(struct planner_work *w, const struct task_facts *f,
                        const struct planner_person *stored, const struct task_decision *d,
                        struct str fix_id)
{
    struct planner_person actor = *stored;
    struct task shown = d->after;
    struct planner_change *c = w->change;
    struct buf json, payload;
    struct err err;

    buf_init_arena(&json, w->a->mem);
    buf_init_arena(&payload, w->a->mem);
    if (d->effects & EFFECT_CLEAR)
        shown.contributors = value_list(NULL, 0);
    count_own_task(&actor, &f->task, &shown);
    buf_text(&json, "{\"task\":");
    task_show_for(w->a->mem, &json, &shown, &actor, &f->policy, c->change.now_us);
    buf_text(&json, ",\"transition\":{");
    if (!task_transition_show(&json, &d->rows[d->count - 1], &err) ||
        !json_write(&payload, payload_normalise(w->a->mem, c->request.payload), &err)) {
        w->a->status = DB_CORRUPT;
        return false;
    }
    buf_text(&json, "},\"fix_task\":");
    if (fix_id.len == 0)
        buf_text(&json, "null");
    else if (!planner_show_task(w, &json, c->org_id, fix_id))
        return false;
    buf_char(&json, '}');
    c->task_id = d->after.id;
    c->project_id = d->after.project_id;
    c->status = d->after.status;
    c->change.answer_status = 200;
    c->change.answer_json = buf_view(&json);
    return keep_event_answer(w, c->request.action, buf_view(&payload));
}

enum apply_result planner_move_apply(struct apply *a, struct member *m)
{
    struct planner_work w = planner_begin(a, m);
    struct planner_change *c = w.change;
    struct task_decision d;
    struct task_facts facts;
    struct planner_person stored;
    struct str first_answer = STR_NONE, fix_id = STR_NONE;
    bool found;

    if (!load_facts(&w, &facts, &found, &first_answer))
        return APPLY_FAILED;
    if (!found)
        return planner_refuse_with(&w, ERR_NOT_FOUND, "there is no such task");
    stored = facts.actor;
    /* Who asks is known by the token; skill and trades are as they are stored now. */
    facts.actor.role = c->actor.role;
    facts.actor.role_name = c->actor.role_name;
    task_check_form(&w, &facts);
    planner_decide(a->mem, &facts, &c->request, &d);
    if (d.verdict == TASK_REFUSED)
        return planner_refuse(&w, &d);
    if (d.verdict == TASK_REPEATED) {
        c->change.answer_status = 200;
        c->change.answer_json = first_answer;
        return APPLY_DONE;
    }
    return apply_done_if(write_move(&w, &d, facts.task.row_version, &fix_id) &&
                         answer_move(&w, &facts, &stored, &d, fix_id));
}

/* --- making and changing --- */

enum apply_result planner_create_apply(struct apply *a, struct member *m)
{
    struct planner_work w = planner_begin(a, m);
    struct task t = {0};
    enum apply_result end;

    if (!actor_manages(w.change->actor.role))
        return planner_forbid(&w, "create tasks");
    end = task_make(&w, w.change->body, &t);
    if (end != APPLY_DONE || m->result != MEMBER_APPLIED)
        return end;
    return apply_done_if(planner_answer_made(&w, 201, &t));
}

enum apply_result planner_patch_apply(struct apply *a, struct member *m)
{
    struct planner_work w = planner_begin(a, m);
    struct planner_change *c = w.change;
    enum apply_result end;
    struct task t;
    bool found;

    if (!planner_take_managed(&w, "change tasks", &t, &end))
        return end;
    if (body_value(c, "status").kind != VALUE_ABSENT)
        return planner_refuse_with(
            &w, ERR_STATUS_IS_READ_ONLY,
            "the status of a task is changed by POST /tasks/{id}/transitions");
    if (t.row_version != c->expected_row_version) {
        c->current_row_version = t.row_version;
        return planner_refuse_with(&w, ERR_VERSION_CONFLICT, "the task has row_version %lld now",
                                   (long long)t.row_version);
    }
    task_lay_over(&t, c->body);
    if (!task_has_deliverable(&w, t.deliverable_id, &found))
        return APPLY_FAILED;
    if (!found) {
        c->field = "deliverable_id";
        return planner_refuse_with(&w, ERR_VALIDATION_ERROR, "there is no such deliverable");
    }
    return apply_done_if(
        apply_write(a, SQL_TASK_PATCH,
                    DB_PARAMS(db_text(t.id), db_int(t.row_version), db_text_or_null(t.project_id),
                              db_text(t.title), db_text_or_null(t.description),
                              db_text_or_null(t.required_trade), db_int(t.min_skill),
                              db_int(t.priority), db_text_or_null(t.deliverable_id),
                              db_some_int(t.due_at_us), db_int(c->change.now_us))) &&
        planner_answer_task(&w, 200, t.org_id, t.id));
}

/* Only what nobody ever worked on and nothing waits for. */
enum apply_result planner_delete_apply(struct apply *a, struct member *m)
{
    struct planner_work w = planner_begin(a, m);
    struct planner_change *c = w.change;
    enum apply_result end;
    bool has_successors;
    struct task t;

    if (!planner_take_managed(&w, "delete tasks", &t, &end))
        return end;
    if (!apply_finds(a, SQL_TASK_SUCCESSORS, DB_PARAMS(db_text(t.id)), &has_successors))
        return APPLY_FAILED;
    if (t.status != TASK_BLOCKED && t.status != TASK_AVAILABLE)
        return planner_refuse_with(&w, ERR_CONFLICT,
                                   "only tasks that are blocked or available can be deleted; this "
                                   "one is %s: cancel it",
                                   task_status_name(t.status));
    if (t.had_owner)
        return planner_refuse_with(&w, ERR_CONFLICT,
                                   "somebody has worked on this task: cancel it instead");
    if (has_successors)
        return planner_refuse_with(&w, ERR_CONFLICT, "other tasks depend on this one");
    if (t.is_awaited)
        return planner_refuse_with(&w, ERR_CONFLICT, "an execution waits for this task: cancel it");
    c->change.answer_status = 204;
    return apply_done_if(
        apply_write(a, SQL_DEPENDENCIES_DROP, DB_PARAMS(db_text(t.id))) &&
        apply_write(a, SQL_TASK_DELETE, DB_PARAMS(db_text(t.id), db_int(t.row_version))) &&
        task_announce(&w, "deleted", &t, NULL));
}

/* --- splitting --- */

/* The parts, each a task that the whole one then depends on. */
static enum apply_result make_parts(struct planner_work *w, const struct task *whole,
                                    struct buf *json)
{
    struct value parts = body_value(w->change, "subtasks");
    struct buf list;

    buf_init_arena(&list, w->a->mem);
    for (uint32_t i = 0; i < parts.len; i++) {
        struct task t = {.parent_task_id = whole->id,
                         .project_id = whole->project_id,
                         .required_trade = whole->required_trade,
                         .min_skill = whole->min_skill,
                         .priority = whole->priority,
                         .deliverable_id = whole->deliverable_id};
        enum apply_result end = task_make(w, parts.items[i], &t);

        if (end != APPLY_DONE || w->m->result != MEMBER_APPLIED)
            return end;
        if (!apply_write(w->a, SQL_DEPENDENCY_PUT,
                         DB_PARAMS(db_text(whole->id), db_text(t.id),
                                   db_text_or_null(w->change->actor.id),
                                   db_int(w->change->change.now_us))))
            return APPLY_FAILED;
        object_next(&list);
        if (!planner_show_task(w, &list, t.org_id, t.id))
            return APPLY_FAILED;
    }
    object_list(json, "subtasks");
    buf_str(json, buf_view(&list));
    buf_char(json, ']');
    return APPLY_DONE;
}

/* A recall of whoever works on it, under the event of the request. */
static bool recall_for_split(struct planner_work *w, struct task *t)
{
    struct task_transition row = {.task_id = t->id,
                                  .action = TASK_ACTION_RECALL_TO_POOL,
                                  .from = t->status,
                                  .to = TASK_BLOCKED,
                                  .actor_id = w->change->actor.id,
                                  .actor_role = w->change->actor.role_name,
                                  .payload = payload_of_text(w->a->mem, "reason", STR("split")),
                                  .client_event_id = w->change->request.client_event_id,
                                  .expected_row_version = t->row_version,
                                  .result_row_version = t->row_version + 1,
                                  .created_at_us = w->change->change.now_us};
    int64_t before = t->row_version;

    task_move(t, &row);
    return task_log(w, t->org_id, &row) && task_save(w, t, before) && contributors_drop(w, t->id);
}

/* The checks of planner_decide() in its order, for a request that is no transition. */
static bool check_split(struct planner_work *w, const struct task_facts *f, struct str payload,
                        struct task_decision *d)
{
    const struct planner_change *c = w->change;

    *d = (struct task_decision){.after = f->task, .verdict = TASK_REFUSED};
    if (f->event.action.len > 0) {
        if (str_eq(f->event.actor_id, c->actor.id) && str_eq(f->event.action, STR("split")) &&
            str_eq(f->event.payload_json, payload))
            d->verdict = TASK_REPEATED;
        return d->verdict == TASK_REPEATED ||
               err_set(&d->err, ERR_IDEMPOTENCY_CONFLICT,
                       "this client_event_id was used for another request about this task");
    }
    if (!actor_manages(c->actor.role))
        return err_set(&d->err, ERR_FORBIDDEN, "the role %.*s may not split tasks",
                       STR_ARG(c->actor.role_name));
    if (c->request.expected_row_version != f->task.row_version)
        return err_set(&d->err, ERR_VERSION_CONFLICT, "the task has row_version %lld now",
                       (long long)f->task.row_version);
    if (f->task.status == TASK_SUBMITTED || task_status_is_terminal(f->task.status))
        return err_set(&d->err, ERR_TRANSITION_NOT_ALLOWED, "a task that is %s cannot be split",
                       task_status_name(f->task.status));
    d->verdict = TASK_ACCEPTED;
    return true;
}

enum apply_result planner_split_apply(struct apply *a, struct member *m)
{
    struct planner_work w = planner_begin(a, m);
    struct planner_change *c = w.change;
    struct task_facts f;
    struct task_decision d;
    struct buf json, payload;
    struct str first_answer = STR_NONE;
    enum apply_result end;
    struct err err;
    bool found;

    buf_init_arena(&json, a->mem);
    buf_init_arena(&payload, a->mem);
    if (!json_write(&payload, payload_normalise(a->mem, body_value(c, "subtasks")), &err))
        return planner_refuse_with(&w, ERR_VALIDATION_ERROR, "%pS", ERR_ARG(&err));
    if (!load_facts(&w, &f, &found, &first_answer))
        return APPLY_FAILED;
    if (!found)
        return planner_refuse_with(&w, ERR_NOT_FOUND, "there is no such task");
    if (!check_split(&w, &f, buf_view(&payload), &d))
        return planner_refuse(&w, &d);
    c->change.answer_status = 200;
    if (d.verdict == TASK_REPEATED) {
        c->change.answer_json = first_answer;
        return APPLY_DONE;
    }
    buf_char(&json, '{');
    end = make_parts(&w, &f.task, &json);
    if (end != APPLY_DONE || m->result != MEMBER_APPLIED)
        return end;
    if (task_status_is_active(f.task.status) ? !recall_for_split(&w, &f.task)
                                             : !task_reexamine(&w, c->org_id, c->id, NULL))
        return APPLY_FAILED;
    object_name(&json, "task");
    if (!planner_show_task(&w, &json, c->org_id, c->id))
        return APPLY_FAILED;
    buf_char(&json, '}');
    c->change.answer_json = buf_view(&json);
    return apply_done_if(keep_event_answer(&w, STR("split"), buf_view(&payload)));
}
