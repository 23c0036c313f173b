/* apply.c - commits of the engine as statements; see apply.h. */
#include "store/write/apply_commit.h"

#include "define/program.h"
#include "engine/commit/commit.h"
#include "engine/commit/message.h"
#include "engine/execution.h"
#include "engine/state.h"
#include "engine/status.h"
#include "store/change_job.h"
#include "store/write/change_apply.h"
#include "store/write/gather.h"

#include <stdarg.h>
#include <stdlib.h>

enum apply_result apply_refuse(const struct apply *a, struct member *m, enum member_result result)
{
    m->result = result;
    return a->wrote ? APPLY_AGAIN : APPLY_DONE;
}

enum apply_result apply_refuse_with(const struct apply *a, struct member *m, enum err_code code,
                                    const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)err_vset(&m->err, code, 0, 0, format, args);
    va_end(args);
    return apply_refuse(a, m, MEMBER_FAILED);
}

bool apply_write(struct apply *a, enum sql sql, const struct db_value *params, unsigned count)
{
    a->status = db_exec(a->db, sql, params, count);
    if (a->status != DB_DONE)
        return false;
    if (db_changes(a->db) > 0)
        a->wrote = true;
    return true;
}

bool apply_write_off(struct apply *a, int64_t *counter, enum sql sql, const struct db_value *params,
                     unsigned count)
{
    if (!apply_write(a, sql, params, count))
        return false;
    *counter -= db_changes(a->db);
    return true;
}

bool apply_finds(struct apply *a, enum sql sql, const struct db_value *params, unsigned count,
                 bool *found)
{
    a->status = db_run(a->db, sql, params, count);
    *found = a->status == DB_ROW;
    db_end(a->db, sql);
    return a->status <= DB_DONE;
}

bool apply_put(struct apply *a, enum sql sql, const struct db_value *params, unsigned count)
{
    a->wrote = true;
    a->status = db_put(a->db, sql, params, count);
    return a->status == DB_DONE;
}

/* --- what a commit is held against --- */

/* DB_ROW: found; DB_DONE: there is none; DB_BUSY: it is locked. */
static enum db_status before_of_cached(struct apply *a, struct uuid id, int64_t row,
                                       struct before *out)
{
    struct cached_execution *cached;
    enum db_status status = gather_execution(a, id, row, &cached);

    if (status == DB_ROW)
        *out = (struct before){.row = cached->row,
                               .row_version = cached->row_version,
                               .status = cached->status,
                               .cached = cached};
    return status;
}

/* The same; `row` may be 0. */
static enum db_status load_before(struct apply *a, struct uuid of, int64_t row, struct before *out)
{
    enum sql sql = row != 0 ? SQL_EXECUTION_STATE : SQL_EXECUTION_STATE_BY_ID;
    enum db_status status;

    if (a->db->has_sets)
        return before_of_cached(a, of, row, out);
    status = db_run(a->db, sql, DB_PARAMS(row != 0 ? db_int(row) : db_text(UUID_STR(of))));
    if (status == DB_ROW) {
        out->row = db_column_int(a->db, sql, 0);
        if (!status_read(db_column_text(a->db, sql, 1), &out->status))
            status = DB_CORRUPT;
        out->row_version = db_column_int(a->db, sql, 2);
    }
    db_end(a->db, sql);
    return status;
}

/*
 * Whether the statement that writes the state decides by itself whether the commit holds: the commit
 * says what its row was, and nothing of it is written or read before that statement.
 */
static bool decides_by_writing(const struct apply *a, const struct commit *c)
{
    return !a->db->has_sets && c->before.is_known && c->after->row != 0 && c->received == NULL &&
           c->records.count == 0;
}

/* The same as load_before(), without reading where that is not needed. */
static enum db_status find_before(struct apply *a, const struct commit *c, struct before *out)
{
    if (!decides_by_writing(a, c))
        return load_before(a, c->after->id, c->after->row, out);
    *out = (struct before){
        .row = c->after->row, .row_version = c->read_version, .status = c->before.status};
    return DB_ROW;
}

/* Whether a live execution of this code and organisation has the key. DB_ROW: m->holder is it. */
static enum db_status find_holder(struct apply *a, struct member *m, const struct execution *e)
{
    const struct cached_key *key = gather_key(a, e);
    enum db_status status;

    if (key != NULL && key->is_held)
        m->holder = key->holder;
    if (key != NULL)
        return key->is_held ? DB_ROW : DB_DONE;
    status = gather_flush(a);
    if (status != DB_DONE)
        return status;
    status =
        db_run(a->db, SQL_LIVE_KEY_FIND,
               DB_PARAMS(db_text(e->key), db_text(e->program->code), db_text_or_null(e->org_id)));

