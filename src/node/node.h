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
 */
#ifndef PAWL_NODE_NODE_H
#define PAWL_NODE_NODE_H

#include "base/clock.h"
#include "define/define.h"
#include "effect/policy.h"
#include "node/meter.h"
#include "store/read_job.h"

struct node;

/* Who makes calls in place of the thread for them: node_call_answered() comes back once for each. */
struct effect_call;
struct vault;
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
    bool has_schedules;        /* ticks of schedules start executions: see schedules.c */
    bool has_planner;          /* shifts end and due dates pass: see planner_time.c */
    int64_t keep_snapshots_us; /* those that no execution has are deleted, once unused for this
                                  long, two days at least; 0 = none */
    size_t pending_max;        /* requests under way; 0 = 16384; beyond: ERR_OVERLOADED */
    const struct cel_env *env; /* what expressions of definitions may use; NULL = its own */
    struct store *store;    /* for the simulator: use this one, do not open any; it needs `done` */
    struct mailbox *done;   /* with `store`: where its batches and tasks come back */
    uuid_random_fn *random; /* for ids; NULL = the system's */
    void *random_context;
    const struct policy *policy;  /* where calls may go; NULL = the default. It must outlive it */
    struct vault *vault;          /* credentials; NULL = there are none. It must outlive it */
    size_t calls_per_host;        /* under way at once; 0 = CALLS_PER_HOST */
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
    NODE_UNDECIDED, /* changes were under way for too long: nobody knows how they ended */
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

/* The credentials, or NULL; see effect/vault.h. */
struct vault *node_vault(const struct node *n);

/*
 * Links to answer waits begin with `base`, which the node copies:
 * "https://pawl.example/callbacks/". Before node_run(); without it, and without
 * a vault, there are none and $.execution.callbackUrl is null.
 */
void node_link_from(struct node *n, struct str base);

/* How they are made, or NULL; see engine/link.h. Any thread, once the node runs. */
const struct link_maker *node_links(const struct node *n);

/* Whether the node has recovered and takes requests; and why not, in one word. */
bool node_is_ready(const struct node *n, const char **why);

/*
 * How long the store has owed an answer, of a batch or of a read of the engine,
 * or could not be connected to; 0 = it owes none. A store that is silent for
 * STORE_LATE_US makes the node not ready, so that no further clients are sent
 * here; at STORE_AWAY_US it is away: further requests are refused with
 * ERR_STORE_AWAY, and those that wait should be told.
 */
#define STORE_LATE_US INT64_C(5000000)
#define STORE_AWAY_US INT64_C(10000000)
int64_t node_store_silent_us(const struct node *n);
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

/* Whether messages of this kind can be delivered, or wait until a server for them is configured. */
bool node_can_deliver(const struct node *n, enum message_kind kind);

/* --- what becomes durable --- */

