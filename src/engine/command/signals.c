/* signals.c - see signals.h. */
#include "engine/signals.h"

#include "base/hash.h"

/* What the list holds of a signal. */
struct signal_item {
    const struct signal *signal;
    uint64_t hash; /* of its id */
};

static const struct signal_item *item_at(const struct signals *s, struct shared_iter at)
{
    return shared_list_at(&s->list, at, sizeof(struct signal_item));
}

static const struct signal_item *next_item(const struct signals *s, struct shared_iter *iter)
{
    return shared_list_next(&s->list, iter, sizeof(struct signal_item));
}

/* --- writing --- */

const struct signal *signals_add(struct arena *mem, struct signals *s, const void *owner,
                                 const struct signal *signal)
{
    struct signal_item *item = shared_list_add(mem, &s->list, owner, sizeof(*item));
    struct shared_iter old;
    const struct signal *left;

    *item = (struct signal_item){signal, hash_bytes(signal->id.ptr, signal->id.len)};
    if (s->list.count <= SIGNALS_SHOWN)
        return NULL;
    /* Just one is no longer shown. */
    old = signals_last(s, SIGNALS_SHOWN + 1);
    left = item_at(s, old)->signal;
    if (!left->is_taken)
        return NULL;
    shared_list_remove(mem, &s->list, owner, old, sizeof(struct signal_item));
    return left;
}

/* Whether the signal at this position is among the last `count`. */
static bool is_among_last(const struct signals *s, struct shared_iter at, size_t count)
{
    struct shared_iter first = signals_last(s, count);

    return at.chunk != first.chunk ? at.chunk > first.chunk : at.item >= first.item;
}

static bool find_seq(const struct signals *s, int64_t seq, struct shared_iter *out)
{
    for (uint32_t c = 0; c < s->list.chunk_count; c++) {
        uint32_t count = s->list.chunks[c]->count;

        if (item_at(s, (struct shared_iter){c, count - 1})->signal->seq < seq)
            continue;
        for (uint32_t i = 0; i < count; i++) {
            *out = (struct shared_iter){c, i};
            if (item_at(s, *out)->signal->seq == seq)
                return true;
        }
        return false;
    }
    return false;
}

const struct signal *signals_take(struct arena *mem, struct signals *s, const void *owner,
                                  int64_t seq)
{
    struct shared_iter at;
    struct signal *taken;
    struct signal_item *item;

    if (!find_seq(s, seq, &at))
        return NULL;
    if (!is_among_last(s, at, SIGNALS_SHOWN)) {
        const struct signal *left = item_at(s, at)->signal;

        shared_list_remove(mem, &s->list, owner, at, sizeof(struct signal_item));
        return left;
    }
    taken = arena_alloc(mem, sizeof(*taken));
    *taken = *item_at(s, at)->signal;
    taken->is_taken = true;
    item = shared_list_own(mem, &s->list, owner, at, sizeof(*item));
    item->signal = taken;
    return NULL;
}

/* --- reading --- */

const struct signal *signals_find(const struct signals *s, struct str id)
{
    uint64_t hash = hash_bytes(id.ptr, id.len);
    struct shared_iter iter = {0};
    const struct signal_item *item;

    while ((item = next_item(s, &iter)) != NULL)
        if (item->hash == hash && str_eq(item->signal->id, id))
            return item->signal;
    return NULL;
}

const struct signal *signals_next(const struct signals *s, struct shared_iter *iter)
{
    const struct signal_item *item = next_item(s, iter);

    return item != NULL ? item->signal : NULL;
}

struct shared_iter signals_last(const struct signals *s, size_t count)
{
    return shared_list_last(&s->list, count);
}