    if (status == DB_ROW && !uuid_read(db_column_text(a->db, SQL_LIVE_KEY_FIND, 1), &m->holder))
        status = DB_CORRUPT;
    db_end(a->db, SQL_LIVE_KEY_FIND);
    return status;
}

/* --- one commit --- */

/* The row of an execution that begins. DB_CONFLICT: it is there, or its key is taken. */
static bool begin_execution(struct apply *a, const struct commit *c, int64_t row)
{
    struct cached_key *key = c->after->key.len > 0 ? gather_key(a, c->after) : NULL;
    struct cached_execution *cached;

    a->wrote = true;
    if (!a->db->has_sets) {
        a->status = apply_insert_execution(a, c, c->writes_context ? c : NULL, row);
        a->wrote = a->status == DB_DONE;
        return a->status == DB_DONE;
    }
    cached = gather_start(a, c->after->id);
    a->wrote = cached != NULL;
    a->status = cached == NULL ? DB_CONFLICT : DB_DONE;
    if (cached == NULL)
        return false;
    cached->row = row;
    a->status = gather_change(a, cached, c);
    if (a->status != DB_DONE)
        return false;
    if (key != NULL && status_is_live(c->after->status))
        *key = (struct cached_key){.is_held = true, .holder = c->after->id};
    return true;
}

static enum apply_result start_execution(struct apply *a, struct member *m)
{
    const struct execution *e = m->commit->after;

    /* Also of one that has ended in its first commit: it ran while another one had the key. */
    if (e->key.len > 0) {
        a->status = find_holder(a, m, e);
        if (a->status == DB_ROW)
            return apply_refuse(a, m, MEMBER_KEY_BUSY);
        if (a->status != DB_DONE)
            return APPLY_FAILED;
    }
    m->row = a->rows[a->next_row++];
    if (!begin_execution(a, m->commit, m->row))
        return a->status == DB_CONFLICT ? apply_refuse(a, m, MEMBER_STALE) : APPLY_FAILED;
    if (!apply_keep_snapshot(a, e))
        return APPLY_FAILED;
    a->counts[e->status]++;
    return APPLY_DONE;
}

/* Whether the business key comes back with this commit, or goes; and nobody has it who should not. */
static enum apply_result check_live_key(struct apply *a, struct member *m,
                                        const struct before *before, bool *changes)
{
    const struct execution *e = m->commit->after;
    bool is_live = status_is_live(e->status);

    *changes = e->key.len > 0 && status_is_live(before->status) != is_live;
    if (!*changes || !is_live)
        return APPLY_DONE;
    a->status = find_holder(a, m, e);
    if (a->status == DB_ROW)
        return apply_refuse(a, m, MEMBER_KEY_BUSY);
    return apply_done_if(a->status == DB_DONE);
}

/* The business key goes when an execution ends, and comes back when it is taken up again. */
static bool move_live_key(struct apply *a, const struct member *m, const struct before *before)
{
    const struct execution *e = m->commit->after;
    bool is_live = status_is_live(e->status);
    struct cached_key *key;

    if (before->cached == NULL)
        return apply_write(a, is_live ? SQL_LIVE_KEY_TAKE : SQL_LIVE_KEY_DROP,
                           DB_PARAMS(db_int(m->row)));
    key = gather_key(a, e);
    if (key != NULL)
        *key = (struct cached_key){.is_held = is_live, .holder = e->id};
    return true; /* the row says it when it is written */
}

/* No row was written: somebody else has changed it, or deleted the execution. */
static enum apply_result refuse_unwritten(struct apply *a, struct member *m)
{
    const struct execution *e = m->commit->after;
    struct before now;

    a->status = load_before(a, e->id, e->row, &now);
    if (a->status != DB_ROW && a->status != DB_DONE)
        return APPLY_FAILED;
    return apply_refuse(a, m, a->status == DB_ROW ? MEMBER_STALE : MEMBER_GONE);
}

/* Its row, or what waits to be written of it. m->result is unchanged when that was done. */
static enum apply_result write_state(struct apply *a, struct member *m, const struct before *before)
{
    if (before->cached != NULL) {
        a->wrote = true;
        a->status = gather_change(a, before->cached, m->commit);
        return apply_done_if(a->status == DB_DONE);
    }
    if (!apply_update_execution(a, m->commit, before->row))
        return APPLY_FAILED;
    if (db_changes(a->db) == 0)
        return refuse_unwritten(a, m);
    if (!m->commit->moves)
        return APPLY_DONE;
    a->status = apply_move_execution(a, m->commit->after, before->row);
    return apply_done_if(a->status == DB_DONE);
}

