/*
 * change.h - changes of what people keep beside definitions and executions:
 * users, tokens, settings, records that are edited by hand.
 *
 * A change is one member of a batch, applied as a whole or not at all, like a
 * commit of the engine. Each kind embeds a struct change as its first field
 * and has a function of its own in a file change_*.c; whoever asks for the
 * change fills the rest and finds the answer in it when the batch is durable:
 *
 *     struct user_change u = {.change = {.apply = user_change_apply}, ...};
 *
 * `apply` runs on the writer's thread and may run again when the batch is
 * repeated: it starts from what the caller has filled, every time.
 */
#ifndef PAWL_STORE_CHANGE_H
#define PAWL_STORE_CHANGE_H

#include "store/apply.h"

/* Executions that have a new row in execution_events. */
struct executions_told {
    VEC_OF(struct uuid);
};

struct change {
    /*
     * Look first, refuse with apply_refuse() or apply_refuse_with(), then
     * write with apply_write(). What it answers lives in a->mem, which is that
     * of the batch: `answer_json` is copied before the batch goes.
     */
    enum apply_result (*apply)(struct apply *a, struct member *m, enum db_status *status);
    int64_t now_us;
    const char *tells;      /* what the names of events that it may tell begin with; or NULL */
    bool leaves_executions; /* what was gathered of them (gather.h) is still true after it */
    /* The answer to the client, also kept for an Idempotency-Key; 0 and empty: what the member's
     * idempotency says. */
    int32_t answer_status;
    struct str answer_json;
    /* Executions that it has told something, which the node wakes; in the memory of the batch. */
    struct executions_told told;
};

/* A change that is none: for the answer that is kept with it. */
enum apply_result change_nothing(struct apply *a, struct member *m, enum db_status *status);

/* Refuse a member with a code and a sentence of its own. */
enum apply_result apply_refuse_with(const struct apply *a, struct member *m, enum err_code code,
                                    const char *format, ...) PRINTF_LIKE(4, 5);

#endif
