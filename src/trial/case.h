/*
 * case.h - declarative tests of processes:
 *
 *     {"name": "a large discount goes to the director",
 *      "scenario": "discount_approval", "input": {"amount": 150000},
 *      "signals": [{"type": "decision", "payload": {"approved": true}, "after": "2h"}],
 *      "expect": {"status": "completed", "steps": ["ask", "apply"], "result": {...}}}
 *
 * What stands in `expect` is checked, and nothing else.
 */
#ifndef PAWL_TRIAL_CASE_H
#define PAWL_TRIAL_CASE_H

#include "trial/trial.h"

struct trial_case {
    struct str name;
    enum kind kind;                    /* of the process: a scenario, a schema or a machine */
    struct str scenario, procedure;    /* one of them: the code of a process; or both empty: */
    struct value definition;           /* given in the case itself, or absent */
    struct value procedure_definition; /* the same */
    struct trial_script script;
    struct value expect;  /* a map */
    struct value refused; /* of `expect`: the start must be refused; or absent */
};

/* What was expected and is not so, in words. */
struct trial_problems {
    VEC_OF(struct sentence);
};

/* Read a case; it shares `v`, which lives in `mem`. ERR_INVALID says what is wrong with it. */
bool case_read(struct arena *mem, struct value v, struct trial_case *out, struct err *err) MUST_USE;

/*
 * A scenario of one step, of the same code, that runs a procedure of the
 * registry with the input it is given. `code` must be a code.
 */
struct value case_procedure_scenario(struct arena *mem, struct str code, struct value input);

/* Whether a value is a test, a list of tests or {"tests": [...]}, as its fields say. */
bool case_is_test(struct value v);

/*
 * Run the case and hold the trial against what it expects; what is not so is added to `problems`.
 * When a part of the script is refused that should not be, that is a problem too, and `findings`
 * say more about it. `world` may be NULL.
 */
void case_run(struct arena *mem, const struct trial_case *c, const struct program *program,
              const struct trial_world *world, struct trial *trial, struct findings *findings,
              struct trial_problems *problems);

#endif
