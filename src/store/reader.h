/*
 * reader.h - threads that read, each with a connection of its own.
 *
 * Tasks wait in one bounded queue and are taken in order. A task may use its
 * connection for READER_ALLOWED_US; then its statements are cut.
 */
#ifndef PAWL_STORE_READER_H
#define PAWL_STORE_READER_H

#include "store/db.h"
#include "store/store.h"

#include <pthread.h>

enum { READER_MAX = 16, READER_QUEUE_MAX = 4096 };
#define READER_ALLOWED_US INT64_C(1000000)

/* A connection for reading, with which the functions of read.h are called. */
struct reader {
    struct db *db;
    pthread_t thread;
    struct readers *all;
};

struct readers {
    struct reader items[READER_MAX];
    unsigned count;
    struct mailbox *done;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct store_task *queue[READER_QUEUE_MAX]; /* a ring */
    size_t first, queued;
    bool closing;
};

/* Start a thread for each of `count` connections, which become the readers'. */
void readers_open(struct readers *all, struct db **connections, unsigned count,
                  struct mailbox *done);

/* See store_read(). */
bool readers_submit(struct readers *all, struct store_task *task);

/* Run what is queued, stop the threads, close the connections. */
void readers_close(struct readers *all);

/* db_run(), which begins anew once where the connection was found lost. Only for a first statement. */
enum db_status reader_run(struct reader *r, enum sql sql, const struct db_value *params,
                          unsigned count);

/* Begin a transaction: what is read up to reader_end() is one snapshot. */
bool reader_begin(struct reader *r, struct err *err) MUST_USE;
void reader_end(struct reader *r);

#endif
