/*
 * uuid.h - identifiers that sort by the time they were made (UUID version 7).
 *
 * 48 bits of milliseconds, then 74 random bits; rows that are made together
 * lie together in an index. The pure core makes its ids with uuid_v7() from
 * numbers it is given; everything else has a generator.
 */
#ifndef PAWL_BASE_UUID_H
#define PAWL_BASE_UUID_H

#include "base/str.h"

enum { UUID_TEXT_LEN = 36, UUID_RANDOM_LEN = 10 };

struct uuid {
    uint8_t bytes[16];
};

/*
 * A UUID of that millisecond and of 74 of the 80 bits in `random`: the upper
 * four bits of random[0] and the upper two of random[2] are not used. `ms` is
 * since 1970; of one that does not fit into 48 bits, as a stored row may have it, the nearest that does.
 */
struct uuid uuid_v7(int64_t ms, const uint8_t random[UUID_RANDOM_LEN]);

/* The millisecond in a UUID of version 7. */
int64_t uuid_ms(struct uuid id);

/* Write 36 characters in lower case and a zero byte. Answers `out`. */
char *uuid_write(struct uuid id, char out[UUID_TEXT_LEN + 1]);

/* The same as a text in `mem`, with the zero byte, which is not counted. */
struct str uuid_text(struct arena *mem, struct uuid id);

/* The same as a text that lives until the block ends in which this is written. */
#define UUID_STR(id)                                                                               \
    ((struct str){.ptr = uuid_write((id), (char[UUID_TEXT_LEN + 1]){0}), .len = UUID_TEXT_LEN})

/* Read 8-4-4-4-12 digits of either case, of any version. False for anything else. */
bool uuid_read(struct str text, struct uuid *out) MUST_USE;

/* Order by bytes, which is the order of the texts: -1, 0 or 1. */
int uuid_cmp(struct uuid a, struct uuid b);

/* --- generator --- */

/* Fill `out` with `len` random bytes. */
typedef void uuid_random_fn(void *context, uint8_t *out, size_t len);

/*
 * Each UUID of one generator is larger than the one before, also within a
 * millisecond and when the clock is set back. One generator belongs to one
 * thread.
 */
struct uuid_gen {
    uuid_random_fn *random;
    void *context;
    int64_t last_ms;               /* -1 before the first */
    uint8_t last[UUID_RANDOM_LEN]; /* the random part of the last one, as uuid_v7() takes it */
    uint8_t pool[240];             /* random bytes drawn ahead: asking the system costs 1 us */
    uint8_t pool_left;
};

/* A generator that draws from `random`, or from the system when that is NULL. */
void uuid_gen_init(struct uuid_gen *g, uuid_random_fn *random, void *context);

/* The next UUID, `now_ms` being the wall clock. */
struct uuid uuid_gen_next(struct uuid_gen *g, int64_t now_ms);

/* The same for one whose last byte is given: larger than those before, and no later one equals it. */
struct uuid uuid_gen_next_ending(struct uuid_gen *g, int64_t now_ms, uint8_t last);

#endif
