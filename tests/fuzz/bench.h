/*
 * bench.h - executions for fuzz targets: states that the engine has come to by itself, and events
 * for them.
 *
 * bench_states() runs a few scenarios on the rig of the engine's tests and keeps every state on
 * the way: waits, calls, jobs, children, loops, branches, rollbacks, doubts, pauses. It is made once,
 * and its memory is never given back.
 */
#ifndef PAWL_TESTS_FUZZ_BENCH_H
#define PAWL_TESTS_FUZZ_BENCH_H

#include "engine/rig.h"

struct bench_state {
    const struct program *program;
    struct stored_execution stored; /* with the rows after its checkpoint */
    struct history history;         /* all of it */
    int64_t now_us;
    bool awaits_call;
};

struct bench_states {
    VEC_OF(struct bench_state);
};

const struct bench_states *bench_states(void);

/* The bytes of an input, taken from the front; when there are no more they are 0. */
struct bench_bytes {
    const uint8_t *at;
    size_t left;
};

uint8_t bench_byte(struct bench_bytes *b);
uint16_t bench_word(struct bench_bytes *b);

/* An event that the bytes choose, for the execution as it stands. */
struct event bench_event(struct arena *mem, const struct execution *x, struct bench_bytes *b);

/*
 * Apply the event, answering what the engine asks for with what the bytes choose. The
 * execution afterwards; the same one when the event was refused. What is committed can be stored,
 * shown and restored.
 */
struct execution *bench_advance(struct arena *mem, const struct bench_state *from,
                                struct execution *x, struct event ev, int64_t now_us,
                                struct bench_bytes *b);

#endif
