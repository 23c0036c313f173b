/*
 * script.h - the script of a trial, read from what people write: tests and
 * dry-runs share it.
 */
#ifndef PAWL_TRIAL_SCRIPT_H
#define PAWL_TRIAL_SCRIPT_H

#include "trial/trial.h"

/*
 * Each reads one part of a script, which may be absent, and shares it; false
 * with ERR_INVALID says in words what is wrong with it.
 */

/* [{type, payload?, by?, to?, after?, refused?}]; or, in short, {type: payload, or a list of them}. */
bool script_read_signals(struct arena *mem, struct value v, struct trial_signals *out,
                         struct err *err) MUST_USE;

/* {procedures, processes, signals, http}, all optional. */
bool script_read_mocks(struct arena *mem, struct value v, struct trial_script *out,
                       struct err *err) MUST_USE;

/* [{action: "retry", "skip" or "cancel", after?, ...}] */
bool script_read_actions(struct arena *mem, struct value v, struct trial_actions *out,
                         struct err *err) MUST_USE;

/* {object: {id: data}} */
bool script_read_records(struct arena *mem, struct value v, struct record_reads *out,
                         struct err *err) MUST_USE;

/* A time, or a date. */
bool script_read_now(struct value v, int64_t *out, struct err *err) MUST_USE;

/*
 * A warning for each mock that the program, or what it starts, has nothing
 * for: a name that was mistyped answers nobody.
 */
void script_check_mocks(struct arena *mem, const struct trial_mocks *mocks,
                        const struct program *program, const struct trial *trial,
                        struct findings *findings);

/* --- reading objects --- */

/* Whether every member of `map` is one of `words`, which have spaces between them. */
bool script_knows(struct value map, const char *words, struct err *err) MUST_USE;

/* `compensate` of a cancellation: true, false, or absent. */
enum cancel_rollback script_rollback(struct value compensate);

/* `refused` of what must be refused: true, members that a finding has, or absent. */
bool script_read_refused(struct value map, struct value *out, struct err *err) MUST_USE;

/* A member that must be a string; empty when it is not there. */
bool script_read_text(struct value map, const char *name, struct str *out,
                      struct err *err) MUST_USE;

#endif
