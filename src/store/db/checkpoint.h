/*
 * checkpoint.h - moves what commits wrote from SQLite's log into its file.
 *
 * On a thread and a connection of its own. Every CHECKPOINT_PAGES it works
 * beside the writer, which goes on appending. At CHECKPOINT_RESTART_PAGES the
 * writer waits in checkpoint_notify() until all is moved and the log begins anew,
 * so the log cannot outgrow that, however slow the disk is; only readers that
 * are in the way at that moment put it off.
 *
 * On a small volume both are fewer pages: the log takes a quarter of the space
 * that there would be without it. When nobody has written for a while, and when
 * there is no space left, the log is truncated: its file becomes empty.
 *
 * On a full volume the writer borrows the reserve for a batch that does nothing
 * but delete:
 *
 *     LOAN_NONE --lend--> LOAN_ASKED --drop, truncate--> LOAN_LENT
 *         ^                                                  |
 *         +--------truncate, make it again--LOAN_RETURNED <--+
 *
 * why: decisions 0371, 0405, 0420
 */
#ifndef PAWL_STORE_DB_CHECKPOINT_H
#define PAWL_STORE_DB_CHECKPOINT_H

#include "store/db/db.h"

#include <pthread.h>

/* Tests come by here often; a server seldom. */
#ifdef PAWL_SLOW_CHECKS
enum { CHECKPOINT_PAGES = 200, CHECKPOINT_RESTART_PAGES = 800 };
#else
enum { CHECKPOINT_PAGES = 8000, CHECKPOINT_RESTART_PAGES = 64000 };
#endif

enum checkpoint_loan { LOAN_NONE, LOAN_ASKED, LOAN_LENT, LOAN_RETURNED };

struct checkpoint {
    struct db *db;
    struct str folder; /* the caller's */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t log_pages;         /* as the writer last said */
    int64_t file_pages;        /* that the log's file has room for */
    int64_t step_pages;        /* between two rounds beside the writer; by the free space */
    int64_t restart_pages;     /* when the log is to begin anew; by the free space */
    int64_t space_pages;       /* when to look at the free space again */
    int64_t next_pages;        /* when to work beside the writer */
    int64_t stop_pages;        /* when the writer waits */
    uint64_t notified;         /* how often checkpoint_notify() was called */
    bool is_full;              /* there was no space for the log */
    enum checkpoint_loan loan; /* of the reserve, to the writer */
    bool closing;
};

/* Open a connection to `path`, which is a file in `folder`, and start the thread. */
bool checkpoint_open(struct checkpoint *c, struct str path, struct str folder,
                     struct err *err) MUST_USE;

/* How many pages the log has now; called by the writer between two transactions. May wait. */
void checkpoint_notify(struct checkpoint *c, int64_t log_pages);

/* Move what the log holds soon: the file is to become shorter. Called after checkpoint_notify(). */
void checkpoint_hurry(struct checkpoint *c);

/* There was no space for a transaction: truncate the log, if that is possible. */
void checkpoint_full(struct checkpoint *c);

/*
 * Give up the reserve and truncate the log, for one transaction of the writer
 * that deletes; then truncate the log and take the space back. Both wait for
 * the thread, and are called between two transactions.
 */
void checkpoint_lend_reserve(struct checkpoint *c);
void checkpoint_take_reserve_back(struct checkpoint *c);

void checkpoint_close(struct checkpoint *c);

#endif
