/*
 * step.c - running the steps of a program; see step.h.
 *
 *     when -> input -> commands, a wait, a worker, or steps in it -> completed, skipped or failed
 *
 * What comes after a step is flow.c, what a failure leads to failure.c.
 * Running stops when a step waits, when all are done, when one fails for good,
 * or when the turn has done enough: then the execution stays `running`, is due
 * at once and goes to the back of the queue.
 */
#include "engine/flow/step.h"
#include "define/define.h"
#include "engine/command/command.h"
#include "engine/command/ledger.h"
#include "engine/command/procedure.h"
#include "engine/command/wait.h"
#include "engine/context.h"
#include "engine/flow/debug.h"
#include "engine/flow/rollback.h"
#include "value/object.h"

/*
 * A turn ends after so much history, after TURN_STEPS_MAX steps, or when its
 * expressions have cost as much as these: the step that is over it still ends.
 */
enum {
    TURN_BYTES_MAX = CONTEXT_BYTES_MAX,
    TURN_COST_MAX = 2000000, /* twice what one expression may cost */
    TURN_MEMORY_MAX = 64 << 20
};

struct history_row *step_row(struct turn *t, enum history_kind kind, struct str status)
{
    const struct cursor *cursor = &t->x->cursor;
    struct history_row *row = turn_row(t, kind, turn_code(t), status);

    row->visit = cursor->visit;
    row->attempt = cursor->attempt;
    row->input_json = cursor->input_json;
    row->started_at_us = cursor->started_at_us;
    turn_note_sent(t, row);
    return row;
}

/* --- the ends of a step --- */

void step_set(struct turn *t, struct step_state state)
{
    struct execution *x = t->x;
    struct round round = state_round(x, x->cursor.step);

    if (round.loop > 0)
        turn_note(t, "round", turn_round_text(t, round));
    state_set_step(t->mem, x, round, x->cursor.step, state);
    debug_step_ended(t);
}

/* The lines stay with the row: [{level, message, data?}]. */
static void note_logs(struct turn *t)
{
    struct buf lines;

    if (t->logs.count == 0)
        return;
    buf_init_arena(&lines, t->mem);
    buf_char(&lines, '[');
    for (size_t i = 0; i < t->logs.count; i++) {
        const struct log_line *line = &t->logs.items[i];

        object_item(&lines);
        object_text(&lines, "level", line->level);
        object_text(&lines, "message", line->message);
        if (line->data_json.len > 0)
            object_json(&lines, "data", line->data_json);
        buf_char(&lines, '}');
    }
    buf_char(&lines, ']');
    turn_note(t, "log", buf_view(&lines));
}

void step_apply_staged(struct turn *t)
{
    for (size_t i = 0; i < t->records.count; i++) {
        t->records.items[i].seq = t->out->history.items[t->out->history.count - 1].seq;
        record_put(t->mem, &t->out->records, t->records.items[i]);
    }
    for (size_t i = 0; i < t->logs.count; i++) {
        t->logs.items[i].step = t->out->history.items[t->out->history.count - 1].step;
        *VEC_ADD(t->mem, &t->out->logs) = t->logs.items[i];
    }
    note_logs(t);
    for (size_t i = 0; i < t->messages.count; i++)
        *VEC_ADD(t->mem, &t->out->messages) = t->messages.items[i];
    child_begin_staged(t);
}

/* What rolling this visit back will need beside its row. */
static void note_rollback(struct turn *t, const struct step *step)
{
    bool has_rollbacks = step->kind == STEP_PROCEDURE && step->procedure->has_rollbacks;
    struct value loop;
    struct str json;

    if (step->rollback.procedure == NULL && !has_rollbacks)
        return;
    if (t->x->frame_count > 0) {
        loop = context_loop(t);
        if (loop.kind == VALUE_MAP && turn_json(t, loop, &json))
            turn_note(t, "loop", json);
    }
    if (has_rollbacks)
        rollback_command_note(t);
}

/* The bytes of the context once the step has ended with so many of its own. */
static size_t context_with(const struct turn *t, size_t step_bytes)
{
    const struct execution *x = t->x;
    const struct loop_data *loop = state_loop(x, x->cursor.step, x->cursor.visit);
    size_t bytes = state_bytes_with(x, step_bytes);

    return loop == NULL ? bytes : bytes - loop->collected.bytes - loop->errors.bytes;
}

enum step_result step_complete(struct turn *t, struct value output, int64_t took)
{
    struct execution *x = t->x;
    struct step_state state = {
        .outcome = OUTCOME_COMPLETED, .visit = x->cursor.visit, .output = output};
    struct str variables_json = x->variables_json, assigned_json = STR_NONE;
    struct history_row *row;
    size_t bytes;

