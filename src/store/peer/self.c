/* self.c - what a node finds out of itself for its beats: memory, processor, clock; see peer.h. */
#include "base/log.h"
#include "base/time/clock.h"
#include "store/peer/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* A measurement that lies within its own error and this is no other offset. */
#define CLOCK_NOISE_US INT64_C(5000)
#define CLOCK_FAR_US INT64_C(2000000)

int64_t peer_rss_bytes(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    long long size = 0, resident = 0;

    if (f == NULL)
        return 0;
    if (fscanf(f, "%lld %lld", &size, &resident) != 2)
        resident = 0;
    (void)fclose(f);
    return resident * sysconf(_SC_PAGESIZE);
}

int64_t peer_cpu_percent(struct peers *p)
{
    int64_t now_us = peer_boot_us(), cpu_us, percent;
    struct rusage used;

    (void)getrusage(RUSAGE_SELF, &used);
    cpu_us = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * INT64_C(1000000) +
             used.ru_utime.tv_usec + used.ru_stime.tv_usec;
    percent = now_us > p->cpu_at_us ? (cpu_us - p->cpu_us) * 100 / (now_us - p->cpu_at_us) : 0;
    p->cpu_us = cpu_us;
    p->cpu_at_us = now_us;
    return percent;
}

/*
 * The answer was made at some moment between the two readings, so the middle is wrong by half of
 * the way at most.
 */
void peer_note_clock(struct peers *p, int64_t before_us, int64_t there_us, int64_t after_us)
{
    int64_t skew_us = (before_us + after_us) / 2 - there_us;
    int64_t moved_us = llabs(skew_us - atomic_load(&p->offset_us));

    atomic_store(&p->skew_us, skew_us);
    if (after_us < before_us || moved_us <= after_us - before_us + CLOCK_NOISE_US)
        return;
    atomic_store(&p->offset_us, skew_us);
    if (moved_us > CLOCK_FAR_US)
        log_write(LOG_WARN, "the clock of this machine is far from the database's, which counts",
                  LOG_FIELDS(log_int("away_ms", skew_us / 1000)));
}
