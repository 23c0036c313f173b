/* read_planner.c - tasks and what is around them, read; see planner.h. */
#include "store/planner_rows.h"
#include "store/read_row.h"

#include "value/json.h"
#include "value/object.h"

#include <inttypes.h>
#include <stdio.h>

/* --- rows that are shown as they are stored --- */

/* What a column is shown as. */
enum column_kind { COLUMN_END, COLUMN_TEXT, COLUMN_INT, COLUMN_TIME, COLUMN_JSON };

struct column {
    const char *name;
    enum column_kind kind;
};

#define DEFECT_SHOWN                                                                               \
    {"org_id", COLUMN_TEXT}, {"task_id", COLUMN_TEXT}, {"deliverable_id", COLUMN_TEXT},            \
        {"inspection_id", COLUMN_TEXT}, {"fix_task_id", COLUMN_TEXT},                              \
        {"description", COLUMN_TEXT}, {"what_to_fix", COLUMN_TEXT}, {"how_fixed", COLUMN_TEXT},    \
        {"status", COLUMN_TEXT}, {"reported_by", COLUMN_TEXT}, {"created_at", COLUMN_TIME},        \
        {"fixed_by", COLUMN_TEXT},                                                                 \
    {                                                                                              \
        "fixed_at", COLUMN_TIME                                                                    \
    }

/* In the order of the statement, after row and id. */
static const struct {
    enum sql rows, one;
    struct column columns[14];
} lists[] = {
    [PLANNER_TRANSITIONS] = {SQL_TRANSITIONS_ROWS,
                             SQL_TRANSITIONS_ONE,
                             {{"task_id", COLUMN_TEXT},
                              {"action", COLUMN_TEXT},
                              {"from_status", COLUMN_TEXT},
                              {"to_status", COLUMN_TEXT},
                              {"actor_id", COLUMN_TEXT},
                              {"actor_role", COLUMN_TEXT},
                              {"payload", COLUMN_JSON},
                              {"client_event_id", COLUMN_TEXT},
                              {"expected_row_version", COLUMN_INT},
                              {"result_row_version", COLUMN_INT},
                              {"created_at", COLUMN_TIME}}},
    [PLANNER_HOLDS] = {SQL_HOLDS_ROWS,
                       SQL_HOLDS_ONE,
                       {{"task_id", COLUMN_TEXT},
                        {"type", COLUMN_TEXT},
                        {"reason", COLUMN_TEXT},
                        {"until", COLUMN_TIME},
                        {"created_by", COLUMN_TEXT},
                        {"created_at", COLUMN_TIME},
                        {"released_by", COLUMN_TEXT},
                        {"released_at", COLUMN_TIME}}},
    [PLANNER_ESCALATIONS] = {SQL_ESCALATIONS_ROWS,
                             SQL_ESCALATIONS_ONE,
                             {{"task_id", COLUMN_TEXT},
                              {"kind", COLUMN_TEXT},
                              {"message", COLUMN_TEXT},
                              {"created_by", COLUMN_TEXT},
                              {"created_at", COLUMN_TIME},
                              {"acknowledged_by", COLUMN_TEXT},
                              {"acknowledged_at", COLUMN_TIME}}},
    [PLANNER_COMMENTS] = {SQL_COMMENTS_ROWS,
                          SQL_COMMENTS_ONE,
                          {{"task_id", COLUMN_TEXT},
                           {"body", COLUMN_TEXT},
                           {"created_by", COLUMN_TEXT},
                           {"created_at", COLUMN_TIME}}},
    [PLANNER_DEFECTS] = {SQL_DEFECTS_ROWS, SQL_DEFECTS_ONE, {DEFECT_SHOWN}},
    [PLANNER_DEFECTS_OF_TASK] = {SQL_DEFECTS_OF_TASK_ROWS, SQL_DEFECTS_OF_TASK_ONE, {DEFECT_SHOWN}},
    [PLANNER_DELIVERABLES] = {SQL_DELIVERABLES_ROWS,
                              SQL_DELIVERABLES_ONE,
                              {{"org_id", COLUMN_TEXT},
                               {"project_id", COLUMN_TEXT},
                               {"title", COLUMN_TEXT},
                               {"description", COLUMN_TEXT},
                               {"created_by", COLUMN_TEXT},
                               {"created_at", COLUMN_TIME}}},
    [PLANNER_INSPECTIONS] = {SQL_INSPECTIONS_ROWS,
                             SQL_INSPECTIONS_ONE,
                             {{"org_id", COLUMN_TEXT},
                              {"deliverable_id", COLUMN_TEXT},
                              {"result", COLUMN_TEXT},
                              {"measurements", COLUMN_JSON},
                              {"notes", COLUMN_TEXT},
                              {"defect_id", COLUMN_TEXT},
                              {"fix_task_id", COLUMN_TEXT},
                              {"created_by", COLUMN_TEXT},
                              {"created_at", COLUMN_TIME}}},
    [PLANNER_SHIFTS] = {SQL_SHIFTS_ROWS,
                        SQL_SHIFTS_ONE,
                        {{"org_id", COLUMN_TEXT},
                         {"name", COLUMN_TEXT},
                         {"starts_at", COLUMN_TIME},
                         {"ends_at", COLUMN_TIME},
                         {"ended_at", COLUMN_TIME},
                         {"ended_by", COLUMN_TEXT},
                         {"created_by", COLUMN_TEXT},
                         {"created_at", COLUMN_TIME},
                         {"members", COLUMN_JSON}}},
};

