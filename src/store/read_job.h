/* read_job.h - what can be asked about jobs; run on a reader thread, as all of read.h. */
#ifndef PAWL_STORE_READ_JOB_H
#define PAWL_STORE_READ_JOB_H

#include "engine/commit/reads.h"
#include "store/change_job.h"
#include "store/change_worker.h"
#include "store/read.h"

/* One job, also one that has an end. */
bool read_job(struct reader *r, struct arena *mem, struct uuid id, struct stored_job *out,
              bool *found, struct err *err) MUST_USE;

/* An attempt whose worker has let its lease run out. */
struct lease_over {
    struct uuid execution;
    int64_t seq;
    struct str worker; /* or empty */
};

struct leases_over {
    VEC_OF(struct lease_over);
};

/*
 * Leases that are over, at most `limit`, but for those of executions that are
 * parked, and how long it is until the next one is over: -1 when there is none. `now_us` is the time where the store has no clock
 * of its own.
 */
bool read_leases_over(struct reader *r, struct arena *mem, int64_t now_us, int64_t limit,
                      struct leases_over *out, int64_t *next_in_us, struct err *err) MUST_USE;

/* The attempts of an execution that workers hold, by the row of their history. */
bool read_leases_of(struct reader *r, struct arena *mem, int64_t row, struct job_leases *out,
                    struct err *err) MUST_USE;

/* A type of an organisation. */
struct job_type {
    struct str org_id, type;
};

struct job_types {
    VEC_OF(struct job_type);
};

/* Which of the types in `types_json`, [[org_id, type], ...], have jobs that may be claimed. */
bool read_types_ready(struct reader *r, struct arena *mem, struct str types_json,
                      struct job_types *out, struct err *err) MUST_USE;

/* Types in this namespace that have jobs which may be claimed. */
bool read_types_of(struct reader *r, struct arena *mem, struct str name, struct job_types *out,
                   struct err *err) MUST_USE;

/* The endpoints that are registered, by namespace. */
bool read_workers(struct reader *r, struct arena *mem, struct stored_workers *out,
                  struct err *err) MUST_USE;

/* Jobs of an execution that have no end, oldest first, at most `limit`. */
bool read_jobs_of(struct reader *r, struct arena *mem, int64_t row, int64_t limit,
                  struct stored_jobs *out, struct err *err) MUST_USE;

/* How many jobs of a type have a status. */
struct job_count {
    struct str type;
    enum job_status status; /* READY or LEASED */
    int64_t count;
};

struct job_counts {
    VEC_OF(struct job_count);
};

/* Jobs that have no end, the most first; of the oldest `limit` of them. */
bool read_job_counts(struct reader *r, struct arena *mem, int64_t limit, struct job_counts *out,
                     struct err *err) MUST_USE;

/* A job of a list, with the version that its execution has. */
struct listed_job {
    struct stored_job job;
    struct str code;
    int64_t version;
};

struct listed_jobs {
    VEC_OF(struct listed_job);
};

struct job_filter {
    struct str org_id;
    struct str type;   /* or empty */
    struct str status; /* ready or leased; or empty: both */
    int64_t after;     /* keys behind this one */
    int64_t limit;
};

/* Jobs that have no end, in the order of their executions. */
bool read_jobs(struct reader *r, struct arena *mem, const struct job_filter *filter,
               struct listed_jobs *out, struct err *err) MUST_USE;

/* When a worker has last asked for a type, about; 0 = never. */
bool read_type_asked(struct reader *r, struct arena *mem, struct str org_id, struct str type,
                     int64_t *asked_at_us, struct str *worker, struct err *err) MUST_USE;

#endif
