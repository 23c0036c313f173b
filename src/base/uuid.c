/* uuid.c - see uuid.h. */
#include "base/uuid.h"

#include "base/text/hex.h"

#include <errno.h>
#include <sys/random.h>

#define UUID_MS_MAX (((int64_t)1 << 48) - 1)

/* Bits of the random part that stand in the UUID: version and variant cover the rest. */
static const uint8_t random_mask[UUID_RANDOM_LEN] = {0x0F, 0xFF, 0x3F, 0xFF, 0xFF,
                                                     0xFF, 0xFF, 0xFF, 0xFF, 0xFF};

struct uuid uuid_v7(int64_t ms, const uint8_t random[UUID_RANDOM_LEN])
{
    struct uuid id;

    ms = ms < 0 ? 0 : ms > UUID_MS_MAX ? UUID_MS_MAX : ms;
    for (unsigned i = 0; i < 6; i++)
        id.bytes[i] = (uint8_t)(ms >> (40 - 8 * i));
    for (unsigned i = 0; i < UUID_RANDOM_LEN; i++)
        id.bytes[6 + i] = random[i] & random_mask[i];
    id.bytes[6] |= 0x70;
    id.bytes[8] |= 0x80;
    return id;
}

int64_t uuid_ms(struct uuid id)
{
    int64_t ms = 0;

    for (unsigned i = 0; i < 6; i++)
        ms = ms << 8 | id.bytes[i];
    return ms;
}

/* How many bytes stand between the dashes. */
static const size_t groups[] = {4, 2, 2, 2, 6};

char *uuid_write(struct uuid id, char out[UUID_TEXT_LEN + 1])
{
    const uint8_t *bytes = id.bytes;
    char *p = out;

    for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
        p = hex_write(p, bytes, groups[i]);
        *p++ = '-';
        bytes += groups[i];
    }
    p[-1] = '\0';
    return out;
}

struct str uuid_text(struct arena *mem, struct uuid id)
{
    return str_from(uuid_write(id, arena_alloc(mem, UUID_TEXT_LEN + 1)), UUID_TEXT_LEN);
}

bool uuid_read(struct str text, struct uuid *out)
{
    struct uuid id;
    size_t at = 0, byte = 0;

    if (text.len != UUID_TEXT_LEN)
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
        size_t len = 2 * groups[i];

        if ((i > 0 && text.ptr[at++] != '-') ||
            !hex_read(str_slice(text, at, at + len), id.bytes + byte, groups[i]))
            return false;
        at += len;
        byte += groups[i];
    }
    *out = id;
    return true;
}

int uuid_cmp(struct uuid a, struct uuid b)
{
    int c = memcmp(a.bytes, b.bytes, sizeof(a.bytes));

    return (c > 0) - (c < 0);
}

/* --- generator --- */

static void system_random(void *context, uint8_t *out, size_t len)
{
    (void)context;
    while (len > 0) {
        ssize_t n = getrandom(out, len, 0);
        if (n < 0) {
            if (errno != EINTR)
                PANIC("the system has no random numbers");
            continue;
        }
        out += n;
        len -= (size_t)n;
    }
}

void uuid_gen_init(struct uuid_gen *g, uuid_random_fn *random, void *context)
{
    *g = (struct uuid_gen){
        .random = random == NULL ? system_random : random, .context = context, .last_ms = -1};
}

static void draw(struct uuid_gen *g, void *out, uint8_t len)
{
    if (g->pool_left < len) {
        g->random(g->context, g->pool, sizeof(g->pool));
        g->pool_left = sizeof(g->pool);
    }
    g->pool_left = (uint8_t)(g->pool_left - len);
    memcpy(out, g->pool + g->pool_left, len);
}

/* Add to a number of 74 bits, kept under random_mask. False when it overflows. */
static bool add_to_random(uint8_t number[UUID_RANDOM_LEN], uint64_t add)
{
    for (unsigned i = UUID_RANDOM_LEN; i-- > 0;) {
        uint64_t sum = (number[i] & random_mask[i]) + (add & random_mask[i]);
        unsigned bits = (unsigned)__builtin_popcount(random_mask[i]);
        number[i] = (uint8_t)(sum & random_mask[i]);
        add = (add >> bits) + (sum >> bits);
    }
    return add == 0;
}

struct uuid uuid_gen_next(struct uuid_gen *g, int64_t now_ms)
{
    /* A clock before 1970 is a clock that was never set. */
    if (now_ms < 0)
        now_ms = 0;
    if (now_ms > g->last_ms) {
        g->last_ms = now_ms;
        draw(g, g->last, sizeof(g->last));
    } else {
        /* A random step, so that nobody can guess the next one from the last. */
        uint32_t step;

        draw(g, &step, sizeof(step));
        if (!add_to_random(g->last, (uint64_t)step + 1)) {
            g->last_ms++;
            draw(g, g->last, sizeof(g->last));
        }
    }
    return uuid_v7(g->last_ms, g->last);
}

struct uuid uuid_gen_next_ending(struct uuid_gen *g, int64_t now_ms, uint8_t last)
{
    struct uuid id;

    /* Whatever is added to this carries into the bytes before the last one. */
    g->last[UUID_RANDOM_LEN - 1] = UINT8_MAX;
    id = uuid_gen_next(g, now_ms);
    g->last[UUID_RANDOM_LEN - 1] = UINT8_MAX;
    id.bytes[sizeof(id.bytes) - 1] = last;
    return id;
}
