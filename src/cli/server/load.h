/*
 * load.h - send one HTTP request over and over, on many connections at once.
 *
 * Each connection sends the next request when the last was answered. One
 * thread, and little CPU for each request, so that a server on the same
 * machine keeps the rest.
 */
#ifndef PAWL_CLI_SERVER_LOAD_H
#define PAWL_CLI_SERVER_LOAD_H

#include "base/err.h"

/* How often which time was needed: powers of two, each in LOAD_PARTS equal parts. */
enum { LOAD_POWERS = 32, LOAD_PARTS = 64, LOAD_SLOTS = LOAD_POWERS * LOAD_PARTS };

struct load_times {
    uint64_t count;
    uint64_t slots[LOAD_SLOTS]; /* by microseconds */
};

void load_times_add(struct load_times *t, int64_t us);

/* The time within which that part (0 to 1) of all was answered, in microseconds. */
int64_t load_times_at(const struct load_times *t, double part);

struct load_options {
    struct str host, port;
    struct str request; /* the bytes, headers and body */
    unsigned connections;
    int64_t warm_up_us, duration_us; /* what is answered while it warms up does not count */
    /* Called about every quarter of a second; may be NULL. */
    void (*progress)(void *context, int64_t elapsed_us, uint64_t answered);
    void *context;
};

struct load_result {
    uint64_t answered;  /* with 2xx */
    uint64_t refused;   /* with anything else */
    uint64_t broken;    /* connections that were lost */
    int refused_status; /* of the last one */
    int64_t elapsed_us;
    struct load_times times;
};

/* ERR_IO when the server cannot be reached, or is lost with every connection. */
bool load_run(const struct load_options *options, struct load_result *out,
              struct err *err) MUST_USE;

#endif
