/* peers.c - beats, epochs and notices of a node among others; see peer.h and store/peers.h. */
#include "base/alloc.h"
#include "base/log.h"
#include "base/time/clock.h"
#include "store/peer/notice.h"
#include "store/peer/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define BEAT_EVERY_US INT64_C(2000000)
#define LOOK_EVERY_US INT64_C(500000)
#define SILENT_MAX_US INT64_C(10000000)
#define LOCKED_REST_US INT64_C(3000000)
#define ACT_MAX_US INT64_C(8000000)
/* A gap between two looks counts for no more than this: this process may have been stopped. */
#define LOOK_GAP_MAX_US INT64_C(1000000)

enum { EPOCH_FILE_SIZE = 32 };

int64_t peer_boot_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_BOOTTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void peer_signal(int fd)
{
    uint64_t one = 1;

    if (write(fd, &one, sizeof(one)) < 0) {
        /* The counter is full: who waits for it is awake already. */
    }
}

/* --- for the loop --- */

void peer_publish_owned(struct peers *p, const struct shard_set *owned)
{
    if (memcmp(&p->owned, owned, sizeof(*owned)) == 0)
        return;
    p->owned = *owned;
    pthread_mutex_lock(&p->lock);
    p->news.shards_changed = true;
    p->news.owned = *owned;
    shard_set_join(&p->news.taken_over, &p->taken_over);
    p->taken_over = (struct shard_set){0};
    pthread_mutex_unlock(&p->lock);
    peer_signal(p->news_fd);
}

int64_t peers_epoch(const struct peers *p)
{
    return atomic_load(&p->epoch);
}

bool peers_epoch_is_over(struct peers *p, int64_t epoch)
{
    bool is_living;

    pthread_mutex_lock(&p->lock);
    is_living = p->living_count == 0 || epoch > p->living[p->living_count - 1];
    for (unsigned i = 0; i < p->living_count && !is_living; i++)
        is_living = p->living[i] == epoch;
    pthread_mutex_unlock(&p->lock);
    return !is_living;
}

int64_t peers_beat_age_us(const struct peers *p)
{
    return peer_boot_us() - atomic_load(&p->beat_us);
}

bool peers_may_act(const struct peers *p)
{
    return peers_beat_age_us(p) < ACT_MAX_US;
}

unsigned peers_count(const struct peers *p)
{
    return atomic_load_explicit(&p->count, memory_order_relaxed);
}

int64_t peers_skew_us(const struct peers *p)
{
    return atomic_load_explicit(&p->skew_us, memory_order_relaxed);
}

int64_t peers_offset_us(const struct peers *p)
{
    return atomic_load_explicit(&p->offset_us, memory_order_relaxed);
}

int peers_fd(const struct peers *p)
{
    return p->news_fd;
}

void peers_take(struct peers *p, struct peer_news *out)
{
    uint64_t count;

    if (read(p->news_fd, &count, sizeof(count)) < 0) {
        /* Nothing to read: what there is was taken before. */
    }
    pthread_mutex_lock(&p->lock);
    *out = p->news;
    p->news.shards_changed = p->news.epoch_ended = false;
    p->news.taken_over = (struct shard_set){0};
    p->news.notice = (struct peer_notice){0};
    pthread_mutex_unlock(&p->lock);
}

void peers_notify(struct peers *p, const struct peer_notice *notice)
{
    if (peers_count(p) < 2 || notice_is_empty(notice))
        return;
    pthread_mutex_lock(&p->lock);
    notice_merge(&p->out, notice);
    pthread_mutex_unlock(&p->lock);
    peer_signal(p->wake_fd);
}

void peers_report(struct peers *p, const struct peer_figures *figures)
{
    pthread_mutex_lock(&p->lock);
    p->figures = *figures;
    pthread_mutex_unlock(&p->lock);
}

void peers_drain(struct peers *p)
{
    pthread_mutex_lock(&p->lock);
    p->is_draining = p->is_hurried = true;
    pthread_mutex_unlock(&p->lock);
    peer_signal(p->wake_fd);
}

void peers_hurry(struct peers *p)
{
    pthread_mutex_lock(&p->lock);
    p->is_hurried = true;
    pthread_mutex_unlock(&p->lock);
    peer_signal(p->wake_fd);
}

/* --- notices --- */

