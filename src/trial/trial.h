/*
 * trial.h - run a process in memory, with a clock that is moved by hand.
 *
 * What `pawl test` and dry-run are made of: the real engine, records in
 * memory, no store and no effects. Time passes only as far as the next thing
 * that happens, so that a process of 30 days ends at once. Signals come from a
 * script; what a worker would do is answered by mocks.
 */
#ifndef PAWL_TRIAL_TRIAL_H
#define PAWL_TRIAL_TRIAL_H

#include "define/define.h"
#include "engine/state.h"

/* A signal of the script. */
struct trial_signal {
    struct str type;
    struct value payload;
    struct value by;  /* a map, or absent */
    bool has_time;    /* else: when the execution waits for a signal and it is this one's turn */
    int64_t after_us; /* since the start */
};

struct trial_signals {
    VEC_OF(struct trial_signal);
};

struct trial_script {
    struct value input;
    struct str key;
    struct value user;       /* who starts it: a map, or absent */
    struct value config;     /* $.config: a map, or absent */
    struct value procedures; /* answers by name: an output, or {"error": {...}}; or absent */
    struct trial_signals signals;
    struct record_reads records; /* that exist before */
    int64_t now_us;              /* when it starts; 0 = 2026-01-01T00:00:00Z */
    bool has_cancel;             /* cancelled by an operator ... */
    int64_t cancel_after_us;     /* ... so long after the start */
};

/* How it went. */
struct trial {
    struct execution *x; /* as it stands at the end */
    struct history history;
    struct log_lines logs;
    struct record_reads records; /* version 0: deleted */
    int64_t started_at_us;
    int64_t ended_at_us;   /* the clock when nothing more happened */
    size_t signals_unsent; /* of the script */
    bool is_cut;           /* it went on for longer than TRIAL_EVENTS_MAX events */
};

enum { TRIAL_EVENTS_MAX = 20000 };

/*
 * Run `program` by the script until it ends, waits for something that does not
 * come, or goes on for too long. Everything lives in `mem`. False: it cannot
 * be started, or a signal of the script cannot be received; problems of the
 * input are added to `findings`.
 */
bool trial_run(struct arena *mem, const struct program *program, const struct trial_script *script,
               struct trial *out, struct findings *findings, struct err *err) MUST_USE;

/* What clients see of it: {status, result, error, waitingFor, context, steps, ...}. */
struct value trial_value(struct arena *mem, const struct trial *trial);

#endif
