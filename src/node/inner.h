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
 *
 * A member pins its entry: the state in memory may then be ahead of what is
 * durable. Nothing that rests on such a state leaves: refusals, answers to
 * waiters and reads of records wait until the last pin is gone. When a member
 * does not become true, the entry is stale: no further work is done on it, and
 * once unpinned it is loaded again.
 */
#ifndef PAWL_NODE_INNER_H
#define PAWL_NODE_INNER_H

#include "base/map.h"
#include "define/world.h"
#include "node/node.h"

enum {
    BATCH_MEMBERS_MAX = 1024,
    OUTSTANDING_MAX = 2,
    TRIES_MAX = 5,        /* of one event, when its commit is refused */
    KEPT_TRIES_MAX = 100, /* ... because others take and keep signals: each time someone gets on */
    CRASHES_MAX = 5,      /* then the execution is parked */
    TIMER_PAGE = 1000,    /* rows read at once to refill the heap */
    WAKES_MAX = 2048,     /* under way at once, so that a million due executions fill nothing */
};

#define TIMER_WINDOW_US INT64_C(60000000) /* the heap holds what is due within this */
#define REFILL_EVERY_US INT64_C(20000000)
#define LOOK_BACK_US INT64_C(5000000)    /* what is overdue by this is looked for, this often */
#define RETRY_SOON_US INT64_C(1000000)   /* what failed for a reason that may pass */
#define RETRY_LATER_US INT64_C(60000000) /* what failed for a reason that will hardly pass */

/* --- works --- */

enum work_kind { WORK_REQUEST, WORK_WAKE };

enum program_state { PROGRAM_LOADING, PROGRAM_READY, PROGRAM_MISSING, PROGRAM_BROKEN };

/* A program as it was read and compiled, with what it rests on. */
struct program_read {
    enum program_state state;
    const struct program *program;  /* READY */
    struct function_list functions; /* as they were then */
    int64_t stamp;                  /* of the definitions that it may rest on */
};

struct program_reads {
    VEC_OF(struct program_read);
};

struct work {
    enum work_kind kind;
    struct node_request *request; /* WORK_REQUEST */
    struct entry *entry;
    int64_t number;        /* order of arrival */
    int64_t now_us;        /* the time of its turn, kept while records are read; 0 = not begun */
    struct commit *commit; /* once advanced; in the entry's memory */
    struct member member;
    struct idempotency idempotency; /* as it is stored, with the answer */
    unsigned tries;                 /* how often its commit was refused */
    unsigned record_tries;          /* ... because a record had changed */
    unsigned kept_tries;            /* ... because signals that are kept had, or waits for them */
    bool joins;                     /* a start that joined the execution that has its key */
    struct record_reads records;    /* in the entry's memory */
    struct search_reads searches;
    struct history history; /* rows that rolling back asked for */
    bool has_history;
    struct process_reads processes;
    struct program_reads programs; /* those of `processes`: work_forget_reads() */
    struct child_reads children;
    struct kept_reads kept;
    struct correlated_signal *correlated; /* SIGNAL by correlation: in the request's memory */
    int64_t waits_up_to;                  /* ... the wait that was asked last; 0 = none */
    struct program_ref *program;          /* RETRY, MIGRATE: the version to go on with; or NULL */
    struct value input;                   /* RETRY: as it was checked; or absent */
    struct work *next;
};

struct work_queue {
    struct work *first, *last;
};

/* --- entries --- */

enum entry_state {
    ENTRY_LOADING, /* a read is under way */
    ENTRY_READY,
    ENTRY_GONE, /* it is not there, or cannot be loaded: `err` */
};

