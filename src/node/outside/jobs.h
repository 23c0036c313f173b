/*
 * jobs.h - workers that ask for jobs, and leases. Internal to src/node; what
 * callers see of it is struct node_poll of poll.h.
 *
 *     asks --types may have jobs--> claim, a change of a batch --durable--> answered
 *      |                              |  found nothing
 *      +--there are none--> waits <---+
 *                             |--a commit with such a job is durable--> asks
 *                             +--its time is up--> answered: nothing
 *
 * Who asks under an Idempotency-Key while another does follows that one: it is
 * answered with the same leases, or asks itself when there were none. Leases under
 * a key are not given back when their client has gone: it may repeat the claim.
 *
 * One claim is in flight at a time, with all who ask. Whether there may be jobs
 * of a type is known in memory: so somebody who waits costs a place in the
 * lists of its types and one in a wheel of deadlines, and the store is asked
 * for nothing. On a store that nodes share it is asked once a second for the
 * types that are waited for.
 *
 * why: decisions 0201, 0434
 */
#ifndef PAWL_NODE_OUTSIDE_JOBS_H
#define PAWL_NODE_OUTSIDE_JOBS_H

#include "base/map.h"
#include "node/chore/chore.h"
#include "node/poll.h"

enum { WHEEL_SLOTS = 2048 }; /* of WHEEL_TICK_US each */

struct jobs {
    struct map types; /* of struct job_queue, by organisation and type */
    struct node_poll *asking, *asking_last;
    size_t waiting;
    struct map leaders; /* of struct node_poll in flight, by their Idempotency-Key */
    size_t following;   /* those who came under such a key meanwhile */
    struct node_poll *wheel[WHEEL_SLOTS]; /* those who wait, by their deadline */
    int64_t tick;                         /* of the slot that was looked at last */
    size_t turn;                          /* which type a claim begins with */

    /* the claim in flight */
    bool is_claiming;
    struct arena mem;
    struct job_claim *claim;
    struct node_poll **claiming;
    struct node_request request;

    LIST_HEAD(, node_return) returns; /* jobs on their way back */

    /* endpoints.c: in endpoints_mem, by namespace */
    struct arena endpoints_mem;
    struct endpoint *endpoints;
    size_t endpoint_count;
    bool has_starved; /* a type found no capacity for its endpoint: it is looked at again */
    struct map endpoint_polls; /* those in flight, by organisation and type */

    struct chore chore;          /* claims, and deadlines of those who wait */
    struct chore leases;         /* leases.c: asks which are over */
    struct chore look_for_types; /* asks for jobs of other nodes */
};

/* There is one more job of the type: whoever has waited longest for one asks. */
void jobs_notify(struct node *n, struct str org_id, struct str type);

/* Another node has committed such jobs: who waits here for them asks. */
void jobs_heard(struct node *n, struct str org_id, struct str type);

/* Whether all who asked for jobs are answered. */
bool jobs_nobody_waits(const struct node *n);

/* --- jobs_return.c: jobs on their way back --- */

/* Whoever asked for them has gone and has begun none: others may have them. */
void jobs_give_back(struct node *n, const struct stored_jobs *jobs);
void jobs_forget_returns(struct node *n);

/* --- leases.c: leases that are over --- */

void leases_look_in(struct node *n, int64_t us); /* at the latest */

/* --- endpoints.c: jobs that are done by calling somebody --- */

void endpoints_open(struct node *n);
void endpoints_close(struct node *n);

/* These are registered. */
void endpoints_replace(struct node *n, const struct stored_workers *workers);

/* There may be jobs of a type: should an endpoint do them, it is called. Whether one does. */
bool endpoints_notify(struct node *n, struct str org_id, struct str type);

/* What the answer of an endpoint means: the output of the job, or an error. */
void endpoints_judge(struct arena *mem, struct value answer, struct value *output,
                     struct value *error);

#endif
