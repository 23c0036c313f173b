/* read_record.c - reading one record; see read.h. */
#include "store/apply.h"
#include "store/read_row.h"
#include "value/json.h"

bool read_record(struct reader *r, struct arena *mem, struct str org_id, struct str object,
                 struct str id, struct record_read *out, struct err *err)
{
    const enum sql sql = SQL_READ_RECORD;
    enum db_status status =
        reader_run(r, sql, DB_PARAMS(db_text(record_org(org_id)), db_text(object), db_text(id)));
    bool ok = true;

    *out = (struct record_read){.object = object, .id = id};
    if (status == DB_ROW) {
        out->version = db_column_int(r->db, sql, 2);
        ok = json_read(mem, db_column_text(r->db, sql, 3), &out->data, err);
    }
    db_end(r->db, sql);
    if (!ok)
        return false;
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}
