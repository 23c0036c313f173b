/*
 * node.h - the loop that joins everything: requests and timers become events,
 * events become commits, commits become durable, and then answers leave.
 *
 *     request, timer --> engine_advance --> batch --> store --> answer
 *
 * One thread owns all of this; every function here is called on it, from
 * within a callback or before node_run(). Answers are given by calling back:
 * a request's `done` is called exactly once, when what it rests on is durable,
 * or when it was refused.
 *
 * why: decisions 0052, 0162, 0337
 */
#ifndef PAWL_NODE_NODE_H
#define PAWL_NODE_NODE_H

#include "base/time/clock.h"
#include "base/uuid.h"
#include "engine/status.h"
#include "store/folder.h"
#include "value/value.h"

struct cel_env;
struct history;
struct link_maker;
struct mailbox;
struct mask;
struct meters;
struct node;
struct policy;
struct store;
struct vault;

/* Who makes calls in place of the thread for them: node_call_answered() comes back once for each. */
struct effect_call;
struct node_caller {
    void (*send)(void *context, struct effect_call *call);
    void *context;
};

enum { CALLS_PER_HOST = 64 };

/* Where messages that are no events go; empty: nowhere yet, and they wait in the outbox. */
struct relay_servers {
    struct str smtp_url; /* smtp:// or smtps://, with user and password if it needs them */
    struct str mail_from;
    struct str sms_gateway, push_gateway; /* URLs */
    struct str broker_url;                /* amqp:// or amqps:// */
};

struct node_options {
    struct str data_path; /* folder: SQLite file, poison file, admin.token */
    struct str store_url; /* empty = SQLite in the data folder */
    const struct clock *clock;
    unsigned reader_count;     /* for the engine, and as many for clients; 0 = 2 */
    size_t cache_bytes;        /* of executions in memory; 0 = 64 MiB */
    size_t program_bytes;      /* of compiled programs; 0 = 32 MiB */
    int64_t keep_ended_us;     /* executions that ended longer ago are deleted; 0 = none */
    int64_t keep_audit_us;     /* lines of the audit log that are older are deleted; 0 = none */
    bool is_paused;            /* nothing moves: no timer, call, message or schedule, and requests
                                  that would move an execution are refused */
    bool has_schedules;        /* ticks of schedules start executions: see schedules.c */
    bool has_planner;          /* shifts end and due dates pass: see planner_time.c */
    int64_t keep_snapshots_us; /* those that no execution has are deleted, once unused for this
                                  long, two days at least; 0 = none */
    size_t pending_max;        /* requests in flight; 0 = 16384; beyond: ERR_OVERLOADED */
    const struct cel_env *env; /* what expressions of definitions may use; NULL = its own */
    struct store *store;    /* for the simulator: use this one, do not open any; it needs `done` */
    struct mailbox *done;   /* with `store`: where its batches and tasks come back */
    uuid_random_fn *random; /* for ids; NULL = the system's */
    void *random_context;
    const struct policy *policy;  /* where calls may go; NULL = the default. It must outlive it */
    struct vault *vault;          /* credentials; NULL = there are none. It must outlive it */
    size_t calls_per_host;        /* in flight at once; 0 = CALLS_PER_HOST */
    struct relay_servers servers; /* where mail and short messages go */
    struct node_caller caller;    /* for the simulator: it makes the calls */
    struct str otlp_url;          /* where traces go, without /v1/traces; empty = nowhere */
    struct str version;           /* of the program, for traces */
    struct meters *meters; /* where to measure; NULL = nowhere. The caller's, and must outlive it */
};

/* Open the store and recover; ERR_IO when that is impossible. */
struct node *node_open(const struct node_options *options, struct err *err) MUST_USE;

enum node_result {
    NODE_DRAINED,   /* nothing that was asked for is undecided */
    NODE_UNDECIDED, /* changes were in flight for too long: nobody knows how they ended */
};

/*
 * How long draining may take: then what is left is given up, because the store
 * is away or far too slow. What was acknowledged is durable by then.
 */
#define DRAIN_MAX_US INT64_C(15000000)

/* Serve until node_stop(); then drain: finish what was accepted, within DRAIN_MAX_US. */
enum node_result node_run(struct node *n);

/*
 * One pass of the loop without sleeping: take what came back, fire what is due,
 * advance, submit. Answers whether there was anything to do. node_run() is made
 * of these; the simulator calls them itself.
 */
bool node_pass(struct node *n);

/*
 * Between two passes: whether the node was asked to stop and its loop is over, and with what.
 * The first call after node_stop() begins to drain: nothing new is taken from then on.
 */
bool node_has_stopped(struct node *n, enum node_result *out) MUST_USE;

/* When the next pass has something to do by itself, in wall time; INT64_MAX = never. */
int64_t node_next_wake_us(const struct node *n);

/* Ask the loop to drain and end. May be called from a signal handler. */
void node_stop(struct node *n);

void node_close(struct node *n);

/*
 * The process is about to end although the threads of the node wait for the
 * store: what they work on is not what ended it. From another thread than the
 * one that hangs in node_close().
 */
void node_abandon(struct node *n);

/* The credentials, or NULL; see effect/secret/vault.h. */
struct vault *node_vault(const struct node *n);

/*
 * Links to answer waits begin with `base`, which the node copies:
 * "https://pawl.example/callbacks/". Before node_run(); without it, and without
 * a vault, there are none and $.execution.callbackUrl is null.
 */
