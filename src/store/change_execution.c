/* change_execution.c - see change_execution.h. */
#include "store/change_execution.h"

#include "base/clock.h"

/* How long others wait for a purge that is in the same batch. */
#define PURGE_US INT64_C(20000)

struct ended {
    int64_t row;
    enum execution_status status;
    int64_t completed_at_us;
    bool is_awaited; /* somebody who waits for it has not seen its end yet */
    bool is_deleted; /* its deletion has begun */
    bool sends;      /* messages of it are not delivered yet */
};

/* DB_ROW: found; DB_DONE: there is none. */
static enum db_status ended_find(struct apply *a, struct uuid id, struct ended *out)
{
    const enum sql sql = SQL_EXECUTION_END;
    char text[UUID_TEXT_LEN + 1];
    enum db_status status;

    uuid_write(id, text);
    status = db_run(a->db, sql, DB_PARAMS(db_text(str_from(text, UUID_TEXT_LEN))));
    if (status == DB_ROW) {
        out->row = db_column_int(a->db, sql, 0);
        out->completed_at_us = db_column_int(a->db, sql, 2);
        out->is_awaited = db_column_int(a->db, sql, 3) != 0;
        out->is_deleted = db_column_int(a->db, sql, 4) != 0;
        out->sends = db_column_int(a->db, sql, 5) != 0;
        if (!status_read(db_column_text(a->db, sql, 1), &out->status))
            status = DB_CORRUPT;
    }
    db_end(a->db, sql);
    return status;
}

static bool count(struct apply *a, enum sql sql, const struct db_value *params, unsigned n,
                  int64_t *sum, enum db_status *status)
{
    *status = db_run(a->db, sql, params, n);
    if (*status == DB_ROW)
        *sum += db_column_int(a->db, sql, 0);
    db_end(a->db, sql);
    return *status == DB_ROW;
}

static bool delete_letters(struct apply *a, int64_t row, int64_t *budget, enum db_status *status)
{
    if (!apply_write(a, SQL_LETTERS_DELETE_OPEN, DB_PARAMS(db_int(row), db_int(*budget)), status))
        return false;
    a->open_letters -= db_changes(a->db);
    *budget -= db_changes(a->db);
    if (*budget == 0)
        return true;
    if (!apply_write(a, SQL_LETTERS_DELETE_SOME, DB_PARAMS(db_int(row), db_int(*budget)), status))
        return false;
    *budget -= db_changes(a->db);
    return true;
}

/* Delete what belongs to it until *budget is used up: what people see first, then the oldest. */
static bool delete_rows(struct apply *a, int64_t row, int64_t *budget, enum db_status *status)
{
    if (!delete_letters(a, row, budget, status))
        return false;
    if (*budget == 0)
        return true;
    if (!apply_write(a, SQL_HISTORY_DELETE_SOME,
                     DB_PARAMS(db_int(history_key(row, 0)),
                               db_int(history_key(row, HISTORY_SEQ_MAX)), db_int(*budget)),
                     status))
        return false;
    *budget -= db_changes(a->db);
    if (*budget == 0)
        return true;
    if (!apply_write(a, SQL_RECORD_CHANGES_DELETE_SOME,
                     DB_PARAMS(db_int(history_key(row, 0)),
                               db_int(history_key(row, HISTORY_SEQ_MAX)), db_int(*budget)),
                     status))
        return false;
    *budget -= db_changes(a->db);
    if (*budget == 0)
        return true;
    if (!apply_write(a, SQL_SIGNALS_DELETE_SOME, DB_PARAMS(db_int(row), db_int(*budget)), status))
        return false;
    *budget -= db_changes(a->db);
    return true;
}

/* From now on it is gone for everybody, whatever is left of its rows. */
static bool leave(struct apply *a, struct uuid id, const struct ended *ended,
                  enum db_status *status)
{
    char answer[UUID_TEXT_LEN + 16] = "{\"id\":\"";
    size_t at = strlen(answer);

    if (ended->is_deleted)
        return true;
    uuid_write(id, answer + at);
    memcpy(answer + at + UUID_TEXT_LEN, "\"}", 3);
    if (!apply_write(a, SQL_ANSWERS_BLANK, DB_PARAMS(db_int(ended->row), db_text(str_of(answer))),
                     status) ||
        !apply_write(a, SQL_WAITS_UNASSIGN, DB_PARAMS(db_int(ended->row)), status) ||
        !apply_write(a, SQL_WAITS_DELETE, DB_PARAMS(db_int(ended->row)), status) ||
        !apply_write(a, SQL_TOLD_DELETE, DB_PARAMS(db_int(ended->row)), status) ||
        !apply_write(a, SQL_OUTBOX_DELETE, DB_PARAMS(db_int(ended->row)), status) ||
        !apply_write(a, SQL_JOBS_DELETE,
                     DB_PARAMS(db_int(history_key(ended->row, 0)),
                               db_int(history_key(ended->row, HISTORY_SEQ_MAX))),
                     status))
        return false;
    a->counts[ended->status]--;
    return true;
}

