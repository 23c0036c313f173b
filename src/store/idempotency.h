/*
 * idempotency.h - the answer that is stored with the change it belongs to, so that a request
 * which comes again with its Idempotency-Key gets the same.
 */
#ifndef PAWL_STORE_IDEMPOTENCY_H
#define PAWL_STORE_IDEMPOTENCY_H

#include "base/str.h"

/* Kept with the change it belongs to, for this long. */
#define ANSWERS_KEPT_US (INT64_C(24) * 3600 * 1000000)

/*
 * The method of what came through a queue: the path is its name, the key the id of the message.
 * It may come again later than a request does.
 */
#define RECEIVED_METHOD "AMQP"
#define RECEIVED_KEPT_US (7 * ANSWERS_KEPT_US)

struct idempotency {
    struct str user, method, path, key;
    struct str body_hash; /* hex */
    int32_t status;       /* the answer to be stored */
    struct str answer;
};

static inline bool idempotency_is_received(const struct idempotency *i)
{
    return str_eq(i->method, STR(RECEIVED_METHOD));
}

static inline int64_t idempotency_kept_us(const struct idempotency *i)
{
    return idempotency_is_received(i) ? RECEIVED_KEPT_US : ANSWERS_KEPT_US;
}

#endif