    if (!turn_freeze(t, &state.output, &state.output_json))
        return STEP_FAILED;
    if (t->assigned.len > 0 && (!turn_freeze(t, &t->variables, &variables_json) ||
                                !turn_json(t, t->assigned, &assigned_json))) {
        if (str_eq(t->failure.code, STR("limit_context_size")))
            t->refused_output_json = state.output_json;
        return STEP_FAILED;
    }
    bytes = context_with(t, state.output_json.len) - x->variables_json.len + variables_json.len;
    if (bytes > CONTEXT_BYTES_MAX) {
        t->refused_output_json = state.output_json;
        return turn_fail_size(t);
    }
    row = step_row(t, HISTORY_FORWARD, STR("completed"));
    row->output_json = state.output_json;
    /* A transition that has completed is never undone. */
    if (turn_step(t)->transition == NULL)
        note_rollback(t, turn_step(t));
    step_set(t, state);
    if (t->assigned.len > 0) {
        turn_note(t, "variables", assigned_json);
        state_set_variables(x, t->variables, variables_json);
    }
    if (took > 0) {
        row->took = took;
        turn_note(t, "took", str_printf(t->mem, "%lld", (long long)took));
        state_take_signal(t->mem, x, took);
    }
    t->row_bytes += (size_t)state_row_bytes(row);
    step_apply_staged(t);
    /* What it had staged has left with this commit: nothing may take it up once more. */
    x->cursor.suspended_json = STR_NONE;
    return STEP_DONE;
}

static enum step_result skip(struct turn *t)
{
    (void)step_row(t, HISTORY_FORWARD, STR("skipped"));
    step_set(t, (struct step_state){.outcome = OUTCOME_SKIPPED, .visit = t->x->cursor.visit});
    return STEP_SKIPPED;
}

bool failure_may_have_happened(const struct turn *t)
{
    const struct failure *f = &t->failure;

    return f->class == ERR_CLASS_INDETERMINATE || f->is_unsure ||
           (t->x->cursor.is_unsure && (f->is_own || f->class != ERR_CLASS_BUSINESS));
}

void failure_record(struct turn *t, struct value error, struct str error_json)
{
    const struct step *step = turn_step(t);
    struct history_row *row = step_row(t, HISTORY_FORWARD, STR("failed"));

    row->output_json = t->refused_output_json;
    row->error_json = error_json;
    /* From here on it says whether this visit may have happened, whatever its attempts were. */
    t->x->cursor.is_unsure = step->kind == STEP_PROCEDURE && failure_may_have_happened(t);
    if (t->x->cursor.is_unsure)
        ledger_doubt(t);
    note_rollback(t, step);
    if (t->x->cursor.is_unsure)
        turn_note(t, "maybe", STR("true"));
    t->row_bytes += (size_t)state_row_bytes(row);
    step_set(t, (struct step_state){.outcome = OUTCOME_FAILED,
                                    .visit = t->x->cursor.visit,
                                    .error = error,
                                    .error_json = error_json});
}

void step_wait(struct turn *t, enum cursor_phase phase, enum waiting_kind kind, struct str status,
               struct str why)
{
    struct execution *x = t->x;

    x->cursor.phase = phase;
    if (execution_is_stopped(x))
        x->cursor.stood_us = t->wall_us;
    if (x->status != STATUS_COMPENSATING)
        x->status = STATUS_WAITING;
    execution_set_waiting(x, kind, why);
    if (status.len > 0)
        (void)step_row(t, HISTORY_EVENT, status);
    turn_note(t, "wait", why);
    if (x->other_count > 0)
        x->cursor.seq = x->seq;
}

/* --- running --- */

/*
 * The input of a visit, evaluated once. $.input of inline commands is the
 * execution's with this laid over it; a named procedure has this alone.
 */
static enum step_result evaluate_input(struct turn *t, const struct step *step)
{
    struct value input;

    if (step->input == NULL)
        return STEP_DONE;
    if (turn_evaluate(t, step->input, &input) != STEP_DONE ||
        !turn_freeze(t, &input, &t->x->cursor.input_json))
        return STEP_FAILED;
    if (t->x->other_count > 0 && !suspend_fits(t))
        return turn_fail_size(t);
    if (step->procedure->kind == PROCEDURE_INLINE)
        t->slots[ROOT_INPUT] = context_input_over(t, input);
    return STEP_DONE;
}

static enum step_result run_wait(struct turn *t, const struct step *step)
{
    const struct command *c = &step->procedure->commands[0];
    struct value output;
    bool wanted = false;
    int64_t took;
    enum step_result end = command_condition(t, c->when, "when", c->pointer, &wanted);

