/* change_park.c - see change_park.h. */
#include "store/change_park.h"

#include "engine/commit/letter.h"
#include "store/db/db.h"
#include "store/event_routes.h"
#include "store/store.h"
#include "store/write/announce.h"
#include "store/write/apply.h"
#include "store/write/change_apply.h"
#include "store/write/stored_mask.h"

/* dead_letter.created, to whoever wants it. */
static bool announce_parked(struct apply *a, const struct member *m, struct uuid execution,
                            struct uuid letter, struct str cause_json, int64_t now_us)
{
    struct announced_event e = {.name = STR("dead_letter.created"),
                                .has_execution = true,
                                .execution = execution,
                                .now_us = now_us};
    struct announced_letter l = {.id = letter, .kind = STR("execution"), .cause_json = cause_json};
    struct mask mask;

    if (m->events == NULL || m->events->count == 0)
        return true;
    a->status = db_run(a->db, SQL_PARKED_OWNER, DB_PARAMS(db_text(UUID_STR(execution))));
    if (a->status == DB_ROW) {
        l.attempts = db_column_int(a->db, SQL_PARKED_OWNER, 0);
        l.code = db_column_copy(a->db, a->mem, SQL_PARKED_OWNER, 2);
        l.key = db_column_copy(a->db, a->mem, SQL_PARKED_OWNER, 3);
        e.org_id = db_column_copy(a->db, a->mem, SQL_PARKED_OWNER, 1);
    }
    db_end(a->db, SQL_PARKED_OWNER);
    if (a->status <= DB_DONE)
        a->status = stored_mask_read(a->db, a->mem, execution, &mask);
    if (a->status > DB_DONE)
        return false;
    e.payload_json = mask_view_text(a->mem, &mask, event_letter_json(a->mem, &l));
    return event_announce(a, m, &e);
}

bool apply_parked_letter(struct apply *a, const struct member *m, struct uuid execution,
                         struct uuid letter, struct str cause_json, int64_t now_us)
{
    if (!apply_write(a, SQL_LETTER_PARKED,
                     DB_PARAMS(db_text(UUID_STR(letter)), db_text(UUID_STR(execution)),
                               db_int(now_us), db_text_or_null(cause_json))))
        return false;
    if (db_changes(a->db) == 0)
        return true;
    a->open_letters += db_changes(a->db);
    return announce_parked(a, m, execution, letter, cause_json, now_us);
}

enum apply_result execution_park_apply(struct apply *a, struct member *m)
{
    const struct execution_park *p = (const struct execution_park *)m->change;

    if (!apply_write(a, SQL_PARK, DB_PARAMS(db_text(UUID_STR(p->id)))))
        return APPLY_FAILED;
    if (db_changes(a->db) == 0)
        return APPLY_DONE;
    return apply_done_if(
        apply_parked_letter(a, m, p->id, p->letter, p->cause_json, p->change.now_us));
}

enum apply_result execution_unpark_apply(struct apply *a, struct member *m)
{
    const struct execution_unpark *u = (const struct execution_unpark *)m->change;
    struct open_letter open;
    enum apply_result end;

    if (!letter_find_open(a, m, u->letter, &open, &end))
        return end;
    return apply_done_if(
        apply_write(a, SQL_UNPARK, DB_PARAMS(db_int(open.execution))) &&
        apply_write_off(a, &a->open_letters, SQL_LETTER_PARKED_CLOSE,
                        DB_PARAMS(db_int(open.execution),
                                  db_text(str_of(letter_status_name(LETTER_RETRIED))),
                                  db_int(u->change.now_us), db_text_or_null(u->user_id))));
}
