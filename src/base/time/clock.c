/* clock.c - see clock.h. */
#include "base/time/clock.h"

#include "base/attr.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int64_t read_us(clockid_t id)
{
    struct timespec t;

    if (clock_gettime(id, &t) != 0)
        PANIC("the system has no clock");
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

#ifdef PAWL_SLOW_CHECKS

/* How often the file is looked at. */
#define LOOK_EVERY_US INT64_C(50000)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *clock_file;
static int64_t away_us;
static _Atomic int64_t moved_us, stopped_us, look_again_us;

static void find_clock_file(void)
{
    const char *away = getenv("PAWL_CLOCK_AWAY");

    clock_file = getenv("PAWL_CLOCK_FILE");
    away_us = away == NULL ? 0 : strtoll(away, NULL, 10) * 1000000;
}

/* The clock of a machine that is wrong. */
int64_t clock_machine_us(void)
{
    pthread_once(&once, find_clock_file);
    return read_us(CLOCK_REALTIME) + away_us;
}

static void read_clock_file(void)
{
    char text[32];
    int fd = open(clock_file, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

    if (fd >= 0)
        close(fd);
    text[len > 0 ? len : 0] = '\0';
    stopped_us = text[0] == '@' ? strtoll(text + 1, NULL, 10) : 0;
    moved_us = text[0] == '@' ? 0 : strtoll(text, NULL, 10) * 1000000;
}

/* The wall clock as the tests have set it; see clock.h. */
static int64_t set_by_tests_us(int64_t wall_us)
{
    int64_t now_us;

    pthread_once(&once, find_clock_file);
    if (clock_file == NULL)
        return wall_us;
    now_us = read_us(CLOCK_MONOTONIC);
    if (now_us >= look_again_us) {
        look_again_us = now_us + LOOK_EVERY_US;
        read_clock_file();
    }
    return stopped_us > 0 ? stopped_us : wall_us + moved_us;
}

#else

int64_t clock_machine_us(void)
{
    return read_us(CLOCK_REALTIME);
}

static int64_t set_by_tests_us(int64_t wall_us)
{
    return wall_us;
}

#endif

static int64_t system_wall_us(const struct clock *clock)
{
    (void)clock;
    return set_by_tests_us(clock_machine_us());
}

static int64_t system_mono_us(const struct clock *clock)
{
    (void)clock;
    return read_us(CLOCK_MONOTONIC);
}

int64_t clock_thread_us(void)
{
    return read_us(CLOCK_THREAD_CPUTIME_ID);
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