/*
 * Delete an execution, or as much of it as *budget allows: then a tombstone is
 * what is left, and *has_more.
 */
static bool delete_part(struct apply *a, struct uuid id, const struct ended *ended, int64_t now_us,
                        int64_t *budget, bool *has_more, enum db_status *status)
{
    if (!leave(a, id, ended, status) || !delete_rows(a, ended->row, budget, status))
        return false;
    *has_more = *budget == 0;
    if (*has_more)
        return ended->is_deleted ||
               apply_write(a, SQL_TOMBSTONE, DB_PARAMS(db_int(ended->row), db_int(now_us)), status);
    if (!apply_write(a, SQL_EXECUTION_DELETE, DB_PARAMS(db_int(ended->row)), status))
        return false;
    *status = db_exec(a->db, SQL_ROW_FLOOR, DB_PARAMS(db_int(ended->row)));
    return *status == DB_DONE;
}

/* Pages that are free leave the file; there may be none. */
static bool give_back(struct apply *a, enum db_status *status)
{
    *status = db_run(a->db, SQL_GIVE_BACK, DB_NO_PARAMS);
    while (*status == DB_ROW)
        *status = db_next(a->db, SQL_GIVE_BACK);
    db_end(a->db, SQL_GIVE_BACK);
    a->gave_back = true;
    return *status == DB_DONE;
}

enum apply_result execution_delete_apply(struct apply *a, struct member *m, enum db_status *status)
{
    struct execution_delete *d = (struct execution_delete *)m->change;
    int64_t budget = DELETE_ROWS_MAX;
    struct ended ended;

    d->has_more = false;
    *status = ended_find(a, d->id, &ended);
    if (*status == DB_DONE || (*status == DB_ROW && ended.is_deleted && !d->goes_on))
        return apply_refuse(a, m, MEMBER_GONE);
    if (*status != DB_ROW)
        return APPLY_FAILED;
    if (status_is_live(ended.status))
        return apply_refuse_with(a, m, ERR_CONFLICT,
                                 "an execution that is %s cannot be deleted: cancel it first",
                                 status_text(ended.status).ptr);
    if (ended.is_awaited)
        return apply_refuse_with(a, m, ERR_CONFLICT,
                                 "an execution that waits for it has not seen its end yet");
    if (ended.sends && !ended.is_deleted)
        return apply_refuse_with(a, m, ERR_CONFLICT,
                                 "messages of it are not delivered yet: see GET /outbox");
    if (!delete_part(a, d->id, &ended, d->change.now_us, &budget, &d->has_more, status))
        return APPLY_FAILED;
    return give_back(a, status) ? APPLY_DONE : APPLY_FAILED;
}

static bool read_free_pages(struct apply *a, int64_t *out, enum db_status *status)
{
    *out = 0;
    return count(a, SQL_FREE_PAGES, DB_NO_PARAMS, out, status);
}

enum apply_result execution_purge_apply(struct apply *a, struct member *m, enum db_status *status)
{
    struct execution_purge *p = (struct execution_purge *)m->change;
    int64_t budget = DELETE_ROWS_MAX, until_us = clock_mono_us(&clock_system) + PURGE_US;

    p->deleted = 0;
    for (p->looked_at = 0; p->looked_at < p->count && budget > 0; p->looked_at++) {
        struct uuid id = p->ids[p->looked_at];
        struct ended ended;
        bool has_more;

        if (p->looked_at > 0 && clock_mono_us(&clock_system) > until_us)
            break;
        *status = ended_find(a, id, &ended);
        if (*status > DB_DONE)
            return APPLY_FAILED;
        /* Someone else was faster, or an operator has taken it up again; or it is too early. */
        if (*status == DB_DONE ||
            (!ended.is_deleted && (status_is_live(ended.status) || ended.is_awaited ||
                                   ended.sends || ended.completed_at_us >= p->before_us)))
            continue;
        if (!delete_part(a, id, &ended, p->change.now_us, &budget, &has_more, status))
            return APPLY_FAILED;
        if (has_more)
            break;
        p->deleted++;
    }
    return give_back(a, status) && read_free_pages(a, &p->free_pages, status) ? APPLY_DONE
                                                                              : APPLY_FAILED;
}
