/* read_job.c - see read_job.h. */
#include "store/read_job.h"

#include "store/read/read_row.h"
#include "store/write/apply.h"
#include "store/write/change_apply.h"

bool read_job(struct reader *r, struct arena *mem, struct uuid id, struct stored_job *out,
              bool *found, struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_READ_JOB, DB_PARAMS(db_text(UUID_STR(id))));

    *found = rows_has(&rows);
    if (*found && !job_of_row(r->db, rows.sql, mem, out))
        rows_damaged(&rows);
    return rows_end(&rows, err);
}

bool read_leases_over(struct reader *r, struct arena *mem, int64_t now_us, int64_t limit,
                      struct leases_over *out, int64_t *next_in_us, struct err *err)
{
    struct rows rows =
        rows_run(r, mem, SQL_READ_LEASES_OVER, DB_PARAMS(db_int(now_us), db_int(limit)));
    enum db_status status;

    *out = (struct leases_over){0};
    *next_in_us = -1;
    for (; rows_has(&rows); rows_next(&rows))
        *VEC_ADD(mem, out) = (struct lease_over){.execution = rows_uuid(&rows, 0),
                                                 .seq = rows_int(&rows, 1),
                                                 .worker = rows_text(&rows, 2)};
    if (!rows_end(&rows, err))
        return false;
    status = row_int(r, SQL_READ_LEASE_NEXT, DB_PARAMS(db_int(now_us)), next_in_us);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_leases_of(struct reader *r, struct arena *mem, int64_t row, struct job_leases *out,
                    struct err *err)
{
    struct rows rows =
        rows_run(r, mem, SQL_READ_LEASES_OF,
                 DB_PARAMS(db_int(history_key(row, 0)), db_int(history_key(row, HISTORY_SEQ_MAX))));

    *out = (struct job_leases){0};
    for (; rows_has(&rows); rows_next(&rows))
        *VEC_ADD(mem, out) = rows_int(&rows, 0);
    return rows_end(&rows, err);
}

bool read_job_counts(struct reader *r, struct arena *mem, int64_t limit, struct job_counts *out,
                     struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_READ_JOB_COUNTS, DB_PARAMS(db_int(limit)));

    *out = (struct job_counts){0};
    for (; rows_has(&rows); rows_next(&rows)) {
        struct job_count *c = VEC_ADD(mem, out);

        c->type = rows_text(&rows, 0);
        c->count = rows_int(&rows, 2);
        if (!job_status_read(rows_view(&rows, 1), &c->status))
            rows_damaged(&rows);
    }
    return rows_end(&rows, err);
}

bool read_types_ready(struct reader *r, struct arena *mem, struct str types_json,
                      struct job_types *out, struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_READ_TYPES_READY, DB_PARAMS(db_text(types_json)));

    *out = (struct job_types){0};
    for (; rows_has(&rows); rows_next(&rows))
        *VEC_ADD(mem, out) =
            (struct job_type){.org_id = rows_text(&rows, 0), .type = rows_text(&rows, 1)};
    return rows_end(&rows, err);
}

/* When it was asked for in these words, if that is later than *asked_at_us. */
static bool read_asked(struct reader *r, struct arena *mem, struct str org_id, struct str type,
                       int64_t *asked_at_us, struct str *worker, struct err *err)
{
    struct rows rows =
        rows_run(r, mem, SQL_READ_TYPE_ASKED, DB_PARAMS(db_text(org_id), db_text(type)));

    if (rows_has(&rows) && rows_int(&rows, 0) > *asked_at_us) {
        *asked_at_us = rows_int(&rows, 0);
        *worker = rows_text(&rows, 1);
    }
    return rows_end(&rows, err);
}

bool read_type_asked(struct reader *r, struct arena *mem, struct str org_id, struct str type,
                     int64_t *asked_at_us, struct str *worker, struct err *err)
{
    bool ok;

    *asked_at_us = 0;
    *worker = STR_NONE;
    ok = read_asked(r, mem, org_id, type, asked_at_us, worker, err);
    /* By the patterns that it fits, too. */
    for (int64_t dot = str_find(type, STR("."), 0); ok && dot >= 0;
         dot = str_find(type, STR("."), (size_t)dot + 1))
        ok = read_asked(r, mem, org_id, str_printf(mem, "%.*s.*", (int)dot, type.ptr), asked_at_us,
                        worker, err);
    return ok;
}

bool read_types_of(struct reader *r, struct arena *mem, struct str name, struct job_types *out,
                   struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_READ_TYPES_OF, DB_PARAMS(db_text(name)));

    for (; rows_has(&rows); rows_next(&rows))
        *VEC_ADD(mem, out) =
            (struct job_type){.org_id = rows_text(&rows, 0), .type = rows_text(&rows, 1)};
    return rows_end(&rows, err);
}

bool read_workers(struct reader *r, struct arena *mem, struct stored_workers *out, struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_READ_WORKERS, DB_NO_PARAMS);

    *out = (struct stored_workers){0};
    for (; rows_has(&rows); rows_next(&rows))
        *VEC_ADD(mem, out) = (struct stored_worker){.name = rows_text(&rows, 0),
                                                    .url = rows_text(&rows, 1),
                                                    .credential = rows_text(&rows, 2),
                                                    .created_at_us = rows_int(&rows, 3),
                                                    .updated_at_us = rows_int(&rows, 4)};
    return rows_end(&rows, err);
}

bool read_jobs_of(struct reader *r, struct arena *mem, int64_t row, int64_t limit,
                  struct stored_jobs *out, struct err *err)
{
    struct rows rows =
        rows_run(r, mem, SQL_READ_JOBS_OF,
                 DB_PARAMS(db_int(history_key(row, 0)), db_int(history_key(row, HISTORY_SEQ_MAX)),
                           db_int(limit)));

    *out = (struct stored_jobs){0};
    for (; rows_has(&rows); rows_next(&rows))
        if (!job_of_row(r->db, rows.sql, mem, VEC_ADD(mem, out)))
            rows_damaged(&rows);
    return rows_end(&rows, err);
}

bool read_jobs(struct reader *r, struct arena *mem, const struct job_filter *filter,
               struct listed_jobs *out, struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_READ_JOBS,
                                DB_PARAMS(db_int(filter->after), db_text(filter->org_id),
                                          db_text_or_null(filter->type),
                                          db_text_or_null(filter->status), db_int(filter->limit)));

    *out = (struct listed_jobs){0};
    for (; rows_has(&rows); rows_next(&rows)) {
        struct listed_job *l = VEC_ADD(mem, out);

        if (!job_of_row(r->db, rows.sql, mem, &l->job))
            rows_damaged(&rows);
        l->code = rows_text(&rows, JOB_COLUMN_COUNT);
        l->version = rows_int(&rows, JOB_COLUMN_COUNT + 1);
    }
    return rows_end(&rows, err);
}
