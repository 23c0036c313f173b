/*
 * civil.h - calendar dates as numbers and back: the proleptic Gregorian
 * calendar, without time zones (see tz.h) and leap seconds.
 *
 * Day 0 is 1970-01-01. Years from -100,000 to 100,000 are exact.
 */
#ifndef PAWL_BASE_CIVIL_H
#define PAWL_BASE_CIVIL_H

#include <stdbool.h>
#include <stdint.h>

enum { CIVIL_DAY_SECONDS = 86400 };

/* A date and a time of day, in no particular zone. */
struct civil {
    int32_t year;
    int32_t month;  /* 1 to 12 */
    int32_t day;    /* 1 to 31 */
    int32_t hour;   /* 0 to 23 */
    int32_t minute; /* 0 to 59 */
    int32_t second; /* 0 to 59 */
};

/* Quotient rounded down, and what remains from 0 to `by` - 1; `by` > 0. */
static inline int64_t civil_floor_div(int64_t n, int64_t by)
{
    return n / by - (n % by < 0);
}

static inline int64_t civil_floor_mod(int64_t n, int64_t by)
{
    return n % by + (n % by < 0 ? by : 0);
}

bool civil_is_leap_year(int64_t year);

/* 28 to 31. `month` is 1 to 12. */
int32_t civil_month_days(int64_t year, int32_t month);

/*
 * The number of the day. `month` is 1 to 12; `day` may lie outside its month
 * and then counts on into the neighbours.
 */
int64_t civil_days(int64_t year, int32_t month, int64_t day);

/* The date of day number `days`, at 00:00:00. */
struct civil civil_from_days(int64_t days);

/* Seconds from 1970-01-01 00:00:00 on a clock that is never put forward or back. */
int64_t civil_seconds(const struct civil *c);
struct civil civil_from_seconds(int64_t seconds);

/* 0 is Sunday. */
int32_t civil_weekday(int64_t days);

/* 0 is the first of January. */
int32_t civil_year_day(const struct civil *c);

#endif
