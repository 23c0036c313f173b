/* change_park.c - see change_park.h. */
#include "store/change_park.h"

#include "store/change_letter.h"
#include "store/tell_event.h"

/* dead_letter.created, to whoever wants it. */
static bool tell_parked(struct apply *a, const struct member *m, struct uuid execution,
                        struct uuid letter, struct str cause_json, int64_t now_us,
                        enum db_status *status)
{
    struct told_event e = {.name = STR("dead_letter.created"),
                           .has_execution = true,
                           .execution = execution,
                           .now_us = now_us};
    char id[UUID_TEXT_LEN + 1];
    struct told_letter l = {.id = letter, .kind = STR("execution"), .cause_json = cause_json};

    if (m->events == NULL || m->events->count == 0)
        return true;
    uuid_write(execution, id);
    *status = db_run(a->db, SQL_PARKED_OWNER, DB_PARAMS(db_text(str_from(id, UUID_TEXT_LEN))));
    if (*status == DB_ROW) {
        l.attempts = db_column_int(a->db, SQL_PARKED_OWNER, 0);
        l.code = str_copy(a->mem, db_column_text(a->db, SQL_PARKED_OWNER, 2));
        l.key = str_copy(a->mem, db_column_text(a->db, SQL_PARKED_OWNER, 3));
        e.org_id = str_copy(a->mem, db_column_text(a->db, SQL_PARKED_OWNER, 1));
    }
    db_end(a->db, SQL_PARKED_OWNER);
    if (*status > DB_DONE)
        return false;
    e.payload_json = event_letter_json(a->mem, &l);
    return event_tell(a, m, &e, status);
}

bool apply_parked_letter(struct apply *a, const struct member *m, struct uuid execution,
                         struct uuid letter, struct str cause_json, int64_t now_us,
                         enum db_status *status)
{
    char id[UUID_TEXT_LEN + 1], letter_id[UUID_TEXT_LEN + 1];

    uuid_write(execution, id);
    uuid_write(letter, letter_id);
    if (!apply_write(a, SQL_LETTER_PARKED,
                     DB_PARAMS(db_text(str_from(letter_id, UUID_TEXT_LEN)),
                               db_text(str_from(id, UUID_TEXT_LEN)), db_int(now_us),
                               db_text_or_null(cause_json)),
                     status))
        return false;
    if (db_changes(a->db) == 0)
        return true;
    a->open_letters += db_changes(a->db);
    return tell_parked(a, m, execution, letter, cause_json, now_us, status);
}

enum apply_result execution_park_apply(struct apply *a, struct member *m, enum db_status *status)
{
    const struct execution_park *p = (const struct execution_park *)m->change;
    char id[UUID_TEXT_LEN + 1];

    uuid_write(p->id, id);
    if (!apply_write(a, SQL_PARK, DB_PARAMS(db_text(str_from(id, UUID_TEXT_LEN))), status))
        return APPLY_FAILED;
    if (db_changes(a->db) == 0)
        return APPLY_DONE;
    return apply_parked_letter(a, m, p->id, p->letter, p->cause_json, p->change.now_us, status)
               ? APPLY_DONE
               : APPLY_FAILED;
}

enum apply_result execution_unpark_apply(struct apply *a, struct member *m, enum db_status *status)
{
    const struct execution_unpark *u = (const struct execution_unpark *)m->change;
    struct open_letter open;
    enum apply_result found = letter_find_open(a, m, u->letter, &open, status);

    if (found != APPLY_DONE)
        return found;
    if (!apply_write(a, SQL_UNPARK, DB_PARAMS(db_int(open.execution)), status) ||
        !apply_write(a, SQL_LETTER_PARKED_CLOSE,
                     DB_PARAMS(db_int(open.execution),
                               db_text(str_of(letter_status_name(LETTER_RETRIED))),
                               db_int(u->change.now_us), db_text_or_null(u->user_id)),
                     status))
        return APPLY_FAILED;
    a->open_letters -= db_changes(a->db);
    return APPLY_DONE;
}
