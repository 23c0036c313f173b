/* checkpoint.c - see checkpoint.h. */
#include "store/checkpoint.h"

#include "base/crash.h"
#include "base/log.h"

static bool run(struct checkpoint *c, bool restart)
{
    enum db_status status;

    CRASH_POINT(CHECKPOINT_BEFORE);
    if (restart)
        CRASH_POINT(CHECKPOINT_HELD);
    status = db_sqlite_checkpoint(c->db, restart);
    CRASH_POINT(CHECKPOINT_AFTER);
    if (status == DB_IO)
        db_end_process(c->db, status);
    /* A reader in the way is no failure: the next round tries again. */
    if (status != DB_DONE && status != DB_BUSY) {
        struct err err;

        (void)db_fail(c->db, status, &err);
        log_write(LOG_WARN, "checkpoint failed", LOG_FIELDS(log_err("error", &err)));
    }
    return status == DB_DONE;
}

/* Under the lock, which is given up meanwhile. The writer waits. */
static void restart_log(struct checkpoint *c)
{
    bool ok;

    pthread_mutex_unlock(&c->lock);
    ok = run(c, true);
    pthread_mutex_lock(&c->lock);
    if (ok) {
        c->log_pages = 0;
        c->next_pages = CHECKPOINT_PAGES;
        c->stop_pages = CHECKPOINT_RESTART_PAGES;
    } else {
        c->next_pages = c->stop_pages = c->log_pages + CHECKPOINT_PAGES;
    }
    pthread_cond_broadcast(&c->changed);
}

/* Under the lock, which is given up meanwhile. The writer goes on. */
static void move_pages(struct checkpoint *c)
{
    int64_t pages = c->log_pages;

    pthread_mutex_unlock(&c->lock);
    (void)run(c, false);
    pthread_mutex_lock(&c->lock);
    /* A shorter log was begun anew meanwhile. */
    if (c->log_pages >= pages)
        c->next_pages = pages + CHECKPOINT_PAGES;
}

static void *checkpoint_main(void *context)
{
    struct checkpoint *c = context;

    pthread_mutex_lock(&c->lock);
    while (!c->closing) {
        if (c->log_pages >= c->stop_pages)
            restart_log(c);
        else if (c->log_pages >= c->next_pages)
            move_pages(c);
        else
            pthread_cond_wait(&c->changed, &c->lock);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

bool checkpoint_open(struct checkpoint *c, struct str path, struct err *err)
{
    *c =
        (struct checkpoint){.next_pages = CHECKPOINT_PAGES, .stop_pages = CHECKPOINT_RESTART_PAGES};
    c->db = db_sqlite_open(path, DB_WRITE, err);
    if (c->db == NULL)
        return false;
    if (pthread_mutex_init(&c->lock, NULL) != 0 || pthread_cond_init(&c->changed, NULL) != 0 ||
        pthread_create(&c->thread, NULL, checkpoint_main, c) != 0)
        PANIC("no thread");
    return true;
}

void checkpoint_tell(struct checkpoint *c, int64_t log_pages)
{
    pthread_mutex_lock(&c->lock);
    if (log_pages < c->log_pages) {
        /* It was begun anew. */
        c->next_pages = CHECKPOINT_PAGES;
        c->stop_pages = CHECKPOINT_RESTART_PAGES;
    }
    c->log_pages = log_pages;
    if (log_pages >= c->next_pages || log_pages >= c->stop_pages)
        pthread_cond_broadcast(&c->changed);
    while (c->log_pages >= c->stop_pages && !c->closing)
        pthread_cond_wait(&c->changed, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

void checkpoint_hurry(struct checkpoint *c)
{
    pthread_mutex_lock(&c->lock);
    c->next_pages = 1;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

void checkpoint_close(struct checkpoint *c)
{
    pthread_mutex_lock(&c->lock);
    c->closing = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);
    db_close(c->db);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
}
