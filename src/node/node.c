/* node.c - opening, the loop, closing; see node.h. */
#include "node/inner.h"

#include "base/crash.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DONE_CAPACITY = 8192,
    READER_COUNT = 2,
    PENDING_MAX = 16384,
    IDLE_MS = 1000, /* the longest sleep: the wall clock may be set meanwhile */
};

/* --- reads --- */

static void run_task(struct store_task *task, struct reader *reader)
{
    struct node_read *read = task->owner;

    read->run(read, reader);
}

bool node_read(struct node *n, struct node_read *read, struct err *err)
{
    read->task = (struct store_task){.item = STORE_TASK, .run = run_task, .owner = read};
    if (store_read(n->store, &read->task))
        return true;
    return err_set(err, ERR_OVERLOADED, "too many reads are under way");
}

/* --- one pass --- */

static bool take_done(struct node *n)
{
    void *items[256];
    size_t count = mailbox_take(n->done, items, sizeof(items) / sizeof(items[0]));

    for (size_t i = 0; i < count; i++) {
        enum store_item *item = items[i];
        if (*item == STORE_BATCH) {
            batch_done(n, items[i]);
        } else {
            struct store_task *task = items[i];
            struct node_read *read = task->owner;
            read->done(read);
        }
    }
    return count > 0;
}

/* Due executions in memory are bounded, whatever else is there. */
static bool may_fire(const struct node *n)
{
    return n->is_recovered && !n->is_draining && n->wakes < WAKES_MAX;
}

static bool fire_timers(struct node *n)
{
    int64_t now_us = clock_wall_us(n->clock);
    struct uuid id;
    bool any = false;

    while (may_fire(n) && timers_take(&n->timers, now_us, &id)) {
        CRASH_POINT(TIMER_FIRED);
        wake(n, id);
        any = true;
    }
    return any;
}

bool node_pass(struct node *n)
{
    bool any = take_done(n);

    any |= loads_refused(n);
    if (!n->is_draining)
        load_due(n);
    any |= fire_timers(n);
    request_expire(n);
    if (n->current == NULL)
        batch_submit(n);
    works_run(n);
    if (n->current->members.count > 0)
        any = true;
    batch_submit(n);
    entries_trim(n);
    return any;
}

int64_t node_next_wake_us(const struct node *n)
{
    return timers_next_us(&n->timers);
}

/* --- the loop --- */

static int sleep_ms(struct node *n)
{
    int64_t wall_us = clock_wall_us(n->clock), mono_us = clock_mono_us(n->clock);
    int64_t us = (int64_t)IDLE_MS * 1000, next = timers_next_us(&n->timers);

    if (n->ready_first != NULL && n->outstanding < OUTSTANDING_MAX)
        us = n->pause_until_us > mono_us ? n->pause_until_us - mono_us : 0;
    if (next != INT64_MAX && may_fire(n) && next - wall_us < us)
        us = next - wall_us;
    if (n->waiting > 0 && n->next_expiry_us - mono_us < us)
        us = n->next_expiry_us - mono_us;
    return us <= 0 ? 0 : (int)((us + 999) / 1000);
}

static bool is_drained(const struct node *n)
{
    return n->outstanding == 0 && n->pending == 0 && n->ready_first == NULL &&
           (n->current == NULL || n->current->members.count == 0);
}

int node_run(struct node *n)
{
    struct epoll_event events[64];

    while (!(n->is_draining && is_drained(n))) {
        int timeout_ms, count;
        bool any = node_pass(n);

        timeout_ms = any && n->outstanding < OUTSTANDING_MAX ? 0 : sleep_ms(n);
        if (n->before_sleep != NULL)
            n->before_sleep(n->before_sleep_context, &timeout_ms);
        if (n->is_draining && timeout_ms > 10)
            timeout_ms = 10;
        count = epoll_wait(n->epoll_fd, events, sizeof(events) / sizeof(events[0]), timeout_ms);
        if (count < 0 && errno != EINTR)
            PANIC("epoll failed");
        for (int i = 0; i < count; i++) {
            struct watch *w = events[i].data.ptr;
            if (w != NULL)
                w->ready(w->context);
        }
        if (n->stop_requested && !n->is_draining)
            n->is_draining = true;
    }
    return 0;
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

bool node_is_ready(const struct node *n, const char **why)
{
    *why = !n->is_recovered ? "recovering" : n->is_draining ? "stopping" : "";
    return n->is_recovered && !n->is_draining;
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

/* An execution that was being advanced when the process died. */
static void count_crash(struct node *n, struct uuid id)
{
    struct member *m;

    batch_submit(n); /* makes the first batch */
    m = arena_zalloc(&n->current->mem, sizeof(*m));
    m->kind = MEMBER_CRASH;
    m->crashed = id;
    *VEC_ADD(&n->current->mem, &n->current->members) = m;
    log_write(LOG_WARN, "the process died while it advanced an execution", NULL);
    CRASH_POINT(CRASH_COUNTED);
}

static bool open_store(struct node *n, struct err *err)
{
    struct store_options options = {
        .url = n->options.store_url,
        .data_path = n->options.data_path,
        .done = &n->own_done,
        .reader_count = n->options.reader_count,
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

struct node *node_open(const struct node_options *options, struct err *err)
{
    struct node *n = calloc(1, sizeof(*n));
    struct uuid poisoned;
    bool was_poisoned = false;

    if (n == NULL)
        PANIC("out of memory");
    n->options = *options;
    n->clock = options->clock;
    n->epoll_fd = n->stop_fd = n->poison.fd = -1;
    if (n->options.cache_bytes == 0)
        n->options.cache_bytes = 64u << 20;
    if (n->options.pending_max == 0)
        n->options.pending_max = PENDING_MAX;
    if (n->options.reader_count == 0)
        n->options.reader_count = READER_COUNT;
    arena_init(&n->mem);
    map_init(&n->published, &n->mem);
    timers_init(&n->timers);
    uuid_gen_init(&n->ids, options->random, options->random_context);
    n->env = define_env(&n->mem);
    if (!open_store(n, err) || !open_loop(n, err)) {
        node_close(n);
        return NULL;
    }
    if (options->data_path.len > 0 &&
        !poison_open(&n->poison, options->data_path, &poisoned, &was_poisoned, err)) {
        node_close(n);
        return NULL;
    }
    if (was_poisoned)
        count_crash(n, poisoned);
    return n;
}

void node_close(struct node *n)
{
    struct work *w;

    if (n->store != NULL && n->options.store == NULL)
        store_close(n->store);
    if (n->done == &n->own_done)
        mailbox_fini(&n->own_done);
    entries_free(n);
    while (n->programs != NULL) {
        if (n->programs->program != NULL)
            program_release(n->programs->program);
        program_forget(n, n->programs);
    }
    while ((w = n->free_works) != NULL) {
        n->free_works = w->next;
        free(w);
    }
    timers_fini(&n->timers);
    poison_close(&n->poison);
    if (n->current != NULL) {
        arena_fini(&n->current->mem);
        free(n->current);
    }
    while (n->spare_count > 0) {
        struct batch *b = n->spare_batches[--n->spare_count];
        arena_fini(&b->mem);
        free(b);
    }
    if (n->epoll_fd >= 0)
        close(n->epoll_fd);
    if (n->stop_fd >= 0)
        close(n->stop_fd);
    arena_fini(&n->mem);
    free(n);
}
