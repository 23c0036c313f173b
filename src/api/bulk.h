/* bulk.h - how a request ends that did the same to many. */
#ifndef PAWL_API_BULK_H
#define PAWL_API_BULK_H

#include "api/call.h"

/*
 * Answer 200 with `answer_json`, kept for the Idempotency-Key and noted in the
 * audit log as `action`. What was done is durable already: it is answered also
 * when it could not be noted. `action` lives as long as the call.
 */
void bulk_answer(struct call *c, const struct idempotency *idempotency, const char *action,
                 struct str details_json, struct str answer_json);

#endif
