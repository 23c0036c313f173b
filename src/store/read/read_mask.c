/*
 * read_mask.c - what showing an execution takes from the facts of its version
 * (define/facts.h): which values are hidden, and the `meta` of steps. See
 * read_execution.h.
 *
 * Contexts are stored without the meta, since a version never changes.
 */
#include "define/facts.h"
#include "store/read/read_row.h"
#include "store/read_execution.h"
#include "store/write/stored_mask.h"
#include "value/json.h"

bool read_mask(struct reader *r, struct arena *mem, struct uuid id, struct mask *out,
               struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_READ_SENSITIVE, DB_PARAMS(db_text(UUID_STR(id))));
    enum db_status status;
    int64_t row = 0;

    *out = (struct mask){0};
    if (rows_has(&rows)) {
        row = rows_int(&rows, 2);
        stored_mask_begin(mem, rows_view(&rows, 0), rows_view(&rows, 1), out);
    }
    if (!rows_end(&rows, err))
        return false;
    status = stored_mask_events(r->db, mem, row, out);
    return status == DB_DONE || db_fail(r->db, status, err);
}

bool read_step_meta(struct reader *r, struct arena *mem, struct uuid id, struct value *out,
                    struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_READ_STEP_META, DB_PARAMS(db_text(UUID_STR(id))));
    struct value facts = value_absent(), meta;
    bool ok = true;

    *out = value_map_empty();
    if (rows_has(&rows))
        ok = json_read(mem, rows_view(&rows, 0), &facts, err);
    if (!rows_end(&rows, err) || !ok)
        return false;
    meta = facts_get(facts, "stepMeta");
    if (meta.kind == VALUE_MAP)
        *out = meta;
    return true;
}
