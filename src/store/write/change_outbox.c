/* change_outbox.c - see change_outbox.h. */
#include "store/change_outbox.h"

#include "base/buf.h"
#include "store/db/db.h"
#include "store/event_routes.h"
#include "store/store.h"
#include "store/write/announce.h"
#include "store/write/apply.h"
#include "store/write/apply_commit.h"
#include "store/write/change_apply.h"
#include "store/write/stored_mask.h"

#define LETTER_EVENT STR("dead_letter.created")

/* --- how attempts went --- */

static bool confirm_all(struct apply *a, const struct outbox_settle *s)
{
    struct buf rows;

    buf_init_arena(&rows, a->mem);
    for (size_t i = 0; i < s->count; i++)
        if (s->deliveries[i].result == DELIVERY_DONE)
            buf_printf(&rows, "%s%lld", rows.len == 0 ? "[" : ",", (long long)s->deliveries[i].row);
    if (rows.len == 0)
        return true;
    buf_char(&rows, ']');
    return apply_write_off(a, &a->outbox_pending, SQL_OUTBOX_CONFIRM,
                           DB_PARAMS(db_text(buf_view(&rows))));
}

static bool let_go(struct apply *a, int64_t execution, struct str destination)
{
    return apply_put(a, SQL_OUTBOX_LET_GO, DB_PARAMS(db_int(execution), db_text(destination)));
}

static bool put_off(struct apply *a, const struct delivery *d)
{
    if (!apply_put(a, SQL_OUTBOX_LATER,
                   DB_PARAMS(db_int(d->row), db_int(d->attempts), db_int(d->next_at_us),
                             db_text_or_null(d->error_json))))
        return false;
    return d->is_late ||
           apply_put(a, SQL_OUTBOX_HOLD,
                     DB_PARAMS(db_int(d->row), db_int(d->execution), db_text(d->destination)));
}

/*
 * Of a message that was given up somebody may be notified by another one. One that
 * tells of a letter itself ends there: else a receiver that refuses everything
 * would get letters about its letters.
 */
static bool announce_given_up(struct apply *a, const struct member *m, const struct delivery *d,
                              int64_t now_us)
{
    struct announced_event e = {.name = LETTER_EVENT, .about = d->destination, .now_us = now_us};
    struct announced_letter l = {.id = d->letter,
                                 .kind = STR("outbox"),
                                 .attempts = d->attempts,
                                 .cause_json = d->error_json};
    const enum sql sql = SQL_OUTBOX_OWNER;
    struct mask mask = {0};
    bool ok = true;

    if (m->events == NULL || m->events->count == 0 || str_eq(d->name, LETTER_EVENT))
        return true;
    a->status = db_run(a->db, sql, DB_PARAMS(db_int(d->row)));
    if (a->status == DB_ROW) {
        struct str id = db_column_text(a->db, sql, 1);

        e.org_id = db_column_copy(a->db, a->mem, sql, 0);
        e.has_execution = id.len > 0;
        ok = !e.has_execution || uuid_read(id, &e.execution);
        l.code = db_column_copy(a->db, a->mem, sql, 2);
        l.key = db_column_copy(a->db, a->mem, sql, 3);
    }
    db_end(a->db, sql);
    if (!ok)
        a->status = DB_CORRUPT;
    if (a->status <= DB_DONE && e.has_execution)
        a->status = stored_mask_read(a->db, a->mem, e.execution, &mask);
    if (a->status > DB_DONE)
        return false;
    e.payload_json = mask_view_text(a->mem, &mask, event_letter_json(a->mem, &l));
    return event_announce(a, m, &e);
}

static bool park_message(struct apply *a, const struct member *m, const struct delivery *d,
                         int64_t now_us)
{
    struct str letter = UUID_STR(d->letter);

    if (!apply_write(a, SQL_OUTBOX_PARK,
                     DB_PARAMS(db_int(d->row), db_int(d->attempts), db_text_or_null(d->error_json),
                               db_text(letter))))
        return false;
    if (db_changes(a->db) == 0)
        return true; /* another node was faster */
    a->outbox_pending--;
    if (!apply_write(a, SQL_OUTBOX_LETTER,
                     DB_PARAMS(db_text(letter), db_int(d->row), db_int(d->attempts), db_int(now_us),
                               db_text_or_null(d->error_json), db_text_or_null(d->payload_json))))
        return false;
    a->open_letters += db_changes(a->db);
    return announce_given_up(a, m, d, now_us) && let_go(a, d->execution, d->destination);
}

enum apply_result outbox_settle_apply(struct apply *a, struct member *m)
{
    const struct outbox_settle *s = (const struct outbox_settle *)m->change;
    bool ok = confirm_all(a, s);

