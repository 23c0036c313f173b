/* deliveries.c - see deliveries.h. */
#include "api/deliveries.h"

#include "base/alloc.h"
#include "base/map.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/queue.h>

#define DELIVERY_KEPT_US (INT64_C(24) * 3600 * 1000000)

/* The texts of a delivery. */
static const size_t texts[] = {
    offsetof(struct hook_delivery, topic),   offsetof(struct hook_delivery, code),
    offsetof(struct hook_delivery, address), offsetof(struct hook_delivery, request_id),
    offsetof(struct hook_delivery, outcome), offsetof(struct hook_delivery, id),
    offsetof(struct hook_delivery, error),   offsetof(struct hook_delivery, why),
    offsetof(struct hook_delivery, body),    offsetof(struct hook_delivery, headers_json),
    offsetof(struct hook_delivery, query),
};

struct kept_delivery {
    TAILQ_ENTRY(kept_delivery) by_age;  /* of all */
    TAILQ_ENTRY(kept_delivery) by_hook; /* of one webhook, proven or not */
    struct hook_deliveries *hook;
    size_t bytes;
    struct hook_delivery d; /* its texts stand behind it */
};

TAILQ_HEAD(delivery_queue, kept_delivery);

struct hook_deliveries {
    struct delivery_queue kept[2]; /* those that are proven second */
    size_t count[2];
    struct str topic; /* stands behind it */
};

struct deliveries {
    struct arena mem; /* of the map */
    struct map hooks; /* by topic */
    struct delivery_queue all;
    size_t bytes;
    int64_t number; /* of the latest */
};

static struct str *text_at(struct hook_delivery *d, size_t i)
{
    return (struct str *)((char *)d + texts[i]);
}

struct deliveries *deliveries_new(void)
{
    struct deliveries *all = ALLOC_NEW(struct deliveries);

    arena_init(&all->mem);
    map_init(&all->hooks, &all->mem);
    TAILQ_INIT(&all->all);
    return all;
}

static void drop_delivery(struct deliveries *all, struct kept_delivery *k)
{
    struct hook_deliveries *hook = k->hook;

    TAILQ_REMOVE(&all->all, k, by_age);
    TAILQ_REMOVE(&hook->kept[k->d.is_proven], k, by_hook);
    hook->count[k->d.is_proven]--;
    all->bytes -= k->bytes;
    free(k);
    if (hook->count[0] + hook->count[1] == 0) {
        (void)map_remove(&all->hooks, hook->topic);
        free(hook);
    }
}

void deliveries_free(struct deliveries *all)
{
    while (!TAILQ_EMPTY(&all->all))
        drop_delivery(all, TAILQ_FIRST(&all->all));
    arena_fini(&all->mem);
    free(all);
}

static struct hook_deliveries *hook_get(struct deliveries *all, struct str topic)
{
    struct hook_deliveries *hook = map_get(&all->hooks, topic);

    if (hook != NULL)
        return hook;
    hook = alloc_zeroed(sizeof(*hook) + topic.len);
    memcpy(hook + 1, topic.ptr, topic.len);
    hook->topic = str_from((const char *)(hook + 1), topic.len);
    for (size_t i = 0; i < ARRAY_SIZE(hook->kept); i++)
        TAILQ_INIT(&hook->kept[i]);
    map_put(&all->hooks, hook->topic, hook);
    return hook;
}

static struct kept_delivery *copy_delivery(const struct hook_delivery *d)
{
    struct hook_delivery from = *d;
    struct kept_delivery *k;
    size_t bytes = sizeof(*k);
    char *at;

    if (from.body.len > DELIVERY_BODY_MAX)
        from.body = STR_NONE;
    if (from.headers_json.len > DELIVERY_BODY_MAX)
        from.headers_json = STR_NONE;
    if (from.query.len > DELIVERY_BODY_MAX)
        from.query = STR_NONE;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        bytes += text_at(&from, i)->len;
    k = alloc_zeroed(bytes);
    k->bytes = bytes;
    k->d = from;
    at = (char *)(k + 1);
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct str *text = text_at(&k->d, i);

        if (text->len > 0)
            memcpy(at, text->ptr, text->len);
        *text = str_from(at, text->len);
        at += text->len;
    }
    return k;
}

static void drop_old(struct deliveries *all, int64_t now_us)
{
    struct kept_delivery *oldest;

    while ((oldest = TAILQ_FIRST(&all->all)) != NULL &&
           (all->bytes > DELIVERIES_BYTES_MAX || oldest->d.at_us <= now_us - DELIVERY_KEPT_US))
        drop_delivery(all, oldest);
}

void deliveries_add(struct deliveries *all, const struct hook_delivery *d)
{
    size_t most = d->is_proven ? DELIVERIES_MAX : DELIVERIES_UNPROVEN_MAX;
    struct hook_deliveries *hook;
    struct kept_delivery *k;

    if (d->code.len == 0)
        return;
    k = copy_delivery(d);
    hook = hook_get(all, d->topic);
    k->hook = hook;
    k->d.number = ++all->number;
    TAILQ_INSERT_TAIL(&all->all, k, by_age);
    TAILQ_INSERT_TAIL(&hook->kept[d->is_proven], k, by_hook);
    all->bytes += k->bytes;
    if (++hook->count[d->is_proven] > most)
        drop_delivery(all, TAILQ_FIRST(&hook->kept[d->is_proven]));
    drop_old(all, d->at_us);
}

static void take_delivery(struct arena *mem, const struct kept_delivery *k,
                          struct delivery_list *out)
{
    struct hook_delivery *d = VEC_ADD(mem, out);

    *d = k->d;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        *text_at(d, i) = str_copy(mem, *text_at(d, i));
}

void deliveries_of(struct deliveries *all, struct arena *mem, struct str topic, int64_t now_us,
                   struct delivery_list *out)
{
    const struct hook_deliveries *hook;
    const struct kept_delivery *a, *b;

    *out = (struct delivery_list){0};
    drop_old(all, now_us);
    hook = map_get(&all->hooks, topic);
    if (hook == NULL)
        return;
    a = TAILQ_LAST(&hook->kept[0], delivery_queue);
    b = TAILQ_LAST(&hook->kept[1], delivery_queue);
    while (a != NULL || b != NULL) {
        bool takes_a = b == NULL || (a != NULL && a->d.number > b->d.number);

        take_delivery(mem, takes_a ? a : b, out);
        if (takes_a)
            a = TAILQ_PREV(a, delivery_queue, by_hook);
        else
            b = TAILQ_PREV(b, delivery_queue, by_hook);
    }
}
