/*
 * pawl_worker.h - do jobs of Pawl in C: this header and pawl_worker.c, over libcurl.
 *
 *     struct pawl_worker *w = pawl_worker_new(NULL); // PAWL_URL and PAWL_TOKEN
 *
 *     pawl_worker_handle(w, "shop.pack", pack, NULL);
 *     status = pawl_worker_run(w); // until SIGTERM or SIGINT
 *
 * What holds:
 * - A job is claimed only when a thread is free for it, and its lease is renewed while it is done.
 * - Every request may be sent again: claims go under an Idempotency-Key, and the same answer to a
 *   job may come twice. So a server that is away costs time and nothing else.
 * - A handler whose lease is over learns it (pawl_job_is_cancelled, pawl_job_wait): the server has
 *   said so, or the lease has run out by this machine's clock while the server was out of reach.
 * - What was done under job->idempotency_key must not be done twice: an attempt that follows a lost
 *   lease has the same key.
 */
#ifndef PAWL_WORKER_H
#define PAWL_WORKER_H

#include <stdbool.h>
#include <stddef.h>

struct pawl_worker;

/* One attempt at one step; texts live until the handler returns. */
struct pawl_job {
    const char *id, *type;
    const char *input; /* JSON */
    const char *idempotency_key, *execution_id, *step;
    const char *progress; /* JSON that an earlier attempt has reported, or NULL */
    int attempt;
};

/* How a handler has failed. */
struct pawl_failure {
    char code[64], message[512];
    const char *class
        ; /* "business" (final), "transient" (try again), "indeterminate" (it may have happened) */
};

/*
 * Do a job. The output, JSON from malloc, which the worker frees; NULL stands for null. A failure
 * is told by failure->code and counts whatever is returned; its class is "business" unless it is set.
 */
typedef char *pawl_handler(struct pawl_job *job, void *arg, struct pawl_failure *failure);

/* What is NULL or 0 has its default. */
struct pawl_options {
    const char *url, *token; /* PAWL_URL, PAWL_TOKEN */
    const char *name;        /* for people; host and process */
    int concurrency;         /* jobs at a time; 4, at most 100 */
    int lease_ms;            /* of a job; 60000 */
    int wait_ms;             /* of a claim for jobs; 10000 */
    int grace_ms;            /* of handlers at a stop; 20000 */
};

/* NULL when an option is wrong or there is no token; the reason is on stderr. It lives as long as the process. */
struct pawl_worker *pawl_worker_new(const struct pawl_options *options);

/* For a procedure, "shop.pack", or a pattern, "shop.*"; the longest that fits counts. At most 100. */
bool pawl_worker_handle(struct pawl_worker *w, const char *type, pawl_handler *handler, void *arg);

/* Work until SIGTERM, SIGINT or pawl_worker_stop(). 0, or 1 when the server refuses this worker. Once. */
int pawl_worker_run(struct pawl_worker *w);

/* Claim no more: run() returns when what is under way has ended or was given up. From any thread or signal. */
void pawl_worker_stop(struct pawl_worker *w);

/* Whether the lease is over, or the worker stops: the work is not wanted any more. */
bool pawl_job_is_cancelled(struct pawl_job *job);

/* Why; NULL when it was not cancelled. */
const char *pawl_job_cancel_reason(struct pawl_job *job);

/* Sleep. True when the job was cancelled meanwhile. */
bool pawl_job_wait(struct pawl_job *job, int ms);

/* Keep progress, JSON of at most 64 KiB, with the job: the next heartbeat takes it. */
void pawl_job_report(struct pawl_job *job, const char *progress_json);

/* A member of a JSON object, as JSON from malloc; NULL when there is none. */
char *pawl_json_member(const char *object, const char *name);

/* The same of a text, decoded; NULL when it is none. */
char *pawl_json_text(const char *object, const char *name);

/* A member that is a number, else `otherwise`. */
double pawl_json_number(const char *object, const char *name, double otherwise);

/* A text as JSON, with its quotes, from malloc. */
char *pawl_json_quote(const char *text);

#endif
