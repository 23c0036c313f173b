/* change_letter.c - dead letters: written and closed with a commit, closed by hand. */
#include "store/change_letter.h"

#include "store/change_outbox.h"
#include "store/gather.h"

static struct db_value letter_status_value(enum letter_status status)
{
    return db_text(str_of(letter_status_name(status)));
}

static bool insert(struct apply *a, const struct member *m, const struct dead_letter *l,
                   enum db_status *status)
{
    const struct execution *e = m->commit->after;
    char id[UUID_TEXT_LEN + 1];

    uuid_write(l->id, id);
    a->open_letters++;
    return apply_put(a, SQL_LETTER_INSERT,
                     DB_PARAMS(db_text(str_from(id, UUID_TEXT_LEN)), db_int(m->row),
                               db_int(l->attempts), db_int(e->updated_at_us), db_text(l->kind),
                               db_text(e->program->code), db_text_or_null(e->org_id),
                               db_text_or_null(l->step), db_text_or_null(l->cause_json),
                               db_text_or_null(l->payload_json)),
                     status);
}

static struct db_value who(const struct member *m)
{
    return m->audit != NULL ? db_text_or_null(m->audit->user_id) : db_null();
}

/* The letters of an incident that has ended; `step`: the oldest of that step alone. */
static bool close_incident(struct apply *a, const struct member *m, struct str step,
                           enum db_status *status)
{
    const struct commit *c = m->commit;
    struct db_value params[] = {
        db_int(m->row), letter_status_value(c->incident.status), db_int(c->after->updated_at_us),
        who(m),         db_text_or_null(c->incident.note),       db_text_or_null(step)};

    if (!apply_write(a, step.len > 0 ? SQL_INCIDENT_CLOSE_STEP : SQL_INCIDENT_CLOSE, params,
                     step.len > 0 ? 6 : 5, status))
        return false;
    a->open_letters -= db_changes(a->db);
    return true;
}

/* The letter of a rollback that is tried again. */
static bool retry(struct apply *a, const struct member *m, enum db_status *status)
{
    char id[UUID_TEXT_LEN + 1];

    uuid_write(m->commit->retried_letter, id);
    if (!apply_write(a, SQL_LETTER_RETRY,
                     DB_PARAMS(db_text(str_from(id, UUID_TEXT_LEN)),
                               db_int(m->commit->after->updated_at_us), who(m)),
                     status))
        return false;
    a->open_letters -= db_changes(a->db);
    return true;
}

bool apply_letters(struct apply *a, const struct member *m, enum db_status *status)
{
    const struct commit *c = m->commit;

    if (c->incident.status != LETTER_OPEN || c->retries_letter || c->ends_parking) {
        /* Letters of earlier members must be there. */
        *status = gather_flush(a);
        if (*status != DB_DONE)
            return false;
    }
    if (c->incident.status != LETTER_OPEN && c->incident.steps.count == 0 &&
        !close_incident(a, m, STR_NONE, status))
        return false;
    for (size_t i = 0; c->incident.status != LETTER_OPEN && i < c->incident.steps.count; i++)
        if (!close_incident(a, m, c->incident.steps.items[i], status))
            return false;
    if (c->ends_parking) {
        if (!apply_write(a, SQL_LETTER_PARKED_CLOSE,
                         DB_PARAMS(db_int(m->row), letter_status_value(LETTER_RESOLVED),
                                   db_int(c->after->updated_at_us), who(m)),
                         status))
            return false;
        a->open_letters -= db_changes(a->db);
    }
    if (c->retries_letter && !retry(a, m, status))
        return false;
    for (size_t i = 0; i < c->dead_letters.count; i++)
        if (!insert(a, m, &c->dead_letters.items[i], status))
            return false;
    return true;
}

enum apply_result letter_find_open(struct apply *a, struct member *m, struct uuid id,
                                   struct open_letter *out, enum db_status *status)
{
    enum letter_status before = LETTER_OPEN;
    char text[UUID_TEXT_LEN + 1];

    uuid_write(id, text);
    *status = db_run(a->db, SQL_LETTER_FIND, DB_PARAMS(db_text(str_from(text, UUID_TEXT_LEN))));
    if (*status == DB_ROW) {
        out->row = db_column_int(a->db, SQL_LETTER_FIND, 0);
        out->execution = db_column_int(a->db, SQL_LETTER_FIND, 2);
        if (!letter_status_read(db_column_text(a->db, SQL_LETTER_FIND, 1), &before))
            *status = DB_CORRUPT;
    }
    db_end(a->db, SQL_LETTER_FIND);
    if (*status == DB_DONE)
        return apply_refuse_with(a, m, ERR_NOT_FOUND, "there is no dead letter with this id");
    if (*status != DB_ROW)
        return APPLY_FAILED;
    if (before != LETTER_OPEN)
        return apply_refuse_with(a, m, ERR_CONFLICT, "the dead letter is %s already",
                                 letter_status_name(before));
    return APPLY_DONE;
}

enum apply_result letter_resolve_apply(struct apply *a, struct member *m, enum db_status *status)
{
    const struct letter_resolve *l = (const struct letter_resolve *)m->change;
    struct open_letter open;
    enum apply_result found = letter_find_open(a, m, l->id, &open, status);

    if (found != APPLY_DONE)
        return found;
    if (!apply_write(a, SQL_LETTER_CLOSE,
                     DB_PARAMS(db_int(open.row), letter_status_value(LETTER_RESOLVED),
                               db_int(l->change.now_us), db_text_or_null(l->user_id),
                               db_text_or_null(l->note)),
                     status))
        return APPLY_FAILED;
    a->open_letters -= db_changes(a->db);
    return outbox_drop_parked(a, l->id, status) ? APPLY_DONE : APPLY_FAILED;
}
