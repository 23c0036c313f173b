/*
 * names.h - an enumeration from and to its names.
 *
 * The names stand in a table, one row for each value from 0 on: a row is a
 * name, or a struct whose first member is the name.
 *
 *     static const char *const phases[] = {
 *     #define PHASE(symbol, name) (name),
 *     #include "engine/phase.def"
 *     #undef PHASE
 *     };
 *     NAMES_NAME(phase_name, enum cursor_phase, phases)
 *     NAMES_READ(phase_read, enum cursor_phase, phases)
 *
 * defines const char *phase_name(enum cursor_phase) and
 * bool phase_read(struct str name, enum cursor_phase *out), which answers false
 * and leaves *out alone when there is no such name.
 */
#ifndef PAWL_BASE_NAMES_H
#define PAWL_BASE_NAMES_H

#include "base/str.h"

/* The row whose name this is, or -1. A row has `row_bytes`. */
int names_find(const void *table, size_t row_bytes, size_t count, struct str name);

#define NAMES_NAME(function, type, table)                                                          \
    const char *function(type value)                                                               \
    {                                                                                              \
        ASSERT((size_t)value < ARRAY_SIZE(table));                                                 \
        return *(const char *const *)(const void *)&(table)[value];                                \
    }

#define NAMES_READ(function, type, table)                                                          \
    bool function(struct str name, type *out)                                                      \
    {                                                                                              \
        int found = names_find(table, sizeof((table)[0]), ARRAY_SIZE(table), name);                \
                                                                                                   \
        if (found >= 0)                                                                            \
            *out = (type)found;                                                                    \
        return found >= 0;                                                                         \
    }

#endif
