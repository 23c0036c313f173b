/*
 * tz.h - time zones: what the clock on the wall shows, and when.
 *
 * Zones come from the system's tzdata (TZDIR, or /usr/share/zoneinfo). A zone
 * is read once and kept as long as the process lives, so a new tzdata counts
 * from the next start. Lookups take no lock and may come from any thread.
 * Instants are seconds since 1970 in UTC and within civil.h's range of years.
 */
#ifndef PAWL_BASE_TZ_H
#define PAWL_BASE_TZ_H

#include "base/str.h"

struct tz_zone;

/* A zone, by value. All zero is UTC. */
struct tz {
    const struct tz_zone *zone; /* NULL: a fixed offset */
    int32_t offset;             /* seconds east of UTC, of a fixed offset */
};

/* A stretch of time with one offset: `from` included, `to` excluded. */
struct tz_period {
    int64_t from;   /* INT64_MIN: since ever */
    int64_t to;     /* INT64_MAX: for good */
    int32_t offset; /* seconds east of UTC; local = UTC + offset */
};

/* Offsets are below this; tzdata has none above 16 hours. */
enum { TZ_OFFSET_LIMIT = 26 * 3600 };

enum { TZ_NAME_MAX = 64, TZ_ZONES_MAX = 2048 };

/*
 * Find a zone by name: "Europe/Berlin"; "+02:00", "02:00", "-08:00"; "UTC",
 * "Z" or "". False when there is none of that name, or when TZ_ZONES_MAX
 * others have been loaded.
 */
bool tz_find(struct str name, struct tz *out) MUST_USE;

/* The period that holds an instant. */
struct tz_period tz_period(struct tz tz, int64_t utc);

static inline int32_t tz_offset(struct tz tz, int64_t utc)
{
    return tz.zone == NULL ? tz.offset : tz_period(tz, utc).offset;
}

/*
 * The instant at which the wall clock shows `local` (as civil_seconds() counts
 * it). When the clock shows it twice, the earlier one. When the clock is put
 * forward over it, the instant as far after the change as `local` is after the
 * first time left out: 02:30 in a gap from 02:00 to 03:00 is 03:30.
 */
int64_t tz_to_utc(struct tz tz, int64_t local);

#endif
