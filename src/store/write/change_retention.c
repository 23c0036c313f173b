/* change_retention.c - see change_retention.h. */
#include "store/change_retention.h"

#include <inttypes.h>

#include "base/time/clock.h"
#include "engine/status.h"
#include "store/write/change_apply.h"
#include "store/write/gather.h"
#include "store/write/row_locks.h"

/*
 * What one transaction deletes of the reserve, which may have 1 MiB: 256 pages
 * of the log. A page that is given back costs up to three.
 */
enum { TIGHT_ROWS_MAX = 100, TIGHT_EXECUTIONS_MAX = 4 };

/* How long others wait for a purge that is in the same batch. */
#define PURGE_US INT64_C(20000)

struct ended {
    int64_t row;
    enum execution_status status;
    int64_t completed_at_us;
    bool is_awaited; /* somebody who waits for it has not seen its end yet */
    bool is_deleted; /* its deletion has begun */
    bool sends;      /* messages of it are not delivered yet */
    int64_t letters; /* dead letters of it that are open */
    bool has_parent; /* the execution that has started it lives */
};

/* DB_ROW: found; DB_DONE: there is none. */
static enum db_status ended_find(struct apply *a, struct uuid id, struct ended *out)
{
    const enum sql sql = SQL_EXECUTION_END;
    enum db_status status = db_run(a->db, sql, DB_PARAMS(db_text(UUID_STR(id))));

    if (status == DB_ROW) {
        out->row = db_column_int(a->db, sql, 0);
        out->completed_at_us = db_column_int(a->db, sql, 2);
        out->is_awaited = db_column_int(a->db, sql, 3) != 0;
        out->is_deleted = db_column_int(a->db, sql, 4) != 0;
        out->sends = db_column_int(a->db, sql, 5) != 0;
        out->letters = db_column_int(a->db, sql, 6);
        out->has_parent = db_column_int(a->db, sql, 7) != 0;
        if (!status_read(db_column_text(a->db, sql, 1), &out->status))
            status = DB_CORRUPT;
    }
    db_end(a->db, sql);
    return status;
}

/* Delete what belongs to it until *budget is used up: what people see first, then the oldest. */
static bool delete_rows(struct apply *a, int64_t row, int64_t *budget)
{
    static const struct {
        enum sql sql;
        bool by_key; /* of its history */
    } parts[] = {{SQL_LETTERS_DELETE_OPEN, false},     {SQL_LETTERS_DELETE_SOME, false},
                 {SQL_HISTORY_DELETE_SOME, true},      {SQL_RECORD_CHANGES_DELETE_SOME, true},
                 {SQL_WAIT_ANSWERS_DELETE_SOME, true}, {SQL_SIGNALS_DELETE_SOME, false}};

    for (size_t i = 0; i < ARRAY_SIZE(parts) && *budget > 0; i++) {
        const struct db_value of_row[] = {db_int(row), db_int(*budget)};
        const struct db_value of_key[] = {db_int(history_key(row, 0)),
                                          db_int(history_key(row, HISTORY_SEQ_MAX)),
                                          db_int(*budget)};
        int64_t before = *budget;

        if (!apply_write_off(a, budget, parts[i].sql, parts[i].by_key ? of_key : of_row,
                             parts[i].by_key ? 3 : 2))
            return false;
        if (parts[i].sql == SQL_LETTERS_DELETE_OPEN)
            a->open_letters -= before - *budget;
    }
    return true;
}

/* From now on it is gone for everybody, whatever is left of its rows. */
static bool leave(struct apply *a, struct uuid id, const struct ended *ended)
{
    char answer[UUID_TEXT_LEN + 16] = "{\"id\":\"";
    size_t at = strlen(answer);

    if (ended->is_deleted)
        return true;
    uuid_write(id, answer + at);
    memcpy(answer + at + UUID_TEXT_LEN, "\"}", 3);
    if (!apply_write(a, SQL_ANSWERS_BLANK,
                     DB_PARAMS(db_int(ended->row), db_text(str_of(answer)))) ||
        !apply_write(a, SQL_WAITS_UNASSIGN, DB_PARAMS(db_int(ended->row))) ||
        !apply_write(a, SQL_WAITS_DELETE, DB_PARAMS(db_int(ended->row))) ||
        !apply_write(a, SQL_NOTICES_DELETE, DB_PARAMS(db_int(ended->row))) ||
        !apply_write(a, SQL_OUTBOX_DELETE, DB_PARAMS(db_int(ended->row))) ||
        !apply_write(a, SQL_JOBS_DELETE,
                     DB_PARAMS(db_int(history_key(ended->row, 0)),
                               db_int(history_key(ended->row, HISTORY_SEQ_MAX)))))
        return false;
    a->counts[ended->status]--;
    return true;
}

