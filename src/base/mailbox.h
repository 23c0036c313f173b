/*
 * mailbox.h - how threads hand each other work: a bounded queue of pointers.
 *
 * Any thread puts, one thread takes. The taking thread sleeps in epoll on
 * mailbox_fd(), which is readable exactly while there is something to do:
 * items to take, or the news that the mailbox was closed. Nothing here ever
 * blocks for longer than another thread needs to move a few pointers.
 *
 * Only intake may be refused. Whoever asks another thread for something that
 * will be answered reserves a slot in its own mailbox first; the answer then
 * always fits.
 *
 *     open --mailbox_close--> closing --last item taken, last slot used--> done
 *
 * Invariants, under the lock: count + reserved <= capacity; the descriptor is
 * readable if and only if count > 0 or the mailbox is closed.
 */
#ifndef PAWL_BASE_MAILBOX_H
#define PAWL_BASE_MAILBOX_H

#include "base/err.h"

#include <pthread.h>

struct mailbox {
    pthread_mutex_t lock;
    void **items; /* a ring of `capacity` */
    size_t capacity;
    size_t first;
    size_t count;
    size_t reserved; /* slots promised and not yet used */
    int fd;
    bool closed;
};

/* Make an open mailbox for `capacity` (above 0) items. ERR_IO when the system has no descriptor. */
bool mailbox_init(struct mailbox *m, size_t capacity, struct err *err) MUST_USE;

/* Give everything back. No thread may use it any more; items still inside are the caller's. */
void mailbox_fini(struct mailbox *m);

/* The descriptor to wait on for reading. Never read it: mailbox_take() does. */
int mailbox_fd(const struct mailbox *m);

/* Put an item at the end. False when all slots are taken or reserved, or after closing. */
bool mailbox_put(struct mailbox *m, void *item) MUST_USE;

/* Take one slot out of circulation for a later mailbox_put_reserved(). False as above. */
bool mailbox_reserve(struct mailbox *m) MUST_USE;

/* Put an item into a slot that was reserved. Always succeeds, also after closing. */
void mailbox_put_reserved(struct mailbox *m, void *item);

/* Give a reserved slot back unused. */
void mailbox_unreserve(struct mailbox *m);

/* Move up to `max` items, oldest first, to `out`. Answers how many; for the one taking thread. */
size_t mailbox_take(struct mailbox *m, void **out, size_t max);

/* How many items wait to be taken. */
size_t mailbox_depth(struct mailbox *m);

/* Refuse further intake and wake the taking thread. What is inside or promised still arrives. */
void mailbox_close(struct mailbox *m);

/* Closed, empty and nothing promised: the taking thread may leave. */
bool mailbox_is_done(struct mailbox *m);

#endif
