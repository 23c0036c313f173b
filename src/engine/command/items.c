/* items.c - see items.h. */
#include "engine/command/items.h"

void items_add(struct arena *mem, struct items *list, const void *owner, struct value item,
               size_t bytes)
{
    *(struct value *)shared_list_add(mem, &list->list, owner, sizeof(item)) = item;
    list->bytes += bytes;
}

const struct value *items_next(const struct items *list, struct shared_iter *iter)
{
    return shared_list_next(&list->list, iter, sizeof(struct value));
}

struct value items_value(struct arena *mem, const struct items *list)
{
    struct value *items = ARENA_ARRAY(mem, list->list.count + 1u, struct value);
    struct shared_iter iter = {0};
    const struct value *item;
    uint32_t count = 0;

    while ((item = items_next(list, &iter)) != NULL)
        items[count++] = *item;
    return value_list(items, count);
}

struct items items_copy(struct arena *mem, const struct items *list, const void *owner)
{
    struct items copy = {0};
    struct shared_iter iter = {0};
    const struct value *item;

    while ((item = items_next(list, &iter)) != NULL)
        items_add(mem, &copy, owner, value_copy(mem, *item), 0);
    copy.bytes = list->bytes;
    return copy;
}
