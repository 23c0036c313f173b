/*
 * entry.h - executions in memory: a bounded cache by id. Internal to src/node.
 *
 * An entry is an execution with the works that wait for it. A member of a batch
 * pins its entry: the state in memory may then be ahead of what is durable.
 * Nothing that rests on such a state leaves: refusals and answers to waiters are
 * members themselves, and reads for a turn wait until the last pin is gone.
 *
 *              read                     reads for a turn, or its events
 *     LOADING ------> READY <------------------------------> READING
 *      ^  |             |                                       |
 *      |  |             | a member was not applied, or another  |
 *      |  |             | node has changed it                   |
 *      |  |             v                   what was read       v
 *      |  |           STALE <---------------------------- READING_STALE
 *      |  |             |
 *      +--|-------------+ the last pin is gone
 *         |
 *         +--> GONE: it is not there, or cannot be read; also from READING
 *
 * Works run in READY alone. Of GONE everything that waits is refused, and the
 * entry is freed.
 */
#ifndef PAWL_NODE_ENTRY_H
#define PAWL_NODE_ENTRY_H

#include "engine/commit/reads.h"
#include "engine/commit/task_act.h"
#include "node/work.h"

#include <sys/queue.h>

enum entry_state {
    ENTRY_LOADING,       /* a reader's thread fills its memory */
    ENTRY_READY,         /* works may run */
    ENTRY_READING,       /* ... when what is read for the first of them has come */
    ENTRY_STALE,         /* the state in memory is not true: it is loaded again when unpinned */
    ENTRY_READING_STALE, /* ... and when what is read has come */
    ENTRY_GONE,          /* it is not there, or cannot be loaded: `err` */
};

enum { JOINERS_MAX = 256 }; /* that one member tells of an end */

/* What rows of execution_events say to it; in the memory of the entry. */
struct entry_events {
    bool is_unread;                /* there may be rows that were not read */
    struct notice_numbers numbers; /* rows that its next wake applies */
    struct task_answers tasks;     /* what they say became of tasks */
    struct child_reads children;   /* ... and of executions that it has started */
    bool is_cut;                   /* more rows are there */
    bool cancels;                  /* one of them says: cancel it, as the parent asks */
    struct uuid parent;
    enum cancel_rollback cancel_rollback;
    struct str reason;
    bool is_joined;              /* another waits for its end, having joined it by its key */
    struct notice_numbers joins; /* it has ended: the rows of those who wait for that, and */
    struct notices joiners;      /* what they are sent */
};

/* How it stood when listeners were last notified of it. */
struct entry_notified {
    bool is_known;
    enum execution_status status;
    struct str step; /* in the program */
};

struct entry {
    struct uuid id;
    enum entry_state state;
    struct execution *x; /* unless LOADING */
    int64_t row;         /* the store's key once it is known; written to `x` when unpinned */
    struct program_ref *program; /* held; or NULL */
    struct {
        VEC_OF(struct program_ref *); /* those it had before it was migrated, until it is loaded */
    } former_programs;                /* again: parts of its state may lie in them; held */
    struct {
        VEC_OF(struct program_ref *); /* those it has started others with, until its state is */
    } started_programs;               /* copied: likewise */
    struct arena mem;
    struct work_queue works; /* in order of arrival */
    unsigned pins;           /* members that point into `mem` */
    bool wake_queued;        /* one of `works` is a wake */
    bool is_waited_for;      /* its only member is in a batch that waits: see locked.h */
    struct entry_events events;
    struct entry_notified notified;
    struct err err;               /* GONE */
    struct node_request *waiters; /* for its end or a signal to be taken, through `next` */
    bool is_expiring;             /* a work_expire of it is in a batch */
    int64_t due_since_us;         /* monotonic: the time of some was up, and they wait yet; or 0 */
    size_t bytes;                 /* of `mem`, as counted in the node */
    size_t copied_bytes;          /* of `mem` after the state was last copied */

    /* lists it is in */
    TAILQ_ENTRY(entry) by_use;
    struct entry *hash_next;
    bool in_ready_list;
    struct entry *next_ready;
    bool is_awaited;      /* in the list of the waiters */
    int64_t announced_us; /* monotonic: when other nodes were notified that it is waited for */
    TAILQ_ENTRY(entry) awaited;
};

/* Whether there is a state in memory, be it true or not. */
static inline bool entry_is_loaded(const struct entry *e)
{
    return e->state != ENTRY_LOADING && e->state != ENTRY_GONE;
}

/* Whether the state in memory is known not to be true. */
static inline bool entry_is_stale(const struct entry *e)
{
    return e->state == ENTRY_STALE || e->state == ENTRY_READING_STALE;
}

/* Whether a reader's thread may be filling its memory. */
static inline bool entry_is_being_read(const struct entry *e)
{
    return e->state == ENTRY_LOADING || e->state == ENTRY_READING ||
           e->state == ENTRY_READING_STALE;
}

/* What it was for listeners before a commit that has just become durable. */
static inline enum execution_status entry_status_before(const struct entry *e)
{
    return e->notified.is_known ? e->notified.status : STATUS_PENDING;
}

/* All that are in memory. */
struct entries {
    struct entry **buckets;
    size_t bucket_count, count, bytes;
    TAILQ_HEAD(, entry) by_use;             /* the one that was used last is the last */
    struct entry *ready_first, *ready_last; /* with works to do */
    struct arena spare_arenas[256];
    unsigned spare_arena_count;
};

struct entry *entry_get(struct node *n, struct uuid id); /* found or made, LOADING when new */
struct entry *entry_find(struct node *n, struct uuid id);
struct entry *entry_new(struct node *n, struct uuid id);
void entry_touch(struct node *n, struct entry *e);
void entry_release_if_idle(struct node *n, struct entry *e);
void entry_forget_events(struct entry *e); /* what was read; the rows stay */
void entry_mark_stale(struct entry *e);    /* if it is loaded */
void entry_begin_reading(struct entry *e); /* READY only */
void entry_end_reading(struct entry *e);
void entry_reload(struct node *n, struct entry *e); /* STALE and unpinned only */
void entry_unpin(struct node *n, struct entry *e);  /* one of its members has come back */
void entry_queue(struct node *n, struct entry *e, struct work *w); /* by order of arrival */
void entry_make_ready(struct node *n, struct entry *e);

/*
 * Evaluation leaves garbage beside the state of an execution that is busy. False:
 * there is too much, and it must be unpinned before more is done with it; then
 * this copies what lives.
 */
bool entry_bound_garbage(struct node *n, struct entry *e) MUST_USE;

/* The execution runs with this program from now on, which is held. */
void entry_set_program(struct node *n, struct entry *e, struct program_ref *ref);

/* It starts another with this program, which is held while parts of its state may lie there. */
void entry_hold_started(struct node *n, struct entry *e, struct program_ref *ref);

/* It is not there, or cannot be loaded: everything that waits for it is refused. */
void entry_fail(struct node *n, struct entry *e, const struct err *err);

/* Whether the execution is left alone until somebody acts. */
bool entry_is_parked(const struct entry *e);

/* In builds with slow checks: panic unless it is as the diagram and the comments say. */
void entry_check(const struct entry *e);

void entries_init(struct node *n);
void entries_trim(struct node *n);
void entries_free(struct node *n);

#endif
