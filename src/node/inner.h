/*
 * inner.h - the parts of a node. Internal to src/node.
 *
 * A work (work.h) is one thing that is to happen; an entry (entry.h) is an
 * execution in memory with the works that wait for it.
 *
 *     work --entry ready--> engine_advance --> member of the batch being built
 *          --submit--> outstanding (two at most) --done--> answered, or again
 */
#ifndef PAWL_NODE_INNER_H
#define PAWL_NODE_INNER_H

#include "effect/vault.h"
#include "engine/link.h"
#include "node/calls.h"
#include "node/entry.h"
#include "node/jobs.h"
#include "node/load.h"
#include "node/minutes.h"
#include "node/outgoing.h"
#include "node/poison.h"
#include "node/program.h"
#include "node/relay.h"
#include "node/spans.h"
#include "node/timers.h"
#include "node/work.h"

enum {
    BATCH_MEMBERS_MAX = 1024,
    OUTSTANDING_MAX = 2,
    TRIES_MAX = 5,        /* of one event, when its commit is refused */
    KEPT_TRIES_MAX = 100, /* ... because others take and keep signals: each time someone gets on */
    TIMER_PAGE = 1000,    /* rows read at once to refill the heap */
    LOAD_GROUP_MAX = 32,  /* executions that are read together */
    WAKES_MAX = 2048,     /* under way at once, so that a million due executions fill nothing */
};

#define TIMER_WINDOW_US INT64_C(60000000) /* the heap holds what is due within this */
#define REFILL_EVERY_US INT64_C(20000000)
#define LOOK_BACK_US INT64_C(5000000)    /* what is overdue by this is looked for, this often */
#define RETRY_SOON_US INT64_C(1000000)   /* what failed for a reason that may pass */
#define RETRY_LATER_US INT64_C(60000000) /* what failed for a reason that will hardly pass */

/* --- the node --- */

struct watch {
    node_ready_fn *ready;
    void *context;
    struct watch *next;
};

enum { FAILURES_MAX = 64 }; /* executions that fail are remembered */

struct failure {
    struct uuid id;
    unsigned tries; /* 0 = free */
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

    struct poison poison;
    unsigned counting_crashes; /* so many are not durable; nothing is advanced before */

    /* executions */
    struct entry **buckets;
    size_t bucket_count, entry_count, entry_bytes;
    struct entry *newest, *oldest;
    struct entry *ready_first, *ready_last; /* with works to do */
    struct arena spare_arenas[256];
    unsigned spare_arena_count;
    struct work *free_works;
    int64_t work_number;
    size_t wakes;                         /* works that are wakes */
    size_t pending;                       /* requests under way */
    size_t waiting;                       /* of them, those that wait for an end */
    int64_t next_expiry_us;               /* monotonic; when waiters are looked through again */
    struct entry *awaited, *awaited_last; /* those that have waiters, and some that had */
    bool is_looking_at_awaited;
    int64_t next_look_at_awaited_us; /* monotonic */
    int64_t pause_until_us; /* monotonic; the store refused, nothing is advanced before this */

    struct programs programs;
    struct map published; /* of struct published, by code */
    int64_t forgotten;    /* how often the published versions were forgotten */

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

    /* {code: base_url}: credentials.c */
    struct arena credentials_mem;
    uint64_t nonce_count;
    struct link_maker links;    /* no base: there are none */
    struct map credential_uses; /* by code: when the last one was written, monotonic */
    struct value credentials;

    /* reads */
    struct load *newest_load;
    struct load_queue unsent[LANE_COUNT]; /* the queue of that lane was full */
    struct load *group;                   /* executions to be read together; or NULL */

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
    bool is_looking_for_told;
    int64_t next_look_for_told_us; /* monotonic */
    int64_t told_after;            /* the number that the last page ended with */