static enum apply_result advance_execution(struct apply *a, struct member *m,
                                           const struct before *before)
{
    const struct execution *e = m->commit->after;
    bool moves_key;
    enum apply_result end = check_live_key(a, m, before, &moves_key);

    if (end == APPLY_DONE && m->result == MEMBER_APPLIED)
        end = write_state(a, m, before);
    if (end != APPLY_DONE || m->result != MEMBER_APPLIED)
        return end;
    if ((moves_key && !move_live_key(a, m, before)) ||
        (m->commit->moves && !apply_keep_snapshot(a, e)))
        return APPLY_FAILED;
    a->counts[before->status]--;
    a->counts[e->status]++;
    return APPLY_DONE;
}

/* Executions that begin with this commit. What was read of their keys may have changed. */
static enum apply_result start_children(struct apply *a, struct member *m)
{
    for (size_t i = 0; i < m->commit->starts.count; i++) {
        struct commit *start = ARENA_NEW(a->mem, struct commit);

        *start =
            (struct commit){.after = m->commit->starts.items[i],
                            .writes_context = true,
                            .context_json = STR("{}"),
                            .cursor_json = state_cursor_json(a->mem, m->commit->starts.items[i])};
        a->status = start->after->key.len > 0 ? find_holder(a, m, start->after) : DB_DONE;
        if (a->status == DB_ROW)
            return apply_refuse(a, m, MEMBER_START_STALE);
        if (a->status != DB_DONE)
            return APPLY_FAILED;
        if (!begin_execution(a, start, a->rows[a->next_row++]))
            return a->status == DB_CONFLICT ? apply_refuse(a, m, MEMBER_START_STALE) : APPLY_FAILED;
        if (!apply_keep_snapshot(a, start->after))
            return APPLY_FAILED;
        a->counts[start->after->status]++;
    }
    return APPLY_DONE;
}

bool apply_notice(struct apply *a, const struct notice *t)
{
    a->status = gather_tell(a, t->execution);
    return a->status == DB_DONE &&
           apply_put(a, SQL_NOTICE_ADD,
                     DB_PARAMS(db_text(UUID_STR(t->execution)),
                               db_text(str_of(notice_kind_name(t->kind))), db_text(t->key),
                               db_text_or_null(t->payload_json)));
}

/* Notices to other executions. */
static bool write_notices(struct apply *a, const struct notices *notices)
{
    for (size_t i = 0; i < notices->count; i++)
        if (!apply_notice(a, &notices->items[i]))
            return false;
    return true;
}

/* Messages that leave once the commit is durable: node/outside/relay.c sends them. */
static bool write_outbox(struct apply *a, const struct member *m)
{
    const struct outbox_rows *rows = &m->commit->outbox;
    const struct execution *e = m->commit->after;

    for (size_t i = 0; i < rows->count; i++) {
        const struct outbox_row *r = &rows->items[i];
        if (!apply_put(a, SQL_OUTBOX_INSERT,
                       DB_PARAMS(db_text(UUID_STR(r->id)), db_int(m->row), db_int(e->updated_at_us),
                                 db_text_or_null(e->org_id),
                                 db_text(str_of(message_kind_name(r->kind))),
                                 db_text(r->destination), db_text(r->name), db_text(r->body_json))))
            return false;
        a->outbox_pending++;
    }
    return true;
}

/* Another session has locked it: the others of the batch do not wait for that. */
static enum apply_result refuse_locked(const struct apply *a, struct member *m)
{
    return apply_refuse(a, m, MEMBER_LOCKED);
}

/* Who ends drops what is addressed to it and was not applied; nobody knows of a new one. */
static bool drop_notices(struct apply *a, const struct commit *c, int64_t row)
{
    if (c->is_start || !status_is_terminal(c->after->status))
        return true;
    gather_drop(a, c->after->id);
    return apply_put(a, SQL_NOTICE_DROP, DB_PARAMS(db_int(row)));
}

bool apply_consume(struct apply *a, int64_t row, const struct notice_numbers *numbers)
{
    for (size_t i = 0; i < numbers->count; i++)
        if (!apply_put(a, SQL_NOTICE_CONSUME, DB_PARAMS(db_int(row), db_int(numbers->items[i]))))
            return false;
    return true;
}

enum apply_result apply_assertion(struct apply *a, struct member *m)
{
    const struct assertion *s = m->assertion;
    struct before before;
    enum apply_result end;

