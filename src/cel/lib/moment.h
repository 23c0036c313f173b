/*
 * moment.h - arithmetic of timestamps and durations, for the operators and the
 * time library.
 *
 * Every function answers false and leaves *out alone when the result is out of
 * range (see timefmt.h). Arguments are of the kinds that their names say.
 */
#ifndef PAWL_CEL_LIB_MOMENT_H
#define PAWL_CEL_LIB_MOMENT_H

#include "value/value.h"

/* The sum of a timestamp and a duration, in either order, or of two durations. */
bool moment_add(struct value a, struct value b, struct value *out) MUST_USE;

/* The difference of a timestamp or a duration and a duration, or of two timestamps. */
bool moment_sub(struct value a, struct value b, struct value *out) MUST_USE;

/* Whether a duration fits 64 bits of nanoseconds, about 292 years: all that strict CEL has. */
bool moment_is_strict(struct value duration);

#endif
