/*
 * schedule.h - which ticks of a schedule are to start an execution now.
 *
 *     the tick that is next + the time  --schedule_plan-->  ticks, and what is next after each
 *
 * Pure. A tick starts at most once, because the start and the move to the tick
 * that is next are one transaction: store/change_schedule.h.
 */
#ifndef PAWL_DEFINE_SCHEDULE_H
#define PAWL_DEFINE_SCHEDULE_H

#include "base/time/cron.h"
#include "define/trigger.h"

enum {
    SCHEDULE_PLAN_MAX = 32,        /* ticks of one plan; what is left is planned after them */
    SCHEDULE_ALL_MAX = 1000,       /* of "catchUp": "all": older ticks are left out */
    SCHEDULE_ON_TIME_SECONDS = 60, /* of "catchUp": "none": a tick that is later is left out */
    SCHEDULE_PREVIEW_COUNT = 10,
};

/* A tick; times are seconds since 1970. */
struct schedule_tick_plan {
    bool starts;   /* else it is only left behind */
    int64_t at;    /* the time that it stands for */
    int64_t after; /* the tick that is next then; 0: none */
};

struct schedule_plan {
    struct schedule_tick_plan ticks[SCHEDULE_PLAN_MAX];
    size_t count;
    int64_t left_out; /* ticks that were due and start nothing, 1,001 when there are more */
};

/*
 * What is due at `now` when `next` is the tick that is next. Nothing when that
 * is later than now. All ticks that are due are caught up as `catch_up` says:
 * the last one alone; the last one unless it is late; or each of them, up to
 * SCHEDULE_ALL_MAX.
 */
void schedule_plan(const struct cron *cron, struct tz tz, enum catch_up catch_up, int64_t next,
                   int64_t now, struct schedule_plan *out);

#endif
