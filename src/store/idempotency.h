/*
 * idempotency.h - the answer that is stored with the change it belongs to, so that a request
 * which comes again with its Idempotency-Key gets the same.
 */
#ifndef PAWL_STORE_IDEMPOTENCY_H
#define PAWL_STORE_IDEMPOTENCY_H

#include "base/str.h"

/* Kept with the change it belongs to, for this long. */
#define ANSWERS_KEPT_US (INT64_C(24) * 3600 * 1000000)

struct idempotency {
    struct str user, method, path, key;
    struct str body_hash; /* hex */
    int32_t status;       /* the answer to be stored */
    struct str answer;
};

#endif
