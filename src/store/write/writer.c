/* writer.c - see writer.h. */
#include "store/write/writer.h"

#include "base/alloc.h"
#include "base/crash.h"
#include "base/log.h"
#include "base/time/clock.h"
#include "engine/commit/commit.h"
#include "engine/execution.h"
#include "store/change.h"
#include "store/idempotency.h"
#include "store/peer/peer.h"
#include "store/write/apply.h"
#include "store/write/gather.h"
#include "store/write/row_locks.h"

#include <time.h>

enum {
    REPEATS_MAX = 50, /* of a batch that meets deadlocks */
    RECONNECT_MS = 50,
    RECONNECT_MAX_MS = 5000,
    CLOSING_TRIES = 5, /* to connect, CLOSING_MS apart, while the store is closed */
    CLOSING_MS = 200,
    PURGE_SPARE = 16,
};

/* Less than lock_timeout: what has failed sooner has not waited. */
#define WAITED_US INT64_C(800000)

/* How one try to write a batch ended. */
enum attempt {
    ATTEMPT_COMMITTED,
    ATTEMPT_FAILED,    /* before the commit: nothing happened */
    ATTEMPT_CAREFULLY, /* nothing happened; savepoints are needed */
    ATTEMPT_DOUBTFUL,  /* the commit itself failed */
};

/* --- one transaction --- */

/* Whether a failure spoils one member and not the whole transaction. */
static bool is_members_own(enum db_status status)
{
    return status == DB_REFUSED || status == DB_UNIQUE || status == DB_CUT || status == DB_LOCKED;
}

static bool has_waited_since(int64_t since_us)
{
    return clock_mono_us(&clock_system) - since_us >= WAITED_US;
}

/* A member has failed by itself. */
static void fail_member(struct apply *a, struct member *m, int64_t since_us)
{
    m->result = a->status == DB_LOCKED ? MEMBER_LOCKED : MEMBER_FAILED;
    m->is_left_out = a->status == DB_LOCKED && has_waited_since(since_us);
    a->has_waited |= m->is_left_out;
    (void)db_fail(a->db, a->status, &m->err);
}

static enum db_status apply_carefully(struct apply *a, struct member *m)
{
    struct apply before = *a;
    int64_t since_us = clock_mono_us(&clock_system);
    enum db_status status = db_exec(a->db, SQL_SAVEPOINT, DB_NO_PARAMS);
    enum apply_result end;

    if (status != DB_DONE)
        return status;
    /* Waiting once is enough: whoever may have to wait as well comes again alone. */
    if (a->has_waited && member_may_wait(m))
        m->is_passed_over = a->leaves_out = true;
    gather_forget(a);
    end = apply_member(a, m);
    if (end == APPLY_DONE && m->result == MEMBER_APPLIED) {
        a->status = gather_flush(a);
        end = a->status == DB_DONE ? APPLY_DONE : APPLY_FAILED;
    }
    if (end == APPLY_FAILED) {
        if (!is_members_own(a->status))
            return a->status;
        fail_member(a, m, since_us);
    }
    if (end != APPLY_DONE) {
        size_t next_row = a->next_row;
        bool has_waited = a->has_waited;

        if (m->kind == MEMBER_COMMIT)
            apply_note_refused(a, &m->commit->after->id);
        before.refused = a->refused;
        *a = before;
        a->next_row = next_row;
        a->has_waited = has_waited;
        gather_forget(a);
        status = db_exec(a->db, SQL_ROLLBACK_TO, DB_NO_PARAMS);
    }
    if (status == DB_DONE)
        status = db_exec(a->db, SQL_RELEASE, DB_NO_PARAMS);
    CRASH_POINT(WRITER_CAREFULLY);
    return status;
}

static enum attempt apply_members(struct apply *a, struct batch *b, bool carefully)
{
    for (size_t i = 0; i < b->members.count; i++) {
        struct member *m = b->members.items[i];
        enum apply_result end;

        if (carefully) {
            a->status = apply_carefully(a, m);
            if (a->status != DB_DONE)
                return ATTEMPT_FAILED;
            continue;
        }
        end = apply_member(a, m);
        if (end == APPLY_AGAIN || (end == APPLY_FAILED && is_members_own(a->status)))
            return ATTEMPT_CAREFULLY;
        if (end == APPLY_FAILED)
            return ATTEMPT_FAILED;
        CRASH_POINT(WRITER_MEMBER);
    }
    return ATTEMPT_COMMITTED;
}

