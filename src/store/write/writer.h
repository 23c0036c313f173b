/*
 * writer.h - the thread that makes batches durable, one transaction each.
 *
 *     submitted --> begin --> members --> counters, batch number --> commit --> back
 *
 * How a transaction can end other than well:
 *
 *   what went wrong                      then
 *   a member refused after it wrote      once more, with a savepoint per member
 *   a statement refused                  the same; the culprit is MEMBER_FAILED
 *   deadlock, serialisation              the same batch again
 *   a second of waiting for a lock       once more, without the members that may have
 *                                        to wait: they are MEMBER_LOCKED and come alone
 *   read-only                            REFUSED: none of it happened
 *   the epoch of the node is over        REFUSED: other nodes have taken its work over
 *   disk full                            once more with the reserve when all of its members
 *                                        delete; else REFUSED, with no_space
 *   connection lost                      connect again, then look at the batch number
 *                                        in the node's row: it is COMMITTED, or it is
 *                                        written again
 *   I/O or sync error (SQLite)           the process ends with DB_EXIT: whether the
 *                                        commit is on the disk only a restart can tell
 *
 * UNKNOWN is left for a store that is closed before the connection comes back,
 * or whose row was taken away meanwhile as that of a dead node.
 */
#ifndef PAWL_STORE_WRITE_WRITER_H
#define PAWL_STORE_WRITE_WRITER_H

#include "store/db/checkpoint.h"
#include "store/store.h"
#include "store/write/new_rows.h"

enum { WRITER_OUTSTANDING_MAX = 2 };

struct peers;

struct writer {
    struct db *db;
    struct mailbox *done;
    struct checkpoint *checkpoint;  /* NULL for PostgreSQL */
    struct str node;                /* names the row that every batch updates */
    bool waits;                     /* for batches that wait: its row is made with the first */
    int64_t slot;                   /* of the counters */
    struct peers *peers;            /* whose epoch every batch is committed under; or NULL */
    _Atomic int64_t *lost_since_us; /* its own of the store */
    pthread_t thread;
    bool is_tight;  /* the batch uses the reserve of a full volume */
    bool gave_back; /* the last batch has made the file shorter */
    struct new_rows new_rows;
    /* Executions of the batch before that did not become true, for one that rests on it. */
    struct uuid *refused;
    size_t refused_count, refused_capacity;
    int64_t refused_batch; /* ... of the batch with this number */

    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct batch *queue[WRITER_OUTSTANDING_MAX]; /* oldest first; the first may be under way */
    unsigned outstanding;
    bool closing;
};

/* Start the thread. Everything given stays the caller's and lives until writer_close(). */
void writer_open(struct writer *w, struct db *db, struct mailbox *done,
                 struct checkpoint *checkpoint, struct str node, int64_t slot, struct peers *peers,
                 _Atomic int64_t *lost_since_us);

/* The same for batches that wait: one at a time, on a connection of DB_WAIT. */
void writer_open_waiting(struct writer *w, struct db *db, struct mailbox *done, struct str node,
                         int64_t slot, struct peers *peers, _Atomic int64_t *lost_since_us);

/* See store_submit(). */
bool writer_submit(struct writer *w, struct batch *batch);

/* Finish what was submitted and stop. */
void writer_close(struct writer *w);

#endif
