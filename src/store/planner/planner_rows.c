/* planner_rows.c - see planner_rows.h. */
#include "store/planner/planner_rows.h"

#include "base/digest.h"
#include "store/db/db.h"
#include "store/planner/facts.h"
#include "store/write/apply.h"
#include "store/write/change_apply.h"
#include "store/write/gather.h"
#include "value/json.h"
#include "value/object.h"

/* --- ids --- */

struct str planner_new_id(struct planner_work *w)
{
    uint8_t digest[DIGEST_LEN];

    digest_sha256(str_printf(w->a->mem, "%s/%u", UUID_STR(w->change->seed).ptr, w->ids++), digest);
    return uuid_text(w->a->mem, uuid_v7(w->change->change.now_us / 1000, digest));
}

/* --- refusing --- */

enum apply_result planner_refuse(struct planner_work *w, const struct task_decision *d)
{
    w->change->guard = d->guard;
    w->change->field = d->field;
    w->change->current_row_version = d->after.row_version;
    return apply_refuse_with(w->a, w->m, d->err.code, "%pS", ERR_ARG(&d->err));
}

enum apply_result planner_forbid(struct planner_work *w, const char *what)
{
    return planner_refuse_with(w, ERR_FORBIDDEN, "the role %.*s may not %s",
                               STR_ARG(w->change->actor.role_name), what);
}

struct value body_value(const struct planner_change *c, const char *name)
{
    return value_map_member(c->body, str_of(name));
}

struct str body_str(const struct planner_change *c, const char *name)
{
    struct value v = body_value(c, name);

    return value_text_or(v, STR_NONE);
}

/* --- reading --- */

static bool column_list(struct db *db, struct arena *mem, enum sql sql, unsigned column,
                        struct value *out)
{
    struct str text = db_column_text(db, sql, column);
    struct err err;

    *out = value_list(NULL, 0);
    return text.len == 0 || (json_read(mem, text, out, &err) && out->kind == VALUE_LIST);
}

/* Absent when there is none. */
static bool column_map(struct db *db, struct arena *mem, enum sql sql, unsigned column,
                       struct value *out)
{
    struct str text = db_column_copy(db, mem, sql, column);
    struct err err;

    *out = value_absent();
    return text.len == 0 || (json_read(mem, text, out, &err) && out->kind == VALUE_MAP);
}

bool task_row(struct db *db, struct arena *mem, enum sql sql, struct task *out)
{
#define TEXT(column) db_column_copy(db, mem, sql, column)
#define INT(column) db_column_int(db, sql, column)
    *out = (struct task){
        .id = TEXT(1),
        .org_id = TEXT(2),
        .project_id = TEXT(3),
        .title = TEXT(4),
        .description = TEXT(5),
        .required_trade = TEXT(6),
        .min_skill = INT(7),
        .priority = INT(8),
        .deliverable_id = TEXT(9),
        .due_at_us = INT(10),
        .row_version = INT(12),
        .assigned_to = TEXT(13),
        .assigned_by = TEXT(14),
        .assigned_at_us = INT(15),
        .started_at_us = INT(16),
        .submitted_at_us = INT(17),
        .reviewed_by = TEXT(18),
        .reviewed_at_us = INT(19),
        .reject_reason = TEXT(20),
        .recall_reason = TEXT(21),
        .cancel_reason = TEXT(22),
        .handover_note = TEXT(23),
        .self_checked = INT(24) != 0,
        .had_owner = INT(25) != 0,
        .needs_attention = INT(26) != 0,
        .fix_of_task_id = TEXT(27),
        .parent_task_id = TEXT(28),
        .execution_id = TEXT(29),
        .created_by = TEXT(30),
        .created_at_us = INT(31),
        .updated_at_us = INT(32),
        .unmet_dependencies = INT(33),
        .open_holds = INT(34),
        .is_fix = INT(35) != 0,
        .form_json = TEXT(38),
        .is_awaited = INT(40) != 0,
    };
#undef TEXT
#undef INT
    return task_status_read(db_column_text(db, sql, 11), &out->status) &&
           column_list(db, mem, sql, 36, &out->depends_on) &&
           column_list(db, mem, sql, 37, &out->contributors) &&
           column_map(db, mem, sql, 39, &out->result);
}

