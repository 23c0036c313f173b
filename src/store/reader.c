/* reader.c - see reader.h. */
#include "store/reader.h"

enum db_status reader_run(struct reader *r, enum sql sql, const struct db_value *params,
                          unsigned count)
{
    enum db_status status = db_run(r->db, sql, params, count);

    if (status != DB_LOST)
        return status;
    db_end(r->db, sql);
    status = db_reconnect(r->db);
    return status == DB_DONE ? db_run(r->db, sql, params, count) : status;
}

bool reader_begin(struct reader *r, struct err *err)
{
    enum db_status status = reader_run(r, SQL_BEGIN_READ, DB_NO_PARAMS);

    db_end(r->db, SQL_BEGIN_READ);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

void reader_end(struct reader *r)
{
    (void)db_exec(r->db, SQL_ROLLBACK, DB_NO_PARAMS);
}

static void *reader_main(void *context)
{
    struct reader *r = context;
    struct readers *all = r->all;

    for (;;) {
        struct store_task *task;

        pthread_mutex_lock(&all->lock);
        while (all->queued == 0 && !all->closing)
            pthread_cond_wait(&all->wake, &all->lock);
        if (all->queued == 0) {
            pthread_mutex_unlock(&all->lock);
            return NULL;
        }
        task = all->queue[all->first];
        all->first = (all->first + 1) % READER_QUEUE_MAX;
        all->queued--;
        pthread_mutex_unlock(&all->lock);

        db_allow_us(r->db, READER_ALLOWED_US);
        task->run(task, r);
        mailbox_put_reserved(all->done, task);
    }
}

void readers_open(struct readers *all, struct db **connections, unsigned count,
                  struct mailbox *done)
{
    ASSERT(count > 0 && count <= READER_MAX);
    all->count = count;
    all->done = done;
    all->first = all->queued = 0;
    all->closing = false;
    if (pthread_mutex_init(&all->lock, NULL) != 0 || pthread_cond_init(&all->wake, NULL) != 0)
        PANIC("no mutex");
    for (unsigned i = 0; i < count; i++) {
        struct reader *r = &all->items[i];

        *r = (struct reader){.db = connections[i], .all = all};
        if (pthread_create(&r->thread, NULL, reader_main, r) != 0)
            PANIC("no thread");
    }
}

bool readers_submit(struct readers *all, struct store_task *task)
{
    bool taken = false;

    pthread_mutex_lock(&all->lock);
    if (all->queued < READER_QUEUE_MAX && mailbox_reserve(all->done)) {
        all->queue[(all->first + all->queued++) % READER_QUEUE_MAX] = task;
        pthread_cond_signal(&all->wake);
        taken = true;
    }
    pthread_mutex_unlock(&all->lock);
    return taken;
}

void readers_close(struct readers *all)
{
    pthread_mutex_lock(&all->lock);
    all->closing = true;
    pthread_cond_broadcast(&all->wake);
    pthread_mutex_unlock(&all->lock);
    for (unsigned i = 0; i < all->count; i++) {
        pthread_join(all->items[i].thread, NULL);
        db_close(all->items[i].db);
    }
    pthread_cond_destroy(&all->wake);
    pthread_mutex_destroy(&all->lock);
}
