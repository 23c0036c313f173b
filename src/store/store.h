/*
 * store.h - the contract between the node and what makes things durable.
 *
 * Writing: the node hands over batches; one thread makes each of them durable
 * in one transaction and gives it back through the node's mailbox. At most two
 * are outstanding, and they end in the order in which they were submitted.
 *
 * A batch ends in one of three ways. COMMITTED: every member says for itself
 * whether it was applied or refused; a member is all or nothing. REFUSED: none
 * of it happened. UNKNOWN: it may or may not have happened (the connection
 * broke while it committed); the store finds out before it takes the next one
 * and the answer is in `batch->end` when it comes back, so the node sees
 * UNKNOWN only when nobody can tell. On SQLite there is no UNKNOWN: an error of
 * reading, writing or syncing ends the process with status 3, and the ordinary
 * start finds out.
 *
 * Reading: tasks run on reader threads with connections of their own, see
 * committed data only, and come back through the same mailbox.
 *
 * The simulator implements the same functions over memory: see struct
 * store_ops.
 */
#ifndef PAWL_STORE_STORE_H
#define PAWL_STORE_STORE_H

#include "base/mailbox.h"
#include "engine/state.h"

struct store;
struct reader; /* a connection for reading; see read.h */

/* What a mailbox item is; the first field of batches and tasks. */
enum store_item { STORE_BATCH, STORE_TASK };

/* --- writing --- */

enum field_kind {
    MEMBER_COMMIT,     /* a commit of the engine */
    MEMBER_DEFINITION, /* a change of a definition */
    MEMBER_CHANGE,     /* a change of anything else that people keep: see change.h */
    MEMBER_CRASH,      /* count a crash of an execution that was found in the poison file */
    MEMBER_ASSERT,     /* an execution is still as it was when something was decided: `assertion` */
};

enum member_result {
    MEMBER_APPLIED,
    MEMBER_STALE,          /* the row_version was not the one it rests on */
    MEMBER_KEY_BUSY,       /* a live execution has this business key: `holder` */
    MEMBER_RECORD_STALE,   /* a record had another version than was read */
    MEMBER_KEPT_STALE,     /* what is kept for a wait that begins is not what was read */
    MEMBER_SIGNAL_KNOWN,   /* a signal of this id exists with the same content: `holder` */
    MEMBER_SIGNAL_DIFFERS, /* ... with other content */
    MEMBER_REPEATED,       /* the Idempotency-Key was used before with the same body: `answer` */
    MEMBER_KEY_CONFLICT,   /* ... with another body */
    MEMBER_TICK_GONE,      /* another node has acted upon this tick, or its schedule has changed */
    MEMBER_GONE,           /* what it names does not exist (any more) */
    MEMBER_FAILED,         /* the database refused it: `err` */
};

/* Kept with the change it belongs to, for this long. */
#define ANSWERS_KEPT_US (INT64_C(24) * 3600 * 1000000)

struct idempotency {
    struct str user, method, path, key;
    struct str body_hash; /* hex */
    int32_t status;       /* the answer to be stored */
    struct str answer;
};

enum definition_action {
    DEFINITION_SAVE_DRAFT,
    DEFINITION_DELETE_DRAFT,
    DEFINITION_PUBLISH,
    DEFINITION_REVERT, /* what was published before is published again */
    DEFINITION_PUT,    /* publish, unless that text is published */
    DEFINITION_REMOVE, /* no version is published any more */
    DEFINITION_RETIRE, /* what is published takes no new starts */
    DEFINITION_UNRETIRE,
    DEFINITION_ERASE, /* every version goes, unless an execution rests on one */
    DEFINITION_KEEP,  /* nothing, provided that `rests_on` is still true */
};

enum definition_match { MATCH_WHATEVER = -1, MATCH_ANY_VERSION = -2 };