/* Before the database is asked: rows that wait are written, and what is asked for is locked. */
static bool lock_for_reading(struct planner_work *w, enum sql lock, const struct db_value *key,
                             unsigned count, bool *found)
{
    *found = true;
    if (!w->a->db->has_sets)
        return true;
    w->a->status = gather_flush(w->a);
    return w->a->status == DB_DONE && apply_finds(w->a, lock, key, count, found);
}

bool task_load(struct planner_work *w, struct str org_id, struct str id, struct task *out,
               bool *found)
{
    const struct cached_task *cached = facts_task(w->a, id);
    struct db *db = w->a->db;
    bool ok = true;

    if (cached != NULL) {
        *found = cached->is_found && str_eq(cached->task.org_id, org_id);
        if (*found)
            *out = cached->task;
        return true;
    }
    if (!lock_for_reading(w, SQL_TASK_LOCK, DB_PARAMS(db_text(id), db_text(org_id)), found))
        return false;
    if (!*found)
        return true;
    w->a->status =
        db_run(db, SQL_TASK_LOAD,
               DB_PARAMS(db_int(w->change->change.now_us), db_text(id), db_text(org_id)));
    *found = w->a->status == DB_ROW;
    if (*found)
        ok = task_row(db, w->a->mem, SQL_TASK_LOAD, out);
    db_end(db, SQL_TASK_LOAD);
    if (!ok)
        w->a->status = DB_CORRUPT;
    return ok && w->a->status <= DB_DONE;
}

bool planner_take_task(struct planner_work *w, struct task *out, enum apply_result *end)
{
    struct planner_change *c = w->change;
    bool found;

    *end = APPLY_FAILED;
    if (!task_load(w, c->org_id, c->id, out, &found))
        return false;
    if (!found) {
        *end = planner_refuse_with(w, ERR_NOT_FOUND, "there is no such task");
        return false;
    }
    c->task_id = out->id;
    c->project_id = out->project_id;
    c->status = out->status;
    return true;
}

bool planner_take_managed(struct planner_work *w, const char *what, struct task *out,
                          enum apply_result *end)
{
    if (!planner_take_task(w, out, end))
        return false;
    if (actor_manages(w->change->actor.role))
        return true;
    *end = planner_forbid(w, what);
    return false;
}

struct planner_person person_of_row(struct db *db, struct arena *mem, enum sql sql, unsigned first)
{
    struct planner_person p = {
        .role = actor_role_read(db_column_text(db, sql, first)),
        .role_name = db_column_copy(db, mem, sql, first),
        .skill = db_column_int(db, sql, first + 1),
        .is_known = db_column_int(db, sql, first + 3) != 0,
        .active_tasks = db_column_int(db, sql, first + 4),
    };
    struct value trades;

    if (column_list(db, mem, sql, first + 2, &trades))
        p.specializations = trades;
    return p;
}

void person_row(struct db *db, struct arena *mem, struct str org_id, enum db_status status,
                struct planner_person *person)
{
    const enum sql sql = SQL_PERSON_LOAD;
    struct str id = person->id;
    struct planner_person stored;

    person->is_known = false;
    if (status != DB_ROW || !str_eq(db_column_text(db, sql, 0), org_id))
        return;
    stored = person_of_row(db, mem, sql, 1);
    if (!stored.is_known)
        return;
    *person = stored;
    person->id = id;
}

bool person_load(struct planner_work *w, struct str org_id, struct planner_person *person)
{
    struct db *db = w->a->db;
    bool found;

    if (facts_person(w->a, org_id, person))
        return true;
    if (!lock_for_reading(w, SQL_PERSON_LOCK, DB_PARAMS(db_text(person->id)), &found))
        return false;
    w->a->status = db_run(db, SQL_PERSON_LOAD, DB_PARAMS(db_text(person->id)));
    person_row(db, w->a->mem, org_id, w->a->status, person);
    db_end(db, SQL_PERSON_LOAD);
    return w->a->status <= DB_DONE;
}

