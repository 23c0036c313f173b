/* task_watch.c - see task_watch.h. */
#include "api/stream/task_watch.h"

#include "base/alloc.h"
#include "base/map.h"
#include "node/request.h"
#include "store/read_planner.h"

#define WATCH_LOOK_US INT64_C(1000000)

/*
 * The hints that were sent are known exactly, or the same would be sent with every
 * look that finds it. The younger part takes what is sent or found again; after
 * so many looks, or when it is full, it becomes the older one.
 */
enum { SENT_LOOKS = 16, SENT_MAX = 20000 };

struct watch_sent {
    struct arena mem;
    struct map keys; /* id and time of a change, in bytes */
};

struct task_watch {
    struct node *node;
    struct events *events;
    int64_t next_us; /* monotonic; when to look */
    bool is_reading;
    bool is_idle; /* no listener: the next look begins at the end of the log */
    struct arena mem;
    struct task_changes found;
    bool ok;
    struct err err;
    struct node_read read;
    struct watch_sent sent[2];
    unsigned young; /* of the two */
    unsigned looks; /* since it is the younger one */
};

static void sent_clear(struct watch_sent *t)
{
    arena_reset(&t->mem);
    map_init(&t->keys, &t->mem);
}

struct task_watch *task_watch_new(struct node *node, struct events *events)
{
    struct task_watch *w = ALLOC_NEW(struct task_watch);

    w->node = node;
    w->events = events;
    w->is_idle = true;
    arena_init(&w->mem);
    for (unsigned i = 0; i < ARRAY_SIZE(w->sent); i++) {
        arena_init(&w->sent[i].mem);
        sent_clear(&w->sent[i]);
    }
    return w;
}

void task_watch_free(struct task_watch *w)
{
    arena_fini(&w->mem);
    for (unsigned i = 0; i < ARRAY_SIZE(w->sent); i++)
        arena_fini(&w->sent[i].mem);
    free(w);
}

/* The younger part grows old, the older one is forgotten. */
static void sent_turn(struct task_watch *w)
{
    w->looks = 0;
    w->young = !w->young;
    sent_clear(&w->sent[w->young]);
}

bool task_watch_is_new(struct task_watch *w, const struct task_news *news)
{
    char text[UUID_TEXT_LEN + sizeof(news->at_us)];
    size_t id_len = news->id.len < UUID_TEXT_LEN ? news->id.len : UUID_TEXT_LEN;
    struct str key;
    struct watch_sent *young;
    bool is_new;

    memcpy(text, news->id.ptr, id_len);
    memcpy(text + id_len, &news->at_us, sizeof(news->at_us));
    key = str_from(text, id_len + sizeof(news->at_us));
    if (w->sent[w->young].keys.count >= SENT_MAX)
        sent_turn(w);
    young = &w->sent[w->young];
    if (map_get(&young->keys, key) != NULL)
        return false;
    is_new = map_get(&w->sent[!w->young].keys, key) == NULL;
    map_put(&young->keys, str_copy(&young->mem, key), w);
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

        /* Changes from before the first listener are not sent. */
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
        if (++w->looks >= SENT_LOOKS)
            sent_turn(w);
        w->next_us = now_us + WATCH_LOOK_US;
        w->read = (struct node_read){
            .run = watch_run_read, .done = watch_was_read, .lane = LANE_CLIENT, .owner = w};
        w->is_reading = node_read(w->node, &w->read, &w->err);
    }
    left_ms = (w->next_us - now_us) / 1000 + 1;
    if (*timeout_ms < 0 || left_ms < *timeout_ms)
        *timeout_ms = (int)left_ms;
}
