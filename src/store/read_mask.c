/*
 * read_mask.c - which values of an execution are to be hidden; see read.h.
 *
 * The definition of a version never changes and says it. Most say nothing of
 * the kind, and the database finds that out.
 */
#include "store/apply.h"
#include "store/read_row.h"
#include "value/json.h"

/* The names of the sensitive ones among the parameters of a definition. */
static void add_names(struct arena *mem, struct value definition, struct mask *out)
{
    struct value params =
        definition.kind == VALUE_MAP ? value_map_get_str(definition, STR("input")) : value_absent();

    for (uint32_t i = 0; params.kind == VALUE_LIST && i < params.len; i++) {
        struct value name, sensitive;

        if (params.items[i].kind != VALUE_MAP)
            continue;
        name = value_map_get_str(params.items[i], STR("name"));
        sensitive = value_map_get_str(params.items[i], STR("sensitive"));
        if (name.kind == VALUE_STRING && value_is_true(sensitive))
            mask_add(mem, out, value_text(name));
    }
}

/* The inputs that retries have given in place of the first one. */
static bool learn_retries(struct reader *r, struct arena *mem, int64_t row, struct mask *out,
                          struct err *err)
{
    const enum sql sql = SQL_READ_RETRIES;
    enum db_status status =
        reader_run(r, sql,
                   DB_PARAMS(db_int(history_key(row, 0)), db_int(history_key(row, HISTORY_SEQ_MAX)),
                             db_int(HISTORY_EVENT)));
    bool ok = true;

    for (; ok && status == DB_ROW; status = db_next(r->db, sql)) {
        struct value delta;

        ok = json_read(mem, db_column_text(r->db, sql, 0), &delta, err);
        if (ok && delta.kind == VALUE_MAP)
            mask_learn(mem, out, value_map_get_str(delta, STR("input")));
    }
    db_end(r->db, sql);
    return ok && status > DB_DONE ? db_fail(r->db, status, err) : ok;
}

bool read_mask(struct reader *r, struct arena *mem, struct uuid id, struct mask *out,
               struct err *err)
{
    const enum sql sql = SQL_READ_SENSITIVE;
    struct row_id room;
    enum db_status status = reader_run(r, sql, DB_PARAMS(row_uuid(id, &room)));
    struct value definition = value_absent(), input = value_absent();
    int64_t row = 0;
    bool ok = true;

    *out = (struct mask){0};
    if (status == DB_ROW) {
        row = db_column_int(r->db, sql, 2);
        ok = json_read(mem, db_column_text(r->db, sql, 0), &definition, err) &&
             json_read(mem, db_column_text(r->db, sql, 1), &input, err);
    }
    db_end(r->db, sql);
    if (!ok)
        return false;
    if (status > DB_DONE)
        return db_fail(r->db, status, err);
    add_names(mem, definition, out);
    mask_learn(mem, out, input);
    return mask_is_empty(out) || learn_retries(r, mem, row, out, err);
}
