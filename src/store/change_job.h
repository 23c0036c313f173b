/*
 * change_job.h - jobs: what a worker is to do for an execution.
 *
 *     commit --> ready --claim--> leased --commit of the answer--> completed, failed
 *                  |                |----commit, its lease is over--> expired
 *                  +----------------+----commit, nobody wants it----> ended
 *
 * A job is one attempt and has at most one lease: when that is over, so is the
 * attempt, and the next one is another job. So a worker that has the token of a
 * job which is leased has the only one there is. Leases go by one clock: that
 * of the database where nodes share one, else the node's.
 *
 * why: decision 0440
 */
#ifndef PAWL_STORE_CHANGE_JOB_H
#define PAWL_STORE_CHANGE_JOB_H

#include "store/change.h"
#include "store/idempotency.h"
#include "value/value.h"

enum job_status {
#define JOB_STATUS(symbol, name) JOB_##symbol,
#include "store/job_status.def"
#undef JOB_STATUS
    JOB_STATUS_COUNT
};

const char *job_status_name(enum job_status status);
bool job_status_read(struct str name, enum job_status *out) MUST_USE;

/* A job as it is stored, with the attempt that it is. */
struct stored_job {
    int64_t key;
    struct uuid id, execution;
    int64_t seq; /* of the row that holds the attempt */
    struct str type, org_id, step, idempotency_key;
    struct str input_json; /* or empty */
    /* What a worker has said last of how far it is, in this attempt or an earlier one; or empty. */
    struct str progress_json;
    int64_t attempt;
    enum job_status status;
    struct str worker, token, answer_hash; /* or empty */
    int64_t created_at_us, lease_us, lease_until_us, ended_at_us;
};

struct stored_jobs {
    VEC_OF(struct stored_job);
};

/* Who asks for jobs of these types, in an organisation, and what was found. */
struct job_poll {
    struct str org_id, worker;
    const struct str *types;
    size_t type_count;
    size_t max; /* so many at most */
    int64_t lease_us;
    size_t first_type;   /* the types take turns, from this one on */
    struct uuid seed[2]; /* random: what tokens are made of */
    /* key.len > 0: what was found is stored under it as {"jobs": [{id, token}]}. While a lease
     * of what was found under this key before stands, `found` is that and nothing more is leased. */
    struct idempotency kept_as;
    bool repeats;             /* out: what was found is that of a claim before */
    bool differs;             /* out: this key was used with another body; nothing is leased */
    bool notes_asked;         /* it is to be stored that a worker has asked for these types */
    struct stored_jobs found; /* out, in a->mem */
};

/* More jobs than that are not leased with one member. */
enum { JOBS_CLAIMED_MAX = 1000 };

/* Lease jobs to those who ask for them, in their order. Never refused. */
struct job_claim {
    struct change change; /* .apply = job_claim_apply */
    struct job_poll **polls;
    size_t poll_count;
    bool is_cut; /* out: there may be more, but so many are enough for one member */
};

change_apply_fn job_claim_apply;

/* Whether a type is a pattern, "it.*": it stands for all that begin like it, up to the star. */
bool job_type_is_pattern(struct str type);

/* Whether a type or a pattern is in one of the namespaces, a list of texts; an empty list means all there are. */
bool job_type_is_within(struct str type, struct value namespaces);

/* A lease lasts as long again. Refused with ERR_NOT_FOUND, or ERR_CONFLICT when it is over. */
struct job_beat {
    struct change change; /* .apply = job_beat_apply */
    struct uuid id;
    struct str org_id, token;
    struct value namespaces;  /* whose jobs the worker may do: job_type_is_within() */
    struct str progress_json; /* is kept for who has the job next; or empty: what was said stays */
};

change_apply_fn job_beat_apply;

/*
 * A worker has begun nothing of its job: it is ready again, as the same attempt.
 * Refused as a heartbeat is. (why: decision 0590)
 */
struct job_release {
    struct change change; /* .apply = job_release_apply */
    struct uuid id;
    struct str org_id, token;
    struct value namespaces;
    struct str type; /* out, in a->mem: who waits for it is notified */
};

change_apply_fn job_release_apply;

/* Jobs that were leased to somebody who has gone before hearing of it are ready again. */
struct job_return {
    struct change change; /* .apply = job_return_apply */
    const struct stored_jobs *jobs;
};

change_apply_fn job_return_apply;

#endif
