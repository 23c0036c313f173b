/*
 * intake_read.h - what a message of the queue pawl.signals asks for. Internal to src/node.
 *
 *     {"code", "input"?, "key"?}                                            a start
 *     {"type", "payload"?, "executionId" or "key" (and "code"?) or "correlation", "ttl"?}   a signal
 *
 * Pure: whatever bytes come in, it is read, or refused with a sentence that says why.
 */
#ifndef PAWL_NODE_OUTSIDE_INTAKE_READ_H
#define PAWL_NODE_OUTSIDE_INTAKE_READ_H

#include "base/uuid.h"
#include "value/value.h"

enum { INTAKE_BODY_MAX = 1 << 20 }; /* bytes, as of a request of the API */

enum intake_kind {
    INTAKE_START,
    INTAKE_SIGNAL,     /* to `execution` */
    INTAKE_BY_KEY,     /* to what runs under `key` */
    INTAKE_CORRELATED, /* to who waits for `correlation` */
};

struct intake_message {
    enum intake_kind kind;
    struct uuid execution;
    struct str code, key, type, correlation; /* or empty */
    struct value input, payload;
    int64_t ttl_us;
};

/* Read a message in `mem`; `size` is that of the whole body. False: *err says what is wrong. */
bool intake_read(struct arena *mem, bool has_id, struct str id, struct str body, uint64_t size,
                 struct intake_message *out, struct err *err) MUST_USE;

#endif