struct planner_policy policy_of_row(struct db *db, enum sql sql)
{
    return (struct planner_policy){
        .min_skill_to_take = db_column_int(db, sql, 0),
        .self_check_min_skill = db_column_int(db, sql, 1),
        .min_skill_to_invite = db_column_int(db, sql, 2),
        .allow_trade_override = db_column_int(db, sql, 3) != 0,
    };
}

bool policy_find(struct planner_work *w, struct str org_id, struct planner_policy *out)
{
    return facts_policy(w->a, org_id, out) || policy_load(w->a->db, org_id, out, &w->a->status);
}

bool policy_load(struct db *db, struct str org_id, struct planner_policy *out,
                 enum db_status *status)
{
    const enum sql sql = SQL_POLICY_LOAD;

    *out = planner_policy_default();
    *status = db_run(db, sql, DB_PARAMS(db_text(org_id)));
    if (*status == DB_ROW)
        *out = policy_of_row(db, sql);
    db_end(db, sql);
    return *status <= DB_DONE;
}

bool planner_names(struct planner_work *w, enum sql sql, const struct db_value *params,
                   unsigned count, bool has_org, struct task_names *out)
{
    struct db *db = w->a->db;

    *out = (struct task_names){0};
    w->a->status = db->has_sets ? gather_flush(w->a) : DB_DONE;
    if (w->a->status != DB_DONE)
        return false;
    w->a->status = db_run(db, sql, params, count);
    for (; w->a->status == DB_ROW; w->a->status = db_next(db, sql))
        *VEC_ADD(w->a->mem, out) = (struct task_name){
            .id = db_column_copy(db, w->a->mem, sql, 0),
            .org_id = has_org ? db_column_copy(db, w->a->mem, sql, 1) : STR_NONE};
    db_end(db, sql);
    return w->a->status <= DB_DONE;
}

/* --- writing --- */

bool task_insert(struct planner_work *w, struct task *t)
{
    t->status = task_is_free(t) ? TASK_AVAILABLE : TASK_BLOCKED;
    t->row_version = 1;
    t->created_at_us = t->updated_at_us = w->change->change.now_us;
    return apply_put(w->a, SQL_TASK_INSERT,
                     DB_PARAMS(db_text(t->id), db_text(t->org_id), db_text_or_null(t->project_id),
                               db_text(t->title), db_text_or_null(t->description),
                               db_text_or_null(t->required_trade), db_int(t->min_skill),
                               db_int(t->priority), db_text_or_null(t->deliverable_id),
                               db_some_int(t->due_at_us),
                               db_text(str_of(task_status_name(t->status))), db_int(t->row_version),
                               db_text_or_null(t->fix_of_task_id),
                               db_text_or_null(t->parent_task_id), db_text_or_null(t->execution_id),
                               db_text_or_null(t->created_by), db_int(t->created_at_us),
                               db_text_or_null(t->form_json), db_int(t->is_awaited))) &&
           task_announce(w, "created", t, NULL);
}

bool task_log(struct planner_work *w, struct str org_id, struct task_transition *row)
{
    struct buf payload;
    struct err err;

    buf_init_arena(&payload, w->a->mem);
    if (!json_write(&payload, row->payload, &err))
        buf_text(&payload, "{}");
    row->id = planner_new_id(w);
    ASSERT(w->row_count < ARRAY_SIZE(w->rows));
    w->rows[w->row_count++] = *row;
    return apply_put(w->a, SQL_TASK_LOG,
                     DB_PARAMS(db_text(row->id), db_text(row->task_id), db_text(org_id),
                               db_text(str_of(task_action_name(row->action))),
                               db_text(str_of(task_status_name(row->from))),
                               db_text(str_of(task_status_name(row->to))),
                               db_text_or_null(row->actor_id), db_text(row->actor_role),
                               db_text(buf_view(&payload)), db_text_or_null(row->client_event_id),
                               db_int(row->expected_row_version), db_int(row->result_row_version),
                               db_int(row->created_at_us)));
}

