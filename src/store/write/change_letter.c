/* change_letter.c - dead letters: written and closed with a commit, closed by hand. */
#include "store/change_letter.h"

#include "define/program.h"
#include "engine/commit/commit.h"
#include "engine/commit/letter.h"
#include "engine/execution.h"
#include "store/audit.h"
#include "store/db/db.h"
#include "store/write/change_apply.h"
#include "store/write/gather.h"

static struct db_value letter_status_value(enum letter_status status)
{
    return db_text(str_of(letter_status_name(status)));
}

static bool letter_insert(struct apply *a, const struct member *m, const struct dead_letter *l)
{
    const struct execution *e = m->commit->after;

    a->open_letters++;
    return apply_put(a, SQL_LETTER_INSERT,
                     DB_PARAMS(db_text(UUID_STR(l->id)), db_int(m->row), db_int(l->attempts),
                               db_int(e->updated_at_us), db_text(l->kind),
                               db_text(e->program->code), db_text_or_null(e->org_id),
                               db_text_or_null(l->step), db_text_or_null(l->cause_json),
                               db_text_or_null(l->payload_json),
                               db_some_int(l->sent > 0 ? history_key(m->row, l->sent) : 0)));
}

static struct db_value who(const struct member *m)
{
    return m->audit != NULL ? db_text_or_null(m->audit->user_id) : db_null();
}

/* The letters of an incident that has ended; `step`: the oldest of that step alone. */
static bool close_incident(struct apply *a, const struct member *m, struct str step)
{
    const struct commit *c = m->commit;
    struct db_value params[] = {
        db_int(m->row), letter_status_value(c->incident.status), db_int(c->after->updated_at_us),
        who(m),         db_text_or_null(c->incident.note),       db_text_or_null(step)};

    return apply_write_off(a, &a->open_letters,
                           step.len > 0 ? SQL_INCIDENT_CLOSE_STEP : SQL_INCIDENT_CLOSE, params,
                           step.len > 0 ? 6 : 5);
}

/* The letter of a rollback that is tried again. */
static bool retry(struct apply *a, const struct member *m)
{
    return apply_write_off(a, &a->open_letters, SQL_LETTER_RETRY,
                           DB_PARAMS(db_text(UUID_STR(m->commit->retried_letter)),
                                     db_int(m->commit->after->updated_at_us), who(m)));
}

bool apply_letters(struct apply *a, const struct member *m)
{
    const struct commit *c = m->commit;

    if (c->incident.status != LETTER_OPEN || c->retries_letter || c->ends_parking) {
        /* Letters of earlier members must be there. */
        a->status = gather_flush(a);
        if (a->status != DB_DONE)
            return false;
    }
    if (c->incident.status != LETTER_OPEN && c->incident.steps.count == 0 &&
        !close_incident(a, m, STR_NONE))
        return false;
    for (size_t i = 0; c->incident.status != LETTER_OPEN && i < c->incident.steps.count; i++)
        if (!close_incident(a, m, c->incident.steps.items[i]))
            return false;
    if (c->ends_parking &&
        !apply_write_off(a, &a->open_letters, SQL_LETTER_PARKED_CLOSE,
                         DB_PARAMS(db_int(m->row), letter_status_value(LETTER_RESOLVED),
                                   db_int(c->after->updated_at_us), who(m))))
        return false;
    if (c->retries_letter && !retry(a, m))
        return false;
    for (size_t i = 0; i < c->dead_letters.count; i++)
        if (!letter_insert(a, m, &c->dead_letters.items[i]))
            return false;
    return true;
}

bool letter_find_open(struct apply *a, struct member *m, struct uuid id, struct open_letter *out,
                      enum apply_result *end)
{
    enum letter_status before = LETTER_OPEN;

    a->status = db_run(a->db, SQL_LETTER_FIND, DB_PARAMS(db_text(UUID_STR(id))));
    if (a->status == DB_ROW) {
        out->row = db_column_int(a->db, SQL_LETTER_FIND, 0);
        out->execution = db_column_int(a->db, SQL_LETTER_FIND, 2);
        if (!letter_status_read(db_column_text(a->db, SQL_LETTER_FIND, 1), &before))
            a->status = DB_CORRUPT;
    }
    db_end(a->db, SQL_LETTER_FIND);
    if (a->status == DB_DONE)
        *end = apply_refuse_with(a, m, ERR_NOT_FOUND, "there is no dead letter with this id");
    else if (a->status != DB_ROW)
        *end = APPLY_FAILED;
    else if (before != LETTER_OPEN)
        *end = apply_refuse_with(a, m, ERR_CONFLICT, "the dead letter is %s already",
                                 letter_status_name(before));
    else
        return true;
    return false;
}

enum apply_result letter_resolve_apply(struct apply *a, struct member *m)
{
    const struct letter_resolve *l = (const struct letter_resolve *)m->change;
    struct open_letter open;
    enum apply_result end;

    if (!letter_find_open(a, m, l->id, &open, &end))
        return end;
    return apply_done_if(
        apply_write_off(a, &a->open_letters, SQL_LETTER_CLOSE,
                        DB_PARAMS(db_int(open.row), letter_status_value(LETTER_RESOLVED),
                                  db_int(l->change.now_us), db_text_or_null(l->user_id),
                                  db_text_or_null(l->note))) &&
        apply_write(a, SQL_OUTBOX_DROP_PARKED, DB_PARAMS(db_text(UUID_STR(l->id)))));
}
