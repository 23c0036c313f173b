/*
 * reader.h - threads that read, each with a connection of its own: one lane.
 *
 * The reads of a lane wait in one bounded queue and are taken in order. A read
 * may use its connection for as long as its lane allows; then its statements
 * are cut.
 *
 * why: decision 0150
 */
#ifndef PAWL_STORE_READ_READER_H
#define PAWL_STORE_READ_READER_H

#include "store/db/db.h"
#include "store/store.h"

#include <pthread.h>

enum { READER_MAX = 16 };

/* A connection for reading, with which the functions of read.h are called. */
struct reader {
    struct db *db;
    pthread_t thread;
    struct readers *all;
    int64_t cut_at_us; /* by the monotonic clock: then the statements of the read are cut */
};

struct readers {
    struct reader items[READER_MAX];
    unsigned count;
    struct mailbox *done;
    _Atomic int64_t *lost_since_us; /* its own of the store */
    int64_t allowed_us;             /* for one read */
    bool yields;                    /* other threads come first where processors are few */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct store_read **queue; /* a ring */
    size_t capacity, first, queued;
    bool closing;
};

/* How many threads a lane has where the lanes of engine and clients have `count` each. */
unsigned readers_count(enum read_lane lane, unsigned count);

/* Start a thread for each of `count` connections, which become the readers'. */
void readers_open(struct readers *all, enum read_lane lane, struct db **connections, unsigned count,
                  struct mailbox *done, _Atomic int64_t *lost_since_us);

/* See store_read(). */
bool readers_submit(struct readers *all, struct store_read *read);

/* Run what is queued, stop the threads, close the connections. */
void readers_close(struct readers *all);

/* db_run(), which begins anew once where the connection was found lost. Only for a first statement. */
enum db_status reader_run(struct reader *r, enum sql sql, const struct db_value *params,
                          unsigned count);

/* The same for db_stream(). */
enum db_status reader_stream(struct reader *r, enum sql sql, const struct db_value *params,
                             unsigned count);

/* How long the read may go on. */
int64_t reader_left_us(const struct reader *r);

/* Begin a transaction: what is read up to reader_end() is one snapshot. */
bool reader_begin(struct reader *r, struct err *err) MUST_USE;
void reader_end(struct reader *r);

#endif
