/* checkpoint.c - see checkpoint.h. */
#include "store/checkpoint.h"

#include "base/crash.h"
#include "base/log.h"

static void run(struct checkpoint *c, bool restart)
{
    enum db_status status;

    CRASH_POINT(CHECKPOINT_BEFORE);
    if (restart) {
        gate_hold(&c->gate);
        CRASH_POINT(CHECKPOINT_HELD);
    }
    status = db_sqlite_checkpoint(c->db, restart);
    if (restart)
        gate_let_go(&c->gate);
    CRASH_POINT(CHECKPOINT_AFTER);
    if (status == DB_IO)
        db_end_process(c->db, status);
    /* A reader in the way is no failure: the next round tries again. */
    if (status != DB_DONE && status != DB_BUSY) {
        struct err err;

        (void)db_fail(c->db, status, &err);
        log_write(LOG_WARN, "checkpoint failed", LOG_FIELDS(log_err("error", &err)));
    }
}

static bool is_due(const struct checkpoint *c)
{
    /* A log that became shorter was begun anew. */
    return c->log_pages >= CHECKPOINT_PAGES + (c->log_pages < c->moved_pages ? 0 : c->moved_pages);
}

static void *checkpoint_main(void *context)
{
    struct checkpoint *c = context;

    pthread_mutex_lock(&c->lock);
    while (!c->closing) {
        int64_t pages = c->log_pages;

        if (!is_due(c)) {
            pthread_cond_wait(&c->wake, &c->lock);
            continue;
        }
        c->moved_pages = pages;
        pthread_mutex_unlock(&c->lock);
        run(c, false);
        if (pages >= CHECKPOINT_RESTART_PAGES)
            run(c, true);
        pthread_mutex_lock(&c->lock);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

bool checkpoint_open(struct checkpoint *c, struct str path, struct err *err)
{
    *c = (struct checkpoint){0};
    c->db = db_sqlite_open(path, DB_WRITE, err);
    if (c->db == NULL)
        return false;
    gate_init(&c->gate);
    if (pthread_mutex_init(&c->lock, NULL) != 0 || pthread_cond_init(&c->wake, NULL) != 0 ||
        pthread_create(&c->thread, NULL, checkpoint_main, c) != 0)
        PANIC("no thread");
    return true;
}

void checkpoint_tell(struct checkpoint *c, int64_t log_pages)
{
    pthread_mutex_lock(&c->lock);
    c->log_pages = log_pages;
    if (log_pages < c->moved_pages)
        c->moved_pages = 0;
    if (is_due(c))
        pthread_cond_signal(&c->wake);
    pthread_mutex_unlock(&c->lock);
}

void checkpoint_close(struct checkpoint *c)
{
    pthread_mutex_lock(&c->lock);
    c->closing = true;
    pthread_cond_signal(&c->wake);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);
    db_close(c->db);
    gate_fini(&c->gate);
    pthread_cond_destroy(&c->wake);
    pthread_mutex_destroy(&c->lock);
}
