/*
 * version.h - an execution goes on with another version of its program.
 *
 * why: decision 0334
 */
#ifndef PAWL_ENGINE_FLOW_VERSION_H
#define PAWL_ENGINE_FLOW_VERSION_H

#include "engine/flow/step.h"

/*
 * The execution goes on with the program `to`, standing where it stands. False,
 * with ERR_CONFLICT: it cannot stand there; the turn is of no use any more.
 */
bool version_move(struct turn *t, const struct program *to, struct err *err) MUST_USE;

/*
 * Whether the commands that a visit of the current step has done, in the form of
 * cursor.suspended_json, are the same in the event's program, if it has one; and
 * the one that it waits for. False, with ERR_CONFLICT.
 */
bool version_keeps_commands(struct turn *t, struct str suspended_json, struct err *err) MUST_USE;

/* The same for what the visit that the cursor stands at has done, which goes on. */
bool version_keeps_visit(struct turn *t, struct err *err) MUST_USE;

/* Whether the frames of the execution are those around this step of `to`. */
bool version_is_within(const struct execution *x, const struct program *to,
                       const struct step *step);

#endif