struct str task_result_json(struct arena *mem, struct value result)
{
    struct buf json;
    struct err err;

    buf_init_arena(&json, mem);
    return result.kind == VALUE_MAP && json_write(&json, result, &err) ? buf_view(&json) : STR_NONE;
}

/* By a statement of its own, where tasks are not gathered. False: a->status says why. */
static bool task_write_moved(struct planner_work *w, const struct task *t, int64_t before)
{
    /* It may have been made just before. */
    w->a->status = w->a->db->has_sets ? gather_flush(w->a) : DB_DONE;
    if (w->a->status != DB_DONE)
        return false;
    if (!apply_write(w->a, SQL_TASK_MOVE,
                     DB_PARAMS(db_text(t->id), db_int(before),
                               db_text(str_of(task_status_name(t->status))), db_int(t->row_version),
                               db_text_or_null(t->assigned_to), db_text_or_null(t->assigned_by),
                               db_some_int(t->assigned_at_us), db_some_int(t->started_at_us),
                               db_some_int(t->submitted_at_us), db_text_or_null(t->reviewed_by),
                               db_some_int(t->reviewed_at_us), db_text_or_null(t->reject_reason),
                               db_text_or_null(t->recall_reason), db_text_or_null(t->cancel_reason),
                               db_text_or_null(t->handover_note), db_int(t->self_checked),
                               db_int(t->had_owner), db_int(t->needs_attention),
                               db_int(t->updated_at_us),
                               db_text_or_null(task_result_json(w->a->mem, t->result)),
                               db_int(t->is_awaited))))
        return false;
    /* Another node was faster; the repeated batch will see what it wrote. */
    if (db_changes(w->a->db) != 1)
        w->a->status = DB_CONFLICT;
    return w->a->status == DB_DONE;
}

bool task_save(struct planner_work *w, const struct task *t, int64_t before)
{
    struct cached_task *cached = facts_task(w->a, t->id);
    bool has_ended = task_status_is_terminal(t->status);
    struct task saved = *t;

    saved.is_awaited = t->is_awaited && !has_ended;
    if (cached != NULL) {
        facts_move(w->a, cached, &saved);
        w->a->wrote = true;
    } else if (!task_write_moved(w, &saved, before)) {
        return false;
    }
    return (!has_ended || !t->is_awaited || task_notify(w, t, false)) && task_announce_rows(w, t);
}

bool contributors_drop(struct planner_work *w, struct str task_id)
{
    struct cached_task *cached = facts_task(w->a, task_id);

    if (cached != NULL)
        cached->task.contributors = value_list(NULL, 0);
    return apply_put(w->a, SQL_CONTRIBUTORS_DROP, DB_PARAMS(db_text(task_id)));
}

/* --- looking at a task again --- */

bool task_reexamine(struct planner_work *w, struct str org_id, struct str id, bool *moved)
{
    struct task t;
    struct task_transition row;
    bool found;
    int64_t before;

    if (moved != NULL)
        *moved = false;
    if (!task_load(w, org_id, id, &t, &found))
        return false;
    if (!found || !planner_reexamine(&t, w->change->change.now_us, &row))
        return true;
    before = t.row_version;
    task_move(&t, &row);
    if (str_eq(id, w->change->task_id))
        w->change->status = t.status;
    if (moved != NULL)
        *moved = true;
    return task_log(w, org_id, &row) && task_save(w, &t, before);
}

