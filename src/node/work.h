/*
 * work.h - one thing that is to happen, until the change that it leads to is
 * durable. Internal to src/node.
 *
 * A work has a kind, which is a table of functions: what it is for the engine,
 * and what follows from each way in which it can end. The loop (work.c,
 * batch.c) knows works and no kinds. A further kind is a file with such a
 * table; see README.md.
 *
 *     queued at its entry --event--> engine --> member of a batch --> applied
 *        |        |      |             |            |      |    |
 *       gone      |      +-------------+            |      |  rejected
 *                 |    it changes nothing: its      |      |
 *               done   member asserts that       refused  unknown
 *              (begin) what it met is true
 *
 * A work is in exactly one place: a queue of an entry, of a program or of a
 * code; a batch; a read; among those that rest (locked.h); or free. Each way to end hands it to one function of
 * its kind, which frees it or puts it into another place.
 */
#ifndef PAWL_NODE_WORK_H
#define PAWL_NODE_WORK_H

#include "node/guard/guard.h"
#include "node/guard/poison.h"
#include "node/request.h"
#include "store/store.h"

struct commit;
struct execution;
struct turn_reads;

struct call_answer;
struct entry;
struct program_ref;
struct work;

/* What its member says instead of a change: that the state which it met is still true. */
enum work_asserts {
    ASSERTS_NOTHING,  /* it is not decided yet, or its member is a change */
    ASSERTS_SETTLED,  /* ... and what it asked for is so already */
    ASSERTS_REJECTED, /* ... and it does not apply to that state */
};

struct work_kind {
    /* For one that is queued at an entry: what it is for the guard, see guard.h. */
    enum guard_subject (*subject)(const struct work *w);

    /* ... and, once the guard has let it pass, before the engine is asked. NULL: it is asked. */
    enum work_begun (*begin)(struct node *n, struct entry *e, struct work *w, struct err *err);

    /* Which event it is for the engine: what happens, in *ev, which is empty. NULL: none. */
    void (*event)(const struct work *w, struct event *ev);

    /* Its change is a member of the batch being built: what goes with it. NULL: nothing. */
    void (*member)(struct node *n, struct work *w);

    /* Its change is durable; or it has none (ASSERTS_SETTLED), and w->met is true. */
    void (*applied)(struct node *n, struct work *w);

    /*
     * It does not apply to the state of its execution: the engine, or `begin`,
     * says so. The store has said that this state, w->met, is true; or the
     * execution was to be started by it. `found`: what is wrong with it, in the
     * execution's memory; or NULL.
     */
    void (*rejected)(struct node *n, struct work *w, const struct err *err,
                     const struct findings *found);

    /* The store has refused its member for good: w->member says why. */
    void (*refused)(struct node *n, struct work *w);

    /*
     * Its batch was refused too often, or, with BATCH_UNKNOWN, nobody knows
     * whether its change is durable. The entry, if any, will be loaded again.
     * NULL: the same again.
     */
    void (*unknown)(struct node *n, struct work *w, const struct batch *b);

    /* Its execution is not there, or cannot be loaded. It has left the queue. NULL: it is freed. */
    void (*gone)(struct node *n, struct work *w, const struct err *err);

    /* Its change did not become true: the same again. NULL: back into the queue of its entry. */
    void (*again)(struct node *n, struct work *w);

    /* It has left the queue of its entry. NULL: nothing follows from that. */
    void (*taken)(const struct work *w);

    /* It is freed. NULL: nothing follows from that. */
    void (*freed)(struct node *n, struct work *w);
};

/* work_request.c, wake.c, crash.c, park.c, waiters.c */
extern const struct work_kind work_request, work_wake, work_crash, work_park, work_expire;
extern const struct work_kind work_answer; /* calls.c */

struct program_read;

struct program_reads {
    VEC_OF(struct program_read);
};

/* A record that a refused commit was to write: what version it had, and how often it had changed. */
struct record_try {
    uint64_t hash;
    int64_t version;
    unsigned tries;
};

/* More of them are not distinguished; and a work is not tried for ever, whichever record it is. */
enum { RECORDS_TRIED_MAX = 16, RECORD_TRIES_ALL_MAX = 64 };

struct work {
    const struct work_kind *kind;
    struct node_request *request; /* work_request */
    struct change *change;        /* work_park: its own */
    struct poison_left crash;     /* work_crash */
    struct call_answer *answer;   /* work_answer: its own */
    struct entry *entry;
    int64_t number; /* order of arrival */
    int64_t now_us; /* the time of its turn, which stays while records are read; 0 = not begun */
    struct commit *commit; /* once advanced; in the entry's memory */
    struct member member;
    struct idempotency idempotency;                     /* as it is stored, with the answer */
    unsigned tries;                                     /* how often its commit was refused */
    unsigned record_tries;                              /* ... because a record had changed: */
    struct record_try records_tried[RECORDS_TRIED_MAX]; /* those that its commit was to write */
    unsigned records_tried_count;
    unsigned start_tries;    /* ... because another had the key of what it starts */
    unsigned buffered_tries; /* ... because buffered signals had, or waits for them */
    unsigned locked_tries;   /* ... because another session had a row of it: see locked.h */
    unsigned passes;         /* ... since it was last waited for */
    int64_t locked_since_us, locked_until_us; /* monotonic */
    bool joins; /* a start that joined the execution that has its key */
    struct turn_reads
        *reads;     /* its own, emptied with it; what they hold is in the entry's memory */
    bool has_reads; /* something was read, or is being read, into them */
    struct program_reads programs;        /* those of reads->processes: work_forget_reads() */
    struct correlated_signal *correlated; /* SIGNAL by correlation: in the request's memory */
    int64_t waits_up_to;                  /* ... the wait that was asked last; 0 = none */
    struct program_ref *program; /* RETRY, MIGRATE: the version to go on with, held; or NULL */
    struct value input;          /* RETRY: as it was checked; or absent */
    enum work_asserts asserts;
    struct assertion assertion;   /* unless ASSERTS_NOTHING */
    const struct execution *met;  /* ... what it asserts; in the entry's memory */
    struct err err;               /* ASSERTS_REJECTED: why */
    const struct findings *found; /* ... in the entry's memory, or NULL */
    struct work *next;
};

struct work_queue {
    struct work *first, *last;
};

/* Works that are free, and the number of the last one that arrived. */
struct works {
    struct work *free;
    int64_t number;
};

struct work *work_new(struct node *n, const struct work_kind *kind);
void work_free(struct node *n, struct work *w);
void work_push(struct work_queue *q, struct work *w);
struct work *work_pop(struct work_queue *q);

/* Forget what was read for it: it is read again when it is asked for again. */
void work_forget_reads(struct work *w);

/* Its commit was refused because a record had changed: the next try looks which. */
void work_note_records(struct work *w);

/* Whether something of it lies in the memory of its entry. */
bool work_has_reads(const struct work *w);

/* Advance what is ready, into the current batch. */
void works_run(struct node *n);

/* The first work of an entry leaves its queue. */
void work_take_first(struct entry *e, struct work *w);

/*
 * Nothing follows from it for its execution: its member asserts the state in
 * memory, on which this rests. It is in no queue.
 */
void work_assert(struct node *n, struct entry *e, struct work *w, enum work_asserts what);

/* It was not applied: the same event again, to the state as it really is. */
void work_again(struct node *n, struct work *w);

#endif
