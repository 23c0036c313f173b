/* task_watch.c - see task_watch.h. */
#include "api/task_watch.h"

#include "base/hash.h"
#include "store/planner.h"

#include <stdlib.h>

#define WATCH_LOOK_US INT64_C(1000000)

/* What was told: enough for all that one look may find again. */
enum { WATCH_TOLD = 4096 };

struct task_watch {
    struct node *node;
    struct events *events;
    int64_t next_us; /* monotonic; when to look */
    bool is_reading;
    bool is_idle; /* nobody listens: the next look begins at the end of the log */
    struct arena mem;
    struct task_changes found;
    bool ok;
    struct err err;
    struct node_read read;
    uint64_t told[WATCH_TOLD]; /* by their hash; 0 = none */
};

struct task_watch *task_watch_new(struct node *node, struct events *events)
{
    struct task_watch *w = calloc(1, sizeof(*w));

    if (w == NULL)
        PANIC("out of memory");
    w->node = node;
    w->events = events;
    w->is_idle = true;
    arena_init(&w->mem);
    return w;
}

void task_watch_free(struct task_watch *w)
{
    arena_fini(&w->mem);
    free(w);
}

bool task_watch_is_new(struct task_watch *w, const struct task_news *news)
{
    uint64_t hash = hash_bytes(news->id.ptr, news->id.len) ^
                    hash_bytes((const char *)&news->at_us, sizeof(news->at_us));
    uint64_t *slot = &w->told[hash % WATCH_TOLD];
    bool is_new = *slot != hash;

    *slot = hash;
    return is_new;
}

static void watch_run_read(struct node_read *read, struct reader *reader)
{
    struct task_watch *w = read->owner;

    w->ok = read_task_changes(reader, &w->mem, &w->found, &w->err);
}

static void watch_was_read(struct node_read *read)
{
    struct task_watch *w = read->owner;

    w->is_reading = false;
    for (size_t i = 0; w->ok && i < w->found.count; i++) {
        const struct task_change *t = &w->found.items[i];
        const struct task_news news = {.id = t->id,
                                       .org_id = t->org_id,
                                       .project_id = t->project_id,
                                       .status = str_of(task_status_name(t->status)),
                                       .at_us = t->at_us};

        /* What was there before somebody listened is no news. */
        if (w->found.has_begun)
            events_hear_task(w->events, &news);
        else
            (void)task_watch_is_new(w, &news);
    }
    w->found = (struct task_changes){.log_row = w->found.log_row,
                                     .task_row = w->found.task_row,
                                     .has_begun = w->ok || w->found.has_begun};
    arena_reset(&w->mem);
}

void task_watch_run(struct task_watch *w, bool is_heard, int64_t now_us, int *timeout_ms)
{
    int64_t left_ms;

    if (!is_heard || w->is_reading) {
        w->is_idle |= !is_heard;
        return;
    }
    if (w->is_idle || now_us >= w->next_us) {
        if (w->is_idle)
            w->found = (struct task_changes){0};
        w->is_idle = false;
        w->next_us = now_us + WATCH_LOOK_US;
        w->read = (struct node_read){
            .run = watch_run_read, .done = watch_was_read, .lane = LANE_CLIENT, .owner = w};
        w->is_reading = node_read(w->node, &w->read, &w->err);
    }
    left_ms = (w->next_us - now_us) / 1000 + 1;
    if (*timeout_ms < 0 || left_ms < *timeout_ms)
        *timeout_ms = (int)left_ms;
}
