/*
 * repeat.h - refusing a change that may have been made before.
 *
 * A request under an Idempotency-Key has the answer of the first time, also
 * when what it asks for is no longer possible: the signal that ended an
 * execution, the draft that was published. The store finds the answers of
 * changes that reach it; this is for those that are refused on the way. Where
 * the refusal is itself an answer to keep, call_refuse() does both.
 *
 * why: decision 0044
 */
#ifndef PAWL_API_REPEAT_H
#define PAWL_API_REPEAT_H

#include "api/call.h"

/*
 * Refuse, unless the request under `idempotency` was answered before: then
 * answer that. `findings` and `more` are as for call_refuse_with(). All is copied:
 * the key is looked up after this returns, when the caller's frame is gone.
 */
void repeat_or_refuse(struct call *c, const struct idempotency *idempotency, const struct err *err,
                      const struct findings *findings, struct str more);

/*
 * The same for what the node has refused, with the execution that holds the
 * business key when that is why. The owner of the request may be another than `c`.
 */
void repeat_or_refuse_of(struct call *c, struct node_request *r);

/* A request that is answered with 202 and {}, or refused: its `done`. */
void repeat_accepted(struct node_request *r);

/*
 * A change that says its answer itself: status and JSON, or 204 without one; or
 * an event whose answer is in r->idempotency: its `done`.
 */
void repeat_changed(struct node_request *r);

#endif
