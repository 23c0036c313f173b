/* checkpoint.c - see checkpoint.h. */
#include "store/db/checkpoint.h"

#include "base/arena.h"
#include "base/crash.h"
#include "base/log.h"
#include "store/db/reserve.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>

enum {
    PAGE_BYTES = 4096,
    SPACE_SHARE = 4,        /* the log takes one part in this many of the space */
    LOG_MIN_PAGES = 256,    /* ... but this much anyway */
    LOG_KEPT_PAGES = 256,   /* of a quiet log: not worth to be truncated */
    SPACE_LOOK_PAGES = 256, /* how often the free space is looked at */
    QUIET_S = 2,
};

static bool checkpoint_run(struct checkpoint *c, enum checkpoint_mode mode)
{
    enum db_status status;

    CRASH_POINT(CHECKPOINT_BEFORE);
    if (mode != CHECKPOINT_BESIDE)
        CRASH_POINT(CHECKPOINT_HELD);
    status = db_sqlite_checkpoint(c->db, mode);
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

/* --- how long the log may be --- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The volume without the log has some space: the log may take its share of that. */
static void look_at_space(struct checkpoint *c)
{
    struct statvfs fs;
    int64_t share;

    c->restart_pages = CHECKPOINT_RESTART_PAGES;
    if (statvfs(c->folder.ptr, &fs) == 0) {
        share = ((int64_t)fs.f_bavail * (int64_t)fs.f_frsize / PAGE_BYTES + c->file_pages) /
                SPACE_SHARE;
        c->restart_pages = least(c->restart_pages, share > LOG_MIN_PAGES ? share : LOG_MIN_PAGES);
    }
    c->step_pages = least(CHECKPOINT_PAGES, c->restart_pages / 4);
    c->space_pages = c->log_pages + SPACE_LOOK_PAGES;
}

/* The log is empty, or was begun anew. */
static void begin_anew(struct checkpoint *c)
{
    look_at_space(c);
    c->next_pages = c->step_pages;
    c->stop_pages = c->restart_pages;
}

/* --- the thread; under the lock, which is given up while SQLite works --- */

/* The writer waits. */
static void restart_log(struct checkpoint *c)
{
    bool truncates = c->file_pages > c->restart_pages + c->step_pages, ok;

    pthread_mutex_unlock(&c->lock);
    ok = checkpoint_run(c, truncates ? CHECKPOINT_TRUNCATE : CHECKPOINT_RESTART);
    pthread_mutex_lock(&c->lock);
    if (ok) {
        c->log_pages = 0;
        c->file_pages = truncates ? 0 : c->file_pages;
        begin_anew(c);
    } else {
        c->next_pages = c->stop_pages = c->log_pages + c->step_pages;
        c->space_pages = c->stop_pages;
    }
    pthread_cond_broadcast(&c->changed);
}

/* The writer goes on. */
static void move_pages(struct checkpoint *c)
{
    int64_t pages = c->log_pages;

    pthread_mutex_unlock(&c->lock);
    (void)checkpoint_run(c, CHECKPOINT_BESIDE);
    pthread_mutex_lock(&c->lock);
    /* A shorter log was begun anew meanwhile. */
    if (c->log_pages >= pages)
        c->next_pages = pages + c->step_pages;
}

/* The log is empty: its index and the reserve get what they need before others take it. */
static void keep_space(struct checkpoint *c, enum checkpoint_loan loan)
{
    db_sqlite_cover_log(c->db);
    if (loan == LOAN_RETURNED)
        reserve_take_back(c->folder);
    else if (loan == LOAN_NONE)
        reserve_keep(c->folder);
}

/* Nobody has written for a while, or nobody can. */
static void truncate_log(struct checkpoint *c)
{
    enum checkpoint_loan loan = c->loan;
    uint64_t notified = c->notified;
    bool ok;

    c->is_full = false;
    pthread_mutex_unlock(&c->lock);
    ok = checkpoint_run(c, CHECKPOINT_TRUNCATE);
    if (ok)
        keep_space(c, loan);
    pthread_mutex_lock(&c->lock);
    /* What the writer said meanwhile is about the log that begins now. */
    if (ok && c->notified == notified)
        c->log_pages = c->file_pages = 0;
    if (ok)
        begin_anew(c);
}

/* The writer waits: it borrows the reserve, or gives it back. */
static void move_loan(struct checkpoint *c)
{
    /* First: moving the log into the file may need space, too. */
    if (c->loan == LOAN_ASKED)
        (void)reserve_drop(c->folder);
    truncate_log(c);
    c->loan = c->loan == LOAN_ASKED ? LOAN_LENT : LOAN_NONE;
    pthread_cond_broadcast(&c->changed);
}

/* Until something is said; false when nothing was for QUIET_S. */
static bool wait_for_writer(struct checkpoint *c)
{
    struct timespec until;
    uint64_t notified = c->notified;

    if (c->file_pages <= LOG_KEPT_PAGES) {
        pthread_cond_wait(&c->changed, &c->lock);
        return true;
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += QUIET_S;
    return pthread_cond_timedwait(&c->changed, &c->lock, &until) != ETIMEDOUT ||
           c->notified != notified;
}

static void *checkpoint_main(void *context)
{
    struct checkpoint *c = context;

    pthread_mutex_lock(&c->lock);
    while (!c->closing) {
        if (c->loan == LOAN_ASKED || c->loan == LOAN_RETURNED)
            move_loan(c);
        else if (c->log_pages >= c->stop_pages)
            restart_log(c);
        else if (c->is_full)
            truncate_log(c);
        else if (c->log_pages >= c->next_pages)
            move_pages(c);
        else if (!wait_for_writer(c) && !c->closing)
            truncate_log(c);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* --- what the others call --- */

/* What an earlier server has left. */
static int64_t file_pages(struct str path)
{
    struct arena mem;
    struct stat s;
    int64_t pages = 0;

    arena_init(&mem);
    if (stat(str_printf(&mem, "%.*s-wal", STR_ARG(path)).ptr, &s) == 0)
        pages = (int64_t)s.st_size / PAGE_BYTES;
    arena_fini(&mem);
    return pages;
}

bool checkpoint_open(struct checkpoint *c, struct str path, struct str folder, struct err *err)
{
    pthread_condattr_t attr;

    *c = (struct checkpoint){.folder = folder, .file_pages = file_pages(path)};
    begin_anew(c);
    c->db = db_sqlite_open(path, DB_WRITE, err);
    if (c->db == NULL)
        return false;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    if (pthread_mutex_init(&c->lock, NULL) != 0 || pthread_cond_init(&c->changed, &attr) != 0 ||
        pthread_create(&c->thread, NULL, checkpoint_main, c) != 0)
        PANIC("no thread");
    pthread_condattr_destroy(&attr);
    return true;
}

void checkpoint_notify(struct checkpoint *c, int64_t log_pages)
{
    bool is_new;

    pthread_mutex_lock(&c->lock);
    is_new = log_pages < c->log_pages;
    /* The thread waits without an end while the log is short. */
    if (c->file_pages <= LOG_KEPT_PAGES && log_pages > LOG_KEPT_PAGES)
        pthread_cond_broadcast(&c->changed);
    c->log_pages = log_pages;
    c->notified++;
    if (c->file_pages < log_pages)
        c->file_pages = log_pages;
    if (is_new) {
        begin_anew(c);
    } else if (log_pages >= c->space_pages) {
        look_at_space(c);
        c->stop_pages =
            least(c->stop_pages, c->restart_pages > log_pages ? c->restart_pages : log_pages);
    }
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

void checkpoint_full(struct checkpoint *c)
{
    pthread_mutex_lock(&c->lock);
    c->is_full = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static void change_loan(struct checkpoint *c, enum checkpoint_loan loan)
{
    pthread_mutex_lock(&c->lock);
    c->loan = loan;
    pthread_cond_broadcast(&c->changed);
    while (c->loan == loan && !c->closing)
        pthread_cond_wait(&c->changed, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

void checkpoint_lend_reserve(struct checkpoint *c)
{
    change_loan(c, LOAN_ASKED);
}

void checkpoint_take_reserve_back(struct checkpoint *c)
{
    change_loan(c, LOAN_RETURNED);
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