/* What was said while nobody listened is found by looking. */
static void peer_missed_notices(struct peers *p)
{
    pthread_mutex_lock(&p->lock);
    p->news.notice.shards = shard_set_all();
    p->news.notice.ended.is_cut = p->news.notice.awaited.is_cut = true;
    p->news.notice.types_are_cut = true;
    p->news.notice.definitions = p->news.notice.access = true;
    pthread_mutex_unlock(&p->lock);
    peer_signal(p->news_fd);
}

static enum db_status notices_hear(struct peers *p)
{
    struct peer_notice heard = {0};
    enum db_status status;
    struct str text;
    bool moved = false;

    while ((status = db_postgres_notified(p->db, &p->mem, &text)) == DB_ROW)
        notice_read(&p->mem, text, str_of(p->node), &heard, &moved);
    if (moved)
        p->next_look_us = 0;
    if (notice_is_empty(&heard))
        return status;
    pthread_mutex_lock(&p->lock);
    notice_merge(&p->news.notice, &heard);
    pthread_mutex_unlock(&p->lock);
    peer_signal(p->news_fd);
    return status;
}

static enum db_status notice_send(struct peers *p, const struct peer_notice *notice, bool moved)
{
    struct buf text;

    buf_init_arena(&text, &p->mem);
    notice_write(&text, str_of(p->node), notice, moved);
    return db_exec(p->db, SQL_PEER_NOTIFY, DB_PARAMS(db_text(buf_view(&text))));
}

static enum db_status notices_send(struct peers *p)
{
    struct peer_notice notice;

    pthread_mutex_lock(&p->lock);
    notice = p->out;
    p->out = (struct peer_notice){0};
    pthread_mutex_unlock(&p->lock);
    return notice_is_empty(&notice) ? DB_DONE : notice_send(p, &notice, false);
}

/* --- epochs --- */

/* The next process in this folder ends this epoch at once. */
static void epoch_keep(struct peers *p, int64_t epoch)
{
    FILE *f = p->file != NULL ? fopen(p->file, "we") : NULL;

    if (f == NULL)
        return;
    (void)fprintf(f, "%lld\n", (long long)epoch);
    (void)fclose(f);
}

/*
 * Under the lock of the folder: whoever had that epoch is gone. A batch of it may still be on its
 * way to its commit, for any time: the start does not wait for that, the looks behind it try again.
 */
static enum db_status epoch_end_former(struct peers *p)
{
    char text[EPOCH_FILE_SIZE] = "";
    FILE *f = p->file != NULL ? fopen(p->file, "re") : NULL;
    enum db_status status;
    int64_t epoch = 0;

    if (f == NULL)
        return DB_DONE;
    if (fgets(text, sizeof(text), f) == NULL)
        text[0] = '\0';
    (void)fclose(f);
    if (!str_to_int64(str_trim(str_of(text)), &epoch))
        return DB_DONE;
    status = db_exec(p->db, SQL_EPOCH_DROP, DB_PARAMS(db_int(epoch)));
    if (status != DB_LOCKED)
        return status;
    p->former = epoch;
    log_write(LOG_WARN,
              "a batch from before the start is still being committed: its work is taken over then",
              LOG_FIELDS(log_int("epoch", epoch)));
    return DB_DONE;
}

static enum db_status epoch_take(struct peers *p)
{
    int64_t sent_us = peer_boot_us(), epoch = 0;
    enum db_status status =
        db_run(p->db, SQL_EPOCH_TAKE,
               DB_PARAMS(db_text(str_of(p->node)), db_int(p->started_at_us), db_text(p->version)));

    if (status == DB_ROW)
        epoch = db_column_int(p->db, SQL_EPOCH_TAKE, 0);
    db_end(p->db, SQL_EPOCH_TAKE);
    if (status != DB_ROW)
        return status == DB_DONE ? DB_REFUSED : status;
    peer_publish_owned(p, &(struct shard_set){0});
    epoch_keep(p, epoch);
    atomic_store(&p->epoch, epoch);
    atomic_store(&p->beat_us, sent_us);
    p->next_look_us = 0;
    p->next_beat_us = sent_us + BEAT_EVERY_US;
    return DB_DONE;
}

/* The row of this epoch is gone: what was decided under it does not become true any more. */
static enum db_status epoch_renew(struct peers *p)
{
    enum db_status status;

