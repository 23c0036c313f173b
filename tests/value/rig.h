/*
 * rig.h - what tests of values begin with: an arena, and values in it.
 *
 * One program includes it once, so what it defines is the program's own.
 */
#ifndef PAWL_TESTS_VALUE_RIG_H
#define PAWL_TESTS_VALUE_RIG_H

#include "value/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct arena mem;

static inline int set_up(void **state)
{
    (void)state;
    arena_init(&mem);
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    arena_fini(&mem);
    return 0;
}

/* What must be JSON. */
static inline struct value read_text(struct str json)
{
    struct value v = value_absent();
    struct err err;

    if (!json_read(&mem, json, &v, &err))
        fail_msg("%.*s is refused: %u:%u: %s", STR_ARG(json), err.line, err.column, err.message);
    return v;
}

static inline struct value read_value(const char *json)
{
    return read_text(str_of(json));
}

static inline struct value list_of(const struct value *items, size_t count)
{
    struct value *copy = ARENA_ARRAY(&mem, count, struct value);

    for (size_t i = 0; i < count; i++)
        copy[i] = items[i];
    return value_list(copy, count);
}

/* A map of alternating keys and values; VALUE_ABSENT when a key stands twice. */
static inline struct value map_of(const struct value *pairs, size_t count)
{
    struct value_entry *entries = ARENA_ARRAY(&mem, count, struct value_entry);
    size_t twice = SIZE_MAX;

    for (size_t i = 0; i < count; i++)
        entries[i] = (struct value_entry){.key = pairs[2 * i], .value = pairs[2 * i + 1]};
    return value_map_make(&mem, entries, count, &twice);
}

#define LIST(...)                                                                                  \
    list_of((struct value[]){__VA_ARGS__},                                                         \
            sizeof((struct value[]){__VA_ARGS__}) / sizeof(struct value))
#define MAP(...)                                                                                   \
    map_of((struct value[]){__VA_ARGS__},                                                          \
           sizeof((struct value[]){__VA_ARGS__}) / sizeof(struct value) / 2)

#endif