/* A commit that has just become durable. Everything lives until the function returns. */
struct node_news {
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
 * Tell `hear` of every commit of this node; NULL: nobody wants to know, which
 * is how it begins, and then it costs nothing. It runs on the loop.
 */
typedef void node_hear_fn(void *context, const struct node_news *news);
void node_on_news(struct node *n, node_hear_fn *hear, void *context);

/* Whether other nodes may work on the same store: then not all news are this node's. */
bool node_is_shared(const struct node *n);

/* --- requests --- */

struct node_user {
    struct str id, name, email, role, org_id;
    struct value groups; /* a list of texts */
};

/* What the system does by itself: triggers run as this user, in an organisation. */
struct node_user node_system_user(struct str org_id);

/* A start by a trigger of type schedule, which gives its input. */
struct schedule_tick;
struct node_schedule {
    struct str id;
    uint32_t position; /* of the trigger */
    struct str cron, timezone;
    int64_t at_us;                    /* $.schedule.at */
    const struct schedule_tick *tick; /* what the start acts upon; NULL: it is started by hand */
};

enum node_request_kind {
    NODE_START,
    NODE_SIGNAL,
    NODE_CANCEL,
    NODE_RETRY,      /* an operator: a failed or held execution runs on */
    NODE_SKIP,       /* ... a held one goes on behind the step that failed */
    NODE_MIGRATE,    /* ... a waiting one goes on with another version */
    NODE_RESOLVE,    /* ... says what became of an attempt that nobody could find out about */
    NODE_UNDO,       /* ... a rollback that was given up is tried again */
    NODE_UNPARK,     /* ... one that the node could not go on with is tried again */
    NODE_PAUSE,      /* ... one that goes forward stops where it is */
    NODE_RESUME,     /* ... and goes on */
    NODE_ASSIGN,     /* ... gives a wait to somebody else: from, visit, assignee */
    NODE_JOB,        /* a worker answers: execution, job_seq, output or job_error */
    NODE_WAIT,       /* for the end of an execution, or for the step that takes a signal */
    NODE_DEFINITION, /* save a draft, delete it, publish, and what else can become of one */
    NODE_CHANGE,     /* any other change: see store/change.h */
};

/*
 * What is asked of the node. The caller fills the upper part, keeps it alive
 * with all it points to, and finds the answer in the lower part when `done` is
 * called. Allocate it in an arena of the request.
 */
/* A webhook that was called, or a button that was pressed: the trigger decides what becomes of it. */
struct node_hook {
    uint32_t position;     /* of the trigger, in the version that the request names */
    bool signals;          /* it signals: a retired process does so, too */
    struct value webhook;  /* what its expressions see: all of it; or absent */
    struct value record;   /* the same of an action; what r->input has is laid over its input */
    struct idempotency id; /* what a redelivery is known by; `key` is what the trigger says */
    /* --- the answer --- */
    bool is_idle; /* its `when` is false: nothing has happened */
};

/* What a request of a client is called in its answer and in the log: "RUN-NUMBER". */
struct request_name {
    uint32_t run;    /* of the server */
    uint64_t number; /* 0: it is none of a client */
};

/* A start by a trigger of type event: see triggers.h. */
struct event_start;

struct node_request {
    enum node_request_kind kind;
    struct node_user user;
    struct idempotency idempotency; /* key.len == 0: none */
    struct audit audit;             /* action.len == 0: none */
    struct request_name name;       /* of the client's request, for the log */
    /* START, WAIT: answer when it ends; SIGNAL: when a step took it; or after this; 0 = at once */
    int64_t wait_us;

    /* START */
    struct str code;
    int64_t version;    /* 0 = the published one; RETRY, MIGRATE: 0 = the one it has */
    struct value input; /* RETRY: absent = the one it has */
    struct str key;
    struct str trace;       /* a traceparent that it takes over, or empty */
    struct value webhook;   /* the request that starts it, $.webhook: a map, or anything else */
    struct str record;      /* "object/id": the record whose card it is started from, or empty */
    struct node_hook *hook; /* START: what is started or signalled is said by a trigger; or NULL */
    bool answers_id;        /* the answer that is kept is {id} alone, 202 */
    const struct node_schedule *schedule; /* in place of `input`; or NULL */
    struct event_start *by_event;         /* a trigger makes input and key of an event; or NULL */
    bool has_again_of;
    struct uuid again_of; /* the execution that it is started again for */
    /* all others that are about an execution */
    struct uuid execution;  /* SIGNAL by correlation: an answer */
    struct str correlation; /* SIGNAL: for the oldest wait that has it and takes it; or empty */
    int64_t ttl_us;         /* ... so long it is kept when there is none */
    struct str signal_id, signal_type;
    const struct answer_to *answer_to; /* SIGNAL: no other wait may take it; or NULL */
    int64_t signal_seq; /* WAIT: for the step that takes this signal; an answer of SIGNAL */
    struct value payload;
    struct value signal_by;               /* {id, name}: a map; PAUSE, RESUME, ASSIGN: who asks */
    bool names_execution;                 /* SIGNAL: the answer that is kept says who received it */
    enum cancel_rollback cancel_rollback; /* CANCEL */
    struct str reason;                    /* CANCEL, PAUSE; or empty */
    struct str from;       /* RETRY, ASSIGN: the code of a step; empty = where it stands */
    int64_t visit;         /* ASSIGN: of that step; 0 = the only one that waits */
    struct value assignee; /* ASSIGN */
    struct str held;       /* RETRY: the step that is held, of several; empty = the first */
    struct value output;   /* SKIP, RESOLVE: of the step; absent = none */
    struct str letter;     /* RESOLVE, UNDO, UNPARK: the id of the dead letter */
    /* RESOLVE; `idempotency` has the status and the answer that is kept */
    enum verdict verdict;
    struct str note;
    /* JOB */
    int64_t job_seq;        /* the row of the attempt */
    struct value job_error; /* `output` being absent */
    struct str job_digest;  /* of the answer: the same one may be sent twice */
    /* DEFINITION */
    struct definition_change definition;
    struct definition_change *definitions; /* in place of the former: several, by `next` */
    /* CHANGE */
    struct change *change; /* its answer_json lives in `mem` when `done` is called */