enum sql planner_list_one(enum planner_list list)
{
    return lists[list].one;
}

void planner_row_show(struct db *db, enum planner_list list, enum sql sql, struct buf *out)
{
    const struct column *columns = lists[list].columns;

    buf_char(out, '{');
    object_text(out, "id", db_column_text(db, sql, 1));
    for (unsigned i = 0; columns[i].kind != COLUMN_END; i++) {
        switch (columns[i].kind) {
        case COLUMN_TEXT:
            object_text(out, columns[i].name, db_column_text(db, sql, i + 2));
            break;
        case COLUMN_INT:
            object_int(out, columns[i].name, db_column_int(db, sql, i + 2));
            break;
        case COLUMN_TIME:
            object_time(out, columns[i].name, db_column_int(db, sql, i + 2));
            break;
        case COLUMN_JSON:
            object_json(out, columns[i].name, db_column_text(db, sql, i + 2));
            break;
        case COLUMN_END:
            break;
        }
    }
    buf_char(out, '}');
}

bool read_planner_rows(struct reader *r, struct arena *mem, enum planner_list list,
                       struct str owner, struct str cursor, int64_t limit, struct buf *out,
                       struct str *next, struct err *err)
{
    const enum sql sql = lists[list].rows;
    int64_t high = INT64_MAX, last = 0, count = 0;
    size_t begin = out->len;
    enum db_status status;
    bool has_more = false;

    *next = STR_NONE;
    if (cursor.len > 0 && !row_cursor_read(cursor, &high))
        return err_set(err, ERR_BAD_REQUEST, "this cursor is not one of ours");
    status = reader_run(r, sql, DB_PARAMS(db_text(owner), db_int(high), db_int(limit + 1)));
    for (; status == DB_ROW; status = db_next(r->db, sql)) {
        if (count == limit || out->len - begin > READ_BYTES_MAX) {
            has_more = true;
            status = DB_DONE;
            break;
        }
        object_next(out);
        planner_row_show(r->db, list, sql, out);
        last = db_column_int(r->db, sql, 0);
        count++;
    }
    db_end(r->db, sql);
    if (has_more)
        *next = row_cursor(mem, last);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_planner_row(struct reader *r, struct arena *mem, enum planner_list list, struct str owner,
                      struct str id, struct buf *out, bool *found, struct err *err)
{
    const enum sql sql = lists[list].one;
    enum db_status status = reader_run(r, sql, DB_PARAMS(db_text(owner), db_text(id)));

    (void)mem;
    *found = status == DB_ROW;
    if (*found)
        planner_row_show(r->db, list, sql, out);
    db_end(r->db, sql);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

/* --- tasks --- */

/* One more than asked for tells that there is a next page; *last is the row of the last one. */
static bool load_tasks(struct reader *r, struct arena *mem, enum sql sql, enum db_status status,
                       int64_t limit, struct tasks *out, bool *has_more, int64_t *last,
                       struct err *err)
{
    size_t bytes = 0;
    bool ok = true;

