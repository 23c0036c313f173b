/*
 * lib.h - what the files of the function library share. Internal to src/cel.
 */
#ifndef PAWL_CEL_LIB_LIB_H
#define PAWL_CEL_LIB_LIB_H

#include "cel/eval.h"

/* Room for a text of `size` bytes, or NULL when that is more than a value or the share may hold. */
static inline char *cel_alloc_text(struct cel_eval *ev, size_t size)
{
    return size > VALUE_LEN_MAX ? NULL : cel_alloc(ev, size);
}

/* Room for a list of `count` items, or NULL. */
static inline struct value *cel_alloc_items(struct cel_eval *ev, size_t count)
{
    return count > VALUE_LEN_MAX ? NULL : cel_alloc(ev, count * sizeof(struct value));
}

#endif
