/* tzif.h - zone files as tzdata has them (TZif, RFC 8536). Internal to tz.c. */
#ifndef PAWL_BASE_TZIF_H
#define PAWL_BASE_TZIF_H

#include "base/time/tz_rule.h"

/* All changes of a zone's offset: a table, and the rule that goes on after it. */
struct tz_zone {
    struct tz_zone *next; /* for whoever keeps zones */
    char name[TZ_NAME_MAX];
    int32_t first_offset; /* before the first change */
    bool has_rule;
    struct tz_rule rule;
    uint32_t count;
    const int32_t *offsets; /* [i] is in force from at[i] */
    int64_t at[];           /* ascending */
};

/*
 * Read the contents of a zone file, version 1 to 4. Files that count leap
 * seconds are refused. The caller frees the answer with free(); NULL means
 * that this is no such file.
 */
struct tz_zone *tzif_read(struct str bytes) MUST_USE;

struct tz_period tzif_period(const struct tz_zone *zone, int64_t utc);

#endif
