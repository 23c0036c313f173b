/* rate.c - see rate.h. */
#include "http/rate.h"

#include "base/alloc.h"
#include "base/hash.h"

enum { SET_SIZE = 8, SET_COUNT = RATE_BUCKETS / SET_SIZE };

/* What is left is counted in millionths of a call: one second fills per_second million. */
#define CALL INT64_C(1000000)

struct bucket {
    uint64_t key; /* 0: free */
    int64_t left;
    int64_t at_us; /* when it was last used */
};

struct rate {
    int64_t per_second, burst;
    struct bucket buckets[RATE_BUCKETS];
};

struct rate *rate_new(int64_t per_second)
{
    struct rate *r = ALLOC_NEW(struct rate);

    ASSERT(per_second >= 0 && per_second <= INT32_MAX);
    r->per_second = per_second;
    r->burst = per_second * RATE_BURST_FACTOR * CALL;
    return r;
}

void rate_free(struct rate *r)
{
    free(r);
}

static bool is_ipv4(struct ip address)
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

    return memcmp(address.bytes, mapped, sizeof(mapped)) == 0;
}

static uint64_t bucket_key(struct ip address, struct str path)
{
    uint64_t h = hash_bytes(address.bytes, is_ipv4(address) ? 16 : 8);

    h = hash_int(h ^ hash_bytes(path.ptr, path.len));
    return h != 0 ? h : 1;
}

/* The bucket of a key: its own, else the least recently used of its set, filled. */
static struct bucket *bucket_find(struct rate *r, uint64_t key, int64_t now_us)
{
    struct bucket *set = &r->buckets[(key % SET_COUNT) * SET_SIZE], *oldest = set;

    for (size_t i = 0; i < SET_SIZE; i++) {
        if (set[i].key == key)
            return &set[i];
        if (set[i].key == 0 || (oldest->key != 0 && set[i].at_us < oldest->at_us))
            oldest = &set[i];
    }
    *oldest = (struct bucket){.key = key, .left = r->burst, .at_us = now_us};
    return oldest;
}

bool rate_allows(struct rate *r, struct ip address, struct str path, int64_t now_us,
                 int64_t *retry_after_s)
{
    struct bucket *b;
    int64_t passed_us;

    if (r->per_second == 0)
        return true;
    b = bucket_find(r, bucket_key(address, path), now_us);
    passed_us = now_us > b->at_us ? now_us - b->at_us : 0;
    b->at_us = now_us;
    /* Full after RATE_BURST_FACTOR seconds: more of them need not be counted, and would overflow. */
    if (passed_us >= RATE_BURST_FACTOR * CALL)
        b->left = r->burst;
    else
        b->left += passed_us * r->per_second;
    if (b->left > r->burst)
        b->left = r->burst;
    if (b->left >= CALL) {
        b->left -= CALL;
        return true;
    }
    *retry_after_s = 1;
    return false;
}