bool task_reexamine_successors(struct planner_work *w, const struct task *t)
{
    const struct cached_task *cached = facts_task(w->a, t->id);
    struct task_names tasks;

    if (cached != NULL && cached->has_successors)
        tasks = cached->successors;
    else if (!planner_names(w, SQL_TASK_SUCCESSORS, DB_PARAMS(db_text(t->id)), false, &tasks))
        return false;
    for (size_t i = 0; i < tasks.count; i++)
        if (!task_reexamine(w, t->org_id, tasks.items[i].id, NULL))
            return false;
    return true;
}

/* --- answers --- */

void task_show_for(struct arena *mem, struct buf *out, const struct task *task,
                   const struct planner_person *person, const struct planner_policy *policy,
                   int64_t now_us)
{
    const struct task_facts facts = {
        .task = *task, .actor = *person, .policy = *policy, .now_us = now_us};
    unsigned actions = planner_actions(mem, &facts);

    buf_char(out, '{');
    task_show(out, task);
    object_list(out, "actions");
    for (unsigned i = 0; i < TASK_ACTION_COUNT; i++)
        if (actions >> i & 1) {
            object_next(out);
            json_write_string(out, str_of(task_action_name((enum task_action)i)));
        }
    buf_text(out, "]}");
}

bool planner_show_task(struct planner_work *w, struct buf *out, struct str org_id, struct str id)
{
    struct planner_policy policy;
    struct planner_person actor = w->change->actor;
    struct task t;
    bool found;

    if (!task_load(w, org_id, id, &t, &found) || !policy_find(w, org_id, &policy) ||
        !person_load(w, org_id, &actor))
        return false;
    if (!found) {
        w->a->status = DB_CONFLICT;
        return false;
    }
    task_show_for(w->a->mem, out, &t, &actor, &policy, w->change->change.now_us);
    w->change->task_id = t.id;
    w->change->project_id = t.project_id;
    w->change->status = t.status;
    return true;
}

bool planner_answer_made(struct planner_work *w, int32_t http_status, const struct task *t)
{
    struct planner_person actor = w->change->actor;
    struct task shown = *t;
    struct planner_policy policy;
    struct buf json;

    if (t->depends_on.kind == VALUE_LIST && t->depends_on.len > 0)
        return planner_answer_task(w, http_status, t->org_id, t->id);
    if (!policy_find(w, t->org_id, &policy) || !person_load(w, t->org_id, &actor))
        return false;
    shown.depends_on = shown.contributors = value_list(NULL, 0);
    buf_init_arena(&json, w->a->mem);
    task_show_for(w->a->mem, &json, &shown, &actor, &policy, w->change->change.now_us);
    w->change->task_id = t->id;
    w->change->project_id = t->project_id;
    w->change->status = t->status;
    w->change->change.answer_status = http_status;
    w->change->change.answer_json = buf_view(&json);
    return true;
}

bool planner_answer_task(struct planner_work *w, int32_t http_status, struct str org_id,
                         struct str id)
{
    struct buf json;

    buf_init_arena(&json, w->a->mem);
    if (!planner_show_task(w, &json, org_id, id))
        return false;
    w->change->change.answer_status = http_status;
    w->change->change.answer_json = buf_view(&json);
    return true;
}

bool planner_answer_found(struct planner_work *w, int32_t http_status, enum planner_list list,
                          struct str owner, struct str id, bool *found)
{
    const enum sql sql = planner_list_one(list);
    struct buf json;

    buf_init_arena(&json, w->a->mem);
    w->a->status = db_run(w->a->db, sql, DB_PARAMS(db_text(owner), db_text(id)));
    *found = w->a->status == DB_ROW;
    if (*found) {
        planner_row_show(w->a->db, list, sql, &json);
        w->change->change.answer_status = http_status;
        w->change->change.answer_json = buf_view(&json);
    }
    db_end(w->a->db, sql);
    return w->a->status <= DB_DONE;
}

bool planner_answer_row(struct planner_work *w, int32_t http_status, enum planner_list list,
                        struct str owner, struct str id)
{
    bool found;

    if (!planner_answer_found(w, http_status, list, owner, id, &found))
        return false;
    if (!found)
        w->a->status = DB_CORRUPT;
    return found;
}
