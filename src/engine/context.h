/*
 * context.h - what expressions see while a turn runs.
 * Internal to src/engine.
 */
#ifndef PAWL_ENGINE_CONTEXT_H
#define PAWL_ENGINE_CONTEXT_H

#include "engine/turn.h"

/* --- context.c: what expressions see --- */

/* cel_activation.load: the roots of the context, made when first asked for. */
struct value context_load(void *turn, uint32_t slot);

/* $.steps.CODE of a step. */
struct value context_step_view(struct arena *mem, const struct step *step,
                               const struct step_state *state);

/* Whether the engine sets this field of it itself, whatever the result has under that name. */
bool context_is_engines(struct str name);

/* $.signals: the last SIGNALS_SHOWN of them. */
struct value context_signals(struct arena *mem, const struct signals *signals);

/* A time as expressions have it, and as JSON text. */
struct value time_value(int64_t us);
struct value time_text(struct arena *mem, int64_t us);

/* $.loop where the execution stands, or absent outside of loops. */
struct value context_loop(struct turn *t);

/* $.compensation */
struct value context_compensation(struct turn *t);

/* $.input of a procedure by name, or that of the current step over the execution's. */
struct value context_input(struct turn *t);

/* The step's input over the execution's. */
struct value context_input_over(struct turn *t, struct value input);

#endif