struct entry {
    struct uuid id;
    enum entry_state state;
    struct execution *x; /* READY */
    int64_t row;         /* the store's key once it is known; written to `x` when unpinned */
    struct program_ref *program;
    struct arena mem;
    struct work_queue works; /* in order of arrival */
    unsigned pins;           /* members that point into `mem` */
    bool is_needing;         /* records are being read for the first work */
    bool is_stale;           /* the state in memory did not become true: load again when unpinned */
    bool wake_queued;
    bool in_ready_list;
    bool is_told; /* what follows is what was told last */
    enum execution_status told_status;
    struct str told_step;         /* in the program */
    struct err err;               /* GONE */
    struct node_request *waiters; /* for its end or a signal to be taken, through `next` */
    size_t bytes;                 /* of `mem`, as counted in the node */
    size_t copied_bytes;          /* of `mem` after the state was last copied */
    struct entry *newer, *older;  /* by last use */
    struct entry *next_ready;
    struct entry *hash_next;
};

/* --- programs --- */

struct program_ref {
    struct str key; /* code@version#epoch of functions, or code@version:snapshot */
    struct str code;
    int64_t version;     /* never 0 */
    struct str snapshot; /* or empty: with what is published */
    enum program_state state;
    const struct program *program;
    struct arena mem;
    struct program_read read; /* what `program` is a part of */
    struct err err;
    struct work_queue starts; /* waiting for it */
    struct work_queue moves;  /* retries and migrations that wait for it */
    struct load *loads;       /* executions that wait for it */
};

/* The published version of a code, as far as this node knows. */
struct published {
    int64_t version; /* 0 = unknown */
    bool is_reading;
    struct work_queue starts;
    struct str code;
    char text[]; /* of the code */
};

/* --- reads of the node's own --- */

/* Freed when it is done. */
struct load {
    struct node_read read;
    struct node *node;
    struct err err;
    bool ok;
    struct load *newer, *older;    /* all that are under way */
    struct load *next_unsent;      /* the readers' queue was full */
    struct load *next_for_program; /* executions that wait for the same program */
    struct arena mem;              /* what is read, unless it belongs to an entry or a program */
    union {
        struct {
            struct entry *entry;
            struct stored_execution stored;
            bool found;
        } execution;
        struct {
            struct entry *entry;
            struct work *work;
        } records;
        struct {
            struct program_ref *ref;
            struct program_read read;
        } program;
        struct {
            struct published *published;
            int64_t version;
            int64_t forgotten; /* how often the node had forgotten them when it was sent */
        } published;
        struct {
            int64_t stamp;   /* known before, and what it is */
            int64_t changes; /* of this node, when it was sent */
            bool is_new;     /* there were changes: `entries` is the config */
            struct value_entry *entries;
            size_t count;
        } look;
        struct {
            int64_t after_us, until_us;
            struct uuid after_id;
            struct dues dues;
        } due;
        struct {
            int64_t after_row;
            struct ended_executions rows;
        } ended;
        struct {
            struct work *work;
            int64_t now_us;
            bool is_known, is_found;
            struct known_signal known;
            struct open_wait wait;
        } correlate;
        struct {
            int64_t now_us;
            bool found;
        } expired;
    };
};

struct load_queue {
    struct load *first, *last;
};

/* --- timers: a heap of what is due next, at most one for each execution --- */

struct timer {
    int64_t at_us;
    struct uuid id;
    uint32_t slot; /* in the index */
};

struct timers {
    struct timer *heap;
    uint32_t *index; /* place in the heap + 1, by hash of the id; 0 = free */
    uint32_t count, room;
    uint32_t index_mask; /* size of the index - 1 */
};

