/*
 * poison.h - which executions were being worked on when the process died.
 * Internal to src/node.
 *
 * An id stands in a small mapped file while a thread works on that execution:
 * reads, compiles, restores, advances or shows it. The kernel keeps the page
 * when the process is killed, which is all that is needed: a machine that loses
 * power was not killed by an execution. The file has a slot for the loop and
 * slots that other threads take; those in which an id was found stay as they
 * are until that crash is counted.
 *
 * why: decision 0160
 */
#ifndef PAWL_NODE_POISON_H
#define PAWL_NODE_POISON_H

#include "base/err.h"
#include "base/uuid.h"

#include <stdatomic.h>

enum { POISON_SLOTS = 32 }; /* more than there are threads, and as many crashes */

struct poison {
    int fd;
    uint8_t *page;                      /* NULL: there is no file */
    atomic_bool is_taken[POISON_SLOTS]; /* by a thread, or by a crash that is not counted */
    unsigned own;                       /* the loop's */
};

/* An id that was left in the file. */
struct poison_left {
    struct uuid id;
    unsigned slot;
};

/*
 * Map the file. In the data folder it is "poison"; without a data folder (`path`
 * is empty) it is one of the system's folder for such files that no other
 * process uses. left[0 .. *count) are the ids that were left in it, each once.
 */
bool poison_open(struct poison *p, struct str data_path, struct poison_left left[POISON_SLOTS],
                 unsigned *count, struct err *err) MUST_USE;
void poison_close(struct poison *p);

/* The loop works on this execution; on none. */
void poison_set(struct poison *p, struct uuid id);
void poison_clear(struct poison *p);

/* Whatever anybody works on is not to blame for the end of the process. */
void poison_forgive(struct poison *p);

/* Any other thread does; the slot is given back with poison_leave(). */
unsigned poison_enter(struct poison *p, struct uuid id);
void poison_leave(struct poison *p, unsigned slot);

#endif
