/*
 * inner.h - a trial while it runs. Internal to src/trial.
 *
 *     trial.c   what happens next
 *     actor.c   one execution: an event is applied, what it commits is kept
 *     answer.c  what an execution must read
 *     mock.c    what is answered in place of others
 *     task.c    tasks of the planner
 */
#ifndef PAWL_TRIAL_INNER_H
#define PAWL_TRIAL_INNER_H

#include "engine/commit/search.h"
#include "trial/trial.h"

/* An execution of the trial; number 0 is the process itself. */
struct actor {
    struct arena mem; /* of its state: made anew when most of it is garbage */
    size_t compact_at_bytes;
    struct execution *x;
    struct history history;       /* in the memory of the trial */
    struct command_runs commands; /* the same */
};

/* How often a mock has answered. */
struct mock_count {
    struct str name;
    size_t count;
};

struct trial_task;

/* What one execution tells another, as a row of the store would; kept until it is applied. */
struct trial_notice {
    struct actor *to;
    struct notice_row row;
};

struct trial_run {
    struct arena *mem; /* of what is left of the trial */
    const struct trial_script *script;
    const struct trial_world *world;
    struct trial *out;
    struct findings *findings;
    int64_t now_us;
    struct value config;
    struct {
        VEC_OF(struct actor *);
    } actors;
    struct {
        VEC_OF(struct mock_count);
    } counts;
    struct {
        VEC_OF(struct trial_task *);
    } tasks;
    struct {
        VEC_OF(struct trial_notice);
    } notices;   /* of parents that have stopped, to those that they have started */
    bool *sent;  /* by signal of the script */
    bool *acted; /* by action */
};

/* --- actor.c --- */

/* One more execution, whose state is copied. */
struct actor *actor_add(struct trial_run *r, const struct execution *x);

/* If an execution is cancelled by the one that started it, apply that; *more says so. */
bool actor_apply_notice(struct trial_run *r, bool *more, struct err *err) MUST_USE;

/* Apply an event now. False: it is refused, or what it needs cannot be read. */
bool actor_apply(struct trial_run *r, struct actor *a, struct event ev, struct err *err) MUST_USE;

/* Whether this is the member `kind` of what it, or one of its strands, waits for. */
bool actor_waits_for(struct trial_run *r, const struct actor *a, struct str kind);

/* --- answer.c --- */

/* Read what the commit needs. */
bool answer_needs(struct trial_run *r, struct actor *a, const struct commit *c,
                  struct turn_reads *reads, struct err *err) MUST_USE;

/* Keep what the commit has written to records. */
bool answer_keep_records(struct trial_run *r, const struct record_writes *writes,
                         struct err *err) MUST_USE;

/* How an execution has ended, or stands. */
struct child_read answer_child(struct trial_run *r, const struct execution *x);

/* --- mock.c --- */

/* The next answer of a mock: an output, or absent with an error. The call is counted. */
struct value mock_answer(struct trial_run *r, struct str name, struct value mock,
                         struct value *error);

/* A process that ends at once as the mock says. */
const struct program *mock_process(struct trial_run *r, struct str code, struct value mock);

/*
 * If the execution waits for a worker for whom there is a mock, fill the event
 * with its answer.
 */
bool mock_job(struct trial_run *r, const struct actor *a, struct event *out);

/* --- task.c --- */

/* What a commit asks the planner for. */
void tasks_keep(struct trial_run *r, const struct actor *a, const struct task_acts *acts);

/* If there is something to say about a task that the execution waits for, fill the event with it. */
bool tasks_answer(struct trial_run *r, const struct actor *a, struct event *out);

/* --- mock.c --- */

/* Note a call. */
void mock_note(struct trial_run *r, struct str name, struct value input);

#endif
