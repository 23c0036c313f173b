/* reader.c - see reader.h. */
#include "store/read/reader.h"

#include "base/alloc.h"
#include "base/time/clock.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SEARCH_NICENESS = 10 };

/* All queues together must fit the mailbox of the node, so that no lane fills it for others. */
static const struct {
    unsigned threads; /* 0: as many as the store was opened with */
    size_t capacity;
    int64_t allowed_us;
    bool yields;
} lanes[LANE_COUNT] = {
    [LANE_ENGINE] = {.capacity = 4096, .allowed_us = 1000000},
    [LANE_SEARCH] = {.threads = 1, .capacity = 1024, .allowed_us = 2500000, .yields = true},
    [LANE_CLIENT] = {.capacity = 2048, .allowed_us = 1000000},
    [LANE_CLIENT_SEARCH] = {.threads = 1, .capacity = 256, .allowed_us = 2500000, .yields = true},
};

/* The connection was lost: make it again. */
static enum db_status reader_connect(struct reader *r)
{
    enum db_status status = db_reconnect(r->db);

    if (status == DB_DONE)
        db_note_connected(r->all->lost_since_us);
    else
        db_note_lost(r->all->lost_since_us);
    return status;
}

enum db_status reader_run(struct reader *r, enum sql sql, const struct db_value *params,
                          unsigned count)
{
    enum db_status status = db_run(r->db, sql, params, count);

    if (status != DB_LOST) {
        if (r->all != NULL) /* one that belongs to no store, of a program that only looks */
            db_note_connected(r->all->lost_since_us);
        return status;
    }
    db_end(r->db, sql);
    status = reader_connect(r);
    return status == DB_DONE ? db_run(r->db, sql, params, count) : status;
}

enum db_status reader_stream(struct reader *r, enum sql sql, const struct db_value *params,
                             unsigned count)
{
    enum db_status status = db_stream(r->db, sql, params, count);

    if (status != DB_LOST)
        return status;
    db_end(r->db, sql);
    status = reader_connect(r);
    return status == DB_DONE ? db_stream(r->db, sql, params, count) : status;
}

int64_t reader_left_us(const struct reader *r)
{
    return r->cut_at_us - clock_mono_us(&clock_system);
}

bool reader_begin(struct reader *r, struct err *err)
{
    enum db_status status = reader_run(r, SQL_BEGIN_READ, DB_NO_PARAMS);

    db_end(r->db, SQL_BEGIN_READ);
    if (status == DB_DONE)
        return true;
    (void)db_fail(r->db, status, err);
    reader_end(r); /* one that was cut may have begun all the same */
    return false;
}

void reader_end(struct reader *r)
{
    int64_t left_us = reader_left_us(r);

    /* A snapshot that stays open when its time is over would be read from then on. */
    db_allow_us(r->db, 0);
    (void)db_exec(r->db, SQL_ROLLBACK, DB_NO_PARAMS);
    db_allow_us(r->db, left_us > 1 ? left_us : 1);
}

static struct store_read *next_read(struct readers *all)
{
    struct store_read *read = NULL;

    pthread_mutex_lock(&all->lock);
    while (all->queued == 0 && !all->closing)
        pthread_cond_wait(&all->wake, &all->lock);
    if (all->queued > 0) {
        read = all->queue[all->first];
        all->first = (all->first + 1) % all->capacity;
        all->queued--;
    }
    pthread_mutex_unlock(&all->lock);
    return read;
}

static void *reader_main(void *context)
{
    struct reader *r = context;
    struct readers *all = r->all;
    struct store_read *read;

    /* Refused is not worth a word: then it competes like any other. */
    if (all->yields)
        (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), SEARCH_NICENESS);
    while ((read = next_read(all)) != NULL) {
        r->cut_at_us = clock_mono_us(&clock_system) + all->allowed_us;
        db_allow_us(r->db, all->allowed_us);
        read->run(read, r);
        mailbox_put_reserved(all->done, read);
    }
    return NULL;
}

unsigned readers_count(enum read_lane lane, unsigned count)
{
    return lanes[lane].threads > 0 ? lanes[lane].threads : count;
}

void readers_open(struct readers *all, enum read_lane lane, struct db **connections, unsigned count,
                  struct mailbox *done, _Atomic int64_t *lost_since_us)
{
    ASSERT(count > 0 && count <= READER_MAX);
    all->count = count;
    all->done = done;
    all->lost_since_us = lost_since_us;
    all->allowed_us = lanes[lane].allowed_us;
    all->yields = lanes[lane].yields;
    all->capacity = lanes[lane].capacity;
    all->queue = alloc_array(all->capacity, sizeof(struct store_read *));
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

bool readers_submit(struct readers *all, struct store_read *read)
{
    bool taken = false;

    pthread_mutex_lock(&all->lock);
    if (all->queued < all->capacity && mailbox_reserve(all->done)) {
        all->queue[(all->first + all->queued++) % all->capacity] = read;
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
    free(all->queue);
}
