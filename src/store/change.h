/*
 * change.h - changes of what people keep beside definitions and executions:
 * users, tokens, settings, records that are edited by hand.
 *
 * A change is one member of a batch, applied as a whole or not at all, like a
 * commit of the engine. Each kind embeds a struct change as its first field and
 * names a function of the store that applies it; whoever asks for the change
 * fills the rest and finds the answer in it when the batch is durable:
 *
 *     struct user_change u = {.change = {.apply = user_change_apply}, ...};
 *
 * `apply` runs on the writer's thread and may run again when the batch is
 * repeated: it starts from what the caller has filled, every time. How one is
 * written: store/write/change_apply.h.
 */
#ifndef PAWL_STORE_CHANGE_H
#define PAWL_STORE_CHANGE_H

#include "base/str.h"
#include "base/uuid.h"
#include "base/vec.h"

struct apply; /* the writer's transaction */
struct member;

enum apply_result {
    APPLY_DONE,   /* member->result says how */
    APPLY_AGAIN,  /* refused after it wrote something: roll back to before the member */
    APPLY_FAILED, /* a->status says why */
};

typedef enum apply_result change_apply_fn(struct apply *a, struct member *m);

/* Executions that have a new row in execution_events. */
struct executions_notified {
    VEC_OF(struct uuid);
};

struct change {
    change_apply_fn *apply;
    int64_t now_us;
    const char
        *announces;   /* what the names of the events that it may publish begin with; or NULL */
    bool makes_space; /* it belongs to a deletion; see change_makes_space() */
    bool leaves_executions; /* it changes no execution that commits of the batch are about */
    /* The answer to the client, also kept for an Idempotency-Key; 0 and empty: what the member's
     * idempotency says. */
    int32_t answer_status;
    struct str answer_json;
    /* Executions that it has notified, which the node wakes; in the memory of the batch. */
    struct executions_notified notified;
};

/*
 * Whether it deletes, or notes something about a deletion: on a full volume it
 * may use the reserve, in a batch with others of its kind alone. True of the
 * changes of change_retention.h that delete, and of what sets `makes_space`.
 */
bool change_makes_space(const struct change *c);

/* A change that is none: for the answer that is kept with it. */
change_apply_fn change_nothing;

#endif
