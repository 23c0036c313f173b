/*
 * ledger.h - the ledger of a step: what its commands have done, in the order in
 * which they were done. Internal to src/engine.
 *
 * While commands run it is t->run.finished. When the step stops it is frozen
 * into cursor.suspended_json as `results`, by the places of the commands, each
 * with a mark behind it:
 *
 *     "2.1"    the result of the command
 *     "2?"     the body that it runs; of flow.try the error that it has caught;
 *              false when its `when` was not true
 *     "2<"     what it gives to the procedure that it calls or to whom it asks
 *     "2!"     what was answered to it; it has not gone on yet
 *     "2~"     true: it has failed and may have happened all the same
 *     "2#"     the visit that it was done in, when that was not this one
 *     "2@"     the program that it was done with, when that was not this one: former_name()
 *
 * What is in the ledger is not evaluated or done again. Whatever takes the step
 * up again (an answer, another attempt, an operator's retry) begins with
 * ledger_recall(), so nothing in it can be left out; whatever ends the step
 * hands it on: rollback_command_note().
 *
 * why: decision 0375
 */
#ifndef PAWL_ENGINE_COMMAND_LEDGER_H
#define PAWL_ENGINE_COMMAND_LEDGER_H

#include "engine/turn.h"

/* A command has done something; what it had there before is replaced. */
void ledger_add(struct turn *t, enum finished_kind kind, const struct command *c,
                struct value result);

/* The same where the JSON of the result is known already. */
void ledger_add_written(struct turn *t, enum finished_kind kind, const struct command *c,
                        struct value result, struct str json);

/* Whether the command asks somebody outside of the execution. */
bool ledger_asks_outside(const struct command *c);

/* The command has failed: whether it may have happened all the same. */
void ledger_fail(struct turn *t, const struct command *c, bool may_have_happened);

/* The step ends, and nobody knows what became of the command that was asked for last. */
void ledger_doubt(struct turn *t);

/* What is frozen under the place of a command of the current procedure, with a mark; or absent. */
struct value ledger_at(struct turn *t, struct str place, const char *mark);

/* Write the member `results`. */
void ledger_write(struct turn *t, struct buf *out);

/* The commands of `p` that are in `results` are done: they are in t->run again. */
void ledger_recall(struct turn *t, const struct procedure *p, struct value results);

/* A command, the procedure that it is in, and the place of the call of that. */
struct ledger_command {
    const struct command *command;
    const struct procedure *procedure;
    struct str path;
};

/* The command at a place of a procedure. False: there is none. */
bool ledger_find(const struct procedure *p, struct str place, struct ledger_command *out);

/* Whether no command of the visit that the cursor stands at is done, as far as it is frozen. */
bool ledger_is_empty(struct turn *t);

/*
 * What a new visit of the step begins with after the visit that the cursor
 * stands at has failed, in the form of cursor.suspended_json: what its commands
 * have done stays done, what failed is evaluated anew. Empty: nothing has been
 * done outside of the execution, the step begins from nothing.
 */
struct str ledger_carry(struct turn *t);

/*
 * The execution goes on with another program: what is done in a ledger, which is
 * in the form of cursor.suspended_json, was done with that of this name. False:
 * it is too large then.
 */
bool ledger_name_program(struct turn *t, struct str name, struct str *suspended_json) MUST_USE;

#endif