/*
 * Delete an execution, or as much of it as *budget allows: then a tombstone is
 * what is left, and *has_more.
 */
static bool delete_part(struct apply *a, struct uuid id, const struct ended *ended, int64_t now_us,
                        int64_t *budget, bool *has_more)
{
    if (!leave(a, id, ended) || !delete_rows(a, ended->row, budget))
        return false;
    *has_more = *budget == 0;
    if (*has_more)
        return ended->is_deleted ||
               apply_write(a, SQL_TOMBSTONE, DB_PARAMS(db_int(ended->row), db_int(now_us)));
    if (!apply_write(a, SQL_EXECUTION_DELETE, DB_PARAMS(db_int(ended->row))))
        return false;
    a->status = db_exec(a->db, SQL_ROW_FLOOR, DB_PARAMS(db_int(ended->row)));
    return a->status == DB_DONE;
}

bool change_makes_space(const struct change *c)
{
    static change_apply_fn *const deleting[] = {execution_delete_apply, execution_purge_apply,
                                                snapshot_purge_apply, audit_purge_apply};

    for (size_t i = 0; i < ARRAY_SIZE(deleting); i++)
        if (c->apply == deleting[i])
            return true;
    return c->makes_space;
}

static int64_t rows_budget(const struct apply *a)
{
    return a->is_tight ? TIGHT_ROWS_MAX : DELETE_ROWS_MAX;
}

/* Pages that are free leave the file; there may be none. */
static bool give_back(struct apply *a)
{
    a->status = db_exec(a->db, a->is_tight ? SQL_GIVE_BACK_FEW : SQL_GIVE_BACK, DB_NO_PARAMS);
    a->gave_back = true;
    return a->status == DB_DONE;
}

/* Whether somebody may still need it as it is: then the member is refused, and *end is set. */
static bool is_needed(struct apply *a, struct member *m, const struct ended *ended,
                      bool closes_letters, enum apply_result *end)
{
    if (status_is_live(ended->status))
        *end = apply_refuse_with(a, m, ERR_CONFLICT,
                                 "an execution that is %s cannot be deleted: cancel it first",
                                 status_text(ended->status).ptr);
    else if (ended->has_parent && !ended->is_deleted)
        *end = apply_refuse_with(a, m, ERR_PARENT_LIVE,
                                 "the execution that has started it lives: it may be undone with "
                                 "that, so delete it afterwards");
    else if (ended->is_awaited)
        *end = apply_refuse_with(a, m, ERR_CONFLICT,
                                 "an execution that waits for it has not seen its end yet");
    else if (ended->sends && !ended->is_deleted)
        *end = apply_refuse_with(a, m, ERR_CONFLICT,
                                 "messages of it are not delivered yet: see GET /outbox");
    else if (ended->letters > 0 && !ended->is_deleted && !closes_letters)
        *end = apply_refuse_with(a, m, ERR_LETTER_OPEN,
                                 "%" PRId64 " of its dead letters are open: deal with them first, "
                                 "see GET /dlq?execution=, or delete them with it by "
                                 "?letters=close&note=",
                                 ended->letters);
    else
        return false;
    return true;
}

enum apply_result execution_delete_apply(struct apply *a, struct member *m)
{
    struct execution_delete *d = (struct execution_delete *)m->change;
    int64_t budget = rows_budget(a);
    enum apply_result end;
    struct ended ended;

    d->has_more = false;
    a->status = ended_find(a, d->id, &ended);
    if (a->status == DB_DONE || (a->status == DB_ROW && ended.is_deleted && !d->goes_on))
        return apply_refuse(a, m, MEMBER_GONE);
    if (a->status != DB_ROW)
        return APPLY_FAILED;
    if (is_needed(a, m, &ended, d->closes_letters, &end))
        return end;
    if (!delete_part(a, d->id, &ended, d->change.now_us, &budget, &d->has_more))
        return APPLY_FAILED;
    return apply_done_if(give_back(a));
}

