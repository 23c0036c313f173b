/*
 * entry.h - executions in memory: a bounded cache by id. Internal to src/node.
 *
 * An entry is an execution with the works that wait for it. A member of a batch
 * pins its entry: the state in memory may then be ahead of what is durable.
 * Nothing that rests on such a state leaves: refusals and answers to waiters are
 * members themselves, and reads of records wait until the last pin is gone. When
 * a member does not become true, the entry is stale: no further work is done on
 * it, and once unpinned it is loaded again.
 */
#ifndef PAWL_NODE_ENTRY_H
#define PAWL_NODE_ENTRY_H

#include "node/work.h"

enum entry_state {
    ENTRY_LOADING, /* a read is under way */
    ENTRY_READY,
    ENTRY_GONE, /* it is not there, or cannot be loaded: `err` */
};

enum { JOINERS_MAX = 256 }; /* that one member tells of an end */

struct entry {
    struct uuid id;
    enum entry_state state;
    struct execution *x; /* READY */
    int64_t row;         /* the store's key once it is known; written to `x` when unpinned */
    struct program_ref *program; /* held; or NULL */
    struct {
        VEC_OF(struct program_ref *); /* those it had before it was migrated, until it is loaded */
    } former_programs;                /* again: parts of its state may lie in them; held */
    struct arena mem;
    struct work_queue works; /* in order of arrival */
    unsigned pins;           /* members that point into `mem` */
    bool is_needing;         /* records are being read for the first work */
    bool is_stale;           /* the state in memory did not become true: load again when unpinned */
    bool wake_queued;
    bool has_news;             /* it was told something since `told` was read */
    struct told_numbers told;  /* rows of execution_events that its next wake applies; in `mem` */
    struct task_answers tasks; /* what they say became of tasks; in `mem` */
    bool is_told_to_cancel;    /* one of them says: cancel it, by this event */
    bool is_joined;            /* another waits for its end, having joined it by its key */
    struct told_numbers joins; /* it has ended: the rows of those who wait for that, and */
    struct tells joiners;      /* what they are told; in `mem` */
    struct event cancel;
    bool in_ready_list;
    bool is_told; /* what follows is what was told last */
    enum execution_status told_status;
    struct str told_step;         /* in the program */
    struct err err;               /* GONE */
    struct node_request *waiters; /* for its end or a signal to be taken, through `next` */
    bool is_awaited;              /* it is in the list node.awaited */
    struct entry *next_awaited, *previous_awaited;
    bool is_expiring;            /* a work_expire of it is in a batch */
    size_t bytes;                /* of `mem`, as counted in the node */
    size_t copied_bytes;         /* of `mem` after the state was last copied */
    struct entry *newer, *older; /* by last use */
    struct entry *next_ready;
    struct entry *hash_next;
};

struct entry *entry_get(struct node *n, struct uuid id); /* found or made, LOADING when new */
struct entry *entry_find(struct node *n, struct uuid id);
struct entry *entry_new(struct node *n, struct uuid id);
void entry_touch(struct node *n, struct entry *e);
void entry_release_if_idle(struct node *n, struct entry *e);
void entry_forget_told(struct entry *e);            /* what was read; the rows stay */
void entry_reload(struct node *n, struct entry *e); /* it must be unpinned */
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

/* It is not there, or cannot be loaded: everything that waits for it is refused. */
void entry_fail(struct node *n, struct entry *e, const struct err *err);

/* Whether the execution is left alone until somebody acts. */
bool entry_is_parked(const struct entry *e);

void entries_trim(struct node *n);
void entries_free(struct node *n);

#endif
