/*
 * context.h - what expressions see: the roots of the context, and what is known of results.
 * Internal to src/define.
 */
#ifndef PAWL_DEFINE_COMPILE_CONTEXT_H
#define PAWL_DEFINE_COMPILE_CONTEXT_H

#include "define/compile/compile.h"

/* Where we stand, an environment in which a root is known that is hidden elsewhere. */
struct cel_env *compile_showing(const struct compiler *c, enum context_root root);

/* --- what is known of results: shape.c --- */

/* What the expression lacks, by the notes that the checker has made: warnings. */
void compile_notes(struct compiler *c, struct str source, const struct cel_program *program);

/* Say what the result of a command is, under the name that `as` gives it. */
void shape_say_command(struct compiler *c, struct cel_env *env, const struct command *command);

/* Say what $.steps.CODE is, when the step has been read. */
void shape_say_step(struct compiler *c, struct cel_env *env, const struct step *step);

/*
 * Before a step is read: the results of those that have not ended when it runs
 * are null. `step` may be NULL: all have ended.
 */
void shape_say_pending(struct compiler *c, struct cel_env *env, const struct program *p,
                       const struct step *step);

/* When all steps are read: warnings about results that are read before they can be there. */
void shape_check_early(struct compiler *c, const struct program *p);

/* --- the roots: context.c --- */

/* Say what is known of $.steps.CODE, which is declared. */
void context_say_step(struct arena *mem, struct cel_env *env, struct str name);

const char *context_root_name(enum context_root root);

/* Where it is known: "in a rollback". Empty: everywhere. */
const char *context_place(enum context_root root);

/* The root of that name. */
bool context_root_of(struct str name, enum context_root *out);

#endif
