/* scenario.h - what a scenario is made of beside its procedures. Internal to src/define. */
#ifndef PAWL_DEFINE_COMPILE_SCENARIO_H
#define PAWL_DEFINE_COMPILE_SCENARIO_H

#include "define/compile/compile.h"

/* Definitions as a whole: the column `compiler` of kinds.def. */
void compile_scenario(struct compiler *c, struct value definition, struct program *p);
void compile_schema(struct compiler *c, struct value definition, struct program *p);
void compile_machine(struct compiler *c, struct value definition, struct program *p);
void compile_registered(struct compiler *c, struct value definition, struct program *p);

/*
 * What every process has beside its steps, by the rows of its table: code, name, input, settings,
 * access and triggers.
 */
void compile_process(struct compiler *c, struct value definition, enum field_table table,
                     struct program *p);

/* --- settings.c, retry.c --- */

extern const struct retry retry_default;

/* The policy of rollbacks, whatever the settings say about forward work. */
extern const struct retry retry_of_rollbacks;

void compile_settings(struct compiler *c, struct value settings, struct program *p);

/* A retry policy where we stand; what it leaves out is as *retry says. */
void compile_retry(struct compiler *c, struct value policy, struct retry *retry);

/* `onError` is "retry" here, and nothing says how often: a warning that says what it does. */
void compile_warn_retry(struct compiler *c);

/* `retry` of a step or a command, or NULL. */
const struct retry *compile_own_retry(struct compiler *c, struct value object);

/* --- trigger.c --- */

/*
 * `triggers` of a process, whose parameters are known. `start` is the pointer of the last one,
 * when that is written in the start of a schema; else empty.
 */
void compile_triggers(struct compiler *c, struct value list, struct str start, struct program *p);

/* --- steps: survey.c, step.c, parallel.c, jump.c --- */

/* `steps` of a scenario; sets the program's env. */
void compile_steps(struct compiler *c, struct value list, struct program *p);

/* The tree of steps: codes, blocks, who is in whom. `written` becomes what each was made from. */
void survey_steps(struct compiler *c, struct value list, struct program *p,
                  const struct value **written);

/* Its name, or else its code, and `when`: in what follows, c->env knows that it holds. */
void compile_name_and_when(struct compiler *c, struct value v, struct step *step);

/* retry, timeout and reconcile of a step whose procedure is known; `given_env`: of its `input`. */
void compile_run_fields(struct compiler *c, struct value v, const struct program *p,
                        const struct cel_env *given_env, struct step *step);

/* onError of a step. */
void compile_on_error(struct compiler *c, struct value v, const struct program *p,
                      struct step *step);

/* Stand where a step stands: at its pointer. */
void compile_stand_at(struct compiler *c, const struct step *step);

/* What a parallel step says beside its branches, which the survey has found. */
void compile_parallel(struct compiler *c, struct value v, struct step *step);

/* Findings about steps of rounds that run at once. */
void check_rounds(struct compiler *c, const struct program *p);

/* `goto` of the step we are in. */
void compile_jumps(struct compiler *c, struct value v, struct jumps *out);

/* Where a jump from the step we are in leads: a step that may be reached, or a word. */
bool compile_target(struct compiler *c, struct value v, struct jump *out);

/* Warnings about steps that never run. */
void check_reachable(struct compiler *c, const struct program *p);

#endif