/* What every batch writes beside its members; all of it waits for the commit. */
static enum db_status write_sums(struct writer *w, struct apply *a, const struct batch *b)
{
    const struct {
        struct str name;
        int64_t more;
    } counters[] = {{STR(COUNTER_OPEN_LETTERS), a->open_letters},
                    {STR(COUNTER_OUTBOX), a->outbox_pending},
                    {STR(COUNTER_BUFFERED_SIGNALS), a->buffered_signals}};
    enum db_status status = DB_DONE;

    if (a->stored_answers > 0)
        status = db_queue(w->db, SQL_IDEMPOTENCY_PURGE,
                          DB_PARAMS(db_int(2 * a->stored_answers + PURGE_SPARE),
                                    db_int(a->answered_at_us - ANSWERS_KEPT_US)));
    if (a->stored_received > 0 && status == DB_DONE)
        status = db_queue(w->db, SQL_RECEIVED_PURGE,
                          DB_PARAMS(db_int(2 * a->stored_received + PURGE_SPARE),
                                    db_int(a->answered_at_us - RECEIVED_KEPT_US)));
    for (unsigned i = 0; i < STATUS_COUNT && status == DB_DONE; i++)
        if (a->counts[i] != 0)
            status =
                db_queue(w->db, SQL_COUNT_ADD,
                         DB_PARAMS(db_int(w->slot), db_text(status_text(i)), db_int(a->counts[i])));
    for (size_t i = 0; i < ARRAY_SIZE(counters) && status == DB_DONE; i++)
        if (counters[i].more != 0)
            status = db_queue(
                w->db, SQL_COUNTER_ADD,
                DB_PARAMS(db_int(w->slot), db_text(counters[i].name), db_int(counters[i].more)));
    if (status == DB_DONE && w->peers != NULL)
        status = db_queue(w->db, SQL_EPOCH_FENCE, DB_PARAMS(db_int(peers_epoch(w->peers))));
    if (status == DB_DONE)
        status = db_queue(w->db, SQL_NODE_BATCH, DB_PARAMS(db_text(w->node), db_int(b->number)));
    if (status == DB_DONE && w->db->has_sets)
        status = new_rows_ask_ahead(&w->new_rows, w->db, a->starts);
    if (status == DB_DONE)
        status = gather_put(a);
    return status;
}

/* How it ended, the commit having been tried. */
static enum attempt attempt_of(enum db_status status)
{
    return status == DB_DONE        ? ATTEMPT_COMMITTED
           : status == DB_LOST      ? ATTEMPT_DOUBTFUL
           : is_members_own(status) ? ATTEMPT_CAREFULLY
                                    : ATTEMPT_FAILED;
}

/* What a further try of a batch does differently. */
struct try_how {
    bool carefully;   /* a savepoint around each member */
    bool is_repeated; /* it met somebody else */
    bool leaves_out;  /* ... and waited: see row_locks.h */
};

static enum attempt try_batch(struct writer *w, struct batch *b, struct try_how how,
                              enum db_status *status)
{
    struct apply a = {.db = w->db,
                      .mem = &b->mem,
                      .new_rows = &w->new_rows,
                      .is_repeated = how.is_repeated,
                      .waits = w->waits,
                      .leaves_out = how.leaves_out,
                      .is_tight = w->is_tight};
    enum attempt attempt = ATTEMPT_FAILED;

    map_init(&a.refused, a.mem);
    for (size_t i = 0; b->seen < w->refused_batch && i < w->refused_count; i++)
        apply_note_refused(&a, &w->refused[i]);
    a.status = db_queue(w->db, SQL_BEGIN_WRITE, DB_NO_PARAMS);
    CRASH_POINT(WRITER_BEGUN);
    if (a.status == DB_DONE)
        a.status = gather(&a, &b->members);
    if (a.status == DB_DONE)
        attempt = apply_members(&a, b, how.carefully);
    if (attempt == ATTEMPT_COMMITTED) {
        a.status = write_sums(w, &a, b);
        CRASH_POINT(WRITER_BEFORE_COMMIT);
        if (a.status == DB_DONE)
            a.status = db_commit(w->db);
        CRASH_POINT(WRITER_COMMITTED);
        attempt = attempt_of(a.status);
    }
    if (w->db->has_sets)
        (void)new_rows_take_ahead(&w->new_rows, w->db);
    w->gave_back = attempt == ATTEMPT_COMMITTED && a.gave_back;
    db_drop(w->db);
    if (attempt != ATTEMPT_COMMITTED && a.status != DB_LOST) {
        char message[sizeof(w->db->message)];

        /* The first failure is the one to tell; the transaction may be gone already. */
        memcpy(message, w->db->message, sizeof(message));
        (void)db_exec(w->db, SQL_ROLLBACK, DB_NO_PARAMS);
        memcpy(w->db->message, message, sizeof(message));
    }
    *status = a.status;
    return attempt;
}

/* --- when it fails --- */

