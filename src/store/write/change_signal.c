/* change_signal.c - see change_signal.h. */
#include "store/change_signal.h"

#include "engine/commit/commit.h"
#include "engine/commit/reads.h"
#include "engine/execution.h"
#include "store/db/db.h"
#include "store/idempotency.h"
#include "store/store.h"
#include "store/write/apply.h"
#include "store/write/change_apply.h"
#include "store/write/gather.h"
#include "value/json.h"

/* --- one that is known by its id --- */

/*
 * Whether one of this id is there: then it is refused, *end is set, and
 * m->holder says who has received it.
 */
static bool is_known(struct apply *a, struct member *m, const struct correlated_signal *s,
                     enum apply_result *end)
{
    const enum sql sql = SQL_CORRELATED_FIND;
    int64_t row = 0, expires_at_us = 0;
    bool is_same = false, is_kept = false;

    a->status = db_run(a->db, sql, DB_PARAMS(db_text(s->org_id), db_text(s->id)));
    if (a->status == DB_ROW) {
        row = db_column_int(a->db, sql, 0);
        is_same = str_eq(db_column_text(a->db, sql, 1), s->digest);
        m->has_holder = db_column_text(a->db, sql, 2).len > 0;
        if (m->has_holder && !uuid_read(db_column_text(a->db, sql, 2), &m->holder))
            a->status = DB_CORRUPT;
        expires_at_us = db_column_int(a->db, sql, 3);
        is_kept = db_column_text(a->db, sql, 4).len > 0;
    }
    db_end(a->db, sql);
    *end = APPLY_FAILED;
    if (a->status != DB_ROW)
        return a->status != DB_DONE;
    if (expires_at_us > s->received_at_us) {
        *end = apply_refuse(a, m, is_same ? MEMBER_SIGNAL_KNOWN : MEMBER_SIGNAL_DIFFERS);
        return true;
    }
    a->buffered_signals -= is_kept;
    return !apply_write(a, SQL_CORRELATED_DROP, DB_PARAMS(db_int(row)));
}

/* As kept, or as delivered to `execution_id`. */
static bool correlated_insert(struct apply *a, const struct correlated_signal *s,
                              struct str execution_id)
{
    bool is_kept = execution_id.len == 0;
    int64_t expires_at_us = s->expires_at_us;

    if (!is_kept && expires_at_us < s->received_at_us + DELIVERED_KNOWN_US)
        expires_at_us = s->received_at_us + DELIVERED_KNOWN_US;
    if (!apply_write(a, SQL_CORRELATED_INSERT,
                     DB_PARAMS(db_int(s->received_at_us), db_int(expires_at_us), db_text(s->org_id),
                               db_text(s->id), db_text(s->digest), db_text_or_null(execution_id),
                               is_kept ? db_text(s->correlation) : db_null(),
                               is_kept ? db_text(s->type) : db_null(),
                               is_kept ? db_text_or_null(s->payload_json) : db_null(),
                               is_kept ? db_text_or_null(s->by_json) : db_null(),
                               is_kept ? db_text_or_null(s->sender_json) : db_null())))
        return false;
    if (db_changes(a->db) == 0) {
        /* Another node was faster; the repeated batch will see it. */
        a->status = DB_CONFLICT;
        return false;
    }
    a->buffered_signals += is_kept;
    return true;
}

/* --- keeping --- */

/* Whether a wait that might take it stands behind those that were asked. */
static bool has_later_wait(struct apply *a, const struct correlated_signal *s, int64_t after,
                           bool *out)
{
    return apply_finds(
        a, SQL_WAIT_FIND,
        DB_PARAMS(db_text(s->org_id), db_text(s->correlation), db_int(after), db_text(s->type)),
        out);
}

static bool is_full(struct apply *a, const struct correlated_signal *s, bool *out)
{
    const enum sql sql = SQL_KEPT_MEASURE;

    a->status = db_run(
        a->db, sql,
        DB_PARAMS(db_text(s->org_id), db_text(s->correlation), db_int(BUFFERED_SIGNALS_MAX)));
    if (a->status == DB_ROW)
        *out =
            db_column_int(a->db, sql, 0) >= BUFFERED_SIGNALS_MAX ||
            db_column_int(a->db, sql, 1) + (int64_t)s->payload_json.len > (int64_t)KEPT_BYTES_MAX;
    db_end(a->db, sql);
    return a->status == DB_ROW;
}

enum apply_result signal_keep_apply(struct apply *a, struct member *m)
{
    const struct signal_keep *k = (const struct signal_keep *)m->change;
    const struct correlated_signal *s = m->correlated;
    bool is_late = false, has_too_many = false;
    enum apply_result end;

    if (is_known(a, m, s, &end))
        return end;
    if (!has_later_wait(a, s, k->waits_up_to, &is_late) || !is_full(a, s, &has_too_many))
        return APPLY_FAILED;
    if (is_late)
        return apply_refuse(a, m, MEMBER_STALE);
    if (has_too_many)
        return apply_refuse_with(a, m, ERR_CONFLICT,
                                 "too many signals are kept for this correlation: "
                                 "nothing has waited for them yet");
    return apply_done_if(correlated_insert(a, s, STR_NONE));
}

/* --- waits --- */

/* Whether signals of a type that it is for were kept since the wait has looked. */
static bool has_later_signal(struct apply *a, const struct member *m, const struct listed_wait *w,
                             bool *out)
{
    const struct execution *e = m->commit->after;

    *out = false;
    a->status = DB_DONE;
    return w->correlation.len == 0 ||
           apply_finds(a, SQL_KEPT_AFTER,
                       DB_PARAMS(db_text(e->org_id), db_text(w->correlation),
                                 db_int(w->buffered_up_to), db_int(e->updated_at_us),
                                 db_text(w->types_json)),
                       out);
}

