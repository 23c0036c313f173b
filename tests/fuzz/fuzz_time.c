/*
 * fuzz_time.c - readers of time on arbitrary bytes: nothing crashes, and what
 * was read is in range, can be written, and is then read back equal.
 *
 *     clang -std=c17 -D_GNU_SOURCE -Isrc -g -fsanitize=fuzzer,address,undefined \
 *         tests/fuzz/fuzz_time.c build/libpawl.a -lm -lpthread
 */
#include "base/time/tz_rule.h"
#include "base/time/tzif.h"
#include "value/timefmt.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_timestamp(struct str text)
{
    char out[TIMESTAMP_TEXT_MAX];
    struct value v, back;

    if (timestamp_read(text, &v) || timestamp_read_date(text, &v)) {
        ASSERT(timestamp_in_range(v.seconds, v.nanos));
        ASSERT(timestamp_read(str_from(out, timestamp_write(out, v)), &back));
        ASSERT(value_equal(v, back, NULL));
    }
}

static void try_duration(struct str text)
{
    char out[DURATION_TEXT_MAX];
    struct value v, back;
    bool go = duration_read_go(text, &back);

    if (!duration_read(text, &v)) {
        ASSERT(!go);
        return;
    }
    ASSERT(duration_in_range(v.seconds, v.nanos));
    ASSERT(!go || value_equal(v, back, NULL));
    ASSERT(duration_read(str_from(out, duration_write(out, v)), &back));
    ASSERT(value_equal(v, back, NULL));
    ASSERT(duration_read_go(str_from(out, duration_write_seconds(out, v)), &back));
    ASSERT(value_equal(v, back, NULL));
}

static void check_period(struct tz_period p, int64_t utc)
{
    ASSERT(p.from <= utc && utc < p.to);
    ASSERT(p.offset > -TZ_OFFSET_LIMIT && p.offset < TZ_OFFSET_LIMIT);
}

static void try_zone(struct str text)
{
    static const int64_t instants[] = {TIMESTAMP_SECONDS_MIN, -1, 0, 1770000000, 4102444799,
                                       TIMESTAMP_SECONDS_MAX};
    struct tz_rule rule;
    struct tz_zone *zone = tzif_read(text);
    struct tz tz;

    for (size_t i = 0; i < ARRAY_SIZE(instants); i++) {
        if (tz_rule_read(text, &rule))
            check_period(tz_rule_period(&rule, instants[i]), instants[i]);
        if (zone != NULL) {
            check_period(tzif_period(zone, instants[i]), instants[i]);
            (void)tz_to_utc((struct tz){.zone = zone}, instants[i]);
        }
    }
    free(zone);
    /* Without slashes, so that only names and offsets are tried and no tree is walked. */
    if (str_find(text, STR("/"), 0) < 0 && tz_find(text, &tz))
        check_period(tz_period(tz, 0), 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_from((const char *)data, size);

    try_timestamp(text);
    try_duration(text);
    try_zone(text);
    return 0;
}
