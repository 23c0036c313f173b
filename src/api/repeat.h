/*
 * repeat.h - refusing a change that may have been made before.
 *
 * A request under an Idempotency-Key has the answer of the first time, also
 * when what it asks for is no longer possible: the signal that ended an
 * execution, the draft that was published. The store finds the answers of
 * changes that reach it; this is for those that are refused on the way. Where
 * the refusal is itself an answer to keep, call_refuse() does both.
 */
#ifndef PAWL_API_REPEAT_H
#define PAWL_API_REPEAT_H

#include "api/call.h"

/*
 * Refuse, unless the request under `idempotency` was answered before: then
 * answer that. `findings` and `more` are as for call_refuse_with().
 */
void repeat_or_refuse(struct call *c, const struct idempotency *idempotency, const struct err *err,
                      const struct findings *findings, struct str more);

#endif