    log_write(LOG_WARN, "other nodes took this one for dead: it goes on under a new epoch", NULL);
    status = epoch_take(p);
    peer_missed_notices(p);
    return status;
}

/* --- beats --- */

static void note_drain_asked(struct peers *p)
{
    pthread_mutex_lock(&p->lock);
    p->news.is_to_drain = true;
    pthread_mutex_unlock(&p->lock);
    peer_signal(p->news_fd);
}

static enum db_status peer_beat(struct peers *p)
{
    int64_t sent_us = peer_boot_us(), before_us = clock_machine_us();
    struct peer_figures f;
    enum db_status status;
    bool is_draining;

    pthread_mutex_lock(&p->lock);
    f = p->figures;
    is_draining = p->is_draining;
    pthread_mutex_unlock(&p->lock);
    status = db_run(p->db, SQL_EPOCH_BEAT,
                    DB_PARAMS(db_int(peers_epoch(p)), db_int(f.executions), db_int(f.calls),
                              db_int(f.lag_ms), db_int(peers_skew_us(p) / 1000),
                              db_int(peer_cpu_percent(p)), db_int(peer_rss_bytes()),
                              db_int(is_draining)));
    p->next_beat_us = sent_us + BEAT_EVERY_US;
    if (status == DB_ROW) {
        peer_note_clock(p, before_us, db_column_int(p->db, SQL_EPOCH_BEAT, 0), clock_machine_us());
        atomic_store(&p->beat_us, sent_us);
        if (db_column_int(p->db, SQL_EPOCH_BEAT, 1) != 0 && !is_draining)
            note_drain_asked(p);
    }
    db_end(p->db, SQL_EPOCH_BEAT);
    return status == DB_DONE ? epoch_renew(p) : status == DB_ROW ? DB_DONE : status;
}

/* --- looking at the others --- */

/* What was known of it before, so that its silence goes on being counted. */
static void peer_note(struct peers *p, const struct peer *before, unsigned count, int64_t gap_us)
{
    struct peer *x = &p->known[p->known_count++];
    struct str node = db_column_text(p->db, SQL_EPOCHS_READ, 1);

    *x = (struct peer){.epoch = db_column_int(p->db, SQL_EPOCHS_READ, 0),
                       .beat = db_column_int(p->db, SQL_EPOCHS_READ, 2),
                       .is_draining = db_column_int(p->db, SQL_EPOCHS_READ, 3) != 0};
    (void)snprintf(x->node, sizeof(x->node), "%.*s", STR_ARG(node));
    if (x->epoch == p->former)
        x->silent_us = SILENT_MAX_US;
    for (unsigned i = 0; i < count; i++)
        if (before[i].epoch == x->epoch && before[i].beat == x->beat)
            x->silent_us = before[i].silent_us + gap_us;
}

static enum db_status epochs_read(struct peers *p)
{
    int64_t now_us = peer_boot_us(), gap_us = now_us - p->looked_us;
    enum db_status status = db_run(p->db, SQL_EPOCHS_READ, DB_PARAMS(db_int((int64_t)PEERS_MAX)));
    struct peer *before = arena_alloc(&p->mem, sizeof(p->known));
    unsigned count = p->known_count;

    if (status != DB_ROW && status != DB_DONE) {
        db_end(p->db, SQL_EPOCHS_READ);
        return status;
    }
    memcpy(before, p->known, sizeof(p->known));
    if (gap_us > LOOK_GAP_MAX_US)
        gap_us = LOOK_GAP_MAX_US;
    for (p->known_count = 0; status == DB_ROW && p->known_count < PEERS_MAX;
         status = db_next(p->db, SQL_EPOCHS_READ))
        peer_note(p, before, count, gap_us);
    db_end(p->db, SQL_EPOCHS_READ);
    p->looked_us = now_us;
    atomic_store(&p->count, p->known_count);
    return status;
}

/* Those that were silent for too long are over, unless they have beaten meanwhile. */
static enum db_status end_silent(struct peers *p)
{
    enum db_status status = DB_DONE;