static bool read_free_pages(struct apply *a, int64_t *out)
{
    a->status = db_run(a->db, SQL_FREE_PAGES, DB_NO_PARAMS);
    *out = a->status == DB_ROW ? db_column_int(a->db, SQL_FREE_PAGES, 0) : 0;
    db_end(a->db, SQL_FREE_PAGES);
    return a->status == DB_ROW;
}

/* Lock what goes with it. What another session has is left for the next time. */
static bool may_delete(struct apply *a, struct uuid id, bool *is_free)
{
    static const enum sql parts[] = {SQL_LOCK_LETTERS_OF, SQL_LOCK_WAITS_OF, SQL_LOCK_NOTICES_OF,
                                     SQL_LOCK_OUTBOX_OF,  SQL_LOCK_JOBS_OF,  SQL_LOCK_EXECUTIONS};

    return row_locks_try(a, parts, ARRAY_SIZE(parts), UUID_STR(id), is_free);
}

enum apply_result execution_purge_apply(struct apply *a, struct member *m)
{
    struct execution_purge *p = (struct execution_purge *)m->change;
    int64_t budget = rows_budget(a), until_us = clock_mono_us(&clock_system) + PURGE_US;
    size_t most = a->is_tight ? TIGHT_EXECUTIONS_MAX : SIZE_MAX;

    p->deleted = p->spared = 0;
    for (p->looked_at = 0; p->looked_at < p->count && budget > 0 && p->deleted < most;
         p->looked_at++) {
        struct uuid id = p->ids[p->looked_at];
        struct ended ended;
        bool has_more, is_free;

        if (p->looked_at > 0 && clock_mono_us(&clock_system) > until_us)
            break;
        if (!may_delete(a, id, &is_free))
            return APPLY_FAILED;
        if (!is_free)
            continue;
        a->status = ended_find(a, id, &ended);
        if (a->status > DB_DONE)
            return APPLY_FAILED;
        /* Someone else was faster, or an operator has taken it up again; or it is too early. */
        if (a->status == DB_DONE ||
            (!ended.is_deleted &&
             (status_is_live(ended.status) || ended.has_parent || ended.is_awaited || ended.sends ||
              ended.completed_at_us >= p->before_us)))
            continue;
        if (!ended.is_deleted && ended.letters > 0) {
            p->spared++;
            continue;
        }
        if (!delete_part(a, id, &ended, p->change.now_us, &budget, &has_more))
            return APPLY_FAILED;
        if (has_more)
            break;
        p->deleted++;
    }
    return apply_done_if(give_back(a) && read_free_pages(a, &p->free_pages));
}

enum apply_result notice_purge_apply(struct apply *a, struct member *m)
{
    const struct notice_purge *p = (const struct notice_purge *)m->change;

    for (size_t i = 0; i < p->count; i++)
        if (!apply_put(a, SQL_NOTICE_PURGE, DB_PARAMS(db_int(p->rows[i]))))
            return APPLY_FAILED;
    return APPLY_DONE;
}

enum apply_result snapshot_purge_apply(struct apply *a, struct member *m)
{
    const struct snapshot_purge *p = (const struct snapshot_purge *)m->change;

    for (size_t i = 0; i < p->count; i++)
        if (!apply_put(a, SQL_SNAPSHOT_DELETE,
                       DB_PARAMS(db_text(p->hashes[i]), db_int(p->before_us))))
            return APPLY_FAILED;
    a->status = gather_flush(a);
    return apply_done_if(a->status == DB_DONE);
}

enum apply_result audit_purge_apply(struct apply *a, struct member *m)
{
    struct audit_purge *p = (struct audit_purge *)m->change;

    int64_t limit = rows_budget(a) < p->limit ? rows_budget(a) : p->limit;

    if (!apply_write(a, SQL_AUDIT_PURGE, DB_PARAMS(db_int(p->before_us), db_int(limit))))
        return APPLY_FAILED;
    p->purged = db_changes(a->db);
    return APPLY_DONE;
}

enum apply_result stats_change_apply(struct apply *a, struct member *m)
{
    const struct stats_change *c = (const struct stats_change *)m->change;

    for (size_t i = 0; i < c->rows->count; i++) {
        const struct stats_row *row = &c->rows->items[i];

        if (!apply_write(a, SQL_STATS_INSERT,
                         DB_PARAMS(db_int(row->at_us), db_text_or_null(row->org_id),
                                   db_text(row->data_json))))
            return APPLY_FAILED;
    }
    return apply_done_if(apply_write(a, SQL_STATS_PURGE, DB_PARAMS(db_int(c->before_us))));
}