/* Definitions are versioned by integers from 1; a draft has none. */
struct definition_change {
    enum definition_action action;
    struct str kind; /* "scenario" */
    struct str code, name;
    struct str text; /* SAVE_DRAFT, PUBLISH, PUT: the definition exactly as it was sent */
    struct str summary;
    struct str user_id;
    /*
     * The revision of the draft, or of PUT and REMOVE the version: 0 there must be
     * none; or one of enum definition_match.
     */
    int64_t if_match;
    bool has_rests_on;
    int64_t rests_on; /* the version that is published; 0 none */
    bool is_process;  /* no process of another kind may have this code */
    bool forgets;     /* versions that are superseded are not kept */
    int64_t now_us;
    /*
     * The answer to be kept for an Idempotency-Key, in `mem`, and its status.
     * Called on the writer's thread. NULL: that of the member's idempotency.
     */
    struct str (*answer)(struct arena *mem, const struct definition_change *d, int32_t *status);
    void *owner;                    /* the caller's */
    struct definition_change *next; /* made together with this one: all or none */

    /* filled by the store */
    int64_t version; /* published, or the revision of the draft */
    bool created;    /* PUT: nothing was published before */
    bool unchanged;  /* PUT: that text was published */
};

/*
 * Who did what, written with the change itself. What executions do and are told
 * (starts, signals) stands in their own history and not here.
 */
struct audit {
    struct str user_id, user_name, org_id;
    struct str action;       /* "scenario.publish"; empty: nothing is written */
    struct str target;       /* what it was done to: a code, an id */
    struct str details_json; /* or empty */
    int64_t now_us;
};

/* A signal that is to find its wait by a correlation. */
struct correlated_signal {
    struct str org_id, id, type, correlation;
    bool has_own_id;   /* the client's: it may be sent again */
    struct str digest; /* of what it says */
    struct str payload_json, by_json;
    struct str sender_json; /* {role, groups}: whose signals a wait may take is looked at later */
    int64_t received_at_us, expires_at_us;
};

/* So long a signal that was delivered is known by its id, however short its own time is. */
#define DELIVERED_KNOWN_US (INT64_C(24) * 3600 * 1000000)

/*
 * What was decided without a change rests on this state: APPLIED when it is
 * still true, else STALE or GONE. A kept answer and an audit entry go with it.
 */
struct assertion {
    struct uuid id;
    int64_t row; /* the store's key; 0 = not known */
    int64_t row_version;
    struct told_numbers consumed; /* rows of execution_events that change nothing: they go */
    struct tells tells;           /* what others are told by it */
    int64_t now_us;
};

struct change;
struct schedule_tick; /* change_schedule.h */
struct event_routes;

/* A message of the outbox that a commit answers: it goes in the same transaction. */
struct taken_message {
    int64_t row, execution; /* the store's keys */
    struct str destination;
};

struct member {
    enum field_kind kind;
    const struct commit *commit;
    struct definition_change *definition;
    struct change *change;
    const struct assertion *assertion; /* MEMBER_ASSERT */
    /* What it receives (MEMBER_COMMIT) or keeps came by correlation; or NULL */
    const struct correlated_signal *correlated;
    /* MEMBER_COMMIT that starts: the tick of a schedule that it acts upon; or NULL */
    const struct schedule_tick *tick;
    struct uuid crashed;                   /* MEMBER_CRASH; parked by it, it gets a dead letter: */
    struct uuid crashed_letter;            /* ... its id, ... */
    int64_t crashed_at_us;                 /* ... and when */
    const struct idempotency *idempotency; /* or NULL */
    const struct audit *audit;             /* or NULL */
    const struct taken_message *message;   /* MEMBER_COMMIT; gone already: MEMBER_GONE. Or NULL */
    struct event_routes *events; /* who wants what it may tell, see tell_event.h; NULL: nobody */
    bool is_void; /* it rests on a commit that was refused: STALE, whatever the store holds */
    void *owner;  /* the node's */

    /* filled by the store */
    enum member_result result;
    int64_t row;        /* MEMBER_COMMIT: the execution's key in the store */
    struct uuid holder; /* MEMBER_KEY_BUSY; MEMBER_SIGNAL_KNOWN: who has received it, if ... */
    bool has_holder;    /* ... anybody has: it may be kept */
    int32_t answer_status;
    struct str answer; /* MEMBER_REPEATED, in batch->mem */
    struct err err;
};

