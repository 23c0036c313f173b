/* node.c - opening, the loop, closing; see node.h. */
#include "node/node.h"

#include "base/alloc.h"
#include "base/crash.h"
#include "base/log.h"
#include "define/define.h"
#include "effect/secret/vault.h"
#include "node/batch.h"
#include "node/cache/entry.h"
#include "node/cache/load.h"
#include "node/cache/program.h"
#include "node/chore/chore.h"
#include "node/cluster/cluster.h"
#include "node/cluster/config.h"
#include "node/cluster/waiters.h"
#include "node/guard/crash.h"
#include "node/guard/park.h"
#include "node/guard/poison.h"
#include "node/inner.h"
#include "node/locked.h"
#include "node/outside/broker_link.h"
#include "node/outside/calls.h"
#include "node/outside/credentials.h"
#include "node/outside/intake.h"
#include "node/outside/jobs.h"
#include "node/outside/relay.h"
#include "node/outside/triggers.h"
#include "node/request.h"
#include "node/store_away.h"
#include "node/timers.h"
#include "node/wake.h"
#include "node/work.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    DONE_CAPACITY = 8192,
    READER_COUNT = 2,
    PENDING_MAX = 16384,
    IDLE_MS = 1000, /* the longest sleep: the wall clock may be set meanwhile */
};

/* --- reads --- */

static void run_task(struct store_read *task, struct reader *reader)
{
    struct node_read *read = task->owner;

    read->run(read, reader);
}

bool node_read(struct node *n, struct node_read *read, struct err *err)
{
    read->task =
        (struct store_read){.item = STORE_READ, .lane = read->lane, .run = run_task, .owner = read};
    if (read->lane != LANE_ENGINE && read->lane != LANE_SEARCH && node_store_is_away(n))
        return err_set(err, ERR_STORE_AWAY, "the database does not answer; try again later");
    if (store_read(n->store, &read->task)) {
        store_away_asked(n, read);
        return true;
    }
    return err_set(err, ERR_OVERLOADED, "too many reads are in flight");
}

/* --- one pass --- */

static bool take_done(struct node *n)
{
    void *items[256];
    size_t count = mailbox_take(n->done, items, ARRAY_SIZE(items));

    for (size_t i = 0; i < count; i++) {
        enum store_item *item = items[i];
        if (*item == STORE_BATCH) {
            store_away_answered(n, NULL);
            batch_done(n, items[i]);
        } else {
            struct store_read *task = items[i];
            struct node_read *read = task->owner;
            store_away_answered(n, read);
            read->done(read);
        }
    }
    return count > 0;
}

bool node_pass(struct node *n)
{
    bool any = take_done(n);

    any |= loads_resend(n);
    chores_run(n, CHORE_BEFORE_WORKS);
    any |= wake_fire(n);
    works_run(n);
    chores_run(n, CHORE_AFTER_WORKS);
    loads_send_group(n);
    any |= batch_is_due(n);
    batch_submit(n);
    cluster_notify(n);
    entries_trim(n);
    programs_trim(n);
    return any;
}

