/*
 * rate.h - how often one address may call one path: for hooks and callbacks,
 * which strangers may call.
 *
 * A bucket for each address and path: it holds up to `burst` calls and fills by
 * `per_second`. The buckets are a table of fixed size, in sets; a new one takes
 * the place of the one in its set that was used longest ago. Where a bucket
 * falls cannot be foreseen from outside (base/hash.h).
 */
#ifndef PAWL_HTTP_RATE_H
#define PAWL_HTTP_RATE_H

#include "base/str.h"
#include "http/cidr.h"

enum { RATE_BUCKETS = 32768, RATE_BURST_FACTOR = 5 };

struct rate;

/* A burst has RATE_BURST_FACTOR seconds' worth of calls. `per_second` 0: no limit. */
struct rate *rate_new(int64_t per_second);
void rate_free(struct rate *r);

/*
 * Whether a call may be made now, and then it is counted. Else *retry_after_s is
 * how long the caller should wait, at least 1. `now_us` is of the monotonic clock.
 * An IPv6 network of 64 bits is one address: whoever has one has all of it.
 */
bool rate_allows(struct rate *r, struct ip address, struct str path, int64_t now_us,
                 int64_t *retry_after_s) MUST_USE;

#endif
