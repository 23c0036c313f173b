/* read_record.c - reading records; see read.h. */
#include "store/apply.h"
#include "store/read_row.h"
#include "value/json.h"

bool read_records(struct reader *r, struct arena *mem, struct str org_id, struct str object,
                  struct str id, int64_t limit, struct record_reads *out, struct err *err)
{
    enum sql sql = id.len > 0 ? SQL_READ_RECORD : SQL_READ_RECORDS;
    enum db_status status = reader_run(r, sql,
                                       DB_PARAMS(db_text(record_org(org_id)), db_text(object),
                                                 id.len > 0 ? db_text(id) : db_int(limit)));
    bool ok = true;

    *out = (struct record_reads){0};
    for (; ok && status == DB_ROW; status = db_next(r->db, sql)) {
        struct record_read record = {.object = str_copy(mem, db_column_text(r->db, sql, 0)),
                                     .id = str_copy(mem, db_column_text(r->db, sql, 1)),
                                     .version = db_column_int(r->db, sql, 2)};

        ok = json_read(mem, db_column_text(r->db, sql, 3), &record.data, err);
        *VEC_ADD(mem, out) = record;
    }
    db_end(r->db, sql);
    if (!ok)
        return false;
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_records_after(struct reader *r, struct arena *mem, struct str org_id, struct str object,
                        int64_t after, int64_t limit, struct stored_records *out, struct err *err)
{
    const enum sql sql = SQL_READ_RECORDS_AFTER;
    enum db_status status = reader_run(
        r, sql,
        DB_PARAMS(db_text(record_org(org_id)), db_text(object), db_int(after), db_int(limit)));
    bool ok = true;

    *out = (struct stored_records){0};
    for (; ok && status == DB_ROW; status = db_next(r->db, sql)) {
        struct stored_record record = {.row = db_column_int(r->db, sql, 0),
                                       .version = db_column_int(r->db, sql, 1),
                                       .id = str_copy(mem, db_column_text(r->db, sql, 2))};

        ok = json_read(mem, db_column_text(r->db, sql, 3), &record.data, err);
        *VEC_ADD(mem, out) = record;
    }
    db_end(r->db, sql);
    if (!ok)
        return false;
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}
