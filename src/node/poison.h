/*
 * poison.h - which execution was being worked on when the process died.
 * Internal to src/node.
 *
 * The id stands in a small mapped file while the node works on an execution. The
 * kernel keeps the page when the process is killed, which is all that is
 * needed: a machine that loses power was not killed by an execution.
 */
#ifndef PAWL_NODE_POISON_H
#define PAWL_NODE_POISON_H

#include "base/err.h"
#include "base/uuid.h"

struct poison {
    int fd;
    uint8_t *page;
};

/* Map the file in the data folder; *found is set when an id was left in it. */
bool poison_open(struct poison *p, struct str data_path, struct uuid *found, bool *was_found,
                 struct err *err) MUST_USE;
void poison_close(struct poison *p);
void poison_set(struct poison *p, struct uuid id);
void poison_clear(struct poison *p);

#endif