static bool is_closing(struct writer *w)
{
    bool closing;

    pthread_mutex_lock(&w->lock);
    closing = w->closing;
    pthread_mutex_unlock(&w->lock);
    return closing;
}

/* Wait, but not long while the store is closed. */
static void wait_ms(struct writer *w, int64_t ms)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&w->lock);
    while (!w->closing && pthread_cond_timedwait(&w->wake, &w->lock, &until) == 0)
        ;
    pthread_mutex_unlock(&w->lock);
    if (is_closing(w))
        (void)nanosleep(&(struct timespec){.tv_nsec = CLOSING_MS * 1000000L}, NULL);
}

/* Connect again, however long it takes. False when the store is closed before. */
static bool connect_again(struct writer *w)
{
    int closing_tries = 0;

    for (int64_t ms = RECONNECT_MS;; ms = ms * 2 < RECONNECT_MAX_MS ? ms * 2 : RECONNECT_MAX_MS) {
        enum db_status status = db_reconnect(w->db);

        /* What is left of the old session may still commit: end it, or wait for it. */
        if (status == DB_DONE)
            status = db_exec(w->db, SQL_END_SESSIONS, DB_PARAMS(db_text(w->node)));
        if (status == DB_DONE) {
            db_note_connected(w->lost_since_us);
            log_write(LOG_INFO, "connected to the database again", NULL);
            return true;
        }
        db_note_lost(w->lost_since_us);
        if (is_closing(w) && ++closing_tries >= CLOSING_TRIES)
            return false;
        log_write(LOG_WARN, "the database cannot be reached",
                  LOG_FIELDS(log_str("cause", str_of(w->db->message)), log_int("retry_ms", ms)));
        wait_ms(w, ms);
    }
}

/* The node's row is gone: put it back, with this batch as the last one, at once. */
static enum db_status put_row_back(struct writer *w, const struct batch *b)
{
    return db_exec(
        w->db, SQL_NODE_PUT_BACK,
        DB_PARAMS(db_text(w->node), db_int(clock_wall_us(&clock_system)), db_int(b->number)));
}

/* After a lost connection: whether the batch was committed. False: nobody can tell. */
static bool find_out(struct writer *w, const struct batch *b, bool *committed)
{
    for (;;) {
        enum db_status status;

        if (!connect_again(w))
            return false;
        status = db_run(w->db, SQL_NODE_LOOK, DB_PARAMS(db_text(w->node)));
        *committed = status == DB_ROW && db_column_int(w->db, SQL_NODE_LOOK, 0) >= b->number;
        db_end(w->db, SQL_NODE_LOOK);
        if (status == DB_DONE && put_row_back(w, b) == DB_DONE)
            return false; /* another node took it for one of the dead */
        if (status == DB_ROW)
            return true;
    }
}

static void end_batch(struct batch *b, enum batch_result end, const struct db *db,
                      enum db_status status)
{
    b->end = end;
    b->no_space = end == BATCH_REFUSED && status == DB_FULL;
    if (end == BATCH_COMMITTED)
        return;
    (void)db_fail(db, status, &b->err);
    if (end == BATCH_UNKNOWN)
        b->err.code = ERR_OUTCOME_UNKNOWN;
}

/* The row that tells how a batch ended: nodes that never wait have none for that. */
static void make_row(struct writer *w)
{
    (void)db_exec(w->db, SQL_NODE_PUT,
                  DB_PARAMS(db_text(w->node), db_int(clock_wall_us(&clock_system))));
}

static void try_until_end(struct writer *w, struct batch *b)
{
    struct try_how how = {0};

    if (w->waits && b->number == 1)
        make_row(w);

    for (unsigned tries = 0;; tries++) {
        int64_t since_us = clock_mono_us(&clock_system);
        enum db_status status = DB_DONE;
        enum attempt attempt = try_batch(w, b, how, &status);
        bool committed = attempt == ATTEMPT_COMMITTED;

        how.is_repeated = true;

        if (status == DB_IO && w->checkpoint != NULL)
            db_end_process(w->db, status);
        if (status == DB_LOST) {
            if (!find_out(w, b, &committed)) {
                end_batch(b, attempt == ATTEMPT_DOUBTFUL ? BATCH_UNKNOWN : BATCH_REFUSED, w->db,
                          status);
                return;
            }
            if (!committed)
                continue;
        }
        if (committed) {
            end_batch(b, BATCH_COMMITTED, w->db, status);
            return;
        }
        if (status == DB_LOCKED && has_waited_since(since_us) && !how.leaves_out) {
            how.leaves_out = true;
            continue;
        }
        if (attempt == ATTEMPT_CAREFULLY && !how.carefully) {
            how.carefully = true;
            continue;
        }
        if (status == DB_FENCED)
            peers_hurry(w->peers);
        if (status != DB_CONFLICT || tries >= REPEATS_MAX) {
            end_batch(b, BATCH_REFUSED, w->db, status);
            return;
        }
    }
}

