/*
 * rig.h - an engine on a bench: one execution, a clock that is moved by hand,
 * and a store of a few lines. After every event it checks what must always
 * hold: the same inputs give the same commit, the execution that was given is
 * only read, history is gapless and in order of time, and what was stored
 * restores to the state in memory, from the checkpoint and from nothing.
 */
#ifndef PAWL_TESTS_ENGINE_RIG_H
#define PAWL_TESTS_ENGINE_RIG_H

#include "define/define.h"
#include "engine/dump.h"

/* What a program was made of: those who show an execution look there. */
struct rig_version {
    const struct program *program;
    struct value definition;
};

struct rig {
    struct arena mem;
    const struct cel_env *env;
    struct {
        VEC_OF(struct rig_version);
    } versions;
    const struct program *program;
    int64_t version;     /* of what is defined; 0 stands for 1 */
    struct execution *x; /* the state in memory */
    int64_t now_us;
    struct commit last; /* the last commit that was applied */
    struct stored_execution stored;
    struct history history; /* all of it */
    struct record_reads records;
    struct err err;
    unsigned needs;                 /* answers NEED of the last event */
    struct process_reads processes; /* what flow.start finds */
    struct child_read child;        /* how the child stands */
    struct job_leases leases;       /* the attempts that workers hold */
    bool first_child_alone;         /* only that of the first strand stands so, the others run */
    bool gives_up_on_records;
    const struct call_capacity *capacity; /* for events that have none of their own */
    const char *contended;  /* the id of a record that others keep changing; or NULL */
    int64_t history_from;   /* rows below this one are gone */
    bool is_of_versions;    /* rows of one do not fold with the other: only the checkpoint counts */
    bool forgets_versions;  /* the store has no earlier ones any more, */
    int64_t forgotten;      /* ... or not this one; 0 = it has all */
    bool keeps_signals;     /* somebody keeps signals for waits that have a correlation: */
    struct kept_reads kept; /* these */
    const struct debug *debug; /* how executions that start are debugged; NULL: not at all */
    struct value config;       /* $.config; absent: nothing is configured */
};

void rig_init(struct rig *r);
void rig_fini(struct rig *r);

/* Remember what a program was made of. */
void rig_made(struct rig *r, const struct program *program, struct value definition);

/* Compile a definition, whose quotes are written as '. Fails the test if it does not compile. */
void rig_define(struct rig *r, const char *scenario);

/* Start an execution with this input, quotes written as '. */
void rig_start(struct rig *r, const char *input);
/* The same with a value that lives in r->mem. */
void rig_start_with(struct rig *r, struct value input);

/* An event. False: the engine refused it, r->err says why, and nothing has changed. */
bool rig_wake(struct rig *r);
bool rig_signal(struct rig *r, const char *id, const char *type, const char *payload);
bool rig_cancel(struct rig *r, const char *reason);
/* Any other: config and reads are filled in. */
bool rig_event(struct rig *r, struct event ev);

/* Let the time of the next wake come, and wake it, until it waits for something else or ends. */
void rig_settle(struct rig *r);

/* A JSON value, quotes written as '. */
struct value rig_value(struct rig *r, const char *json);

/* The rows of kinds other than events: "a.completed b.failed(2) -b.compensated". */
const char *rig_trace(struct rig *r);

/* Let time pass. */
void rig_pass(struct rig *r, int64_t us);

/* Go on from what was stored, as after a crash. */
void rig_reload(struct rig *r);

/* Put a record into the store. */
void rig_record(struct rig *r, const char *object, const char *id, int64_t version,
                const char *data);
/* The record as JSON, or "none"; its version in *version. */
const char *rig_find_record(struct rig *r, const char *object, const char *id, int64_t *version);

/* The last history row of a step, or NULL. */
const struct history_row *rig_row(struct rig *r, const char *step);

/* A text as a C string in the rig's memory, with " written as '. */
const char *rig_text(struct rig *r, struct str s);

/* $.steps.CODE.output as JSON, " written as '. */
const char *rig_output(struct rig *r, const char *step);

/* The rig of a test program whose claims each begin with a new one: CLAIM(test_...). */
extern struct rig rig;
int rig_setup(void **state);
int rig_teardown(void **state);

#define CLAIM(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

#endif
