/*
 * items.h - a list of values that grows at its end and that states share
 * (shared_list.h): what a loop has collected, what has been rolled back.
 */
#ifndef PAWL_ENGINE_COMMAND_ITEMS_H
#define PAWL_ENGINE_COMMAND_ITEMS_H

#include "engine/command/shared_list.h"
#include "value/value.h"

/* Empty when all zeros. */
struct items {
    struct shared_list list;
    size_t bytes; /* as JSON, without what stands between them */
};

/* One more at the end, `bytes` long as JSON; `owner` is the state that is being made. */
void items_add(struct arena *mem, struct items *list, const void *owner, struct value item,
               size_t bytes);

/* Going over them: `place` begins as all zeros. NULL after the last. */
const struct value *items_next(const struct items *list, struct shared_iter *iter);

/* All of them as a list value in `mem`. */
struct value items_value(struct arena *mem, const struct items *list);

/* The same list with copies of the values in `mem`. */
struct items items_copy(struct arena *mem, const struct items *list, const void *owner);

#endif