    if (m->idempotency != NULL && apply_find_answer(a, m, s->now_us, &end))
        return end;
    a->status = load_before(a, s->id, s->row, &before);
    if (a->status == DB_DONE)
        return apply_refuse(a, m, MEMBER_GONE);
    if (a->status == DB_BUSY && a->db->has_sets)
        return refuse_locked(a, m);
    if (a->status != DB_ROW)
        return APPLY_FAILED;
    if (before.row_version != s->row_version)
        return apply_refuse(a, m, MEMBER_STALE);
    m->row = before.row;
    if (!write_notices(a, &s->notices) || !apply_consume(a, before.row, &s->consumed) ||
        (m->idempotency != NULL && !apply_store_answer(a, m->idempotency, before.row, s->now_us)))
        return APPLY_FAILED;
    return APPLY_DONE;
}

/* What the commit rests on: *before, and refusals that need nothing written. */
static enum apply_result check_commit(struct apply *a, struct member *m, struct before *before,
                                      const struct signal_texts *texts)
{
    const struct commit *c = m->commit;

    if (c->history.count > 0 && c->history.items[c->history.count - 1].seq > HISTORY_SEQ_MAX)
        return apply_refuse_with(a, m, ERR_TOO_LARGE, "the history of this execution is full");
    if (c->is_start)
        return APPLY_DONE;
    a->status = find_before(a, c, before);
    if (a->status == DB_DONE)
        return apply_refuse(a, m, MEMBER_GONE);
    if (a->status == DB_BUSY && a->db->has_sets)
        return refuse_locked(a, m);
    if (a->status != DB_ROW)
        return APPLY_FAILED;
    m->row = before->row;
    if (c->received != NULL) {
        a->status = apply_find_signal(a, m, before->row, texts);
        if (a->status == DB_ROW) {
            m->holder = c->after->id;
            m->has_holder = true;
            return apply_refuse(a, m, m->result);
        }
        if (a->status != DB_DONE)
            return APPLY_FAILED;
    }
    if (before->row_version != c->read_version)
        return apply_refuse(a, m, MEMBER_STALE);
    return APPLY_DONE;
}

/* The same of the tick of a schedule, of jobs that nobody has begun, and of what signals find it by. */
static enum apply_result check_all(struct apply *a, struct member *m, struct before *before,
                                   const struct signal_texts *texts)
{
    static enum apply_result (*const checks[])(struct apply *, struct member *) = {
        apply_check_message, apply_check_tick, apply_check_jobs, apply_check_correlation};
    enum apply_result end = check_commit(a, m, before, texts);

    for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
        if (end == APPLY_DONE && m->result == MEMBER_APPLIED)
            end = checks[i](a, m);
    return end;
}

enum apply_result apply_commit(struct apply *a, struct member *m)
{
    const struct commit *c = m->commit;
    int64_t now_us = c->after->updated_at_us;
    struct signal_texts texts = {0};
    struct before before = {0};
    enum apply_result end;

    if (c->received != NULL && !apply_signal_texts(a, c->received, &texts, &m->err))
        return apply_refuse(a, m, MEMBER_FAILED);
    if (m->idempotency != NULL && apply_find_answer(a, m, now_us, &end))
        return end;
    end = check_all(a, m, &before, &texts);
    if (end != APPLY_DONE || m->result != MEMBER_APPLIED)
        return end;
    end = apply_records(a, m, now_us);
    if (end != APPLY_DONE || m->result != MEMBER_APPLIED)
        return end;
    end = c->is_start ? start_execution(a, m) : advance_execution(a, m, &before);
    if (end != APPLY_DONE || m->result != MEMBER_APPLIED)
        return end;
    end = start_children(a, m);
    if (end != APPLY_DONE || m->result != MEMBER_APPLIED)
        return end;
    if (!write_notices(a, &c->notices) || !apply_consume(a, m->row, &c->consumed) ||
        !drop_notices(a, c, m->row) || !apply_history(a, c, m->row) ||
        !apply_record_changes(a, m) || !apply_jobs(a, m) || !apply_letters(a, m) ||
        !write_outbox(a, m) || !apply_take_message(a, m) || !apply_correlation(a, m) ||
        !apply_taken(a, m) || !apply_tick(a, m) ||
        (c->received != NULL && !apply_signal(a, c->received, m->row, &texts)) ||
        (m->idempotency != NULL && !apply_store_answer(a, m->idempotency, m->row, now_us)) ||
        !apply_tasks(a, m))
        return APPLY_FAILED;
    return APPLY_DONE;
}