/* Whether all of it are deletions: nothing else may use the reserve. */
static bool only_makes_space(const struct batch *b)
{
    for (size_t i = 0; i < b->members.count; i++)
        if (b->members.items[i]->kind != MEMBER_CHANGE ||
            !change_makes_space(b->members.items[i]->change))
            return false;
    return true;
}

static void write_batch(struct writer *w, struct batch *b)
{
    try_until_end(w, b);
    if (!b->no_space || w->checkpoint == NULL)
        return;
    if (!only_makes_space(b)) {
        checkpoint_full(w->checkpoint);
        return;
    }
    checkpoint_lend_reserve(w->checkpoint);
    w->is_tight = true;
    try_until_end(w, b);
    w->is_tight = false;
    checkpoint_take_reserve_back(w->checkpoint);
}

/*
 * Executions whose members of this batch did not become true: those of the next
 * batch may rest on them, unless it was submitted by who knew that.
 */
static void note_refused(struct writer *w, const struct batch *b)
{
    w->refused_count = 0;
    w->refused_batch = b->number;
    if (w->refused_capacity < b->members.count) {
        w->refused_capacity = b->members.count;
        w->refused = alloc_resize(w->refused, w->refused_capacity, sizeof(*w->refused));
    }
    for (size_t i = 0; i < b->members.count; i++) {
        const struct member *m = b->members.items[i];

        if (m->kind == MEMBER_COMMIT && (b->end != BATCH_COMMITTED || m->result != MEMBER_APPLIED))
            w->refused[w->refused_count++] = m->commit->after->id;
    }
}

/* --- the thread --- */

static void *writer_main(void *context)
{
    struct writer *w = context;

    for (;;) {
        struct batch *b;

        pthread_mutex_lock(&w->lock);
        while (w->outstanding == 0 && !w->closing)
            pthread_cond_wait(&w->wake, &w->lock);
        b = w->outstanding > 0 ? w->queue[0] : NULL;
        pthread_mutex_unlock(&w->lock);
        if (b == NULL)
            return NULL;

        write_batch(w, b);
        note_refused(w, b);

        /* The slot first: whoever takes the batch may submit the next one at once. */
        pthread_mutex_lock(&w->lock);
        w->queue[0] = w->queue[1];
        w->outstanding--;
        pthread_mutex_unlock(&w->lock);
        mailbox_put_reserved(w->done, b);
        if (w->checkpoint != NULL)
            checkpoint_notify(w->checkpoint, db_sqlite_log_pages(w->db));
        if (w->checkpoint != NULL && w->gave_back)
            checkpoint_hurry(w->checkpoint);
    }
}

static void start_thread(struct writer *w)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    if (pthread_mutex_init(&w->lock, NULL) != 0 || pthread_cond_init(&w->wake, &attr) != 0 ||
        pthread_create(&w->thread, NULL, writer_main, w) != 0)
        PANIC("no thread");
    pthread_condattr_destroy(&attr);
}

void writer_open(struct writer *w, struct db *db, struct mailbox *done,
                 struct checkpoint *checkpoint, struct str node, int64_t slot, struct peers *peers,
                 _Atomic int64_t *lost_since_us)
{
    *w = (struct writer){.db = db,
                         .done = done,
                         .checkpoint = checkpoint,
                         .node = node,
                         .slot = slot,
                         .peers = peers,
                         .lost_since_us = lost_since_us};
    start_thread(w);
}

void writer_open_waiting(struct writer *w, struct db *db, struct mailbox *done, struct str node,
                         int64_t slot, struct peers *peers, _Atomic int64_t *lost_since_us)
{
    *w = (struct writer){.db = db,
                         .done = done,
                         .node = node,
                         .slot = slot,
                         .peers = peers,
                         .lost_since_us = lost_since_us,
                         .waits = true};
    start_thread(w);
}

bool writer_submit(struct writer *w, struct batch *batch)
{
    unsigned capacity = w->waits ? 1 : WRITER_OUTSTANDING_MAX;
    bool taken = false;

    pthread_mutex_lock(&w->lock);
    if (w->outstanding < capacity && mailbox_reserve(w->done)) {
        w->queue[w->outstanding++] = batch;
        pthread_cond_signal(&w->wake);
        taken = true;
    }
    pthread_mutex_unlock(&w->lock);
    return taken;
}

void writer_close(struct writer *w)
{
    pthread_mutex_lock(&w->lock);
    w->closing = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    free(w->refused);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
}