void timers_init(struct timers *t);
void timers_fini(struct timers *t);
/* Set the timer of `id`, in place of an earlier one. */
void timers_set(struct timers *t, struct uuid id, int64_t at_us);
/* The same, unless it is set to an earlier time. */
void timers_set_sooner(struct timers *t, struct uuid id, int64_t at_us);
void timers_set_new(struct timers *t, struct uuid id, int64_t at_us); /* unless it has one */
void timers_remove(struct timers *t, struct uuid id);
void timers_remove_after(struct timers *t, int64_t at_us); /* all that are set to a later time */
/* Take the earliest if it is due. */
bool timers_take(struct timers *t, int64_t now_us, struct uuid *out);
int64_t timers_next_us(const struct timers *t); /* INT64_MAX when empty */
void timers_check(const struct timers *t);      /* panic unless it is a heap and its index */

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
    struct uuid_gen ids;
    const struct cel_env *env;

    /* the loop */
    int epoll_fd, stop_fd;
    struct watch *watches;
    node_before_sleep_fn *before_sleep;
    void *before_sleep_context;
    node_hear_fn *hear; /* or NULL */
    void *hear_context;
    volatile bool stop_requested;
    bool is_draining, is_recovered;

    /* the execution that a crash is blamed on; nothing is advanced before that is durable */
    struct poison poison;
    struct uuid crashed;
    bool counts_crash;

    /* executions */
    struct entry **buckets;
    size_t bucket_count, entry_count, entry_bytes;
    struct entry *newest, *oldest;
    struct entry *ready_first, *ready_last; /* with works to do */
    struct arena spare_arenas[256];
    unsigned spare_arena_count;
    struct work *free_works;
    int64_t work_number;
    size_t wakes;           /* works that are wakes */
    size_t pending;         /* requests under way */
    size_t waiting;         /* of them, those that wait for an end */
    int64_t next_expiry_us; /* monotonic; when waiters are looked through again */
    int64_t pause_until_us; /* monotonic; the store refused, nothing is advanced before this */

    /* programs */
    struct map programs;    /* of struct program_ref, by key */
    struct map published;   /* of struct published, by code */
    int64_t function_epoch; /* grows when a function changes: programs are compiled anew */
    int64_t forgotten;      /* how often the published versions were forgotten */

    /* $.config, and what other nodes may have changed: config.c */
    struct arena config_mem;
    struct value config;            /* a map */
    bool has_config;                /* it was read; nothing is advanced before */
    struct work_queue early_starts; /* asked for before that */
    bool is_looking;
    int64_t config_changes; /* of definitions, by this node */
    int64_t stamp;          /* of the changes that are known; -1 before the first read */
    int64_t needed_stamp;   /* something that was read rests on these changes */
    int64_t next_look_us;   /* monotonic */

    /* reads */
    struct load *newest_load;
    struct load_queue unsent[LANE_COUNT]; /* the queue of that lane was full */

    /* timers of executions, wall time: all that are due up to filled_until_us are in the heap */
    struct timers timers;
    int64_t filled_until_us;
    struct uuid filled_id;
    int64_t filling_until_us; /* of the read under way */
    int64_t next_refill_us;   /* monotonic */
    int64_t refill_pause_us;  /* monotonic; after a read that failed */
    bool is_looking_back;
    int64_t next_look_back_us; /* monotonic */
    int64_t looked_back_us;    /* wall; with the id: where the last page ended */
    struct uuid looked_back_id;
    bool is_refilling;

    struct retention *retention; /* or NULL: everything is kept */
    struct expiry *expiry;

    /* batches */
    struct batch *current; /* being built; never NULL */
    struct batch *sent[OUTSTANDING_MAX];
    int64_t batch_number;
    unsigned outstanding;
    struct batch *spare_batches[4];
    unsigned spare_count;
    int64_t sent_at_us[OUTSTANDING_MAX]; /* monotonic */
    int64_t batches_refused, members_applied, members_refused;
};

/* entry.c */
struct entry *entry_get(struct node *n, struct uuid id); /* found or made, LOADING when new */
struct entry *entry_find(struct node *n, struct uuid id);
struct entry *entry_new(struct node *n, struct uuid id);
void entry_touch(struct node *n, struct entry *e);
void entry_release_if_idle(struct node *n, struct entry *e);
void entry_reload(struct node *n, struct entry *e); /* it must be unpinned */
void entries_trim(struct node *n);
void entries_free(struct node *n);
void entry_queue(struct node *n, struct entry *e, struct work *w); /* by order of arrival */
void entry_make_ready(struct node *n, struct entry *e);