    struct calls calls;
    struct minutes *minutes; /* or NULL: nothing is measured */
    struct jobs jobs;
    struct relay *relay;
    struct arena subscriptions_mem;
    struct subscriptions subscriptions; /* route.c */
    struct event_triggers triggers;     /* triggers.c */
    struct spans *spans;                /* or NULL: nobody wants traces */

    struct retention *retention; /* or NULL: everything is kept */
    struct expiry *expiry;
    struct audit_retention *audit_retention;       /* NULL: the log is kept */
    struct schedules *schedules;                   /* NULL: ticks are left to other nodes */
    struct planner_time *planner_time;             /* NULL: there is no planner */
    struct snapshot_retention *snapshot_retention; /* NULL: they are kept */

    /* executions that failed for reasons of their own: park.c */
    struct failure failures[FAILURES_MAX];
    size_t next_failure, failing;

    /* batches */
    struct batch *current; /* being built; never NULL */
    struct batch *sent[OUTSTANDING_MAX];
    int64_t batch_number;
    int64_t batch_seen; /* the last one that came back */
    unsigned outstanding;
    struct batch *spare_batches[4];
    unsigned spare_count;
    int64_t sent_at_us[OUTSTANDING_MAX]; /* monotonic */

    /* silent.c: by the monotonic clock */
    int64_t batch_since_us; /* when a batch came back last */
    int64_t read_since_us;  /* when a read of the engine came back, or the first one was sent */
    size_t reads_out;       /* of the engine */

    int64_t batches_refused, members_applied, members_refused;
};

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

/* config.c */
void config_look(struct node *n); /* when it is time */
int64_t config_look_in_us(const struct node *n);
void config_expect(struct node *n, int64_t stamp); /* what this one rests on must be known */
void config_changed(struct node *n, const struct definition_change *first); /* it is durable */

/* credentials.c */
bool credentials_open(struct node *n, struct err *err) MUST_USE; /* before all else */
void credentials_replace(struct node *n, const struct stored_definitions *all,
                         const struct stored_definitions *subscriptions);
void credentials_changed(struct node *n, const struct definition_change *d, bool is_removed);
/* A call of the execution was sent with it: a line in the audit log, now and then. */
void credentials_used(struct node *n, struct str code, struct uuid execution);
/* Numbers that nobody outside can guess, others for each event. */
void credentials_nonce(struct node *n, uint64_t out[2]);

/* --- seal_old.c --- */

/* Seal the secrets of those that have them unsealed; the row of the key has this version. */
void subscriptions_seal_old(struct node *n, const struct stored_definitions *all,
                            int64_t key_version);

/* crash.c: this execution was worked on when the process died */
void crash_count(struct node *n, struct poison_left left);

/*
 * park.c: the execution cannot go on; `code` says why for the dead letter. It is
 * tried again after a while, or parked.
 */
void park_or_wake_later(struct node *n, struct uuid id, const char *code, const struct err *err);
void park_forget(struct node *n, struct uuid id); /* it has gone on */

/* wake.c: when executions are due */
void wake(struct node *n, struct uuid id); /* give it a work_wake */
/* Its durable state is `x`: set or remove its timer. */
void wake_arm(struct node *n, const struct execution *x);
void wake_later(struct node *n, struct uuid id, int64_t delay_us);
bool wake_may_fire(const struct node *n);
bool wake_fire(struct node *n);                 /* what is due; whether anything was */
void wake_told(struct node *n, struct uuid id); /* it has a row in execution_events */
void wake_look_for_told(struct node *n);        /* now and then: what others have told */
void wake_refill(struct node *n);
void wake_look_back(struct node *n);             /* now and then: what is overdue and unknown */
int64_t wake_refill_in_us(const struct node *n); /* until wake_refill() has something to do */

