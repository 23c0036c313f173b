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
 * Reading: reads run on reader threads with connections of their own, see
 * committed data only, and come back through the same mailbox.
 *
 * The simulator implements the same functions over memory: see struct
 * store_ops.
 *
 * why: decisions 0030, 0031
 */
#ifndef PAWL_STORE_STORE_H
#define PAWL_STORE_STORE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/mailbox.h"
#include "engine/commit/notice.h"
#include "store/lane.h"

#include <stdatomic.h>

struct store;

/* --- writing --- */

enum member_kind {
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
    MEMBER_START_STALE,    /* an execution that it starts has a key that another one holds by now */
    MEMBER_BUFFERED_STALE, /* what is kept for a wait that begins is not what was read */
    MEMBER_SIGNAL_KNOWN,   /* a signal of this id exists with the same content: `holder` */
    MEMBER_SIGNAL_DIFFERS, /* ... with other content */
    MEMBER_REPEATED,       /* the Idempotency-Key was used before with the same body: `answer` */
    MEMBER_KEY_CONFLICT,   /* ... with another body */
    MEMBER_TICK_GONE,      /* another node has acted upon this tick, or its schedule has changed */
    MEMBER_GONE,           /* what it names does not exist (any more) */
    MEMBER_LOCKED,         /* another session has a row that it needs: nothing of it was tried */
    MEMBER_FAILED,         /* the database refused it: `err` */
};

/*
 * What was decided without a change rests on this state: APPLIED when it is
 * still true, else STALE or GONE. A kept answer and an audit entry go with it.
 */
struct assertion {
    struct uuid id;
    int64_t row; /* the store's key; 0 = not known */
    int64_t row_version;
    struct notice_numbers consumed; /* rows of execution_events that change nothing: they go */
    struct notices notices;         /* what others are notified of by it */
    int64_t now_us;
};

/* What a member points to has headers of its own: see those of these names. */
struct audit;
struct change;
struct commit;
struct correlated_signal; /* change_signal.h */
struct definition_change; /* change_definition.h */
struct event_routes;
struct idempotency;
struct schedule_tick; /* change_schedule.h */

/* A message of the outbox that a commit answers: it goes in the same transaction. */
struct taken_message {
    int64_t row, execution; /* the store's keys */
    struct str destination;
};

struct member {
    enum member_kind kind;
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
    struct event_routes *events; /* who wants what it may tell, see event_routes.h; NULL: nobody */
    bool is_void; /* it rests on a commit that was refused: STALE, whatever the store holds */
    void *owner;  /* the node's */

    /* filled by the store */
    enum member_result result;
    int64_t row;        /* MEMBER_COMMIT: the execution's key in the store */
    struct uuid holder; /* MEMBER_KEY_BUSY; MEMBER_SIGNAL_KNOWN: who has received it, if ... */
    bool has_holder;    /* ... anybody has: it may be kept */
    int32_t answer_status;
    struct str answer; /* MEMBER_REPEATED, in batch->mem */
    bool
        is_left_out; /* MEMBER_LOCKED: its batch has waited; it is to come alone, see batch.waits */
    struct err err;

    /* the store's own: see write/row_locks.h */
    bool locks_rows, is_passed_over;
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
    bool waits; /* one member that was passed over: its rows are waited for, see store_submit() */
    enum batch_result end;
    struct err err; /* why, unless COMMITTED */
    bool no_space;  /* it was refused because the volume is full */
};

/* --- the store --- */

struct store_options {
    struct str url;        /* empty or "sqlite": a file in the data folder; or postgres://... */
    struct str data_path;  /* the folder */
    struct mailbox *done;  /* where batches and reads come back; a slot is reserved for each */
    unsigned reader_count; /* of the lanes of the engine and of clients, each; 0 = 2 */
    struct str version;    /* of the program, for the list of nodes */
    bool owns_nothing;     /* nothing moves on this node: it takes no shards */
};

/* Real stores, and the simulated one. */
struct store_ops {
    bool (*submit)(struct store *s, struct batch *batch);
    bool (*read)(struct store *s, struct store_read *read);
    void (*close)(struct store *s);
};

/* Who has connections of its own and makes them again when they are lost. */
enum store_part { STORE_WRITER, STORE_WAITING_WRITER, STORE_READERS, STORE_PART_COUNT };

struct peers;
struct store {
    const struct store_ops *ops;
    const char *name;    /* what this node is called in the table of nodes; or NULL */
    struct peers *peers; /* NULL: this node has the store for itself; see peers.h */
    /*
     * Since when it could make no connection again, by the monotonic clock; 0 = all is well. Each
     * part writes its own alone: that one has a connection says nothing of the others.
     */
    _Atomic int64_t lost_since_us[STORE_PART_COUNT];
};

/*
 * Since when there has been no connection to write or none to read, the first of them; 0 = all is
 * well. Without that of the batches that wait only those wait longer.
 */
static inline int64_t store_lost_since_us(const struct store *s)
{
    int64_t writer_us = atomic_load_explicit(&s->lost_since_us[STORE_WRITER], memory_order_relaxed);
    int64_t readers_us =
        atomic_load_explicit(&s->lost_since_us[STORE_READERS], memory_order_relaxed);

    return writer_us == 0 || (readers_us != 0 && readers_us < writer_us) ? readers_us : writer_us;
}

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

/*
 * Hand a batch over. False when two are outstanding: keep it.
 *
 * A batch that waits has one member, whose rows others have had for long enough:
 * a connection of its own waits up to a second for each of them, beside the other
 * batches and in no order with them. One may be outstanding; its numbers count
 * for themselves. What its member rests on must be durable.
 */
static inline bool store_submit(struct store *s, struct batch *batch)
{
    return s->ops->submit(s, batch);
}

/* Hand a read over. False when the queue is full: answer 503. */
static inline bool store_read(struct store *s, struct store_read *read)
{
    return s->ops->read(s, read);
}

#endif