    for (size_t i = 0; ok && i < s->count; i++) {
        const struct delivery *d = &s->deliveries[i];

        switch (d->result) {
        case DELIVERY_DONE:
            /* Also after a first attempt: another node may have failed with it meanwhile. */
            ok = let_go(a, d->execution, d->destination);
            break;
        case DELIVERY_LATER:
            ok = put_off(a, d);
            break;
        case DELIVERY_PARKED:
            ok = park_message(a, m, d, s->change.now_us);
            break;
        }
    }
    /* Whoever comes next in the batch begins with nothing that waits. */
    if (ok)
        a->status = db_flush(a->db);
    return apply_done_if(ok && a->status == DB_DONE);
}

/* --- messages that a commit answers --- */

enum apply_result apply_check_message(struct apply *a, struct member *m)
{
    bool found;

    if (m->message == NULL)
        return APPLY_DONE;
    if (!apply_finds(a, SQL_OUTBOX_IS_PENDING, DB_PARAMS(db_int(m->message->row)), &found))
        return APPLY_FAILED;
    return found ? APPLY_DONE : apply_refuse(a, m, MEMBER_GONE);
}

bool apply_take_message(struct apply *a, const struct member *m)
{
    const struct taken_message *t = m->message;

    return t == NULL ||
           (apply_write_off(a, &a->outbox_pending, SQL_OUTBOX_TAKE, DB_PARAMS(db_int(t->row))) &&
            let_go(a, t->execution, t->destination));
}

/* --- who delivers --- */

enum apply_result outbox_claim_apply(struct apply *a, struct member *m)
{
    struct outbox_claim *c = (struct outbox_claim *)m->change;

    for (size_t i = 0; i < c->count; i++) {
        if (!apply_write(
                a, SQL_OUTBOX_CLAIM,
                DB_PARAMS(db_text(c->lanes[i].destination), db_text(c->node), db_int(c->lease_us))))
            return APPLY_FAILED;
        c->lanes[i].is_granted = db_changes(a->db) > 0;
    }
    return APPLY_DONE;
}

/* --- operators --- */

struct found_message {
    int64_t row, execution;
    struct str letter; /* empty unless it is parked */
    struct str destination;
};

/* False: there is none, and the member is refused; or it failed: *end. */
static bool message_find(struct apply *a, struct member *m, enum sql sql, struct uuid id,
                         struct found_message *out, enum apply_result *end)
{
    a->status = db_run(a->db, sql, DB_PARAMS(db_text(UUID_STR(id))));
    if (a->status == DB_ROW)
        *out = (struct found_message){
            .row = db_column_int(a->db, sql, 0),
            .execution = db_column_int(a->db, sql, 1),
            .letter = db_column_copy(a->db, a->mem, sql, 2),
            .destination = db_column_copy(a->db, a->mem, sql, 3),
        };
    db_end(a->db, sql);
    if (a->status == DB_ROW)
        return true;
    *end = a->status != DB_DONE
               ? APPLY_FAILED
               : apply_refuse_with(a, m, ERR_NOT_FOUND,
                                   "there is no such message: it was delivered, or dropped");
    return false;
}

enum apply_result outbox_retry_apply(struct apply *a, struct member *m)
{
    const struct outbox_retry *r = (const struct outbox_retry *)m->change;
    struct found_message found;
    enum apply_result end;

    if (!message_find(a, m, r->by_letter ? SQL_OUTBOX_FIND_PARKED : SQL_OUTBOX_FIND, r->id, &found,
                      &end))
        return end;
    if (found.letter.len == 0) {
        if (!apply_write(a, SQL_OUTBOX_NOW, DB_PARAMS(db_int(found.row))))
            return APPLY_FAILED;
        if (db_changes(a->db) == 0)
            return apply_refuse_with(a, m, ERR_CONFLICT,
                                     "an earlier message of this execution must go first");
        return APPLY_DONE;
    }
    if (!apply_write(a, SQL_OUTBOX_UNPARK, DB_PARAMS(db_int(found.row))))
        return APPLY_FAILED;
    a->outbox_pending += db_changes(a->db);
    return apply_done_if(apply_write_off(
        a, &a->open_letters, SQL_LETTER_RETRY,
        DB_PARAMS(db_text(found.letter), db_int(r->change.now_us), db_text_or_null(r->user_id))));
}

enum apply_result outbox_resolve_apply(struct apply *a, struct member *m)
{
    const struct outbox_resolve *r = (const struct outbox_resolve *)m->change;
    struct found_message found;
    enum apply_result end;
    bool ok;

    if (!message_find(a, m, SQL_OUTBOX_FIND, r->id, &found, &end))
        return end;
    if (found.letter.len == 0)
        ok =
            apply_write_off(a, &a->outbox_pending, SQL_OUTBOX_TAKE, DB_PARAMS(db_int(found.row))) &&
            let_go(a, found.execution, found.destination);
    else
        ok = apply_write(a, SQL_OUTBOX_DROP_PARKED, DB_PARAMS(db_text(found.letter))) &&
             apply_write_off(a, &a->open_letters, SQL_LETTER_RESOLVE,
                             DB_PARAMS(db_text(found.letter), db_int(r->change.now_us),
                                       db_text_or_null(r->user_id), db_text(r->note)));
    if (ok)
        a->status = db_flush(a->db);
    return apply_done_if(ok && a->status == DB_DONE);
}