/* work.c */
struct work *work_new(struct node *n, enum work_kind kind);
void work_free(struct node *n, struct work *w);

/* Forget what was read for it: it is read again when it is asked for again. */
void work_forget_reads(struct work *w);
void work_push(struct work_queue *q, struct work *w);
struct work *work_pop(struct work_queue *q);
void works_run(struct node *n); /* advance what is ready, into the current batch */
/* It is not there, or cannot be loaded: everything that waits for it is refused. */
void entry_fail(struct node *n, struct entry *e, const struct err *err);

/* repair.c: retry, skip, migrate */
enum repair_state {
    REPAIR_READY,   /* the engine may be asked */
    REPAIR_REFUSED, /* *err and the request's findings say why */
    REPAIR_WAITS,   /* for a program: the work must be handed to repair_wait() */
};
bool repair_is(enum node_request_kind kind);
enum event_kind repair_event(enum node_request_kind kind);
/* What the first work of an entry, a repair, needs before the engine is asked. */
enum repair_state repair_prepare(struct node *n, const struct entry *e, struct work *w,
                                 struct err *err);
/* The work, which is in no queue, comes back to its execution with the program. */
void repair_wait(struct node *n, const struct entry *e, struct work *w);
void repair_program_come(struct node *n, struct program_ref *ref);

/* load.c: reading executions and records */
struct load *load_new(struct node *n, void (*run)(struct node_read *, struct reader *),
                      void (*done)(struct node_read *));
void load_send(struct load *l); /* sooner or later `done` is called */
void load_free(struct load *l);
bool loads_resend(struct node *n); /* those that did not fit; whether any went */
bool loads_are_unsent(const struct node *n);
void loads_free(struct node *n);
void load_entry(struct node *n, struct entry *e);
void load_records(struct node *n, struct entry *e, struct work *w);
void load_restore(struct load *l); /* the program of a loaded execution has come */

/*
 * Read a version of a process (-1: the published one) and compile it, on a
 * reader thread, with the procedures and functions that are published now.
 * *out is in `mem` and must be released. False: the store could not be read.
 */
bool program_read(struct node *n, struct reader *reader, struct arena *mem, struct str code,
                  int64_t version, struct program_read *out, struct err *err) MUST_USE;
void program_read_release(struct program_read *read);

/* The same with the versions that a snapshot names; without one they are those of now. */
bool program_read_pinned(struct node *n, struct reader *reader, struct arena *mem, struct str code,
                         int64_t version, struct str snapshot, struct program_read *out,
                         struct err *err) MUST_USE;

/*
 * program.c: programs, and which version is published. The first is for what
 * begins now; the second for what has begun, with its snapshot or none.
 */
struct program_ref *program_get(struct node *n, struct str code, int64_t version);
struct program_ref *program_get_pinned(struct node *n, struct str code, int64_t version,
                                       struct str snapshot);
struct published *published_get(struct node *n, struct str code);
void published_load(struct node *n, struct published *p);
void published_forget(struct node *n); /* others may have published: ask again */
void programs_free(struct node *n);

/* config.c */
void config_look(struct node *n); /* when it is time */
int64_t config_look_in_us(const struct node *n);
void config_expect(struct node *n, int64_t stamp); /* what this one rests on must be known */
void config_changed(struct node *n, const struct definition_change *first); /* it is durable */

/* wake.c: when executions are due */
void wake(struct node *n, struct uuid id); /* give it a work of kind WAKE */
/* Its durable state is `x`: set or remove its timer. */
void wake_arm(struct node *n, const struct execution *x);
void wake_later(struct node *n, struct uuid id, int64_t delay_us);
bool wake_may_fire(const struct node *n);
bool wake_fire(struct node *n); /* what is due; whether anything was */
void wake_refill(struct node *n);
void wake_look_back(struct node *n);             /* now and then: what is overdue and unknown */
int64_t wake_refill_in_us(const struct node *n); /* until wake_refill() has something to do */

