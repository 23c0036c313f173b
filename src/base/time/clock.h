/*
 * clock.h - what time it is, from the system or by hand.
 *
 * Whoever needs the time is given a clock, so that tests and the simulator
 * move it and never sleep. Business timers follow the wall clock, which may be
 * set and so may jump; deadlines within the process follow the monotonic one,
 * which only goes forward and starts anywhere. The pure parts of Pawl have no
 * clock at all: the time is an argument there.
 */
#ifndef PAWL_BASE_CLOCK_H
#define PAWL_BASE_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>

struct clock {
    int64_t (*wall_us)(const struct clock *clock);
    int64_t (*mono_us)(const struct clock *clock);
};

/* Microseconds since 1970-01-01T00:00:00Z. */
static inline int64_t clock_wall_us(const struct clock *c)
{
    return c->wall_us(c);
}

/* Microseconds since some moment before the process began. Never goes back. */
static inline int64_t clock_mono_us(const struct clock *c)
{
    return c->mono_us(c);
}

/*
 * Microseconds of processor time that this thread has used: what a bound on
 * work is measured by, so that it does not depend on what else the machine does.
 */
int64_t clock_thread_us(void);

/*
 * The clock of the machine. In check builds its wall time is moved by the
 * seconds in the file that PAWL_CLOCK_FILE names, looked at 20 times a second;
 * or, when the file says "@N", stands still N microseconds after 1970.
 */
extern const struct clock clock_system;

/*
 * The wall clock of the machine as it is, whatever tests have moved: what it is compared with has
 * not been moved either. Check builds add the seconds of PAWL_CLOCK_AWAY to both.
 */
int64_t clock_machine_us(void);

/* A clock that stands still until it is moved. Any thread may read it. */
struct clock_manual {
    struct clock clock; /* give this to whoever wants a clock */
    _Atomic int64_t wall_us;
    _Atomic int64_t mono_us;
};

void clock_manual_init(struct clock_manual *c, int64_t wall_us);

/* Let time pass on both clocks; `us` is not negative. */
void clock_manual_advance(struct clock_manual *c, int64_t us);

/* Set the wall clock, forward or back, as an administrator might. */
void clock_manual_set_wall(struct clock_manual *c, int64_t wall_us);

#endif
