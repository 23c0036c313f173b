/* schedule.c - see schedule.h. */
#include "define/schedule.h"

/* The tick after `at`, or 0. */
static int64_t tick_after(const struct cron *cron, struct tz tz, int64_t at)
{
    int64_t next;

    return cron_next(cron, tz, at, &next) ? next : 0;
}

/* How many ticks lie from `first`, which is one, up to `until`; no more than `limit`. */
static int64_t ticks_count(const struct cron *cron, struct tz tz, int64_t first, int64_t until,
                           int64_t limit)
{
    int64_t count = 0;

    for (int64_t t = first; t > 0 && t <= until && count < limit; t = tick_after(cron, tz, t))
        count++;
    return count;
}

/* The first of the last SCHEDULE_ALL_MAX ticks up to `until`, from `first` on. */
static int64_t first_of_last(const struct cron *cron, struct tz tz, int64_t first, int64_t until)
{
    int64_t found = first;

    for (int i = 0; i < SCHEDULE_ALL_MAX; i++) {
        if (!cron_last(cron, tz, first - 1, until, &found))
            break;
        until = found - 1;
    }
    return found;
}

static void plan_all(const struct cron *cron, struct tz tz, int64_t next, int64_t now,
                     struct schedule_plan *out)
{
    int64_t at = next;

    if (ticks_count(cron, tz, next, now, SCHEDULE_ALL_MAX + 1) > SCHEDULE_ALL_MAX) {
        at = first_of_last(cron, tz, next, now);
        out->left_out = ticks_count(cron, tz, next, at - 1, SCHEDULE_ALL_MAX + 1);
    }
    while (at > 0 && at <= now && out->count < SCHEDULE_PLAN_MAX) {
        struct schedule_tick_plan *t = &out->ticks[out->count++];

        *t = (struct schedule_tick_plan){
            .starts = true, .at = at, .after = tick_after(cron, tz, at)};
        at = t->after;
    }
}

void schedule_plan(const struct cron *cron, struct tz tz, enum catch_up catch_up, int64_t next,
                   int64_t now, struct schedule_plan *out)
{
    int64_t last;

    *out = (struct schedule_plan){0};
    if (next <= 0 || next > now || !cron_last(cron, tz, next - 1, now, &last))
        return;
    if (catch_up == CATCH_UP_ALL) {
        plan_all(cron, tz, next, now, out);
        return;
    }
    out->count = 1;
    out->ticks[0] = (struct schedule_tick_plan){
        .starts = catch_up == CATCH_UP_ONE || now - last <= SCHEDULE_ON_TIME_SECONDS,
        .at = last,
        .after = tick_after(cron, tz, last),
    };
    out->left_out = ticks_count(cron, tz, next, now, SCHEDULE_ALL_MAX + 1) - out->ticks[0].starts;
}
