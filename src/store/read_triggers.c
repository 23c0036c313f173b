/* read_triggers.c - reading the rows of triggers.h. */
#include "store/reader.h"
#include "store/triggers.h"
#include "value/json.h"

/* False: the row holds what nobody has written. */
static bool trigger_of_row(struct reader *r, struct arena *mem, enum sql sql,
                           struct stored_trigger *out)
{
    struct db *db = r->db;
    struct err err;

    *out = (struct stored_trigger){.code = str_copy(mem, db_column_text(db, sql, 0)),
                                   .position = (uint32_t)db_column_int(db, sql, 1),
                                   .kind = str_copy(mem, db_column_text(db, sql, 2)),
                                   .version = db_column_int(db, sql, 3),
                                   .topic = str_copy(mem, db_column_text(db, sql, 5)),
                                   .org_id = str_copy(mem, db_column_text(db, sql, 6)),
                                   .is_retired = db_column_int(db, sql, 7) != 0};
    return trigger_type_find(db_column_text(db, sql, 4), &out->type) &&
           json_read(mem, str_copy(mem, db_column_text(db, sql, 8)), &out->spec, &err);
}

static bool load_triggers(struct reader *r, struct arena *mem, enum sql sql, enum db_status status,
                          struct stored_triggers *out, struct err *err)
{
    *out = (struct stored_triggers){0};
    for (; status == DB_ROW; status = db_next(r->db, sql))
        if (!trigger_of_row(r, mem, sql, VEC_ADD(mem, out))) {
            status = DB_CORRUPT;
            break;
        }
    db_end(r->db, sql);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_triggers(struct reader *r, struct arena *mem, enum trigger_type type,
                   struct stored_triggers *out, struct err *err)
{
    const enum sql sql = SQL_READ_TRIGGERS;

    return load_triggers(r, mem, sql,
                         reader_run(r, sql, DB_PARAMS(db_text(str_of(trigger_type_name(type))))),
                         out, err);
}

bool read_triggers_of_topic(struct reader *r, struct arena *mem, enum trigger_type type,
                            struct str topic, struct stored_triggers *out, struct err *err)
{
    const enum sql sql = SQL_READ_TRIGGERS_OF_TOPIC;

    return load_triggers(
        r, mem, sql,
        reader_run(r, sql, DB_PARAMS(db_text(str_of(trigger_type_name(type))), db_text(topic))),
        out, err);
}
