/* civil.c - the proleptic Gregorian calendar; see civil.h. */
#include "base/time/civil.h"

#include "base/attr.h"

/* Days in 4, 100 and 400 years that end with their leap day, as years from March do. */
enum { YEAR_DAYS = 365, FOUR_YEARS = 1461, CENTURY = 36524, ERA = 146097 };

/* From 0000-03-01, where such a count of eras starts, to 1970-01-01. */
enum { EPOCH_FROM_MARCH_0 = 719468 };

bool civil_is_leap_year(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int32_t civil_month_days(int64_t year, int32_t month)
{
    static const int8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    ASSERT(month >= 1 && month <= 12);
    return days[month - 1] + (month == 2 && civil_is_leap_year(year));
}

/* Months from March: 0 is March, 11 is February of the next year. */
static int64_t days_before_march_month(int64_t month)
{
    return (153 * month + 2) / 5;
}

int64_t civil_days(int64_t year, int32_t month, int64_t day)
{
    int64_t from_march = (month + 9) % 12;
    int64_t y = year - (month <= 2);

    ASSERT(month >= 1 && month <= 12);
    return y * YEAR_DAYS + civil_floor_div(y, 4) - civil_floor_div(y, 100) +
           civil_floor_div(y, 400) + days_before_march_month(from_march) + day - 1 -
           EPOCH_FROM_MARCH_0;
}

struct civil civil_from_days(int64_t days)
{
    int64_t n = days + EPOCH_FROM_MARCH_0;
    int64_t era = civil_floor_div(n, ERA);
    int64_t left = civil_floor_mod(n, ERA);
    /* The last century of an era and the last year of a leap cycle are a day longer. */
    int64_t century = left / CENTURY - left / (ERA - 1);
    int64_t in_century = left - century * CENTURY;
    int64_t cycle = in_century / FOUR_YEARS;
    int64_t in_cycle = in_century % FOUR_YEARS;
    int64_t year = in_cycle / YEAR_DAYS - in_cycle / (FOUR_YEARS - 1);
    int64_t in_year = in_cycle - year * YEAR_DAYS;
    int64_t from_march = (5 * in_year + 2) / 153;
    int64_t month = from_march < 10 ? from_march + 3 : from_march - 9;

    year += era * 400 + century * 100 + cycle * 4 + (month <= 2);
    return (struct civil){
        .year = (int32_t)year,
        .month = (int32_t)month,
        .day = (int32_t)(in_year - days_before_march_month(from_march) + 1),
    };
}

int64_t civil_seconds(const struct civil *c)
{
    return civil_days(c->year, c->month, c->day) * CIVIL_DAY_SECONDS + c->hour * 3600 +
           c->minute * 60 + c->second;
}

struct civil civil_from_seconds(int64_t seconds)
{
    struct civil c = civil_from_days(civil_floor_div(seconds, CIVIL_DAY_SECONDS));
    int32_t rest = (int32_t)civil_floor_mod(seconds, CIVIL_DAY_SECONDS);

    c.hour = rest / 3600;
    c.minute = rest / 60 % 60;
    c.second = rest % 60;
    return c;
}

int32_t civil_weekday(int64_t days)
{
    /* 1970-01-01 was a Thursday. */
    return (int32_t)civil_floor_mod(days + 4, 7);
}

int32_t civil_year_day(const struct civil *c)
{
    return (int32_t)(civil_days(c->year, c->month, c->day) - civil_days(c->year, 1, 1));
}
