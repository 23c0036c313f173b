/* diff.h - in what two values differ. */
#ifndef PAWL_VALUE_DIFF_H
#define PAWL_VALUE_DIFF_H

#include "base/vec.h"
#include "value/value.h"

struct difference {
    struct str pointer;    /* JSON pointer */
    struct value from, to; /* VALUE_ABSENT: it was not there, or is no more */
};

struct differences {
    VEC_OF(struct difference);
};

/*
 * Add the smallest parts in which `to` differs from `from`, at most `max` in
 * all. Lists are compared item by item: by their codes where every item is an
 * object with a `code` of its own, as steps are, else by position. An item that
 * is gone is named by where it was, every other one by where it is now; a list
 * whose items with codes stand in another order differs as a whole. 1 and 1.0 differ, and so do maps of
 * another order, as a whole. Pointers live in `mem`, values where they are.
 */
void value_diff(struct arena *mem, struct value from, struct value to, size_t max,
                struct differences *out);

#endif
