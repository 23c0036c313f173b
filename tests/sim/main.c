/*
 * main.c - the simulator as a program; see sim.h.
 *
 *     pawl-sim [--seconds N] [--first SEED]   runs seeds one after the other
 *     pawl-sim --seeds N [--first SEED]       so many: the same on every machine
 *     pawl-sim --seed SEED                    one run, and what it did
 *     pawl-sim --case NAME | --cases          named cases
 */
#include "sim/sim.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct totals {
    int64_t seeds, executions, commits, rows, requests, refused, crashes, refused_batches,
        unknown_batches, refused_members, jumps_back;
};

static double now_s(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t run_seed(uint64_t seed, struct totals *t)
{
    static struct sim sim;
    struct sim_config config = sim_config_of(seed);
    uint64_t digest;

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
    t->refused_batches += sim.refused_batches;
    t->unknown_batches += sim.unknown_batches;
    t->refused_members += sim.refused_members;
    t->jumps_back += sim.jumps_back;
    sim_fini(&sim);
    return digest;
}

static void print_totals(const struct totals *t, double cpu_s)
{
    printf(
        "%lld seeds: %lld executions (%.0f/s), %lld commits, %lld rows of history, %lld requests "
        "(%lld refused)\n",
        (long long)t->seeds, (long long)t->executions, (double)t->executions / cpu_s,
        (long long)t->commits, (long long)t->rows, (long long)t->requests, (long long)t->refused);
    printf("faults: %lld crashes, %lld batches refused, %lld unknown, %lld members refused, %lld "
           "times the clock was set back\n",
           (long long)t->crashes, (long long)t->refused_batches, (long long)t->unknown_batches,
           (long long)t->refused_members, (long long)t->jumps_back);
}

/* Run seeds for a time, or `count` of them when that is not 0. */
static void run_many(double seconds, uint64_t count, uint64_t first)
{
    double begin = now_s(CLOCK_MONOTONIC), cpu = now_s(CLOCK_PROCESS_CPUTIME_ID);
    struct totals totals = {0};
    uint64_t seed = first;

    while (count > 0 ? seed - first < count : now_s(CLOCK_MONOTONIC) - begin < seconds)
        (void)run_seed(seed++, &totals);
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

static int run_one(uint64_t seed)
{
    struct totals totals = {0};
    double cpu = now_s(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t digest = run_seed(seed, &totals);

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

int main(int argc, char **argv)
{
    double seconds = 60;
    uint64_t first = 1, count = 0;

    keep_memory();
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";

        if (strcmp(argv[i], "--seed") == 0)
            return run_one(strtoull(value, NULL, 10));
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
        else {
            fprintf(stderr, "usage: pawl-sim [--seconds N | --seeds N] [--first SEED] | "
                            "--seed SEED | --case NAME | --cases\n");
            return 2;
        }
    }
    run_many(seconds, count, first);
    return 0;
}
