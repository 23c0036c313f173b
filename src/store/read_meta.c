/*
 * read_meta.c - what people wrote beside the steps of a definition; see read.h.
 *
 * Contexts are stored without it, since a version never changes: its facts have
 * it (define/facts.h).
 */
#include "define/facts.h"
#include "store/read_row.h"
#include "value/json.h"

bool read_step_meta(struct reader *r, struct arena *mem, struct uuid id, struct value *out,
                    struct err *err)
{
    const enum sql sql = SQL_READ_STEP_META;
    struct row_id room;
    enum db_status status = reader_run(r, sql, DB_PARAMS(row_uuid(id, &room)));
    struct value facts = value_absent(), meta;
    bool ok = true;

    *out = value_map_empty();
    if (status == DB_ROW)
        ok = json_read(mem, db_column_text(r->db, sql, 0), &facts, err);
    db_end(r->db, sql);
    if (!ok)
        return false;
    if (status > DB_DONE)
        return db_fail(r->db, status, err);
    meta = facts_get(facts, "stepMeta");
    if (meta.kind == VALUE_MAP)
        *out = meta;
    return true;
}
