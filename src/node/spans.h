/*
 * spans.h - traces of executions, sent to a collector as OTLP over HTTP in JSON.
 * Internal to src/node.
 *
 *     durable commit --spans_tell()--> being filled --> sent --> taken, tried again, dropped
 *
 * An attempt of a step is a span, its execution the span around it; a row of
 * history tells of one, so nothing is kept for those that are open. Everything
 * is bounded: a batch that is being filled, and SPANS_UNDER_WAY that are under
 * way or are tried again. What comes when all are full is dropped and counted,
 * so a collector that is slow or away costs memory up to the bound and no time.
 *
 * The calls are made by a thread for calls of their own: they take no room from
 * those of executions, and where they go is the operator's word alone.
 */
#ifndef PAWL_NODE_SPANS_H
#define PAWL_NODE_SPANS_H

#include "engine/advance.h"

struct node;
struct entry;

enum {
    SPANS_UNDER_WAY = 2,
    SPANS_BATCH = 512,     /* a batch of so many is sent at once */
    SPANS_MAX = 4096,      /* so many wait for a place */
    SPANS_BYTES = 4 << 20, /* ... and so many bytes */
    SPANS_TRIES = 5,
};

/* Without options.otlp_url there is nothing to do here, and `n->spans` stays NULL. ERR_IO. */
bool spans_open(struct node *n, struct err *err) MUST_USE;

/* Send what is left, for two seconds at most. */
void spans_close(struct node *n);

/* A commit has become durable; `before` is what the status was. */
void spans_tell(struct node *n, const struct commit *commit, enum execution_status before);

void spans_run(struct node *n);
int64_t spans_in_us(const struct node *n); /* until spans_run() has something to do */

#endif
