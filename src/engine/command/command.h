/*
 * command.h - commands: their fields, running one, records, and what trials ask for.
 * Internal to src/engine.
 *
 * why: decision 0163
 */
#ifndef PAWL_ENGINE_COMMAND_COMMAND_H
#define PAWL_ENGINE_COMMAND_COMMAND_H

#include "engine/turn.h"

/* --- command.c: commands that need nothing from outside --- */

/* The value of a field: VALUE_ABSENT when it is not given. False: the step has failed. */
bool command_field(struct turn *t, const struct command *c, enum command_field field,
                   struct value *out) MUST_USE;

/* The same for a field that must be a string. */
bool command_text(struct turn *t, const struct command *c, enum command_field field,
                  struct str fallback, struct str *out) MUST_USE;

/* Run one command that has no commands in it; its result goes to *out. */
enum step_result command_run(struct turn *t, const struct command *c, struct value *out);

/* The field `result` makes something else of what a command answered. */
enum step_result command_shape(struct turn *t, const struct command *c, struct value *out);

/* A condition that must be true or false; NULL is true. STEP_DONE or STEP_FAILED. */
enum step_result command_condition(struct turn *t, const struct cel_program *when, const char *name,
                                   struct str pointer, bool *is_true);

/* The same for one of an item of a list: /steps/0, goto, 1, when. */
enum step_result command_condition_at(struct turn *t, const struct cel_program *when,
                                      struct str pointer, const char *list, uint32_t index,
                                      const char *name, bool *is_true);

/* Set variables when the step completes; commands behind this one see them at once. */
enum step_result command_set_variables(struct turn *t, struct value values);

/* --- graph.c, math.c: nodes of schemas --- */

enum step_result graph_run(struct turn *t, const struct command *c, struct value *out);
enum step_result math_run(struct turn *t, const struct command *c, struct value *out);

/* --- compute.c --- */

enum step_result compute_validate(struct turn *t, const struct command *c, struct value *out);
enum step_result compute_aggregate(struct turn *t, const struct command *c, struct value *out);

/* --- record.c, query.c --- */

enum step_result record_run(struct turn *t, const struct command *c, struct value *out);
enum step_result query_run(struct turn *t, const struct command *c, struct str object,
                           struct value *out);

/* The write of this record that the step, else the turn, has staged; or NULL. */
const struct record_write *record_staged(const struct turn *t, struct str object, struct str id);

/* Stage once more what a step had staged before it was suspended. STEP_DONE, STEP_NEEDS, STEP_FAILED. */
enum step_result record_resume(struct turn *t, struct record_write write) MUST_USE;

/* Add a write to those of the turn: one for each record, resting on what was read first. */
void record_put(struct arena *mem, struct record_writes *writes, struct record_write write);

/* --- message.c: what is sent without waiting for an answer --- */

enum step_result message_run(struct turn *t, const struct command *c, struct value *out);

/* --- probe.c: what trials ask for --- */

/* Whether the event answers for this procedure. */
bool probe_is_mocked(const struct turn *t, const struct procedure *p);

/* What it answers to a call with this input, at `place`. STEP_DONE, STEP_FAILED or STEP_NEEDS. */
enum step_result probe_answer(struct turn *t, const struct procedure *p, struct str place,
                              struct value input, struct value *out);

/* This command runs now: if the event traces, the commit says so. */
void probe_trace(struct turn *t, const struct command *c);

#endif