static int64_t min_us(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* How long until there is something to do without anything coming back. */
static int64_t idle_us(const struct node *n)
{
    enum { RESEND_US = 2000 };
    int64_t us = INT64_MAX;

    if (n->entries->ready_first != NULL && n->batches->outstanding < OUTSTANDING_MAX &&
        !crash_holds_all(n) && n->config->is_known)
        us = batch_pause_us(n);
    if (n->batches->current->members.count > 0 && n->batches->outstanding == 0)
        us = min_us(us, batch_pause_us(n));
    if (batch_is_due(n))
        us = 0;
    if (loads_are_unsent(n))
        us = min_us(us, n->loads->group != NULL ? 0 : RESEND_US);
    us = min_us(us, wake_in_us(n));
    us = min_us(us, chores_in_us(n));
    return us < 0 ? 0 : us;
}

int64_t node_next_wake_us(const struct node *n)
{
    int64_t us = idle_us(n);

    return us == INT64_MAX ? INT64_MAX : clock_wall_us(n->clock) + us;
}

/* --- the loop --- */

static int sleep_ms(const struct node *n)
{
    int64_t us = min_us(idle_us(n), (int64_t)IDLE_MS * 1000);

    return (int)((us + 999) / 1000);
}

static bool is_drained(const struct node *n)
{
    return n->batches->outstanding == 0 && n->pending == 0 && n->entries->ready_first == NULL &&
           n->batches->current->members.count == 0 && n->calls->unanswered == 0 &&
           locked_is_empty(n) && relay_is_idle(n) && jobs_nobody_waits(n);
}

/* Nothing that was acknowledged is lost by this; what was not is found at the next start. */
static enum node_result give_up(const struct node *n)
{
    bool has_changes =
        n->batches->outstanding > 0 || n->pending > 0 || n->batches->current->members.count > 0;

    log_write(has_changes ? LOG_ERROR : LOG_WARN,
              has_changes ? "stopped while changes were undecided: the store did not answer; what "
                            "was acknowledged is durable, and the next start goes on from there"
                          : "stopped while executions were in flight; the next start goes on",
              LOG_FIELDS(log_int("batches", n->batches->outstanding),
                         log_int("requests", (int64_t)n->pending),
                         log_int("silent_ms", node_store_away_us(n) / 1000)));
    return has_changes ? NODE_UNDECIDED : NODE_DRAINED;
}

bool node_has_stopped(struct node *n, enum node_result *out)
{
    if (!n->stop_requested)
        return false;
    if (!n->is_draining) {
        n->is_draining = true;
        n->draining_since_us = clock_mono_us(n->clock);
        waiters_drain(n);
        cluster_drain(n);
    }
    *out = NODE_DRAINED;
    if (is_drained(n))
        return true;
    if (clock_mono_us(n->clock) < n->draining_since_us + DRAIN_MAX_US)
        return false;
    *out = give_up(n);
    return true;
}

enum node_result node_run(struct node *n)
{
    struct epoll_event events[64];
    enum node_result result;

    while (!node_has_stopped(n, &result)) {
        int timeout_ms = IDLE_MS, count;
        bool any = node_pass(n);

        if (n->before_sleep != NULL)
            n->before_sleep(n->before_sleep_context, &timeout_ms);
        /* After it, for it may have brought work. */
        timeout_ms = any && n->batches->outstanding < OUTSTANDING_MAX
                         ? 0
                         : (int)min_us(timeout_ms, sleep_ms(n));
        if (n->is_draining && timeout_ms > 10)
            timeout_ms = 10;
        count = epoll_wait(n->epoll_fd, events, ARRAY_SIZE(events), timeout_ms);
        if (count < 0 && errno != EINTR)
            PANIC("epoll failed");
        for (int i = 0; i < count; i++) {
            struct watch *w = events[i].data.ptr;
            if (w != NULL)
                w->ready(w->context);
        }
    }
    return result;
}

void node_stop(struct node *n)
{
    uint64_t one = 1;

    n->stop_requested = true;
    if (write(n->stop_fd, &one, sizeof(one)) < 0) {
        /* The counter is full: the loop is awake already. */
    }
}

static bool add_fd(struct node *n, int fd, struct watch *w, struct err *err)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = w};

    if (epoll_ctl(n->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
        return true;
    return err_set(err, ERR_IO, "cannot watch a descriptor: %s", strerror(errno));
}

bool node_watch(struct node *n, int fd, node_ready_fn *ready, void *context, struct err *err)
{
    struct watch *w = ARENA_NEW(&n->mem, struct watch);

    *w = (struct watch){.ready = ready, .context = context, .next = n->watches};
    if (!add_fd(n, fd, w, err))
        return false;
    n->watches = w;
    return true;
}

void node_before_sleep(struct node *n, node_before_sleep_fn *before, void *context)
{
    n->before_sleep = before;
    n->before_sleep_context = context;
}

struct vault *node_vault(const struct node *n)
{
    return n->options.vault;
}

static void sign_link(void *vault, struct str text, uint8_t out[LINK_MAC_LEN])
{
    vault_sign(vault, STR("callback links"), text, out);
}

void node_link_from(struct node *n, struct str base)
{
    if (n->options.vault != NULL)
        n->credentials->links = (struct link_maker){
            .base = str_copy(&n->mem, base), .sign = sign_link, .key = n->options.vault};
}

const struct link_maker *node_links(const struct node *n)
{
    return n->credentials->links.base.len > 0 ? &n->credentials->links : NULL;
}

enum node_readiness node_readiness(const struct node *n)
{
    if (n->is_draining)
        return NODE_STOPPING;
    if (node_store_away_us(n) >= STORE_LATE_US)
        return NODE_STORE_AWAY;
    if (n->batches->no_space)
        return NODE_NO_SPACE;
    if (n->options.is_paused)
        return NODE_PAUSED;
    if (credentials_are_locked(n))
        return NODE_WRONG_KEY;
    /* The config was read once. */
    return n->is_recovered && n->config->stamp >= 0 ? NODE_READY : NODE_RECOVERING;
}

/* --- opening and closing --- */

static void take_stop(void *context)
{
    struct node *n = context;
    uint64_t count;

    if (read(n->stop_fd, &count, sizeof(count)) < 0) {
        /* Nothing to read: woken by something else. */
    }
}

static bool open_loop(struct node *n, struct err *err)
{
    n->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    n->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (n->epoll_fd < 0 || n->stop_fd < 0)
        return err_set(err, ERR_IO, "cannot make the event loop: %s", strerror(errno));
    return node_watch(n, n->stop_fd, take_stop, n, err) &&
           add_fd(n, mailbox_fd(n->done), NULL, err);
}

static bool open_store(struct node *n, struct err *err)
{
    struct store_options options = {
        .url = n->options.store_url,
        .data_path = n->options.data_path,
        .done = &n->own_done,
        .reader_count = n->options.reader_count,
        .version = n->options.version,
        .owns_nothing = n->options.is_paused,
    };

    if (n->options.store != NULL) {
        n->store = n->options.store;
        n->done = n->options.done;
        return true;
    }
    if (!mailbox_init(&n->own_done, DONE_CAPACITY, err))
        return false;
    n->done = &n->own_done;
    n->store = store_open(&options, err);
    return n->store != NULL;
}

static bool open_all(struct node *n, struct err *err)
{
    struct poison_left left[POISON_SLOTS];
    unsigned count;

    if (!open_store(n, err) || !credentials_open(n, err) || !open_loop(n, err) ||
        !cluster_open(n, err) || !calls_open(n, err) || !chores_open(n, err) ||
        !broker_link_open(n, err) || !intake_open(n, err))
        return false;
    /* The simulator's nodes have none, unless it is about that. */
    if (n->options.store != NULL && n->options.data_path.len == 0)
        return true;
    if (!poison_open(n->poison, n->options.data_path, left, &count, err))
        return false;
    for (unsigned i = 0; i < count; i++) {
        log_write(LOG_WARN, "the server ended while it worked on an execution", NULL);
        crash_count(n, left[i]);
        CRASH_POINT(CRASH_COUNTED);
    }
    /* Executions are loaded for them, and whoever loads one says so in the file. */
    calls_recover(n);
    return true;
}

/* A node with all its parts: one piece of memory. */
struct whole_node {
    struct node node; /* first */
#define PART(type, name) struct type name;
#include "node/parts.def"
#undef PART
    struct chore *chores[CHORE_COUNT];
};

static struct node *node_alloc(void)
{
    struct whole_node *w = ALLOC_NEW(struct whole_node);

#define PART(type, name) w->node.name = &w->name;
#include "node/parts.def"
#undef PART
    w->node.chores = w->chores;
    return &w->node;
}

struct node *node_open(const struct node_options *options, struct err *err)
{
    struct node *n = node_alloc();

    n->options = *options;
    n->clock = options->clock;
    n->epoll_fd = n->stop_fd = n->poison->fd = n->calls->file.fd = -1;
    if (n->options.cache_bytes == 0)
        n->options.cache_bytes = (size_t)64 << 20;
    if (n->options.pending_max == 0)
        n->options.pending_max = PENDING_MAX;
    if (n->options.reader_count == 0)
        n->options.reader_count = READER_COUNT;
    arena_init(&n->mem);
    config_init(n->config);
    arena_init(&n->routes->mem);
    triggers_open(n);
    arena_init(&n->credentials->mem);
    map_init(&n->credentials->uses, &n->mem);
    n->credentials->urls = value_map_empty();
    entries_init(n);
    cluster_init(n);
    waiters_init(n);
    failures_init(n);
    programs_init(n);
    map_init(&n->published->by_code, &n->mem);
    timers_init(&n->wake->timers);
    uuid_gen_init(&n->ids, options->random, options->random_context);
    n->env = n->options.env != NULL ? n->options.env : define_env(&n->mem);
    batch_init(n);
    if (open_all(n, err))
        return n;
    node_close(n);
    return NULL;
}

void node_abandon(struct node *n)
{
    if (n->crashes->count == 0)
        poison_forgive(n->poison);
}

void node_close(struct node *n)
{
    if (n->store != NULL && n->options.store == NULL)
        store_close(n->store);
    if (n->done == &n->own_done)
        mailbox_fini(&n->own_done);
    loads_free(n);
    entries_free(n);
    failures_free(n);
    programs_free(n);
    published_free(n);
    batches_free(n);
    timers_fini(&n->wake->timers);
    calls_close(n);
    intake_close(n);
    broker_link_close(n);
    chores_close(n);
    poison_close(n->poison);
    if (n->epoll_fd >= 0)
        close(n->epoll_fd);
    if (n->stop_fd >= 0)
        close(n->stop_fd);
    cluster_close(n);
    config_fini(n->config);
    arena_fini(&n->routes->mem);
    triggers_close(n);
    arena_fini(&n->credentials->mem);
    arena_fini(&n->mem);
    free(n);
}
