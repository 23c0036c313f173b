/* read_schedule.c - see read_schedule.h. */
#include "store/read_schedule.h"

#include "store/read_row.h"

bool read_schedules_due(struct reader *r, struct arena *mem, int64_t now_us, int64_t limit,
                        struct stored_schedules *out, struct err *err)
{
    const enum sql sql = SQL_READ_SCHEDULES_DUE;
    enum db_status status = reader_run(r, sql, DB_PARAMS(db_int(now_us), db_int(limit)));

    *out = (struct stored_schedules){0};
    for (; status == DB_ROW; status = db_next(r->db, sql))
        if (!schedule_of_row(r->db, sql, mem, VEC_ADD(mem, out))) {
            status = DB_CORRUPT;
            break;
        }
    db_end(r->db, sql);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_schedule_next(struct reader *r, int64_t *at_us, struct err *err)
{
    enum db_status status = row_int(r, SQL_READ_SCHEDULE_NEXT, DB_NO_PARAMS, at_us);

    if (status == DB_DONE)
        *at_us = 0;
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

static bool listed_of_row(struct reader *r, struct arena *mem, enum sql sql,
                          struct listed_schedule *out)
{
    out->name = row_text(r, mem, sql, SCHEDULE_COLUMN_COUNT);
    out->facts_json = row_text(r, mem, sql, SCHEDULE_COLUMN_COUNT + 1);
    return schedule_of_row(r->db, sql, mem, &out->schedule);
}

bool read_schedules(struct reader *r, struct arena *mem, const struct schedule_filter *filter,
                    struct listed_schedules *out, struct err *err)
{
    const enum sql sql = SQL_READ_SCHEDULES;
    enum db_status status = reader_run(
        r, sql,
        DB_PARAMS(db_text(filter->org_id), db_text(filter->code), db_text(filter->after_code),
                  db_int(filter->after_position), db_int(filter->limit)));

    *out = (struct listed_schedules){0};
    for (; status == DB_ROW; status = db_next(r->db, sql))
        if (!listed_of_row(r, mem, sql, VEC_ADD(mem, out))) {
            status = DB_CORRUPT;
            break;
        }
    db_end(r->db, sql);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_schedule(struct reader *r, struct arena *mem, struct uuid id, struct listed_schedule *out,
                   bool *found, struct err *err)
{
    const enum sql sql = SQL_READ_SCHEDULE;
    struct row_id room;
    enum db_status status = reader_run(r, sql, DB_PARAMS(row_uuid(id, &room)));

    *found = status == DB_ROW;
    if (*found && !listed_of_row(r, mem, sql, out))
        status = DB_CORRUPT;
    db_end(r->db, sql);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}
