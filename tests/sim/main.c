/*
 * main.c - the simulator as a program; see sim.h.
 *
 *     pawl-sim [--seconds N] [--first SEED]   runs seeds one after the other
 *     pawl-sim --seeds N [--first SEED]       so many: the same on every machine
 *     pawl-sim --seed SEED                    one run, and what it did
 *     pawl-sim --case NAME | --cases          named cases
 *     ... --trace ID                          print the commits of an execution (or part of its id)
 *     ... --mix NAME,NAME                     only these of mix.def; "none": none of them
 */
#include "sim/sim.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct totals {
    int64_t seeds, executions, commits, rows, requests, refused, crashes, drains, cuts,
        refused_batches, unknown_batches, refused_members, jumps_back, jumps_forward, children,
        deleted, jobs, jobs_answered, jobs_expired, tasks, tasks_ended, by_ticks, by_events,
        tasks_moved, answers, reminders;
};

static double now_s(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* --trace */
static const char *traced = "";

static uint64_t run_seed(uint64_t seed, unsigned mix, struct totals *t)
{
    static struct sim sim;
    struct sim_config config = sim_config_of(seed, mix);
    uint64_t digest;

    config.trace = str_of(traced);
    sim_init(&sim, &config);
    sim_run(&sim);
    digest = sim.digest;
    t->seeds++;
    t->executions += (int64_t)sim.disk.executions.count;
    t->commits += sim.disk.commits;
    t->rows += sim.disk.rows;
    t->requests += sim.clients.requests;
    t->refused += sim.clients.refused;
    t->crashes += sim.crashes;
    t->drains += sim.drains;
    t->cuts += sim.cuts;
    t->refused_batches += sim.refused_batches;
    t->unknown_batches += sim.unknown_batches;
    t->refused_members += sim.refused_members;
    t->jumps_back += sim.jumps_back;
    t->jumps_forward += sim.jumps_forward;
    t->children += sim.disk.children;
    t->deleted += sim.disk.deleted;
    t->jobs += (int64_t)sim.disk.jobs.count;
    t->jobs_answered += sim.disk.jobs_answered;
    t->jobs_expired += sim.disk.jobs_expired;
    t->tasks += (int64_t)sim.disk.tasks.count;
    t->tasks_ended += sim.disk.tasks_ended;
    t->by_ticks += sim.disk.ticks_started;
    t->by_events += sim.disk.events_started;
    t->tasks_moved += sim.disk.tasks_moved;
    t->answers += sim.disk.people_answers;
    t->reminders += sim.disk.reminders;
    sim_fini(&sim);
    return digest;
}

static void print_totals(const struct totals *t, double cpu_s)
{
    printf("%lld seeds: %lld executions (%.0f/s; %lld children, %lld deleted), %lld commits, %lld "
           "rows of history, %lld requests (%lld refused)\n",
           (long long)t->seeds, (long long)t->executions, (double)t->executions / cpu_s,
           (long long)t->children, (long long)t->deleted, (long long)t->commits, (long long)t->rows,
           (long long)t->requests, (long long)t->refused);
    printf("%lld jobs, %lld of them answered, %lld whose lease ran out\n", (long long)t->jobs,
           (long long)t->jobs_answered, (long long)t->jobs_expired);
    printf("%lld tasks, %lld of them ended by people\n", (long long)t->tasks,
           (long long)t->tasks_ended);
    printf("%lld executions started by schedules, %lld by events; %lld moves of tasks; %lld "
           "answers of people, %lld reminders\n",
           (long long)t->by_ticks, (long long)t->by_events, (long long)t->tasks_moved,
           (long long)t->answers, (long long)t->reminders);
    printf("faults: %lld crashes, %lld nodes drained, %lld cut off, %lld batches refused, %lld "
           "unknown, %lld "
           "members refused, %lld "
           "times the clock was set back, %lld times forward\n",
           (long long)t->crashes, (long long)t->drains, (long long)t->cuts,
           (long long)t->refused_batches, (long long)t->unknown_batches,
           (long long)t->refused_members, (long long)t->jumps_back, (long long)t->jumps_forward);
}

/* Run seeds for a time, or `count` of them when that is not 0. */
static void run_many(double seconds, uint64_t count, uint64_t first, unsigned mix)
{
    double begin = now_s(CLOCK_MONOTONIC), cpu = now_s(CLOCK_PROCESS_CPUTIME_ID);
    struct totals totals = {0};
    uint64_t seed = first;

    while (count > 0 ? seed - first < count : now_s(CLOCK_MONOTONIC) - begin < seconds)
        (void)run_seed(seed++, mix, &totals);
    printf("seeds %llu to %llu: no rule was broken\n", (unsigned long long)first,
           (unsigned long long)seed - 1);
    print_totals(&totals, now_s(CLOCK_PROCESS_CPUTIME_ID) - cpu);
}

static int run_case(const char *name)
{
    for (size_t i = 0; i < sim_case_count; i++)
        if (strcmp(sim_cases[i].name, name) == 0) {
            sim_cases[i].run();
            printf("ok %s: %s\n", name, sim_cases[i].claim);
            return 0;
        }
    fprintf(stderr, "no case is called '%s'\n", name);
    return 2;
}

static int run_one(uint64_t seed, unsigned mix)
{
    struct totals totals = {0};
    double cpu = now_s(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t digest = run_seed(seed, mix, &totals);

    print_totals(&totals, now_s(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    printf("seed %llu digest %016llx\n", (unsigned long long)seed, (unsigned long long)digest);
    return 0;
}

/* A world comes after the other: the memory of one is kept for the next. */
static void keep_memory(void)
{
    enum { LARGE = 1 << 30 };

    (void)mallopt(M_MMAP_THRESHOLD, LARGE);
    (void)mallopt(M_TRIM_THRESHOLD, LARGE);
}

/* The bits that a list of names stands for. */
static bool read_mix(const char *text, unsigned *out)
{
    static const char *const names[] = {
#define MIX(symbol, name, on, what) name,
#include "sim/mix.def"
#undef MIX
    };
    struct str left = str_of(text);

    *out = 0;
    while (left.len > 0 && !str_eq(left, STR("none"))) {
        int64_t comma = str_find(left, STR(","), 0);
        size_t len = comma < 0 ? left.len : (size_t)comma;
        unsigned i = 0;

        while (i < MIX_COUNT && !str_eq(str_slice(left, 0, len), str_of(names[i])))
            i++;
        if (i == MIX_COUNT)
            return false;
        *out |= 1u << i;
        left = comma < 0 ? STR_NONE : str_slice(left, len + 1, left.len);
    }
    return true;
}

/* An assertion of the node or the engine broke: say in which world. */
static void say_where(int signal_number)
{
    if (sim_running != NULL && signal_number == SIGABRT)
        printf("seed %llu, event %lld: the process ends\n",
               (unsigned long long)sim_running->config.seed, (long long)sim_running->events);
    fflush(stdout);
}

static int usage(void)
{
    fprintf(stderr, "usage: pawl-sim [--seconds N | --seeds N] [--first SEED] [--mix NAMES] | "
                    "--seed SEED [--mix NAMES] | --case NAME | --cases\n");
    return 2;
}

int main(int argc, char **argv)
{
    double seconds = 60;
    uint64_t first = 1, count = 0, one = 0;
    unsigned mix = mix_default();

    keep_memory();
    signal(SIGABRT, say_where);
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";

        if (strcmp(argv[i], "--case") == 0)
            return run_case(value);
        if (strcmp(argv[i], "--cases") == 0) {
            for (size_t k = 0; k < sim_case_count; k++)
                printf("%s\n", sim_cases[k].name);
            return 0;
        }
        if (strcmp(argv[i], "--seconds") == 0)
            seconds = strtod(value, NULL);
        else if (strcmp(argv[i], "--seeds") == 0)
            count = strtoull(value, NULL, 10);
        else if (strcmp(argv[i], "--first") == 0)
            first = strtoull(value, NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0)
            one = strtoull(value, NULL, 10);
        else if (strcmp(argv[i], "--trace") == 0)
            traced = value;
        else if (strcmp(argv[i], "--mix") != 0 || !read_mix(value, &mix))
            return usage();
    }
    if (one > 0)
        return run_one(one, mix);
    run_many(seconds, count, first, mix);
    return 0;
}