    for (unsigned i = 0; i < p->known_count && status == DB_DONE; i++) {
        struct peer *x = &p->known[i];

        if (x->epoch == peers_epoch(p) || x->silent_us < SILENT_MAX_US)
            continue;
        status = db_exec(p->db, SQL_EPOCH_END, DB_PARAMS(db_int(x->epoch), db_int(x->beat)));
        /* A batch of it is being committed: others come first, then it is tried again. */
        if (status == DB_LOCKED) {
            x->silent_us = SILENT_MAX_US - LOCKED_REST_US;
            return DB_DONE;
        }
        if (status != DB_DONE || db_changes(p->db) == 0)
            continue;
        log_write(LOG_WARN,
                  x->epoch == p->former ? "the last batch from before the start has ended"
                                        : "a node has been silent for 10 s: its work is taken over",
                  LOG_FIELDS(log_str("node", str_of(x->node)), log_int("epoch", x->epoch)));
        p->known_count--;
        memmove(x, x + 1, (p->known_count - i) * sizeof(*x));
        i--;
    }
    return status;
}

static bool knows_epoch(const struct peers *p, int64_t epoch)
{
    for (unsigned i = 0; i < p->known_count; i++)
        if (p->known[i].epoch == epoch)
            return true;
    return false;
}

/* Say to the loop who lives, and whether somebody does no more. */
static void publish_living(struct peers *p)
{
    bool ended = false;

    pthread_mutex_lock(&p->lock);
    for (unsigned i = 0; i < p->living_count; i++)
        ended |= !knows_epoch(p, p->living[i]);
    for (unsigned i = 0; i < p->known_count; i++)
        p->living[i] = p->known[i].epoch;
    p->living_count = p->known_count;
    p->news.epoch_ended |= ended;
    pthread_mutex_unlock(&p->lock);
    if (ended)
        peer_signal(p->news_fd);
}

static bool has_own_epoch(const struct peers *p)
{
    return knows_epoch(p, peers_epoch(p)) ||
           p->known_count == PEERS_MAX; /* it may be behind those that were read */
}

static enum db_status peer_look(struct peers *p, bool is_draining)
{
    enum db_status status = epochs_read(p);
    bool moved = false;

    p->next_look_us = peer_boot_us() + LOOK_EVERY_US;
    if (status == DB_DONE && !has_own_epoch(p))
        return epoch_renew(p);
    if (status == DB_DONE)
        status = end_silent(p);
    if (status == DB_DONE) {
        publish_living(p);
        status = peer_move_shards(p, is_draining, &moved);
    }
    if (status == DB_DONE && moved && p->known_count > 1)
        status = notice_send(p, &(struct peer_notice){0}, true);
    /* Another one has locked the rows: the next look tries again. */
    return status == DB_LOCKED || status == DB_CONFLICT ? DB_DONE : status;
}

/* --- the thread --- */

static enum db_status peer_connect(struct peers *p)
{
    enum db_status status = db_reconnect(p->db);

    if (status == DB_DONE)
        status = db_exec(p->db, SQL_PEER_LISTEN, DB_NO_PARAMS);
    if (status == DB_DONE) {
        p->is_lost = false;
        peer_missed_notices(p);
    }
    return status;
}

static enum db_status peer_turn(struct peers *p, bool is_draining)
{
    int64_t now_us = peer_boot_us();
    enum db_status status = notices_hear(p);

    if (status == DB_DONE)
        status = notices_send(p);
    if (status == DB_DONE && now_us >= p->next_beat_us)
        status = peer_beat(p);
    if (status == DB_DONE && now_us >= p->next_look_us)
        status = peer_look(p, is_draining);
    /* What came with the answers of these is in memory, and the socket does not say so. */
    if (status == DB_DONE)
        status = notices_hear(p);
    return status;
}

/* Until something is to be done, or comes. */
static void peer_sleep(struct peers *p)
{
    int64_t until_us = p->next_beat_us < p->next_look_us ? p->next_beat_us : p->next_look_us;
    int64_t left_us = until_us - peer_boot_us();
    struct pollfd fds[2] = {{.fd = p->wake_fd, .events = POLLIN},
                            {.fd = p->is_lost ? -1 : db_postgres_fd(p->db), .events = POLLIN}};
    uint64_t count;

    if (p->is_lost)
        left_us = LOOK_EVERY_US;
    (void)poll(fds, ARRAY_SIZE(fds), left_us > 0 ? (int)(left_us / 1000) + 1 : 0);
    if ((fds[0].revents & POLLIN) != 0 && read(p->wake_fd, &count, sizeof(count)) < 0) {
        /* Somebody else's wish was read with an earlier one. */
    }
}

