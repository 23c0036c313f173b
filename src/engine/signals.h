/*
 * signals.h - the signals that an execution holds, a list that states share
 * (shared_list.h), by seq.
 *
 * Signals that a wait has taken stay as long as $.signals shows them; older
 * ones leave. So all but the last SIGNALS_SHOWN are pending.
 *
 * why: decisions 0112, 0113
 */
#ifndef PAWL_ENGINE_SIGNALS_H
#define PAWL_ENGINE_SIGNALS_H

#include "base/str.h"
#include "engine/command/shared_list.h"
#include "value/value.h"

enum { SIGNALS_SHOWN = 100 }; /* in $.signals */

/* A signal that has been received. Immutable. */
struct signal {
    struct str id; /* given by the client or made by the server */
    struct str type;
    int64_t received_at_us;
    int64_t seq;        /* of the history row that recorded it */
    bool is_taken;      /* by a wait */
    struct str answers; /* "CODE:VISIT" of the one wait that it is for; empty: whoever wants it */
    struct value view;  /* $.signals[n]: {id, type, payload, by, receivedAt} */
    struct str json;    /* the same as JSON */
};

/* Empty when all zeros. */
struct signals {
    struct shared_list list;
};

/*
 * One more at the end, owned by the caller and not copied. `owner` is the
 * state that is being made, new memory in `mem`. Answers the signal that
 * leaves the list by this, or NULL.
 */
const struct signal *signals_add(struct arena *mem, struct signals *s, const void *owner,
                                 const struct signal *signal);

/* A wait takes the one of that seq, if it is there. Answers the signal that leaves, or NULL. */
const struct signal *signals_take(struct arena *mem, struct signals *s, const void *owner,
                                  int64_t seq);

/* The first of that id, or NULL. */
const struct signal *signals_find(const struct signals *s, struct str id);

/* Going over them: `iter` begins as all zeros. NULL after the last. */
const struct signal *signals_next(const struct signals *s, struct shared_iter *iter);

/* The position from which signals_next() gives the last `count`, or all of them. */
struct shared_iter signals_last(const struct signals *s, size_t count);

#endif
