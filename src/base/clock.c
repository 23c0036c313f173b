/* clock.c - see clock.h. */
#include "base/clock.h"

#include "base/attr.h"

#include <time.h>

static int64_t read_us(clockid_t id)
{
    struct timespec t;

    if (clock_gettime(id, &t) != 0)
        PANIC("the system has no clock");
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int64_t system_wall_us(const struct clock *clock)
{
    (void)clock;
    return read_us(CLOCK_REALTIME);
}

static int64_t system_mono_us(const struct clock *clock)
{
    (void)clock;
    return read_us(CLOCK_MONOTONIC);
}

const struct clock clock_system = {.wall_us = system_wall_us, .mono_us = system_mono_us};

/* The struct clock is the first field of its struct clock_manual. */
static int64_t manual_wall_us(const struct clock *clock)
{
    return ((const struct clock_manual *)clock)->wall_us;
}

static int64_t manual_mono_us(const struct clock *clock)
{
    return ((const struct clock_manual *)clock)->mono_us;
}

void clock_manual_init(struct clock_manual *c, int64_t wall_us)
{
    c->clock = (struct clock){.wall_us = manual_wall_us, .mono_us = manual_mono_us};
    c->wall_us = wall_us;
    c->mono_us = 0;
}

void clock_manual_advance(struct clock_manual *c, int64_t us)
{
    ASSERT(us >= 0);
    c->wall_us += us;
    c->mono_us += us;
}

void clock_manual_set_wall(struct clock_manual *c, int64_t wall_us)
{
    c->wall_us = wall_us;
}
