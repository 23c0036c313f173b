/* change_outbox.c - see change_outbox.h. */
#include "store/change_outbox.h"

#include "base/buf.h"
#include "store/tell_event.h"

#define LETTER_EVENT STR("dead_letter.created")

/* --- how attempts went --- */

static bool confirm_all(struct apply *a, const struct outbox_settle *s, enum db_status *status)
{
    struct buf rows;

    buf_init_arena(&rows, a->mem);
    for (size_t i = 0; i < s->count; i++)
        if (s->deliveries[i].result == DELIVERY_DONE)
            buf_printf(&rows, "%s%lld", rows.len == 0 ? "[" : ",", (long long)s->deliveries[i].row);
    if (rows.len == 0)
        return true;
    buf_char(&rows, ']');
    if (!apply_write(a, SQL_OUTBOX_CONFIRM, DB_PARAMS(db_text(buf_view(&rows))), status))
        return false;
    a->outbox_pending -= db_changes(a->db);
    return true;
}

static bool let_go(struct apply *a, const struct delivery *d, enum db_status *status)
{
    return apply_put(a, SQL_OUTBOX_LET_GO, DB_PARAMS(db_int(d->execution), db_text(d->destination)),
                     status);
}

static bool put_off(struct apply *a, const struct delivery *d, enum db_status *status)
{
    if (!apply_put(a, SQL_OUTBOX_LATER,
                   DB_PARAMS(db_int(d->row), db_int(d->attempts), db_int(d->next_at_us),
                             db_text_or_null(d->error_json)),
                   status))
        return false;
    return d->is_late ||
           apply_put(a, SQL_OUTBOX_HOLD,
                     DB_PARAMS(db_int(d->row), db_int(d->execution), db_text(d->destination)),
                     status);
}

/*
 * Of a message that was given up somebody may be told by another one. One that
 * tells of a letter itself ends there: else a receiver that refuses everything
 * would get letters about its letters.
 */
static bool tell_given_up(struct apply *a, const struct member *m, const struct delivery *d,
                          int64_t now_us, enum db_status *status)
{
    struct told_event e = {.name = LETTER_EVENT, .about = d->destination, .now_us = now_us};
    struct told_letter l = {.id = d->letter,
                            .kind = STR("outbox"),
                            .attempts = d->attempts,
                            .cause_json = d->error_json};
    const enum sql sql = SQL_OUTBOX_OWNER;
    bool ok = true;

    if (m->events == NULL || m->events->count == 0 || str_eq(d->name, LETTER_EVENT))
        return true;
    *status = db_run(a->db, sql, DB_PARAMS(db_int(d->row)));
    if (*status == DB_ROW) {
        struct str id = db_column_text(a->db, sql, 1);

        e.org_id = str_copy(a->mem, db_column_text(a->db, sql, 0));
        e.has_execution = id.len > 0;
        ok = !e.has_execution || uuid_read(id, &e.execution);
        l.code = str_copy(a->mem, db_column_text(a->db, sql, 2));
        l.key = str_copy(a->mem, db_column_text(a->db, sql, 3));
    }
    db_end(a->db, sql);
    if (!ok)
        *status = DB_CORRUPT;
    if (*status > DB_DONE)
        return false;
    e.payload_json = event_letter_json(a->mem, &l);
    return event_tell(a, m, &e, status);
}

static bool park_message(struct apply *a, const struct member *m, const struct delivery *d,
                         int64_t now_us, enum db_status *status)
{
    char letter[UUID_TEXT_LEN + 1];

    uuid_write(d->letter, letter);
    if (!apply_write(a, SQL_OUTBOX_PARK,
                     DB_PARAMS(db_int(d->row), db_int(d->attempts), db_text_or_null(d->error_json),
                               db_text(str_from(letter, UUID_TEXT_LEN))),
                     status))
        return false;
    if (db_changes(a->db) == 0)
        return true; /* another node was faster */
    a->outbox_pending--;
    if (!apply_write(a, SQL_OUTBOX_LETTER,
                     DB_PARAMS(db_text(str_from(letter, UUID_TEXT_LEN)), db_int(d->row),
                               db_int(d->attempts), db_int(now_us), db_text_or_null(d->error_json),
                               db_text_or_null(d->payload_json)),
                     status))
        return false;
    a->open_letters += db_changes(a->db);
    return tell_given_up(a, m, d, now_us, status) && let_go(a, d, status);
}

enum apply_result outbox_settle_apply(struct apply *a, struct member *m, enum db_status *status)
{
    const struct outbox_settle *s = (const struct outbox_settle *)m->change;
    bool ok = confirm_all(a, s, status);

