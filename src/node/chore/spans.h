/*
 * spans.h - traces of executions, sent to a collector as OTLP over HTTP in JSON.
 * Internal to src/node.
 *
 *     durable commit --spans_take()--> being filled --> sent --> taken, tried again, dropped
 *
 * An attempt of a step is a span, its execution the span around it; a row of
 * history tells of one, so nothing is stored for those that are open. Everything
 * is bounded: a batch that is being filled, and SPANS_IN_FLIGHT that are in
 * flight or are tried again. What comes when all are full is dropped and counted,
 * so a collector that is slow or away costs memory up to the bound and no time.
 *
 * The calls are made by a thread for calls of their own: they take no capacity from
 * those of executions, and where they go is the operator's word alone.
 *
 * why: decision 0230
 */
#ifndef PAWL_NODE_CHORE_SPANS_H
#define PAWL_NODE_CHORE_SPANS_H

#include "engine/status.h"

struct commit;

struct node;

enum {
    SPANS_IN_FLIGHT = 2,
    SPANS_BATCH = 512,     /* a batch of so many is sent at once */
    SPANS_MAX = 4096,      /* so many wait for a place */
    SPANS_BYTES = 4 << 20, /* ... and so many bytes */
    SPANS_TRIES = 5,
};

/* A commit has become durable; `before` is what the status was. */
void spans_take(struct node *n, const struct commit *commit, enum execution_status before);

#endif