    *has_more = false;
    for (; ok && status == DB_ROW; status = db_next(r->db, sql)) {
        struct task t;

        if ((int64_t)out->count == limit || bytes > READ_BYTES_MAX) {
            *has_more = true;
            status = DB_DONE;
            break;
        }
        ok = task_row(r->db, mem, sql, &t);
        *VEC_ADD(mem, out) = t;
        *last = db_column_int(r->db, sql, 0);
        bytes += t.title.len + t.description.len + 600;
    }
    db_end(r->db, sql);
    if (!ok)
        return db_fail(r->db, DB_CORRUPT, err);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_task(struct reader *r, struct arena *mem, struct str org_id, struct str id,
               int64_t now_us, struct task *out, bool *found, struct err *err)
{
    const enum sql sql = SQL_TASK_LOAD;
    enum db_status status =
        reader_run(r, sql, DB_PARAMS(db_int(now_us), db_text(id), db_text(org_id)));
    bool ok = true;

    *found = status == DB_ROW;
    if (*found)
        ok = task_row(r->db, mem, sql, out);
    db_end(r->db, sql);
    if (!ok)
        return db_fail(r->db, DB_CORRUPT, err);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_tasks(struct reader *r, struct arena *mem, const struct task_filter *f, struct tasks *out,
                struct str *next, struct err *err)
{
    int64_t high = INT64_MAX, last = 0;
    enum sql sql = SQL_TASKS_LIST;
    struct str by = STR("all");
    int64_t overdue_us = f->is_overdue == WANTED_ANY   ? 0
                         : f->is_overdue == WANTED_YES ? f->now_us
                                                       : -f->now_us;
    enum db_status status;
    bool has_more;

    *out = (struct tasks){0};
    *next = STR_NONE;
    if (f->cursor.len > 0 && !row_cursor_read(f->cursor, &high))
        return err_set(err, ERR_BAD_REQUEST, "this cursor is not one of ours");
    if (f->assigned_to.len > 0) {
        sql = SQL_TASKS_LIST_OWNER;
        by = f->assigned_to;
    } else if (f->needs_attention == WANTED_YES) {
        sql = SQL_TASKS_LIST_ATTENTION;
    } else if (f->project_id.len > 0) {
        sql = SQL_TASKS_LIST_PROJECT;
        by = f->project_id;
    } else if (f->status.len > 0) {
        sql = SQL_TASKS_LIST_STATUS;
        by = f->status;
    }
    status = reader_run(
        r, sql,
        DB_PARAMS(db_int(f->now_us), db_text(f->org_id), db_int(high), db_text_or_null(f->status),
                  db_text_or_null(f->project_id), db_text_or_null(f->assigned_to),
                  db_text_or_null(f->required_trade), db_int((int)f->needs_attention - 1),
                  db_int(overdue_us), db_text_or_null(f->q), db_text(by), db_int(f->limit + 1)));
    if (!load_tasks(r, mem, sql, status, f->limit, out, &has_more, &last, err))
        return false;
    if (has_more)
        *next = row_cursor(mem, last);
    return true;
}

bool read_task_pool(struct reader *r, struct arena *mem, const struct planner_person *person,
                    const struct task_filter *f, struct tasks *out, struct str *next,
                    struct err *err)
{
    const enum sql sql = SQL_TASKS_POOL;
    int64_t priority = INT64_MAX, created_at_us = 0, last;
    char id[UUID_TEXT_LEN + 1] = "";
    struct str trades = STR_NONE;
    enum db_status status;
    struct buf json;
    bool has_more;

    *out = (struct tasks){0};
    *next = STR_NONE;
    /* Priority, time and id of the last one of the page before. */
    if (f->cursor.len > 0 &&
        sscanf(str_copy(mem, f->cursor).ptr, "p%" SCNd64 ".%" SCNd64 ".%36[0-9a-f-]", &priority,
               &created_at_us, id) != 3)
        return err_set(err, ERR_BAD_REQUEST, "this cursor is not one of ours");
    if (person->role == ACTOR_EXECUTOR) {
        buf_init_arena(&json, mem);
        if (person->specializations.kind != VALUE_LIST ||
            !json_write(&json, person->specializations, err))
            buf_text(&json, "[]");
        trades = buf_view(&json);
    }
    status = reader_run(r, sql,
                        DB_PARAMS(db_int(f->now_us), db_text(f->org_id), db_text_or_null(trades),
                                  db_int(priority), db_int(created_at_us), db_text(str_of(id)),
                                  db_int(f->limit + 1), db_text_or_null(f->project_id)));
    if (!load_tasks(r, mem, sql, status, f->limit, out, &has_more, &last, err))
        return false;
    if (has_more) {
        const struct task *t = &out->items[out->count - 1];
        *next = str_printf(mem, "p%" PRId64 ".%" PRId64 ".%.*s", t->priority, t->created_at_us,
                           STR_ARG(t->id));
    }
    return true;
}

bool read_person(struct reader *r, struct arena *mem, struct str org_id,
                 struct planner_person *person, struct planner_policy *policy, struct err *err)
{
    enum db_status status = reader_run(r, SQL_PERSON_LOAD, DB_PARAMS(db_text(person->id)));

    person_row(r->db, mem, org_id, status, person);
    db_end(r->db, SQL_PERSON_LOAD);
    if (status > DB_DONE)
        return db_fail(r->db, status, err);
    return policy_load(r->db, org_id, policy, &status) ? true : db_fail(r->db, status, err);
}

/* --- what time brings --- */

enum { SWEEP_ROWS = 2000 };

static bool read_wrong(struct reader *r, struct arena *mem, struct planner_due *due,
                       struct err *err)
{
    const enum sql sql = SQL_TASKS_WRONG;
    enum db_status status;
    int64_t last;

    status = row_int(r, SQL_TASKS_LAST_ROW, DB_NO_PARAMS, &last);
    if (status > DB_DONE)
        return db_fail(r->db, status, err);
    status = db_run(r->db, sql,
                    DB_PARAMS(db_int(due->now_us), db_int(due->after_row),
                              db_int(due->after_row + SWEEP_ROWS)));
    for (; status == DB_ROW; status = db_next(r->db, sql))
        *VEC_ADD(mem, &due->wrong) =
            (struct task_name){.id = row_text(r, mem, sql, 0), .org_id = row_text(r, mem, sql, 1)};
    db_end(r->db, sql);
    if (status > DB_DONE)
        return db_fail(r->db, status, err);
    /* A window with more than fits is looked at again. */
    if (due->wrong.count < 100)
        due->after_row += SWEEP_ROWS;
    due->is_sweep_over = due->after_row >= last;
    return true;
}

bool read_planner_due(struct reader *r, struct arena *mem, struct planner_due *due, struct err *err)
{
    enum db_status status;

    due->wrong = (struct task_names){0};
    due->is_sweep_over = false;
    due->next_at_us = 0;
    status = reader_run(r, SQL_PLANNER_NEXT, DB_NO_PARAMS);
    if (status == DB_ROW)
        due->next_at_us = db_column_int(r->db, SQL_PLANNER_NEXT, 0);
    db_end(r->db, SQL_PLANNER_NEXT);
    if (status > DB_DONE)
        return db_fail(r->db, status, err);
    due->is_due = due->next_at_us > 0 && due->next_at_us <= due->now_us;
    return !due->sweeps || read_wrong(r, mem, due, err);
}

/* --- what has moved --- */

enum { CHANGES_MAX = 500, CHANGES_AGAIN = 100 };

static bool read_changes_of(struct reader *r, struct arena *mem, enum sql sql, int64_t *row,
                            struct task_changes *out, struct err *err)
{
    enum db_status status =
        reader_run(r, sql, DB_PARAMS(db_int(*row - CHANGES_AGAIN), db_int(CHANGES_MAX)));
    bool ok = true;

    for (; ok && status == DB_ROW; status = db_next(r->db, sql)) {
        struct task_change *t = VEC_ADD(mem, out);

        if (db_column_int(r->db, sql, 0) > *row)
            *row = db_column_int(r->db, sql, 0);
        *t = (struct task_change){.id = str_copy(mem, db_column_text(r->db, sql, 1)),
                                  .org_id = str_copy(mem, db_column_text(r->db, sql, 2)),
                                  .project_id = str_copy(mem, db_column_text(r->db, sql, 3)),
                                  .at_us = db_column_int(r->db, sql, 5)};
        ok = task_status_read(db_column_text(r->db, sql, 4), &t->status);
    }
    db_end(r->db, sql);
    if (!ok)
        return db_fail(r->db, DB_CORRUPT, err);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

static bool read_last_rows(struct reader *r, struct task_changes *out, struct err *err)
{
    const enum sql sql = SQL_TASK_LAST_ROWS;
    enum db_status status = reader_run(r, sql, DB_NO_PARAMS);

    if (status == DB_ROW) {
        out->log_row = db_column_int(r->db, sql, 0);
        out->task_row = db_column_int(r->db, sql, 1);
    }
    db_end(r->db, sql);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_task_changes(struct reader *r, struct arena *mem, struct task_changes *changes,
                       struct err *err)
{
    if (!changes->has_begun && !read_last_rows(r, changes, err))
        return false;
    return read_changes_of(r, mem, SQL_TASKS_MADE_AFTER, &changes->task_row, changes, err) &&
           read_changes_of(r, mem, SQL_TASK_LOG_AFTER, &changes->log_row, changes, err);
}