/* waiters.c: those who wait for an end, or for a signal to be taken */
void request_wait(struct node *n, struct entry *e, struct node_request *r);
void request_answer_waiters(struct node *n, struct entry *e, const struct execution *x);
void waiters_unlink(struct node *n, struct entry *e); /* it goes */
/* Where nodes share a store, each second: have others changed what is waited for here? */
void waiters_look(struct node *n);
int64_t waiters_look_in_us(const struct node *n);
void request_refuse_waiters(struct node *n, struct entry *e, const struct err *err);
/* Tell those whose time is up how it stands, once the store has said that it stands so. */
void request_expire(struct node *n);
/* Its state was read: tell those who wait for its end, if it has ended. */
void request_expire_loaded(struct node *n, struct entry *e);

/* request.c */
void request_begin_start(struct node *n, struct work *w); /* find out which version is meant */
void request_start(struct node *n, struct work *w);
void request_refuse(struct node *n, struct node_request *r, enum err_code code, const char *format,
                    ...) PRINTF_LIKE(4, 5);
void request_done(struct node *n, struct node_request *r);
/* Fill the answer with the execution as it is, which is durable. */
void request_show(struct node_request *r, const struct execution *x);
/* The same, and answer. */
void request_answer(struct node *n, struct node_request *r, const struct execution *x);

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

/* request.c: {id, name, email, role} of who asks, in its memory */
struct str request_user_json(const struct node_request *r);

/* schedules.c: ticks of schedules become starts */
void schedules_open(struct node *n);
void schedules_close(struct node *n);
void schedules_run(struct node *n);
int64_t schedules_in_us(const struct node *n); /* until there is something to do */

/* The input of a start by a schedule, as its trigger says. False: *err. */
bool schedules_input(struct node *n, struct node_request *r, const struct program *p,
                     struct value *out, struct err *err) MUST_USE;

/* planner_time.c: what time brings to tasks */
void planner_time_open(struct node *n);
void planner_time_close(struct node *n);
void planner_time_run(struct node *n);
int64_t planner_time_in_us(const struct node *n); /* until there is something to do */

/* audit_retention.c: lines of the audit log that are too old are deleted */
void audit_retention_open(struct node *n);
void audit_retention_close(struct node *n);
void audit_retention_run(struct node *n);
int64_t audit_retention_in_us(const struct node *n); /* until there is something to do */

/* snapshot_retention.c: snapshots that no execution has are deleted */
void snapshot_retention_open(struct node *n);
void snapshot_retention_close(struct node *n);
void snapshot_retention_run(struct node *n);
int64_t snapshot_retention_in_us(const struct node *n); /* until there is something to do */

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
/*
 * Whether the execution, which was `before`, has ended with this commit. One that
 * failed, goes on by an operator's retry and fails again at once has ended again.
 */
bool news_is_end(const struct commit *commit, enum execution_status before);
/* A commit has become durable. */
void news_tell(struct node *n, struct entry *e, const struct commit *commit);

/* measure.c */
/* A commit has become durable; before news_tell(), which forgets what was before it. */
void measure_commit(struct node *n, const struct entry *e, const struct commit *commit);
/* A batch has come back. */
void measure_call(struct node *n, const struct effect_call *call);  /* it has come back */
void measure_claimed(struct node *n, const struct stored_job *job); /* a worker has it */
void measure_batch(struct node *n, const struct batch *b, int64_t sent_at_us);

/* silent.c: the store was asked, or has answered; NULL: a batch */
void silent_asked(struct node *n, const struct node_read *read);
void silent_answered(struct node *n, const struct node_read *read);

/* batch.c */
void batch_init(struct node *n);
void batch_add(struct node *n, struct work *w); /* its change becomes a member */
bool batch_is_due(const struct node *n);        /* whether batch_submit() would hand it over */
void batch_submit(struct node *n);
void batch_done(struct node *n, struct batch *batch);
void batches_free(struct node *n);

/* --- tell_log.c: executions in the log --- */

/* A line for what failed, is held or parked with this commit, which `r`, or NULL, led to. */
void tell_log(const struct commit *commit, const struct node_request *r,
              enum execution_status before);

/* The lines that its steps have logged. */
void tell_log_lines(struct arena *mem, const struct commit *commit);

#endif
