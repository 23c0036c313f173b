/* items.c - see items.h. */
#include "engine/items.h"

void items_add(struct arena *mem, struct items *list, const void *owner, struct value item,
               size_t bytes)
{
    struct item_chunk *last = list->last;

    if (last == NULL || last->count == ITEM_CHUNK || last->owner != owner) {
        struct item_chunk *made = arena_alloc(mem, sizeof(*made));

        if (last != NULL && last->count < ITEM_CHUNK)
            *made = *last;
        else
            *made = (struct item_chunk){.older = last};
        made->owner = owner;
        list->last = last = made;
    }
    last->items[last->count++] = item;
    list->count++;
    list->bytes += bytes;
}

struct value items_value(struct arena *mem, const struct items *list)
{
    struct value *items = ARENA_ARRAY(mem, list->count + 1u, struct value);
    uint32_t at = list->count;

    for (const struct item_chunk *c = list->last; c != NULL; c = c->older) {
        at -= c->count;
        for (uint32_t i = 0; i < c->count; i++)
            items[at + i] = c->items[i];
    }
    return value_list(items, list->count);
}

struct items items_copy(struct arena *mem, const struct items *list, const void *owner)
{
    struct value all = items_value(mem, list);
    struct items copy = {0};

    for (uint32_t i = 0; i < all.len; i++)
        items_add(mem, &copy, owner, value_copy(mem, all.items[i]), 0);
    copy.bytes = list->bytes;
    return copy;
}
