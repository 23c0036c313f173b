/* read_schedule.c - see read_schedule.h. */
#include "store/read_schedule.h"

#include "store/read/read_row.h"
#include "store/write/change_apply.h"

bool read_schedules_due(struct reader *r, struct arena *mem, int64_t now_us, int64_t limit,
                        struct stored_schedules *out, struct err *err)
{
    struct rows rows =
        rows_run(r, mem, SQL_READ_SCHEDULES_DUE, DB_PARAMS(db_int(now_us), db_int(limit)));

    *out = (struct stored_schedules){0};
    for (; rows_has(&rows); rows_next(&rows))
        if (!schedule_of_row(r->db, rows.sql, mem, VEC_ADD(mem, out)))
            rows_damaged(&rows);
    return rows_end(&rows, err);
}

bool read_schedule_next(struct reader *r, int64_t *at_us, struct err *err)
{
    return row_int_or_0(r, SQL_READ_SCHEDULE_NEXT, DB_NO_PARAMS, at_us, err);
}

static bool listed_of_row(struct rows *rows, struct listed_schedule *out)
{
    out->name = rows_text(rows, SCHEDULE_COLUMN_COUNT);
    out->facts_json = rows_text(rows, SCHEDULE_COLUMN_COUNT + 1);
    return schedule_of_row(rows->db, rows->sql, rows->mem, &out->schedule);
}

bool read_schedules(struct reader *r, struct arena *mem, const struct schedule_filter *filter,
                    struct listed_schedules *out, struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_READ_SCHEDULES,
                                DB_PARAMS(db_text(filter->org_id), db_text(filter->code),
                                          db_text(filter->after_code),
                                          db_int(filter->after_position), db_int(filter->limit)));

    *out = (struct listed_schedules){0};
    for (; rows_has(&rows); rows_next(&rows))
        if (!listed_of_row(&rows, VEC_ADD(mem, out)))
            rows_damaged(&rows);
    return rows_end(&rows, err);
}

bool read_schedule(struct reader *r, struct arena *mem, struct uuid id, struct listed_schedule *out,
                   bool *found, struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_READ_SCHEDULE, DB_PARAMS(db_text(UUID_STR(id))));

    *found = rows_has(&rows);
    if (*found && !listed_of_row(&rows, out))
        rows_damaged(&rows);
    return rows_end(&rows, err);
}