    void (*done)(struct node_request *r);
    void *owner;

    /* --- the answer --- */
    struct arena *mem; /* given by the caller; the answer lives here */
    bool ok;
    struct err err;            /* !ok: code, message */
    struct findings findings;  /* !ok with ERR_INVALID: what is wrong */
    struct uuid id;            /* START: the execution; ERR_KEY_BUSY: who has the key */
    bool joined;               /* START: it was there already (key or Idempotency-Key) */
    bool ended;                /* START, WAIT: it has ended */
    struct str execution_json; /* START, WAIT: as GET /executions/{id} would show it */
    struct str signal_id_out;  /* SIGNAL */
    bool is_kept;              /* SIGNAL by correlation: no wait has taken it yet */
    struct str taken_json;     /* the row of the step that took the signal, as /steps shows it */
    enum execution_status taken_status; /* ... and what the execution was then */
    bool taken_before;        /* it may have been taken before; the history says by which step */
    struct str stored_answer; /* an earlier answer under the same Idempotency-Key */
    int32_t stored_status;

    /* the node's own */
    struct node_request *next;
    int64_t deadline_us;
    unsigned tries;
    bool has_own_id; /* SIGNAL: the id is the client's */
};

/*
 * Take a request. False: refused at once (ERR_OVERLOADED, ERR_STORE_AWAY) and
 * `done` will not be called.
 */
bool node_submit(struct node *n, struct node_request *r, struct err *err) MUST_USE;

/* Whether this is the row of the step that took the signal of that seq. */
bool node_row_took(struct arena *mem, const struct history_row *row, int64_t signal_seq);

/* --- workers --- */

struct job_queue;
struct node_poll;

/* Its place among those who wait for a type. */
struct poll_link {
    struct node_poll *poll;
    struct job_queue *queue;
    struct poll_link *before, *next;
};

/*
 * Who asks for jobs, until there are some or its time is up. The caller fills
 * the upper part; `done` is called exactly once, and what poll.found holds
 * lives until it returns.
 */
struct node_poll {
    struct job_poll poll; /* org_id, worker, types, max, lease_us; found is the answer */
    int64_t wait_us;      /* 0 = what is there now */
    bool (*is_gone)(const struct node_poll *p); /* whether nobody would hear the answer; or NULL */
    void (*done)(struct node_poll *p);
    void *owner;
    struct arena *mem;

    bool ok;
    struct err err; /* !ok */

    /* the node's own */
    struct poll_link *links; /* for each type */
    struct node_poll *before, *next;
    int64_t deadline_us;
};

/* Endpoints have been registered or removed. */
void node_look_at_workers(struct node *n);

/* Take it. False: refused at once, and `done` will not be called. */
bool node_poll(struct node *n, struct node_poll *p, struct err *err) MUST_USE;

/* --- figures --- */

struct node_stats {
    int64_t batches;         /* that were handed to the store */
    int64_t batches_refused; /* of them, those that it did not take */
    int64_t members_applied, members_refused;
    size_t pending; /* requests under way */
    size_t waiting; /* of them, those that wait for an end */
    size_t cached;  /* executions in memory */
    size_t cached_bytes;
    size_t programs; /* compiled, in memory */
    size_t program_bytes;
    size_t timers;  /* that are due within a minute */
    int64_t purged; /* executions that were deleted because of their age */
    size_t mailbox; /* answers that wait for the loop */
    size_t calls_under_way;
    size_t calls_queued; /* executions that wait for room for one */
    size_t workers_waiting;
};

void node_stats(const struct node *n, struct node_stats *out);

/* What is measured, or NULL; for the loop. */
struct meters *node_meters(const struct node *n);

/* What the store calls this node. */
struct str node_own_name(const struct node *n);

/* --- reading --- */

/*
 * Read on a reader thread: `run` there, then `done` on the loop. False:
 * overloaded, or the store is away and this is no read of the engine.
 */
struct node_read {
    struct store_task task;
    enum read_lane lane;
    void (*run)(struct node_read *read, struct reader *reader);
    void (*done)(struct node_read *read);
    void *owner;
};
bool node_read(struct node *n, struct node_read *read, struct err *err) MUST_USE;

/* Schedules have changed: the next tick may come sooner than was thought. */
void node_schedules_nudge(struct node *n);

/* Tasks have changed: what time brings to them may come sooner than was thought. */
void node_planner_nudge(struct node *n);

#endif
