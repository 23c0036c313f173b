/*
 * moment.h - arithmetic of timestamps and durations, for the operators and the
 * time library.
 *
 * Every function answers false and leaves *out alone when the result is out of
 * range (see timefmt.h). Arguments are of the kinds that their names say.
 */
#ifndef PAWL_CEL_MOMENT_H
#define PAWL_CEL_MOMENT_H

#include "value/value.h"

/* timestamp + duration, timestamp - duration */
bool moment_add(struct value timestamp, struct value duration, struct value *out) MUST_USE;
bool moment_sub(struct value timestamp, struct value duration, struct value *out) MUST_USE;

/* The duration a - b of two timestamps. */
bool moment_diff(struct value a, struct value b, struct value *out) MUST_USE;

/* Whether a duration fits 64 bits of nanoseconds, about 292 years: all that strict CEL has. */
bool moment_is_strict(struct value duration);

/* duration + duration, duration - duration, -duration */
bool moment_add_durations(struct value a, struct value b, struct value *out) MUST_USE;
bool moment_sub_durations(struct value a, struct value b, struct value *out) MUST_USE;
bool moment_negate(struct value duration, struct value *out) MUST_USE;

#endif
