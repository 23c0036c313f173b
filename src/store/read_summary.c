/* read_summary.c - how many executions there are of what; see read.h. */
#include "store/read_row.h"
#include "store/users.h"

/* The columns of GROUP_COLUMNS: what one row of a summary says. */
static bool take_group(struct reader *r, struct arena *mem, enum sql sql,
                       struct execution_groups *out, struct err *err)
{
    struct execution_group *g = VEC_ADD(mem, out);

    *g = (struct execution_group){
        .code = row_text(r, mem, sql, 0),
        .version = db_column_int(r->db, sql, 1),
        .org_id = row_text(r, mem, sql, 2),
        .value = row_text(r, mem, sql, 4),
        .count = db_column_int(r->db, sql, 5),
    };
    return status_read(db_column_text(r->db, sql, 3), &g->status) ||
           err_set(err, ERR_IO, "an execution has a status that is none");
}

static bool take_groups(struct reader *r, struct arena *mem, enum sql sql,
                        const struct db_value *params, unsigned count, struct execution_groups *out,
                        struct err *err)
{
    enum db_status status = reader_run(r, sql, params, count);
    bool ok = true;

    for (; ok && status == DB_ROW; status = db_next(r->db, sql))
        ok = take_group(r, mem, sql, out, err);
    db_end(r->db, sql);
    if (!ok)
        return false;
    return status == DB_DONE ? true : db_fail(r->db, status, err);
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
    struct row_id room;
    int64_t low, edge_us;
    enum db_status status;

    out->since_us = since_us;
    status = row_int(r, SQL_READ_FIRST_ROW_FROM,
                     DB_PARAMS(row_uuid(uuid_v7(since_us / 1000, zeros), &room)), &low);
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
