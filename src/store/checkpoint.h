/*
 * checkpoint.h - moves what commits wrote from SQLite's log into its file.
 *
 * On a thread and a connection of its own. From CHECKPOINT_PAGES on, beside the
 * writer, which goes on appending; from CHECKPOINT_RESTART_PAGES on the writer
 * is held for a moment, so that the log begins anew and its file is reused.
 */
#ifndef PAWL_STORE_CHECKPOINT_H
#define PAWL_STORE_CHECKPOINT_H

#include "store/db.h"
#include "store/gate.h"

/* Tests come by here often; a server seldom. */
#ifdef PAWL_SLOW_CHECKS
enum { CHECKPOINT_PAGES = 200, CHECKPOINT_RESTART_PAGES = 800 };
#else
enum { CHECKPOINT_PAGES = 8000, CHECKPOINT_RESTART_PAGES = 64000 };
#endif

struct checkpoint {
    struct db *db;
    struct gate gate; /* the writer passes it with every batch */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    int64_t log_pages;   /* as the writer last said */
    int64_t moved_pages; /* how many of them were moved */
    bool closing;
};

/* Open a connection to `path` and start the thread. */
bool checkpoint_open(struct checkpoint *c, struct str path, struct err *err) MUST_USE;

/* How many pages the log has now; called by the writer after a commit. */
void checkpoint_tell(struct checkpoint *c, int64_t log_pages);

void checkpoint_close(struct checkpoint *c);

#endif