/* request.c */
void request_begin_start(struct node *n, struct work *w); /* find out which version is meant */
void request_start(struct node *n, struct work *w);
void request_refuse(struct node *n, struct node_request *r, enum err_code code, const char *format,
                    ...) PRINTF_LIKE(4, 5);
void request_done(struct node *n, struct node_request *r);
void request_wait(struct node *n, struct entry *e, struct node_request *r);
/* Fill the answer with the execution as it is, which is durable. */
void request_show(struct node_request *r, const struct execution *x);
/* The same, and answer. */
void request_answer(struct node *n, struct node_request *r, const struct execution *x);
void request_answer_waiters(struct node *n, struct entry *e, const struct execution *x);
void request_refuse_waiters(struct node *n, struct entry *e, const struct err *err);
void request_expire(struct node *n);

/* retention.c: deleting what ended long ago, a little at a time */
void retention_open(struct node *n);
void retention_close(struct node *n);
void retention_run(struct node *n);
int64_t retention_in_us(const struct node *n); /* until retention_run() has something to do */
int64_t retention_purged(const struct node *n);

/*
 * correlate.c: signals that come by correlation. Such a work looks for the next
 * wait behind the one it has asked, and goes to its execution, or is kept.
 */
void correlate(struct node *n, struct work *w);
/* Whether the work is such a one and goes on to the next wait, this one not taking it. */
bool correlate_goes_on(struct node *n, struct work *w, enum err_code why);
/* No wait takes it: the change that keeps it. */
struct change *correlate_keep(struct node *n, struct work *w);
/* Its member was refused: whether it looks for a wait again. */
bool correlate_looks_again(struct node *n, struct work *w);
/* What is kept for a correlation, for an execution of this access. */
bool correlate_load(struct reader *reader, struct arena *mem, const struct work *w,
                    struct str correlation, struct kept_read *out, struct err *err) MUST_USE;

/* expiry.c: signals that were kept for too long are deleted */
void expiry_open(struct node *n);
void expiry_close(struct node *n);
void expiry_run(struct node *n);
int64_t expiry_in_us(const struct node *n); /* until expiry_run() has something to do */

/* view.c */
/* Append it as the API shows it, or a row of its history. */
void view_execution(struct arena *mem, struct buf *out, const struct execution *x);
void view_row(struct arena *mem, struct buf *out, const struct execution *x,
              const struct history_row *row);

/* taken.c: steps that take signals */
/* Whether a step of this commit took the signal that `r` waits for: then the answer is filled. */
bool taken_find(struct node_request *r, const struct commit *commit);
/* Answer those who wait for a signal that this commit took. */
void taken_tell(struct node *n, struct entry *e, const struct commit *commit);
/* Whether nobody has taken the signal, as the state has it. */
bool taken_not_yet(const struct execution *x, int64_t signal_seq);
/* The state was loaded: answer those whose signal was taken meanwhile. */
void taken_loaded(struct node *n, struct entry *e);

/* news.c */
/* Its state is known to be `x`, durably, and no news. */
void news_known(struct entry *e, const struct execution *x);
/* A commit has become durable. */
void news_tell(struct node *n, struct entry *e, const struct commit *commit);

/* measure.c */
/* A commit has become durable; before news_tell(), which forgets what was before it. */
void measure_commit(struct node *n, const struct entry *e, const struct commit *commit);
/* A batch has come back. */
void measure_batch(struct node *n, const struct batch *b, int64_t sent_at_us);

/* batch.c */
void batch_init(struct node *n);
void batch_add(struct node *n, struct work *w);
void batch_count_crash(struct node *n);
void batch_submit(struct node *n);
void batch_done(struct node *n, struct batch *batch);
void batches_free(struct node *n);

#endif
