/* read_triggers.c - reading the rows of triggers.h. */
#include "store/read_triggers.h"
#include "store/read/read_row.h"
#include "value/json.h"

/* False: the row holds what nobody has written. */
static bool trigger_of_row(struct rows *rows, struct stored_trigger *out)
{
    struct err err;

    *out = (struct stored_trigger){.code = rows_text(rows, 0),
                                   .position = (uint32_t)rows_int(rows, 1),
                                   .kind = rows_text(rows, 2),
                                   .version = rows_int(rows, 3),
                                   .topic = rows_text(rows, 5),
                                   .org_id = rows_text(rows, 6),
                                   .is_retired = rows_int(rows, 7) != 0};
    return trigger_type_find(rows_view(rows, 4), &out->type) &&
           json_read(rows->mem, rows_text(rows, 8), &out->spec, &err);
}

static bool load_triggers(struct rows *rows, struct stored_triggers *out, struct err *err)
{
    *out = (struct stored_triggers){0};
    for (; rows_has(rows); rows_next(rows))
        if (!trigger_of_row(rows, VEC_ADD(rows->mem, out)))
            rows_damaged(rows);
    return rows_end(rows, err);
}

bool read_triggers(struct reader *r, struct arena *mem, enum trigger_type type,
                   struct stored_triggers *out, struct err *err)
{
    struct rows rows =
        rows_run(r, mem, SQL_READ_TRIGGERS, DB_PARAMS(db_text(str_of(trigger_type_name(type)))));

    return load_triggers(&rows, out, err);
}

bool read_triggers_of_topic(struct reader *r, struct arena *mem, enum trigger_type type,
                            struct str topic, struct stored_triggers *out, struct err *err)
{
    struct rows rows =
        rows_run(r, mem, SQL_READ_TRIGGERS_OF_TOPIC,
                 DB_PARAMS(db_text(str_of(trigger_type_name(type))), db_text(topic)));

    return load_triggers(&rows, out, err);
}