    if (end != STEP_DONE)
        return end;
    if (!wanted)
        return step_complete(t, value_null(), 0);
    probe_trace(t, c);
    end = wait_begin(t, step, &output, &took);
    if (end == STEP_DONE)
        end = command_shape(t, c, &output);
    return end == STEP_DONE ? step_complete(t, output, took) : end;
}

bool step_is_wait(const struct step *step)
{
    return step->kind == STEP_PROCEDURE && step->procedure->kind == PROCEDURE_INLINE &&
           wait_is(&step->procedure->commands[0]);
}

enum step_result step_attempt(struct turn *t)
{
    const struct step *step = turn_step(t);
    const struct procedure *p = step->procedure;
    struct value output, input = value_absent();
    enum step_result end;

    ASSERT(step->kind == STEP_PROCEDURE);
    if (step_is_wait(step))
        return run_wait(t, step);
    if (p->kind != PROCEDURE_INLINE)
        input = turn_read(t, t->x->cursor.input_json, value_absent());
    /* One that is answered may complete with it: then what it has staged counts. */
    if (t->x->cursor.suspended_json.len > 0 && t->is_stopping && !t->is_answered) {
        suspend_recall(t, p);
    } else if (t->x->cursor.suspended_json.len > 0) {
        end = suspend_resume(t, p);
        if (end != STEP_DONE)
            return end;
    }
    end = procedure_run(t, p, STR_NONE, input, &output);
    if (end == STEP_DONE && t->is_judging)
        return turn_freeze(t, &output, &t->refused_output_json) ? STEP_DONE : STEP_FAILED;
    return end == STEP_DONE ? step_complete(t, output, 0) : end;
}

void step_recall(struct turn *t)
{
    turn_begin_step(t);
    /* A wait has no commands before it. */
    if (t->x->cursor.suspended_json.len == 0 || step_is_wait(turn_step(t)))
        return;
    t->is_stopping = true;
    (void)step_attempt(t);
    t->is_stopping = false;
}

enum step_result step_visit_again(struct turn *t, struct str suspended_json)
{
    const struct step *step = turn_step(t);
    enum step_result end;

    t->x->cursor = (struct cursor){
        .step = step->index,
        .visit = state_next_visit(t->x, step->index),
        .attempt = 1,
        .started_at_us = t->now_us,
        .suspended_json = suspended_json,
    };
    turn_begin_step(t);
    end = evaluate_input(t, step);
    return end == STEP_DONE ? step_attempt(t) : end;
}

static enum step_result step_run_one(struct turn *t)
{
    const struct step *step = turn_step(t);
    enum step_result end;
    bool wanted = false;

    if (t->x->cursor.behind != BEHIND_NOTHING)
        return flow_resume(t);
    t->x->cursor = (struct cursor){
        .step = step->index,
        .visit = state_next_visit(t->x, step->index),
        .attempt = 1,
        .started_at_us = t->now_us,
    };
    turn_begin_step(t);
    end = command_condition(t, step->when, "when", step->pointer, &wanted);
    if (end != STEP_DONE)
        return end;
    if (!wanted)
        return skip(t);
    if (step->kind != STEP_PROCEDURE)
        return flow_enter(t, step);
    end = evaluate_input(t, step);
    return end == STEP_DONE ? step_attempt(t) : end;
}

bool step_turn_is_long(const struct turn *t)
{
    return t->steps >= TURN_STEPS_MAX || t->row_bytes > TURN_BYTES_MAX ||
           t->spent.cost > TURN_COST_MAX || t->spent.memory_bytes > TURN_MEMORY_MAX;
}

/* Whether its history may grow by another step: else the execution goes no further. */
static bool has_room_in_history(struct turn *t)
{
    if (t->x->history_bytes + (int64_t)t->row_bytes <= HISTORY_BYTES_MAX)
        return true;
    (void)turn_fail(t, STR("limit_history"), ERR_CLASS_BUSINESS,
                    "the history of the execution is larger than %d MiB", HISTORY_BYTES_MAX >> 20);
    outcome_stop(t);
    return false;
}

bool step_run_all(struct turn *t)
{
    struct execution *x = t->x;

    x->status = STATUS_RUNNING;
    execution_set_waiting(x, WAITING_NONE, STR_NONE);
    while (x->cursor.step < x->program->step_count) {
        enum step_result end;

        if (step_turn_is_long(t)) {
            x->wake_at_us = WAKE_AT_ONCE;
            if (x->other_count > 0)
                x->cursor.seq = x->seq;
            return true;
        }
        if (!debug_may_begin(t) || !has_room_in_history(t))
            return true;
        t->steps++;
        end = step_run_one(t);
        if (end == STEP_NEEDS)
            return false;
        if (!flow_settle(t, end))
            return true;
    }
    outcome_complete(t);
    return true;
}