    for (size_t i = 0; ok && i < s->count; i++) {
        const struct delivery *d = &s->deliveries[i];

        switch (d->result) {
        case DELIVERY_DONE:
            /* Also after a first attempt: another node may have failed with it meanwhile. */
            ok = let_go(a, d, status);
            break;
        case DELIVERY_LATER:
            ok = put_off(a, d, status);
            break;
        case DELIVERY_PARKED:
            ok = park_message(a, m, d, s->change.now_us, status);
            break;
        }
    }
    /* Whoever comes next in the batch begins with nothing that waits. */
    if (ok)
        *status = db_flush(a->db);
    return ok && *status == DB_DONE ? APPLY_DONE : APPLY_FAILED;
}

/* --- messages that a commit answers --- */

enum apply_result apply_check_message(struct apply *a, struct member *m, enum db_status *status)
{
    const enum sql sql = SQL_OUTBOX_IS_PENDING;

    if (m->message == NULL)
        return APPLY_DONE;
    *status = db_run(a->db, sql, DB_PARAMS(db_int(m->message->row)));
    db_end(a->db, sql);
    if (*status == DB_DONE)
        return apply_refuse(a, m, MEMBER_GONE);
    return *status == DB_ROW ? APPLY_DONE : APPLY_FAILED;
}

bool apply_take_message(struct apply *a, const struct member *m, enum db_status *status)
{
    const struct taken_message *t = m->message;

    if (t == NULL)
        return true;
    if (!apply_write(a, SQL_OUTBOX_TAKE, DB_PARAMS(db_int(t->row)), status))
        return false;
    a->outbox_pending -= db_changes(a->db);
    return apply_put(a, SQL_OUTBOX_LET_GO, DB_PARAMS(db_int(t->execution), db_text(t->destination)),
                     status);
}

/* --- who delivers --- */

enum apply_result outbox_claim_apply(struct apply *a, struct member *m, enum db_status *status)
{
    struct outbox_claim *c = (struct outbox_claim *)m->change;

    for (size_t i = 0; i < c->count; i++) {
        if (!apply_write(
                a, SQL_OUTBOX_CLAIM,
                DB_PARAMS(db_text(c->lanes[i].destination), db_text(c->node), db_int(c->lease_us)),
                status))
            return APPLY_FAILED;
        c->lanes[i].is_granted = db_changes(a->db) > 0;
    }
    return APPLY_DONE;
}

/* --- operators --- */

/* DB_ROW: there is one; *letter is empty unless it is parked. */
static enum db_status message_find(struct apply *a, const struct outbox_retry *r, int64_t *row,
                                   struct str *letter)
{
    const enum sql sql = r->by_letter ? SQL_OUTBOX_FIND_PARKED : SQL_OUTBOX_FIND;
    char id[UUID_TEXT_LEN + 1];
    enum db_status status;

    uuid_write(r->id, id);
    status = db_run(a->db, sql, DB_PARAMS(db_text(str_from(id, UUID_TEXT_LEN))));
    if (status == DB_ROW) {
        *row = db_column_int(a->db, sql, 0);
        *letter = str_copy(a->mem, db_column_text(a->db, sql, 2));
    }
    db_end(a->db, sql);
    return status;
}

enum apply_result outbox_retry_apply(struct apply *a, struct member *m, enum db_status *status)
{
    const struct outbox_retry *r = (const struct outbox_retry *)m->change;
    struct str letter = STR_NONE;
    int64_t row = 0;

    *status = message_find(a, r, &row, &letter);
    if (*status == DB_DONE)
        return apply_refuse_with(a, m, ERR_NOT_FOUND,
                                 "there is no such message: it was delivered, or dropped");
    if (*status != DB_ROW)
        return APPLY_FAILED;
    if (letter.len == 0) {
        if (!apply_write(a, SQL_OUTBOX_NOW, DB_PARAMS(db_int(row)), status))
            return APPLY_FAILED;
        if (db_changes(a->db) == 0)
            return apply_refuse_with(a, m, ERR_CONFLICT,
                                     "an earlier message of this execution must go first");
        return APPLY_DONE;
    }
    if (!apply_write(a, SQL_OUTBOX_UNPARK, DB_PARAMS(db_int(row)), status))
        return APPLY_FAILED;
    a->outbox_pending += db_changes(a->db);
    if (!apply_write(
            a, SQL_LETTER_RETRY,
            DB_PARAMS(db_text(letter), db_int(r->change.now_us), db_text_or_null(r->user_id)),
            status))
        return APPLY_FAILED;
    a->open_letters -= db_changes(a->db);
    return APPLY_DONE;
}

bool outbox_drop_parked(struct apply *a, struct uuid letter, enum db_status *status)
{
    char id[UUID_TEXT_LEN + 1];

    uuid_write(letter, id);
    return apply_write(a, SQL_OUTBOX_DROP_PARKED, DB_PARAMS(db_text(str_from(id, UUID_TEXT_LEN))),
                       status);
}
