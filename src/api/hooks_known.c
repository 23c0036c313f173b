/* hooks_known.c - see hooks_known.h. */
#include "api/hooks_known.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "node/node.h"
#include "node/request.h"
#include "store/read_triggers.h"

#include <stdlib.h>

#define LOOK_AGAIN_US INT64_C(1000000)

/* The hashes of all topics, in order. Two topics with one hash do no harm. */
struct topic_table {
    uint64_t *hashes;
    size_t count;
    struct arena mem;
};

struct hooks_known {
    struct node *node;
    struct topic_table tables[2];
    unsigned current; /* the other one is the reader's while it reads */
    struct node_read read;
    bool is_reading, read_ok;
    int64_t look_us; /* monotonic: not before */
};

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void known_run(struct node_read *read, struct reader *reader)
{
    struct hooks_known *k = read->owner;
    struct topic_table *t = &k->tables[1 - k->current];
    struct stored_triggers all;
    struct arena mem;
    struct err err;

    arena_init(&mem);
    arena_reset(&t->mem);
    k->read_ok = read_triggers(reader, &mem, TRIGGER_WEBHOOK, &all, &err);
    if (k->read_ok) {
        t->hashes = ARENA_ARRAY(&t->mem, all.count + 1, uint64_t);
        t->count = all.count;
        for (size_t i = 0; i < all.count; i++)
            t->hashes[i] = hash_bytes(all.items[i].topic.ptr, all.items[i].topic.len);
        qsort(t->hashes, t->count, sizeof(t->hashes[0]), compare_hashes);
    }
    arena_fini(&mem);
}

static void known_done(struct node_read *read)
{
    struct hooks_known *k = read->owner;

    k->is_reading = false;
    if (k->read_ok)
        k->current = 1 - k->current;
}

static void look_again(struct hooks_known *k, int64_t now_us)
{
    struct err err;

    if (k->is_reading || now_us < k->look_us)
        return;
    k->look_us = now_us + LOOK_AGAIN_US;
    k->read =
        (struct node_read){.lane = LANE_CLIENT, .run = known_run, .done = known_done, .owner = k};
    /* Refused when too much is read: then it is tried with a later request. */
    k->is_reading = node_read(k->node, &k->read, &err);
}

bool hooks_known_have(struct hooks_known *k, struct str topic, int64_t mono_us)
{
    const struct topic_table *t = &k->tables[k->current];
    uint64_t hash = hash_bytes(topic.ptr, topic.len);

    if (t->count > 0 && bsearch(&hash, t->hashes, t->count, sizeof(hash), compare_hashes) != NULL)
        return true;
    look_again(k, mono_us);
    return false;
}

struct hooks_known *hooks_known_new(struct node *node)
{
    struct hooks_known *k = ALLOC_NEW(struct hooks_known);

    k->node = node;
    for (size_t i = 0; i < ARRAY_SIZE(k->tables); i++)
        arena_init(&k->tables[i].mem);
    return k;
}

void hooks_known_free(struct hooks_known *k)
{
    for (size_t i = 0; i < ARRAY_SIZE(k->tables); i++)
        arena_fini(&k->tables[i].mem);
    free(k);
}