/* What was kept is this execution's, unless another one was faster. */
static enum apply_result take_buffered(struct apply *a, struct member *m)
{
    const struct buffered_takes *takes = &m->commit->buffered_taken;

    for (size_t i = 0; i < takes->count; i++) {
        if (!apply_write(a, SQL_KEPT_TAKE,
                         DB_PARAMS(db_int(takes->items[i].row),
                                   db_text(UUID_STR(m->commit->after->id)),
                                   db_int(m->commit->after->updated_at_us + DELIVERED_KNOWN_US))))
            return APPLY_FAILED;
        if (db_changes(a->db) == 0)
            return apply_refuse(a, m, MEMBER_BUFFERED_STALE);
        a->buffered_signals--;
    }
    return APPLY_DONE;
}

enum apply_result apply_check_correlation(struct apply *a, struct member *m)
{
    const struct commit *c = m->commit;
    enum apply_result end;
    bool is_late;

    for (size_t i = 0; i < c->opened.count; i++) {
        if (!has_later_signal(a, m, &c->opened.items[i], &is_late))
            return APPLY_FAILED;
        if (is_late)
            return apply_refuse(a, m, MEMBER_BUFFERED_STALE);
    }
    if (m->correlated != NULL && m->correlated->has_own_id && is_known(a, m, m->correlated, &end))
        return end;
    return take_buffered(a, m);
}

static bool delete_wait(struct apply *a, int64_t execution, const struct listed_wait *w)
{
    const struct db_value params[] = {db_int(execution), db_text(w->step), db_int(w->visit)};

    return (w->assignees_json.len == 0 || apply_put(a, SQL_WAIT_UNASSIGN, params, 3)) &&
           apply_put(a, SQL_WAIT_DELETE, params, 3);
}

/* In the inbox of each of them. */
static bool assign_wait(struct apply *a, const struct member *m, const struct listed_wait *w)
{
    struct value assignees;
    struct err err;

    if (!json_read(a->mem, w->assignees_json, &assignees, &err) || assignees.kind != VALUE_LIST)
        PANIC("the assignees of a wait are a list");
    for (uint32_t i = 0; i < assignees.len; i++)
        if (!apply_put(a, SQL_WAIT_ASSIGN,
                       DB_PARAMS(db_int(m->row), db_text(w->step), db_int(w->visit),
                                 db_text(m->commit->after->org_id),
                                 db_text(value_text(assignees.items[i])))))
            return false;
    return true;
}

static bool insert_wait(struct apply *a, const struct member *m, const struct listed_wait *w)
{
    if (!apply_put(a, SQL_WAIT_INSERT,
                   DB_PARAMS(db_int(m->row), db_int(w->visit), db_int(w->since_us),
                             db_text(m->commit->after->org_id), db_text(w->step),
                             db_text_or_null(w->correlation), db_text(w->types_json),
                             db_text_or_null(w->assignees_json), db_text_or_null(w->title),
                             db_text_or_null(w->form_json), db_int(w->is_public),
                             w->until_us > 0 ? db_int(w->until_us) : db_null(),
                             db_text_or_null(w->scopes_json), db_int(w->links_from),
                             db_text_or_null(w->show_json), db_text_or_null(w->then_json),
                             db_text_or_null(w->time_up_json))))
        return false;
    return w->assignees_json.len == 0 || assign_wait(a, m, w);
}

static bool insert_answer(struct apply *a, const struct member *m, const struct wait_answer *w)
{
    return apply_put(a, SQL_WAIT_ANSWERED,
                     DB_PARAMS(db_int(history_key(m->row, w->seq)), db_int(w->visit),
                               db_text(m->commit->after->org_id), db_text(w->step),
                               db_text_or_null(w->title), db_text(w->by_json),
                               db_int(m->commit->after->updated_at_us),
                               db_text_or_null(w->user_id)));
}

bool apply_correlation(struct apply *a, const struct member *m)
{
    const struct commit *c = m->commit;

    a->status = c->closed.count > 0 ? gather_close_waits(a, c->after->id) : DB_DONE;
    if (a->status != DB_DONE)
        return false;
    for (size_t i = 0; i < c->closed.count; i++)
        if (!delete_wait(a, m->row, &c->closed.items[i]))
            return false;
    if (c->opened.count > 0)
        gather_open_waits(a, c->after->id);
    for (size_t i = 0; i < c->opened.count; i++)
        if (!insert_wait(a, m, &c->opened.items[i]))
            return false;
    for (size_t i = 0; i < c->answers.count; i++)
        if (!insert_answer(a, m, &c->answers.items[i]))
            return false;
    if (m->correlated == NULL || !m->correlated->has_own_id)
        return true;
    return correlated_insert(a, m->correlated, UUID_STR(c->after->id));
}

/* --- what has expired --- */

enum apply_result signal_purge_apply(struct apply *a, struct member *m)
{
    struct signal_purge *p = (struct signal_purge *)m->change;
    const struct db_value params[] = {db_int(p->change.now_us), db_int(p->limit)};

    p->purged = 0;
    if (!apply_write(a, SQL_KEPT_PURGE, params, 2))
        return APPLY_FAILED;
    p->purged += db_changes(a->db);
    a->buffered_signals -= db_changes(a->db);
    if (!apply_write(a, SQL_DELIVERED_PURGE, params, 2))
        return APPLY_FAILED;
    p->purged += db_changes(a->db);
    if (!apply_write(a, SQL_JOBS_PURGE,
                     DB_PARAMS(db_int(p->change.now_us - ANSWERS_KEPT_US), db_int(p->limit))))
        return APPLY_FAILED;
    p->purged += db_changes(a->db);
    return APPLY_DONE;
}
