/* read_planner.c - tasks and what is around them, read; see planner.h. */
#include "store/planner/planner_rows.h"
#include "store/read/read_row.h"

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

#define SHOWN(name, kind)                                                                          \
    {                                                                                              \
        name, kind                                                                                 \
    }
#define TEXT(name) SHOWN(name, COLUMN_TEXT)
#define INT(name) SHOWN(name, COLUMN_INT)
#define TIME(name) SHOWN(name, COLUMN_TIME)
#define JSON(name) SHOWN(name, COLUMN_JSON)
#define DEFECT_SHOWN                                                                               \
    TEXT("org_id"), TEXT("task_id"), TEXT("deliverable_id"), TEXT("inspection_id"),                \
        TEXT("fix_task_id"), TEXT("description"), TEXT("what_to_fix"), TEXT("how_fixed"),          \
        TEXT("status"), TEXT("reported_by"), TIME("created_at"), TEXT("fixed_by"),                 \
        TIME("fixed_at")

#define LIST(symbol, ...)                                                                          \
    [PLANNER_##symbol] = {SQL_##symbol##_ROWS, SQL_##symbol##_ONE, {__VA_ARGS__}}

/* In the order of the statement, after row and id. */
static const struct {
    enum sql rows, one;
    struct column columns[14];
} lists[] = {
    LIST(TRANSITIONS, TEXT("task_id"), TEXT("action"), TEXT("from_status"), TEXT("to_status"),
         TEXT("actor_id"), TEXT("actor_role"), JSON("payload"), TEXT("client_event_id"),
         INT("expected_row_version"), INT("result_row_version"), TIME("created_at")),
    LIST(HOLDS, TEXT("task_id"), TEXT("type"), TEXT("reason"), TIME("until"), TEXT("created_by"),
         TIME("created_at"), TEXT("released_by"), TIME("released_at")),
    LIST(ESCALATIONS, TEXT("task_id"), TEXT("kind"), TEXT("message"), TEXT("created_by"),
         TIME("created_at"), TEXT("acknowledged_by"), TIME("acknowledged_at")),
    LIST(COMMENTS, TEXT("task_id"), TEXT("body"), TEXT("created_by"), TIME("created_at")),
    LIST(DEFECTS, DEFECT_SHOWN),
    LIST(DEFECTS_OF_TASK, DEFECT_SHOWN),
    LIST(DELIVERABLES, TEXT("org_id"), TEXT("project_id"), TEXT("title"), TEXT("description"),
         TEXT("created_by"), TIME("created_at")),
    LIST(INSPECTIONS, TEXT("org_id"), TEXT("deliverable_id"), TEXT("result"), JSON("measurements"),
         TEXT("notes"), TEXT("defect_id"), TEXT("fix_task_id"), TEXT("created_by"),
         TIME("created_at")),
    LIST(SHIFTS, TEXT("org_id"), TEXT("name"), TIME("starts_at"), TIME("ends_at"), TIME("ended_at"),
         TEXT("ended_by"), TEXT("created_by"), TIME("created_at"), JSON("members")),
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
    int64_t high = INT64_MAX, last = 0, count = 0;
    size_t begin = out->len;
    struct rows rows;

    *next = STR_NONE;
    if (!row_cursor_read(cursor, &high, err))
        return false;
    rows = rows_run(r, mem, lists[list].rows,
                    DB_PARAMS(db_text(owner), db_int(high), db_int(limit + 1)));
    for (; rows_has(&rows); rows_next(&rows)) {
        if (count == limit || out->len - begin > READ_BYTES_MAX) {
            *next = row_cursor(mem, last);
            break;
        }
        object_next(out);
        planner_row_show(r->db, list, rows.sql, out);
        last = rows_int(&rows, 0);
        count++;
    }
    return rows_end(&rows, err);
}

bool read_planner_row(struct reader *r, struct arena *mem, enum planner_list list, struct str owner,
                      struct str id, struct buf *out, bool *found, struct err *err)
{
    struct rows rows = rows_run(r, mem, lists[list].one, DB_PARAMS(db_text(owner), db_text(id)));

    *found = rows_has(&rows);
    if (*found)
        planner_row_show(r->db, list, rows.sql, out);
    return rows_end(&rows, err);
}

/* --- tasks --- */

/* One more than asked for tells that there is a next page; *last is the row of the last one. */
static bool load_tasks(struct rows *rows, int64_t limit, struct tasks *out, bool *has_more,
                       int64_t *last, struct err *err)
{
    size_t bytes = 0;

    *has_more = false;
    for (; rows_has(rows); rows_next(rows)) {
        struct task t;

        if ((int64_t)out->count == limit || bytes > READ_BYTES_MAX) {
            *has_more = true;
            break;
        }
        if (!task_row(rows->db, rows->mem, rows->sql, &t))
            rows_damaged(rows);
        *VEC_ADD(rows->mem, out) = t;
        *last = rows_int(rows, 0);
        bytes += t.title.len + t.description.len + 600;
    }
    return rows_end(rows, err);
}

bool read_task(struct reader *r, struct arena *mem, struct str org_id, struct str id,
               int64_t now_us, struct task *out, bool *found, struct err *err)
{
    struct rows rows =
        rows_run(r, mem, SQL_TASK_LOAD, DB_PARAMS(db_int(now_us), db_text(id), db_text(org_id)));

    *found = rows_has(&rows);
    if (*found && !task_row(r->db, mem, rows.sql, out))
        rows_damaged(&rows);
    return rows_end(&rows, err);
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
    struct rows rows;
    bool has_more;

    *out = (struct tasks){0};
    *next = STR_NONE;
    if (!row_cursor_read(f->cursor, &high, err))
        return false;
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
    rows = rows_run(r, mem, sql,
                    DB_PARAMS(db_int(f->now_us), db_text(f->org_id), db_int(high),
                              db_text_or_null(f->status), db_text_or_null(f->project_id),
                              db_text_or_null(f->assigned_to), db_text_or_null(f->required_trade),
                              db_int((int)f->needs_attention - 1), db_int(overdue_us),
                              db_text_or_null(f->q), db_text(by), db_int(f->limit + 1),
                              db_text_or_null(f->id_end)));
    if (!load_tasks(&rows, f->limit, out, &has_more, &last, err))
        return false;
    if (has_more)
        *next = row_cursor(mem, last);
    return true;
}

bool read_task_pool(struct reader *r, struct arena *mem, const struct planner_person *person,
                    const struct task_filter *f, struct tasks *out, struct str *next,
                    struct err *err)
{
    int64_t priority = INT64_MAX, created_at_us = 0, last;
    char id[UUID_TEXT_LEN + 1] = "";
    struct str trades = STR_NONE;
    struct rows rows;
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
    rows = rows_run(r, mem, SQL_TASKS_POOL,
                    DB_PARAMS(db_int(f->now_us), db_text(f->org_id), db_text_or_null(trades),
                              db_int(priority), db_int(created_at_us), db_text(str_of(id)),
                              db_int(f->limit + 1), db_text_or_null(f->project_id)));
    if (!load_tasks(&rows, f->limit, out, &has_more, &last, err))
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
    struct rows rows = rows_run(r, mem, SQL_PERSON_LOAD, DB_PARAMS(db_text(person->id)));
    enum db_status status;

    person_row(r->db, mem, org_id, rows.status, person);
    if (!rows_end(&rows, err))
        return false;
    return policy_load(r->db, org_id, policy, &status) ? true : db_fail(r->db, status, err);
}

/* --- what time brings --- */

enum { SWEEP_ROWS = 2000 };

static bool read_wrong(struct reader *r, struct arena *mem, struct planner_due *due,
                       struct err *err)
{
    struct rows rows;
    int64_t last;

    if (!row_int_or_0(r, SQL_TASKS_LAST_ROW, DB_NO_PARAMS, &last, err))
        return false;
    rows = rows_then(r, mem, SQL_TASKS_WRONG,
                     DB_PARAMS(db_int(due->now_us), db_int(due->after_row),
                               db_int(due->after_row + SWEEP_ROWS)));
    for (; rows_has(&rows); rows_next(&rows))
        *VEC_ADD(mem, &due->wrong) =
            (struct task_name){.id = rows_text(&rows, 0), .org_id = rows_text(&rows, 1)};
    if (!rows_end(&rows, err))
        return false;
    /* A window with more than fits is looked at again. */
    if (due->wrong.count < 100)
        due->after_row += SWEEP_ROWS;
    due->is_sweep_over = due->after_row >= last;
    return true;
}

bool read_planner_due(struct reader *r, struct arena *mem, struct planner_due *due, struct err *err)
{
    due->wrong = (struct task_names){0};
    due->is_sweep_over = false;
    if (!row_int_or_0(r, SQL_PLANNER_NEXT, DB_NO_PARAMS, &due->next_at_us, err))
        return false;
    due->is_due = due->next_at_us > 0 && due->next_at_us <= due->now_us;
    return !due->sweeps || read_wrong(r, mem, due, err);
}

/* --- what has moved --- */

enum { CHANGES_MAX = 500, CHANGES_AGAIN = 100 };

static bool read_changes_of(struct reader *r, struct arena *mem, enum sql sql, int64_t *row,
                            struct task_changes *out, struct err *err)
{
    struct rows rows =
        rows_run(r, mem, sql, DB_PARAMS(db_int(*row - CHANGES_AGAIN), db_int(CHANGES_MAX)));

    for (; rows_has(&rows); rows_next(&rows)) {
        struct task_change *t = VEC_ADD(mem, out);

        if (rows_int(&rows, 0) > *row)
            *row = rows_int(&rows, 0);
        *t = (struct task_change){.id = rows_text(&rows, 1),
                                  .org_id = rows_text(&rows, 2),
                                  .project_id = rows_text(&rows, 3),
                                  .at_us = rows_int(&rows, 5)};
        if (!task_status_read(rows_view(&rows, 4), &t->status))
            rows_damaged(&rows);
    }
    return rows_end(&rows, err);
}

static bool read_last_rows(struct reader *r, struct task_changes *out, struct err *err)
{
    struct rows rows = rows_run(r, NULL, SQL_TASK_LAST_ROWS, DB_NO_PARAMS);

    if (rows_has(&rows)) {
        out->log_row = rows_int(&rows, 0);
        out->task_row = rows_int(&rows, 1);
    }
    return rows_end(&rows, err);
}

bool read_task_changes(struct reader *r, struct arena *mem, struct task_changes *changes,
                       struct err *err)
{
    if (!changes->has_begun && !read_last_rows(r, changes, err))
        return false;
    return read_changes_of(r, mem, SQL_TASKS_MADE_AFTER, &changes->task_row, changes, err) &&
           read_changes_of(r, mem, SQL_TASK_LOG_AFTER, &changes->log_row, changes, err);
}
