/*
 * timefmt.h - timestamps and durations as text.
 *
 * A timestamp lies from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z,
 * a duration within 10,000 years of 365.25 days either way. Readers answer
 * false and leave *out alone when the text is no such thing or outside that
 * range; what a writer wrote its reader reads back equal.
 */
#ifndef PAWL_VALUE_TIMEFMT_H
#define PAWL_VALUE_TIMEFMT_H

#include "value/value.h"

/* Room enough for any result; results are not zero-terminated. */
enum { TIMESTAMP_TEXT_MAX = 32, DURATION_TEXT_MAX = 48 };

#define TIMESTAMP_SECONDS_MIN INT64_C(-62135596800)
#define TIMESTAMP_SECONDS_MAX INT64_C(253402300799)
#define DURATION_SECONDS_MAX INT64_C(315576000000)

/* Whether a timestamp, or a duration, of that many seconds and nanoseconds is in range. */
bool timestamp_in_range(int64_t seconds, uint32_t nanos);
bool duration_in_range(int64_t seconds, uint32_t nanos);

/*
 * A time in microseconds since 1970. Any number may stand in a stored row: of one that no timestamp
 * has, the nearest that there is.
 */
struct value timestamp_of_us(int64_t us);

/*
 * RFC 3339 in UTC with 0, 3, 6 or 9 digits of fraction, the fewest that are
 * exact: "2026-01-02T03:04:05.120Z". Answers the length. `timestamp` must be
 * in range.
 */
size_t timestamp_write(char out[TIMESTAMP_TEXT_MAX], struct value timestamp);

/* Strict RFC 3339: "T" and "Z" in capitals, Z or an offset, up to 9 digits of fraction. */
bool timestamp_read(struct str text, struct value *out) MUST_USE;

/* "2026-01-31": midnight in UTC. */
bool timestamp_read_date(struct str text, struct value *out) MUST_USE;

/*
 * The form of definitions: "1h30m", "7d", "250ms", "0s", "-1h30m"; units d h m
 * s ms us ns, the largest first, exact. Answers the length. `duration` must be
 * in range.
 */
size_t duration_write(char out[DURATION_TEXT_MAX], struct value duration);

/*
 * The grammar of definitions: a sign or none, then one or more decimal numbers
 * each with a unit, which are added up: "7d", "1h30m", "-1.5h". "0" needs no
 * unit. Digits finer than a nanosecond are cut off.
 */
bool duration_read(struct str text, struct value *out) MUST_USE;

/* The same without the unit d: the grammar of CEL, which is Go's. */
bool duration_read_go(struct str text, struct value *out) MUST_USE;

/* CEL's string(duration): "1000000s", "-0.000000001s". Answers the length. */
size_t duration_write_seconds(char out[DURATION_TEXT_MAX], struct value duration);

#endif
