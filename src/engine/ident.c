/* ident.c - see ident.h. */
#include "engine/ident.h"

/* A mixing function with fixed constants: unlike base/hash.h the same in every process. */
static uint64_t mix(uint64_t n)
{
    n += 0x9e3779b97f4a7c15u;
    n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9u;
    n = (n ^ n >> 27) * 0x94d049bb133111ebu;
    return n ^ n >> 31;
}

static uint64_t word(struct uuid id, unsigned which)
{
    uint64_t n;

    memcpy(&n, id.bytes + which * 8, sizeof(n));
    return n;
}

static uint64_t draw(struct uuid execution, int64_t seq, uint32_t n, uint32_t which)
{
    uint64_t h = mix(word(execution, 0));

    h = mix(h ^ word(execution, 1));
    h = mix(h ^ (uint64_t)seq);
    return mix(h ^ ((uint64_t)n << 32 | which));
}

struct uuid ident_make(struct uuid execution, int64_t seq, uint32_t n, int64_t now_us)
{
    uint64_t a = draw(execution, seq, n, 1), b = draw(execution, seq, n, 2);
    uint8_t random[UUID_RANDOM_LEN];

    memcpy(random, &a, 8);
    memcpy(random + 8, &b, 2);
    return uuid_v7(now_us / 1000, random);
}

struct uuid ident_make_child(struct uuid execution, int64_t seq, uint32_t n, int64_t now_us)
{
    struct uuid id = ident_make(execution, seq, n, now_us);

    id.bytes[sizeof(id.bytes) - 1] = execution.bytes[sizeof(execution.bytes) - 1];
    return id;
}

uint32_t ident_random(struct uuid execution, int64_t seq, uint32_t n)
{
    return (uint32_t)draw(execution, seq, n, 3);
}
