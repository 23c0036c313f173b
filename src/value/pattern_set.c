/*
 * pattern_set.c - see pattern_set.h.
 *
 * States are the beginnings of patterns, 0 the empty one. They are made level
 * by level: the state that one falls back to is shorter, hence known before.
 */
#include "value/pattern_set.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/vec.h"

#include <stdlib.h>

struct pattern_state {
    uint32_t parent;
    uint32_t fallback;  /* the longest other state that this one ends with */
    uint32_t match_len; /* of the longest pattern that it ends with; 0: none */
    unsigned char byte; /* the last one */
};

struct pattern_set {
    struct pattern_state *states;
    uint32_t *index; /* states by parent and byte; 0 = free */
    uint32_t count, index_mask;
    bool has_start[256]; /* bytes that patterns begin with */
    uint64_t steps;
};

/* --- states --- */

/* Where the state behind `parent` is in the index, or would be. */
static uint32_t *state_slot(struct pattern_set *s, uint32_t parent, unsigned char byte)
{
    uint64_t at = hash_int((uint64_t)parent << 8 | byte);

    s->steps++;
    for (;; at++) {
        uint32_t *slot = &s->index[at & s->index_mask];

        if (*slot == 0 || (s->states[*slot].parent == parent && s->states[*slot].byte == byte))
            return slot;
    }
}

/* The state after one more byte: the longest one that all of it ends with. */
static uint32_t state_next(struct pattern_set *s, uint32_t state, unsigned char byte)
{
    uint32_t next;

    if (state == 0 && !s->has_start[byte])
        return 0;
    while ((next = *state_slot(s, state, byte)) == 0 && state != 0)
        state = s->states[state].fallback;
    return next;
}

/* The state behind `parent`, made when there is none. */
static uint32_t state_add(struct pattern_set *s, uint32_t parent, unsigned char byte)
{
    uint32_t *slot = state_slot(s, parent, byte), state = *slot, fallback;

    if (state != 0)
        return state;
    fallback = parent == 0 ? 0 : state_next(s, s->states[parent].fallback, byte);
    state = *slot = s->count++;
    s->states[state] = (struct pattern_state){.parent = parent,
                                              .fallback = fallback,
                                              .match_len = s->states[fallback].match_len,
                                              .byte = byte};
    return state;
}

static int by_falling_len(const void *a, const void *b)
{
    size_t x = ((const struct str *)a)->len, y = ((const struct str *)b)->len;

    return x < y ? 1 : x > y ? -1 : 0;
}

struct pattern_set *pattern_set_new(struct arena *mem, const struct str *patterns, size_t count)
{
    struct pattern_set *s = ARENA_NEW(mem, struct pattern_set);
    struct str *sorted = ARENA_ARRAY(mem, count + 1, struct str);
    uint32_t *reached = arena_zalloc(mem, (count + 1) * sizeof(*reached));
    size_t bytes = 1, slots = 16;

    *s = (struct pattern_set){.count = 1};
    for (size_t i = 0; i < count; i++) {
        sorted[i] = patterns[i];
        bytes += patterns[i].len;
        s->has_start[(unsigned char)patterns[i].ptr[0]] = true;
    }
    ASSERT(bytes < UINT32_MAX / 4);
    while (slots < 2 * bytes)
        slots *= 2;
    s->states = arena_zalloc(mem, bytes * sizeof(*s->states));
    s->index = arena_zalloc(mem, slots * sizeof(*s->index));
    s->index_mask = (uint32_t)slots - 1;
    if (count > 0)
        qsort(sorted, count, sizeof(*sorted), by_falling_len);
    for (size_t len = 0; count > 0; len++) {
        while (count > 0 && sorted[count - 1].len == len)
            count--;
        for (size_t i = 0; i < count; i++) {
            reached[i] = state_add(s, reached[i], (unsigned char)sorted[i].ptr[len]);
            if (sorted[i].len == len + 1)
                s->states[reached[i]].match_len = (uint32_t)len + 1;
        }
    }
    return s;
}

/* --- searching --- */

struct match_range {
    size_t begin, end;
};

struct match_ranges {
    VEC_OF(struct match_range);
};

/* One that begins earlier than others that were found before swallows them. */
static void match_range_add(struct arena *mem, struct match_ranges *list, struct match_range one)
{
    while (list->count > 0 && list->items[list->count - 1].end > one.begin) {
        size_t begin = list->items[--list->count].begin;

        if (begin < one.begin)
            one.begin = begin;
    }
    *VEC_ADD(mem, list) = one;
}

struct str pattern_set_replace(struct arena *mem, struct pattern_set *set, struct str text,
                               struct str by)
{
    struct match_ranges found = {0};
    uint32_t state = 0;
    size_t from = 0;
    struct buf out;

    for (size_t i = 0; i < text.len; i++) {
        state = state_next(set, state, (unsigned char)text.ptr[i]);
        if (set->states[state].match_len > 0)
            match_range_add(mem, &found,
                            (struct match_range){i + 1 - set->states[state].match_len, i + 1});
    }
    if (found.count == 0)
        return text;
    buf_init_arena(&out, mem);
    for (size_t i = 0; i < found.count; i++) {
        buf_add(&out, text.ptr + from, found.items[i].begin - from);
        buf_str(&out, by);
        from = found.items[i].end;
    }
    buf_add(&out, text.ptr + from, text.len - from);
    return buf_view(&out);
}

uint64_t pattern_set_steps(const struct pattern_set *set)
{
    return set->steps;
}