void node_link_from(struct node *n, struct str base);

/* How they are made, or NULL; see engine/commit/link.h. Any thread, once the node runs. */
const struct link_maker *node_links(const struct node *n);

/* Whether the node takes requests, or why not. */
enum node_readiness {
    NODE_READY,
    NODE_RECOVERING, /* what was due at the start, or the config, is not known yet */
    NODE_STORE_AWAY, /* the store has not answered for STORE_LATE_US */
    NODE_NO_SPACE,   /* the volume of the database is full: only deletions are taken */
    NODE_WRONG_KEY,  /* credentials are sealed with another master key: vault_is_locked() */
    NODE_PAUSED,     /* it was started so */
    NODE_STOPPING,
};
enum node_readiness node_readiness(const struct node *n);

/*
 * How long the store has owed an answer, of a batch or of a read of the engine,
 * or could not be connected to; 0 = it owes none. A store that is silent for
 * STORE_LATE_US makes the node not ready, so that no further clients are sent
 * here; at STORE_AWAY_US it is away: further requests are refused with
 * ERR_STORE_AWAY, and those that wait should be answered.
 */
#define STORE_LATE_US INT64_C(5000000)
#define STORE_AWAY_US INT64_C(10000000)
int64_t node_store_away_us(const struct node *n);
bool node_store_is_away(const struct node *n);

/* --- other sources of the loop --- */

/* Call `ready` on the loop whenever `fd` is readable. */
typedef void node_ready_fn(void *context);
bool node_watch(struct node *n, int fd, node_ready_fn *ready, void *context,
                struct err *err) MUST_USE;

/*
 * Call `before` before the loop sleeps, once per pass, after all events of the
 * pass were handled; it may answer requests. `timeout_ms` is lowered by it when
 * it wants to be called again sooner.
 */
typedef void node_before_sleep_fn(void *context, int *timeout_ms);
void node_before_sleep(struct node *n, node_before_sleep_fn *before, void *context);

/* The call has its answer or its error; the node takes it. */
void node_call_answered(struct node *n, struct effect_call *call);

/* --- what becomes durable --- */

/* A commit that has just become durable. Everything lives until the function returns. */
struct node_notice {
    struct uuid id;
    struct str code, org_id;
    enum execution_status status;
    struct str current_step;     /* or empty */
    struct str waiting_for_json; /* or empty */
    int64_t row_version, seq, at_us;
    bool moved;          /* the status or the step is another than before */
    struct value access; /* of its definition: who may view it; or absent */
    const struct history *history;
    const struct mask *mask; /* of what is sensitive in all of this; may be empty */
};

/*
 * Notify `listener` of every commit of this node; NULL: there is none, which is
 * how it begins, and then it costs nothing. It runs on the loop.
 */
typedef void node_listener_fn(void *context, const struct node_notice *notice);
void node_listen(struct node *n, node_listener_fn *listener, void *context);

/* Users, tokens or sessions have changed here, durably: other nodes are notified. */
void node_access_changed(struct node *n);

/* Call `changed` on the loop when they have changed on another node. */
void node_on_access_change(struct node *n, void (*changed)(void *context), void *context);

/* Whether other nodes may work on the same store: then not all commits are this node's. */
bool node_is_shared(const struct node *n);

/* --- figures --- */

/* What became of messages to the broker of --broker, and how it stands. */
struct node_broker {
    const char *state; /* "up", "away", "blocked"; NULL: there is none */
    char reason[256];  /* unless it is up */
    int64_t confirmed, unroutable, refused, unsent, connects;
    bool takes;                              /* messages of its queue are taken */
    int64_t taken, repeated, intake_refused; /* what came through the queue */
};
void node_broker(const struct node *n, struct node_broker *out);

struct node_stats {
    int64_t batches;         /* that were handed to the store */
    int64_t batches_refused; /* of them, those that it did not take */
    int64_t members_applied, members_refused;
    size_t pending; /* requests in flight */
    size_t waiting; /* of them, those that wait for an end */
    size_t cached;  /* executions in memory */
    size_t cached_bytes;
    size_t programs; /* compiled, in memory */
    size_t program_bytes;
    int64_t programs_compiled; /* since the node was opened */
    size_t timers;             /* that are due within a minute */
    int64_t purged;            /* executions that were deleted because of their age */
    int64_t spared;            /* as old, and kept because a dead letter of them is open */
    size_t mailbox;            /* answers that wait for the loop */
    size_t calls_in_flight;
    size_t calls_queued; /* executions that wait for capacity for one */
    size_t workers_waiting;
    unsigned nodes, shards; /* that live on the store; that this one owns */
    int64_t skew_us;        /* of this machine's clock against the store's */
    int64_t beat_age_us;    /* since this node was last seen alive by the others; 0: it is alone */
    struct folder_space data; /* of the volume of the data folder; zeros when it is not known */
};

void node_stats(const struct node *n, struct node_stats *out);

/* What is measured, or NULL; for the loop. */
struct meters *node_meters(const struct node *n);

/* What the store calls this node. */
struct str node_own_name(const struct node *n);

/* Schedules have changed: the next tick may come sooner than was thought. */
void node_schedules_changed(struct node *n);

/* Tasks have changed: what time brings to them may come sooner than was thought. */
void node_tasks_changed(struct node *n);

#endif
