/* read_job.c - see read_job.h. */
#include "store/read_job.h"

#include "store/read_row.h"

bool read_job(struct reader *r, struct arena *mem, struct uuid id, struct stored_job *out,
              bool *found, struct err *err)
{
    const enum sql sql = SQL_READ_JOB;
    struct row_id room;
    enum db_status status = reader_run(r, sql, DB_PARAMS(row_uuid(id, &room)));

    *found = status == DB_ROW;
    if (*found && !job_of_row(r->db, sql, mem, out))
        status = DB_CORRUPT;
    db_end(r->db, sql);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_leases_over(struct reader *r, struct arena *mem, int64_t now_us, int64_t limit,
                      struct leases_over *out, int64_t *next_in_us, struct err *err)
{
    const enum sql sql = SQL_READ_LEASES_OVER;
    enum db_status status = reader_run(r, sql, DB_PARAMS(db_int(now_us), db_int(limit)));

    *out = (struct leases_over){0};
    *next_in_us = -1;
    for (; status == DB_ROW; status = db_next(r->db, sql)) {
        struct lease_over over = {.seq = db_column_int(r->db, sql, 1),
                                  .worker = row_text(r, mem, sql, 2)};

        if (!uuid_read(db_column_text(r->db, sql, 0), &over.execution)) {
            status = DB_CORRUPT;
            break;
        }
        *VEC_ADD(mem, out) = over;
    }
    db_end(r->db, sql);
    if (status == DB_DONE)
        status = row_int(r, SQL_READ_LEASE_NEXT, DB_PARAMS(db_int(now_us)), next_in_us);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_leases_of(struct reader *r, struct arena *mem, int64_t row, struct job_leases *out,
                    struct err *err)
{
    const enum sql sql = SQL_READ_LEASES_OF;
    enum db_status status = reader_run(
        r, sql, DB_PARAMS(db_int(history_key(row, 0)), db_int(history_key(row, HISTORY_SEQ_MAX))));

    *out = (struct job_leases){0};
    for (; status == DB_ROW; status = db_next(r->db, sql))
        *VEC_ADD(mem, out) = db_column_int(r->db, sql, 0);
    db_end(r->db, sql);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_job_counts(struct reader *r, struct arena *mem, int64_t limit, struct job_counts *out,
                     struct err *err)
{
    const enum sql sql = SQL_READ_JOB_COUNTS;
    enum db_status status = reader_run(r, sql, DB_PARAMS(db_int(limit)));

    *out = (struct job_counts){0};
    for (; status == DB_ROW; status = db_next(r->db, sql)) {
        struct job_count *c = VEC_ADD(mem, out);

        c->type = row_text(r, mem, sql, 0);
        c->count = db_column_int(r->db, sql, 2);
        if (!job_status_read(db_column_text(r->db, sql, 1), &c->status)) {
            status = DB_CORRUPT;
            break;
        }
    }
    db_end(r->db, sql);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_types_ready(struct reader *r, struct arena *mem, struct str types_json,
                      struct job_types *out, struct err *err)
{
    const enum sql sql = SQL_READ_TYPES_READY;
    enum db_status status = reader_run(r, sql, DB_PARAMS(db_text(types_json)));

    *out = (struct job_types){0};
    for (; status == DB_ROW; status = db_next(r->db, sql))
        *VEC_ADD(mem, out) =
            (struct job_type){.org_id = row_text(r, mem, sql, 0), .type = row_text(r, mem, sql, 1)};
    db_end(r->db, sql);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_type_asked(struct reader *r, struct arena *mem, struct str org_id, struct str type,
                     int64_t *asked_at_us, struct str *worker, struct err *err)
{
    const enum sql sql = SQL_READ_TYPE_ASKED;
    enum db_status status = reader_run(r, sql, DB_PARAMS(db_text(org_id), db_text(type)));

    *asked_at_us = 0;
    *worker = STR_NONE;
    if (status == DB_ROW) {
        *asked_at_us = db_column_int(r->db, sql, 0);
        *worker = row_text(r, mem, sql, 1);
    }
    db_end(r->db, sql);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_types_of(struct reader *r, struct arena *mem, struct str name, struct job_types *out,
                   struct err *err)
{
    const enum sql sql = SQL_READ_TYPES_OF;
    enum db_status status = reader_run(r, sql, DB_PARAMS(db_text(name)));

    for (; status == DB_ROW; status = db_next(r->db, sql))
        *VEC_ADD(mem, out) =
            (struct job_type){.org_id = row_text(r, mem, sql, 0), .type = row_text(r, mem, sql, 1)};
    db_end(r->db, sql);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_workers(struct reader *r, struct arena *mem, struct stored_workers *out, struct err *err)
{
    const enum sql sql = SQL_READ_WORKERS;
    enum db_status status = reader_run(r, sql, DB_NO_PARAMS);

    *out = (struct stored_workers){0};
    for (; status == DB_ROW; status = db_next(r->db, sql))
        *VEC_ADD(mem, out) = (struct stored_worker){.name = row_text(r, mem, sql, 0),
                                                    .url = row_text(r, mem, sql, 1),
                                                    .credential = row_text(r, mem, sql, 2),
                                                    .created_at_us = db_column_int(r->db, sql, 3),
                                                    .updated_at_us = db_column_int(r->db, sql, 4)};
    db_end(r->db, sql);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_jobs_of(struct reader *r, struct arena *mem, int64_t row, int64_t limit,
                  struct stored_jobs *out, struct err *err)
{
    const enum sql sql = SQL_READ_JOBS_OF;
    enum db_status status =
        reader_run(r, sql,
                   DB_PARAMS(db_int(history_key(row, 0)), db_int(history_key(row, HISTORY_SEQ_MAX)),
                             db_int(limit)));

    *out = (struct stored_jobs){0};
    for (; status == DB_ROW; status = db_next(r->db, sql))
        if (!job_of_row(r->db, sql, mem, VEC_ADD(mem, out))) {
            status = DB_CORRUPT;
            break;
        }
    db_end(r->db, sql);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_jobs(struct reader *r, struct arena *mem, const struct job_filter *filter,
               struct listed_jobs *out, struct err *err)
{
    const enum sql sql = SQL_READ_JOBS;
    enum db_status status = reader_run(
        r, sql,
        DB_PARAMS(db_int(filter->after), db_text(filter->org_id), db_text_or_null(filter->type),
                  db_text_or_null(filter->status), db_int(filter->limit)));

    *out = (struct listed_jobs){0};
    for (; status == DB_ROW; status = db_next(r->db, sql)) {
        struct listed_job *l = VEC_ADD(mem, out);

        if (!job_of_row(r->db, sql, mem, &l->job)) {
            status = DB_CORRUPT;
            break;
        }
        l->code = row_text(r, mem, sql, JOB_COLUMN_COUNT);
        l->version = db_column_int(r->db, sql, JOB_COLUMN_COUNT + 1);
    }
    db_end(r->db, sql);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}
