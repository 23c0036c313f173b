/*
 * lib.h - what the files of the function library share. Internal to src/cel.
 */
#ifndef PAWL_CEL_LIB_H
#define PAWL_CEL_LIB_H

#include "cel/eval.h"

/* Whether a value is of the kind that a letter stands for; see cel_args_are(). */
static inline bool cel_kind_is(struct value v, char letter)
{
    switch (letter) {
    case 's':
        return v.kind == VALUE_STRING;
    case 'b':
        return v.kind == VALUE_BYTES;
    case 'i':
        return v.kind == VALUE_INT;
    case 'l':
        return v.kind == VALUE_LIST;
    }
    PANIC("unknown letter for a kind of value");
}

/*
 * Whether the arguments are exactly of these kinds, one letter each: (s)tring,
 * (b)ytes, (i)nt, (l)ist. "si" is a string and an int.
 */
static inline bool cel_args_are(const struct value *args, unsigned count, const char *kinds)
{
    for (unsigned i = 0; i < count; i++)
        if (kinds[i] == '\0' || !cel_kind_is(args[i], kinds[i]))
            return false;
    return kinds[count] == '\0';
}

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
