/* read_again.c - what an execution was started with, and what was started again for it; see read.h. */
#include "store/apply.h"
#include "store/read_row.h"

bool read_start(struct reader *r, struct arena *mem, struct uuid id, struct start_source *out,
                bool *found, struct err *err)
{
    const enum sql sql = SQL_READ_AGAIN;
    struct row_id room;
    enum db_status status = reader_run(r, sql, DB_PARAMS(row_uuid(id, &room)));
    bool ok = true;

    *found = status == DB_ROW;
    if (*found) {
        *out = (struct start_source){
            .code = row_text(r, mem, sql, 0),
            .version = db_column_int(r->db, sql, 1),
            .org_id = row_text(r, mem, sql, 2),
            .key = row_text(r, mem, sql, 4),
            .input_json = row_text(r, mem, sql, 5),
            .webhook_json = row_text(r, mem, sql, 6),
            .record = row_text(r, mem, sql, 7),
        };
        ok = status_read(db_column_text(r->db, sql, 3), &out->status) ||
             err_set(err, ERR_IO, "an execution has a status that is none");
    }
    db_end(r->db, sql);
    if (!ok)
        return false;
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_again_as(struct reader *r, struct uuid id, struct uuid *out, bool *found, struct err *err)
{
    struct row_id room;
    enum db_status status = reader_run(r, SQL_READ_AGAIN_AS, DB_PARAMS(row_uuid(id, &room)));

    *found = status == DB_ROW && uuid_read(db_column_text(r->db, SQL_READ_AGAIN_AS, 0), out);
    db_end(r->db, SQL_READ_AGAIN_AS);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}
