/* repair.h - retry, skip, migrate: the program and the input that they need. Internal to src/node. */
#ifndef PAWL_NODE_REPAIR_H
#define PAWL_NODE_REPAIR_H

#include "node/cache/entry.h"
#include "node/cache/program.h"

enum repair_state {
    REPAIR_READY,   /* the engine may be asked */
    REPAIR_REFUSED, /* *err and the request's findings say why */
    REPAIR_WAITS,   /* for a program: the work must be handed to repair_wait() */
};

bool repair_is(enum event_kind kind);

/* What the first work of an entry, a repair, needs before the engine is asked. */
enum repair_state repair_prepare(struct node *n, const struct entry *e, struct work *w,
                                 struct err *err);

/* The work, which is in no queue, comes back to its execution with the program. */
void repair_wait(struct node *n, const struct entry *e, struct work *w);
void repair_program_come(struct node *n, struct program_ref *ref);

#endif
