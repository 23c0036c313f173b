/* read_again.c - what an execution was started with, and what was started again for it; see read.h. */
#include "store/read/read_row.h"
#include "store/read_execution.h"

bool read_start(struct reader *r, struct arena *mem, struct uuid id, struct start_source *out,
                bool *found, struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_READ_AGAIN, DB_PARAMS(db_text(UUID_STR(id))));
    bool ok = true;

    *found = rows_has(&rows);
    if (*found) {
        *out = (struct start_source){
            .code = rows_text(&rows, 0),
            .version = rows_int(&rows, 1),
            .org_id = rows_text(&rows, 2),
            .key = rows_text(&rows, 4),
            .input_json = rows_text(&rows, 5),
            .webhook_json = rows_text(&rows, 6),
            .record = rows_text(&rows, 7),
        };
        ok = status_read(rows_view(&rows, 3), &out->status) ||
             err_set(err, ERR_IO, "an execution has a status that is none");
    }
    return rows_end(&rows, err) && ok;
}

bool read_again_as(struct reader *r, struct uuid id, struct uuid *out, bool *found, struct err *err)
{
    struct rows rows = rows_run(r, NULL, SQL_READ_AGAIN_AS, DB_PARAMS(db_text(UUID_STR(id))));

    *found = rows_has(&rows) && uuid_read(rows_view(&rows, 0), out);
    return rows_end(&rows, err);
}
