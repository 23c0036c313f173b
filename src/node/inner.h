/*
 * inner.h - the parts of a node. Internal to src/node.
 *
 * A `work` is one event for one execution: a request or a wake. It is kept
 * until the commit that consumed it is durable, so that a batch that was
 * refused can be applied again. An `entry` is an execution in memory with the
 * works that wait for it.
 *
 *     work --entry ready--> engine_advance --> member of the batch being built
 *          --submit--> outstanding (two at most) --done--> answered, or again
 */
#ifndef PAWL_NODE_INNER_H
#define PAWL_NODE_INNER_H

#include "base/map.h"
#include "node/node.h"

enum {
    BATCH_MEMBERS_MAX = 1024,
    OUTSTANDING_MAX = 2,
    TRIES_MAX = 5,     /* of one event, when its commit is refused */
    CRASHES_MAX = 5,   /* then the execution is parked */
    TIMER_PAGE = 1000, /* rows read at once to refill the heap */
    WAKES_MAX = 2048,  /* under way at once, so that a million due executions fill nothing */
};

#define TIMER_WINDOW_US INT64_C(60000000) /* the heap holds what is due within this */
#define REFILL_EVERY_US INT64_C(20000000)
#define RETRY_READ_US INT64_C(500000) /* after the store could not be read */

/* --- works --- */

enum work_kind { WORK_REQUEST, WORK_WAKE };

struct work {
    enum work_kind kind;
    struct node_request *request; /* WORK_REQUEST */
    struct entry *entry;
    struct commit *commit; /* once advanced; in the entry's memory */
    struct member member;
    struct idempotency idempotency; /* as it is stored, with the answer */
    unsigned tries;
    struct record_reads records; /* in the entry's memory */
    struct object_reads objects;
    struct work *next;
};

struct work_queue {
    struct work *first, *last;
};

/* --- entries --- */

enum entry_state {
    ENTRY_LOADING, /* a read is under way */
    ENTRY_READY,
    ENTRY_GONE, /* there is no such execution */
};

struct entry {
    struct uuid id;
    enum entry_state state;
    struct execution *x; /* READY */
    struct program_ref *program;
    struct arena mem;
    struct work_queue works;
    unsigned pins;   /* members that point into `mem`, and reads under way */
    bool is_needing; /* records are being read for the first work */
    bool is_stale;   /* the state in memory did not become true: load again when unpinned */
    bool wake_queued;
    bool in_ready_list;
    struct node_request *waiters; /* for its end, through `next` */
    size_t bytes;                 /* of `mem`, as counted in the node */
    struct entry *newer, *older;  /* by last use */
    struct entry *next_ready;
    struct entry *hash_next;
};

/* --- programs --- */

enum program_state { PROGRAM_LOADING, PROGRAM_READY, PROGRAM_MISSING, PROGRAM_BROKEN };

struct program_ref {
    struct str code;
    int64_t version; /* never 0 */
    enum program_state state;
    const struct program *program;
    struct arena mem;
    struct err err;
    struct work_queue starts; /* waiting for it */
    struct load *loads;       /* executions that wait for it: load.c */
    struct program_ref *next;
};

/* The published version of a code, as far as this node knows. */
struct published {
    struct str code;
    int64_t version; /* 0 = unknown */
    bool is_reading;
    struct work_queue starts;
};

/* --- timers --- */

struct timer {
    int64_t at_us;
    struct uuid id;
};

struct timers {
    struct timer *heap;
    size_t count, room;
};

void timers_init(struct timers *t);
void timers_fini(struct timers *t);
void timers_add(struct timers *t, int64_t at_us, struct uuid id);
/* Take the earliest if it is due. */
bool timers_take(struct timers *t, int64_t now_us, struct uuid *out);
int64_t timers_next_us(const struct timers *t); /* INT64_MAX when empty */

/* --- the poison file --- */

struct poison {
    int fd;
    uint8_t *page;
};

/* Map the file in the data folder; *found is set when an id was left in it. */
bool poison_open(struct poison *p, struct str data_path, struct uuid *found, bool *was_found,
                 struct err *err) MUST_USE;
void poison_close(struct poison *p);
void poison_set(struct poison *p, struct uuid id);
void poison_clear(struct poison *p);

