/* read_summary.c - how many executions there are of what; see read.h. */
#include "store/read/read_row.h"
#include "store/read_executions.h"

/* The columns of GROUP_COLUMNS: what one row of a summary says. */
static bool take_group(struct rows *rows, struct execution_groups *out, struct err *err)
{
    struct execution_group *g = VEC_ADD(rows->mem, out);

    *g = (struct execution_group){
        .code = rows_text(rows, 0),
        .version = rows_int(rows, 1),
        .org_id = rows_text(rows, 2),
        .value = rows_text(rows, 4),
        .count = rows_int(rows, 5),
        .service = rows_text(rows, 6),
    };
    return status_read(rows_view(rows, 3), &g->status) ||
           err_set(err, ERR_IO, "an execution has a status that is none");
}

static bool take_groups(struct reader *r, struct arena *mem, enum sql sql,
                        const struct db_value *params, unsigned count, struct execution_groups *out,
                        struct err *err)
{
    struct rows rows = rows_run(r, mem, sql, params, count);
    bool ok = true;

    for (; ok && rows_has(&rows); rows_next(&rows))
        ok = take_group(&rows, out, err);
    return rows_end(&rows, err) && ok;
}

bool read_live_groups(struct reader *r, struct arena *mem, struct execution_groups *out,
                      struct err *err)
{
    return take_groups(r, mem, SQL_SUMMARY_LIVE, DB_NO_PARAMS, out, err);
}

bool read_held_groups(struct reader *r, struct arena *mem, struct execution_groups *out,
                      struct err *err)
{
    return take_groups(r, mem, SQL_SUMMARY_HELD, DB_PARAMS(db_int(SUMMARY_ROWS_MAX)), out, err);
}

bool read_ended_groups(struct reader *r, struct arena *mem, int64_t since_us, bool only_failed,
                       struct execution_groups *out, struct err *err)
{
    static const uint8_t zeros[UUID_RANDOM_LEN];
    enum sql edge = only_failed ? SQL_SUMMARY_FAILED_EDGE : SQL_SUMMARY_ENDED_EDGE;
    int64_t low, edge_us;
    enum db_status status;

    out->since_us = since_us;
    status = row_int(r, SQL_READ_FIRST_ROW_FROM,
                     DB_PARAMS(db_text(UUID_STR(uuid_v7(since_us / 1000, zeros)))), &low);
    if (status == DB_DONE)
        return true;
    if (status != DB_ROW)
        return db_fail(r->db, status, err);
    status = row_int(r, edge, DB_PARAMS(db_int(low), db_int(SUMMARY_ROWS_MAX)), &edge_us);
    if (status > DB_DONE)
        return db_fail(r->db, status, err);
    if (status == DB_ROW && edge_us > since_us)
        out->since_us = edge_us;
    return take_groups(r, mem, only_failed ? SQL_SUMMARY_FAILED : SQL_SUMMARY_ENDED,
                       DB_PARAMS(db_int(low), db_int(SUMMARY_ROWS_MAX)), out, err);
}

bool read_has_other_orgs(struct reader *r, bool *out, struct err *err)
{
    int64_t row;
    enum db_status status = row_int(r, SQL_HAS_OTHER_ORGS, DB_NO_PARAMS, &row);

    *out = status == DB_ROW;
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}