struct members {
    VEC_OF(struct member *);
};

enum batch_result { BATCH_COMMITTED, BATCH_REFUSED, BATCH_UNKNOWN };

struct batch {
    enum store_item item; /* STORE_BATCH */
    struct arena mem;     /* what the members point to may live here; the node's to free */
    int64_t number;       /* counts up from 1 within one run of the node */
    int64_t seen;         /* the last one whose end was known when this one was submitted */
    struct members members;
    enum batch_result end;
    struct err err; /* why, unless COMMITTED */
};

/* --- reading --- */

/*
 * Who reads. Each lane has threads, connections and a queue of its own, so that
 * no lane holds up another: clients never the engine, and what may take seconds
 * never what takes milliseconds.
 */
enum read_lane {
    LANE_ENGINE,        /* executions, timers, records by id */
    LANE_SEARCH,        /* record.query of executions */
    LANE_CLIENT,        /* lists and the like */
    LANE_CLIENT_SEARCH, /* what walks many rows, or computes for long, for a client */
    LANE_COUNT
};

/*
 * Something to be read on a reader thread. `run` fills what the owner embeds
 * this in; it may not touch anything of the loop.
 */
struct store_task {
    enum store_item item; /* STORE_TASK */
    enum read_lane lane;
    void (*run)(struct store_task *task, struct reader *reader);
    void *owner;
};

/* --- the store --- */

struct store_options {
    struct str url;        /* empty or "sqlite": a file in the data folder; or postgres://... */
    struct str data_path;  /* the folder */
    struct mailbox *done;  /* where batches and tasks come back; a slot is reserved for each */
    unsigned reader_count; /* of the lanes of the engine and of clients, each; 0 = 2 */
};

/* Real stores, and the simulated one. */
struct store_ops {
    bool (*submit)(struct store *s, struct batch *batch);
    bool (*read)(struct store *s, struct store_task *task);
    void (*close)(struct store *s);
};

struct store {
    const struct store_ops *ops;
    const char *name; /* what this node is called in the table of nodes; or NULL */
    /* Since when no connection could be made again, by the monotonic clock; 0 = all is well. */
    _Atomic int64_t lost_since_us;
};

/* A connection could not be made again; or one works. By any thread. */
void store_note_lost(_Atomic int64_t *lost_since_us);
void store_note_found(_Atomic int64_t *lost_since_us);

/*
 * Open the store, make or migrate its tables, start its threads. ERR_IO with a
 * message that says what to do: the folder is used by another server, is
 * read-only, the file is damaged or of a newer version, the database cannot be
 * reached.
 */
struct store *store_open(const struct store_options *options, struct err *err) MUST_USE;

/*
 * Read at once, on this thread, with a connection that is made for it: for what
 * must be known before anything else happens. Not for simulated stores.
 */
bool store_read_now(struct store *s, void (*run)(void *context, struct reader *reader),
                    void *context, struct err *err) MUST_USE;

/* Finish what was submitted, stop the threads, close the connections. */
void store_close(struct store *s);

/* Hand a batch over. False when two are outstanding: keep it. */
static inline bool store_submit(struct store *s, struct batch *batch)
{
    return s->ops->submit(s, batch);
}

/* Hand a task over. False when the queue is full: answer 503. */
static inline bool store_read(struct store *s, struct store_task *task)
{
    return s->ops->read(s, task);
}

/* A copy of the whole store in a new file, while it runs (SQLite only). */
bool store_backup(struct store *s, struct str path, struct err *err) MUST_USE;

/*
 * The same of the store in a data folder, without opening it as a node does: a
 * server may run on it or not. The copy grows as path.part until it is whole.
 */
bool store_backup_folder(struct str data_path, struct str path, struct err *err) MUST_USE;

/* Put a copy that store_backup() made into an empty data folder, after looking it through. */
bool store_restore(struct str path, struct str data_path, struct err *err) MUST_USE;

#endif