/* --- the node --- */

struct watch {
    node_ready_fn *ready;
    void *context;
    struct watch *next;
};

struct node {
    struct node_options options;
    const struct clock *clock;
    struct arena mem; /* of the process */
    struct store *store;
    struct mailbox *done;
    struct mailbox own_done;
    struct poison poison;
    struct uuid_gen ids;
    const struct cel_env *env;

    /* the loop */
    int epoll_fd, stop_fd;
    struct watch *watches;
    node_before_sleep_fn *before_sleep;
    void *before_sleep_context;
    volatile bool stop_requested;
    bool is_draining, is_recovered, store_failed;

    /* executions */
    struct entry **buckets;
    size_t bucket_count, entry_count, entry_bytes;
    struct entry *newest, *oldest;
    struct entry *ready_first, *ready_last; /* with works to do */
    struct arena spare_arenas[256];
    unsigned spare_arena_count;
    struct work *free_works;
    size_t wakes;           /* works that are wakes */
    size_t pending;         /* requests under way */
    size_t waiting;         /* of them, those that wait for an end */
    int64_t next_expiry_us; /* monotonic; when waiters are looked through again */
    int64_t pause_until_us; /* monotonic; the store refused, no new batch before this */
    struct str refusal;     /* what it said */

    /* reads that were refused at once, to be ended in the next pass */
    struct load *refused_loads;

    /* programs */
    struct program_ref *programs;
    struct map published; /* of struct published */

    /* timers */
    struct timers timers; /* of executions, wall time */
    int64_t filled_until_us, next_refill_us;
    int64_t retry_refill_us; /* monotonic; not before this, a read has failed */
    struct uuid filled_id;
    bool is_refilling;

    /* batches */
    struct batch *current;
    int64_t batch_number;
    unsigned outstanding;
    struct batch *spare_batches[4];
    unsigned spare_count;
};

/* entry.c */
struct entry *entry_get(struct node *n, struct uuid id); /* found or made, LOADING when new */
struct entry *entry_find(struct node *n, struct uuid id);
struct entry *entry_new(struct node *n, struct uuid id);
void entry_touch(struct node *n, struct entry *e);
void entry_release_if_idle(struct node *n, struct entry *e);
void entry_forget_state(struct node *n, struct entry *e); /* load again before the next work */
void entries_trim(struct node *n);
void entries_free(struct node *n);
void entry_queue(struct node *n, struct entry *e, struct work *w);
void entry_queue_first(struct node *n, struct entry *e, struct work *w);
void entry_make_ready(struct node *n, struct entry *e);

/* work.c */
struct work *work_new(struct node *n, enum work_kind kind);
void work_free(struct node *n, struct work *w);
void work_push(struct work_queue *q, struct work *w);
struct work *work_pop(struct work_queue *q);
void works_run(struct node *n); /* advance what is ready, into the current batch */
void wake(struct node *n, struct uuid id);

/* load.c: reading executions, programs, records and due timers */
void load_entry(struct node *n, struct entry *e);
void load_records(struct node *n, struct entry *e, struct work *w);
void load_program(struct node *n, struct program_ref *p);
void load_published(struct node *n, struct published *p);
void load_due(struct node *n);
bool loads_refused(struct node *n); /* end the reads that the store did not take */
struct program_ref *program_get(struct node *n, struct str code, int64_t version);
void program_forget(struct node *n, struct program_ref *ref);
struct published *published_get(struct node *n, struct str code);

/* request.c */
void request_start(struct node *n, struct work *w);
void request_refuse(struct node *n, struct node_request *r, enum err_code code, const char *format,
                    ...) PRINTF_LIKE(4, 5);
void request_done(struct node *n, struct node_request *r);
void request_wait(struct node *n, struct entry *e, struct node_request *r);
void request_answer_waiters(struct node *n, struct entry *e, const struct execution *x);
void request_refuse_waiters(struct node *n, struct entry *e, enum err_code code,
                            const char *message);
void request_expire(struct node *n);

/* batch.c */
void batch_add(struct node *n, struct work *w);
void batch_submit(struct node *n);
void batch_done(struct node *n, struct batch *batch);

#endif