static void *peers_main(void *context)
{
    struct peers *p = context;
    bool is_closing = false, is_draining = false;

    while (!is_closing) {
        enum db_status status;

        peer_sleep(p);
        pthread_mutex_lock(&p->lock);
        is_closing = p->is_closing;
        is_draining = p->is_draining;
        if (p->is_hurried)
            p->next_look_us = 0;
        p->is_hurried = false;
        pthread_mutex_unlock(&p->lock);
        status = p->is_lost ? peer_connect(p) : DB_DONE;
        if (status == DB_DONE)
            status = peer_turn(p, is_draining);
        if (status != DB_DONE && !p->is_lost)
            log_write(LOG_WARN, "nodes cannot be looked at",
                      LOG_FIELDS(log_str("cause", str_of(p->db->message))));
        p->is_lost |= status != DB_DONE;
        arena_reset(&p->mem);
    }
    return NULL;
}

/* --- opening and closing --- */

static void peers_free(struct peers *p)
{
    if (p->db != NULL)
        db_close(p->db);
    if (p->wake_fd >= 0)
        close(p->wake_fd);
    if (p->news_fd >= 0)
        close(p->news_fd);
    free(p->file);
    pthread_mutex_destroy(&p->lock);
    arena_fini(&p->mem);
    free(p);
}

/* All that a node must have before its first batch. */
static bool peers_begin(struct peers *p, struct err *err)
{
    enum db_status status = db_exec(p->db, SQL_PEER_LISTEN, DB_NO_PARAMS);

    if (status == DB_DONE)
        status = epoch_end_former(p);
    if (status == DB_DONE)
        status = epoch_take(p);
    /* The first times that the node gives are in the database's time already. */
    if (status == DB_DONE)
        status = peer_beat(p);
    if (status == DB_DONE)
        status = peer_look(p, false);
    /* The others know at once that they are not alone any more. */
    if (status == DB_DONE && p->known_count > 1)
        status = notice_send(p, &(struct peer_notice){0}, true);
    arena_reset(&p->mem);
    return status == DB_DONE ? true : db_fail(p->db, status, err);
}

static bool peers_run(struct peers *p, struct err *err)
{
    if (p->wake_fd >= 0 && p->news_fd >= 0 && pthread_create(&p->thread, NULL, peers_main, p) == 0)
        return true;
    return err_set(err, ERR_IO, "there is no descriptor or no thread left for the other nodes");
}

struct peers *peers_open(const struct peers_options *options, struct err *err)
{
    struct peers *p = ALLOC_NEW(struct peers);
    char name[UUID_TEXT_LEN + 8];

    arena_init(&p->mem);
    pthread_mutex_init(&p->lock, NULL);
    (void)snprintf(p->node, sizeof(p->node), "%.*s", STR_ARG(options->node));
    (void)snprintf(name, sizeof(name), "%s=", p->node);
    p->version = options->version;
    p->owns_nothing = options->owns_nothing;
    p->started_at_us = clock_wall_us(&clock_system);
    p->cpu_at_us = p->looked_us = peer_boot_us();
    if (options->folder.len > 0)
        p->file = alloc_text(str_printf(&p->mem, "%.*s/epoch", STR_ARG(options->folder)));
    p->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    p->news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    p->db = db_postgres_open(options->url, DB_WRITE, str_of(name), options->server, err);
    if (p->db != NULL && peers_begin(p, err) && peers_run(p, err))
        return p;
    peers_free(p);
    return NULL;
}

void peers_close(struct peers *p)
{
    pthread_mutex_lock(&p->lock);
    p->is_closing = true;
    pthread_mutex_unlock(&p->lock);
    peer_signal(p->wake_fd);
    pthread_join(p->thread, NULL);
    if (!p->is_lost &&
        db_exec(p->db, SQL_EPOCH_DROP, DB_PARAMS(db_int(peers_epoch(p)))) == DB_DONE) {
        (void)notice_send(p, &(struct peer_notice){0}, true);
        if (p->file != NULL)
            (void)unlink(p->file);
    }
    peers_free(p);
}
