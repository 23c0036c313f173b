/*
 * task.h - task.create: a person's work that a step asks the planner for.
 * Internal to src/engine.
 */
#ifndef PAWL_ENGINE_COMMAND_TASK_H
#define PAWL_ENGINE_COMMAND_TASK_H

#include "engine/turn.h"

/* Whether the strand waits for what becomes of a task. */
static inline bool task_is_awaited(const struct cursor *cursor)
{
    return cursor->phase == PHASE_WAIT && cursor->task.len > 0;
}

/* Ask for the task of a step. STEP_WAITS or STEP_FAILED. */
enum step_result task_begin(struct turn *t, const struct step *step);

/* Whether the event says what became of the task that the strand waits for. */
bool task_has_news(const struct turn *t, const struct cursor *cursor);

/*
 * There is news of the task, or the time of its wait is up. STEP_DONE with *out,
 * and *has_expired when the time was up before it had ended; STEP_FAILED; or
 * STEP_WAITS: the planner is asked how it stands, and a row says so.
 */
enum step_result task_wake(struct turn *t, const struct step *step, struct value *out,
                           bool *has_expired);

/* Strands of a failed execution that waited for a task ask for another one. */
void task_begin_anew(struct turn *t, const struct execution *before);

/* An operator goes on with what was held: what came meanwhile may not have been looked at. */
void task_look_at_all(struct turn *t, const struct execution *before);

/* The commit cancels the tasks that nobody waits for any more, `before` being what it rests on. */
void task_compare(struct turn *t, const struct execution *before);

#endif
