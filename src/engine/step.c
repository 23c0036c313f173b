/*
 * step.c - running the steps of a program; see turn.h.
 *
 *     when -> input -> commands or a wait -> completed, skipped or failed -> the next step
 *
 * Running stops when a step waits, when all are done, when one fails for good,
 * or when the turn has done enough: then the execution stays `running`, is due
 * at once and goes to the back of the queue.
 */
#include "define/define.h"
#include "engine/turn.h"

/* A turn ends after so much history, or after TURN_STEPS_MAX steps. */
enum { TURN_BYTES_MAX = CONTEXT_BYTES_MAX };

static void next_step(struct turn *t)
{
    t->x->cursor = (struct cursor){.step = t->x->cursor.step + 1};
}

/* A row for the step under way, at its visit. */
static struct history_row *step_row(struct turn *t, enum history_kind kind, struct str status)
{
    const struct cursor *cursor = &t->x->cursor;
    struct history_row *row = turn_row(t, kind, turn_step(t)->code, status);

    row->visit = cursor->visit;
    row->attempt = cursor->attempt;
    row->input_json = cursor->input_json;
    row->started_at_us = cursor->started_at_us;
    return row;
}

/* --- the ends of a step --- */

static void apply_staged(struct turn *t)
{
    for (size_t i = 0; i < t->records.count; i++)
        record_put(t->mem, &t->out->records, t->records.items[i]);
    for (size_t i = 0; i < t->logs.count; i++)
        *VEC_ADD(t->mem, &t->out->logs) = t->logs.items[i];
}

enum step_end step_complete(struct turn *t, struct value output, int64_t took)
{
    struct execution *x = t->x;
    uint32_t index = x->cursor.step;
    struct step_state state = {
        .outcome = OUTCOME_COMPLETED, .visit = x->cursor.visit, .output = output};
    struct str variables_json = x->variables_json, assigned_json = STR_NONE;
    const struct step_state *before = &x->steps[index];
    struct history_row *row;
    size_t bytes;

    if (!turn_freeze(t, &state.output, &state.output_json))
        return STEP_FAILED;
    if (t->assigned.len > 0 && (!turn_freeze(t, &t->variables, &variables_json) ||
                                !turn_json(t, t->assigned, &assigned_json)))
        return STEP_FAILED;
    bytes = x->context_bytes - before->output_json.len - before->error_json.len -
            x->variables_json.len + state.output_json.len + variables_json.len;
    if (bytes > CONTEXT_BYTES_MAX) {
        t->refused_output_json = state.output_json;
        return turn_fail_size(t);
    }
    row = step_row(t, HISTORY_FORWARD, STR("completed"));
    row->output_json = state.output_json;
    state_set_step(x, index, state);
    if (t->assigned.len > 0) {
        turn_note(t, "variables", assigned_json);
        state_set_variables(x, t->variables, variables_json);
    }
    if (took > 0) {
        turn_note(t, "took", str_printf(t->mem, "%lld", (long long)took));
        state_take_signal(t->mem, x, took);
    }
    t->row_bytes += (size_t)state_row_bytes(row);
    apply_staged(t);
    next_step(t);
    return STEP_DONE;
}

static void skip(struct turn *t)
{
    (void)step_row(t, HISTORY_FORWARD, STR("skipped"));
    state_set_step(t->x, t->x->cursor.step,
                   (struct step_state){.outcome = OUTCOME_SKIPPED, .visit = t->x->cursor.visit});
    next_step(t);
}

bool step_fail(struct turn *t)
{
    const struct step *step = turn_step(t);
    struct execution *x = t->x;
    const struct step_state *before = &x->steps[step->index];
    struct step_state state = {.outcome = OUTCOME_FAILED, .visit = x->cursor.visit};
    struct history_row *row;

    state.error = turn_failure(t, &state.error_json);
    if (x->context_bytes - before->output_json.len - before->error_json.len + state.error_json.len >
        CONTEXT_BYTES_MAX) {
        /* The user's message or details do not fit; ours do, near enough. */
        (void)turn_fail_size(t);
        state.error = turn_failure(t, &state.error_json);
    }
    row = step_row(t, HISTORY_FORWARD, STR("failed"));
    row->output_json = t->refused_output_json;
    row->error_json = state.error_json;
    t->row_bytes += (size_t)state_row_bytes(row);
    state_set_step(x, step->index, state);
    if (step->continues) {
        next_step(t);
        return true;
    }
    outcome_fail(t, step->on_error, state.error_json);
    return false;
}

/* --- waiting --- */

static struct str describe_wait(struct turn *t, const struct step *step)
{
    const struct cursor *cursor = &t->x->cursor;
    bool is_signal = step->procedure->commands[0].type == COMMAND_WAIT_SIGNAL;
    struct buf why;

    buf_init_arena(&why, t->mem);
    member_text(&why, "kind", is_signal ? STR("signal") : STR("timer"));
    member_text(&why, "step", step->code);
    if (is_signal)
        member_json(&why, "signalType", cursor->types_json);
    member_time(&why, "since", t->now_us);
    if (cursor->wake_at_us > 0)
        member_time(&why, "until", cursor->wake_at_us);
    return member_end(&why);
}

/* The wait is recorded, so that history alone says where the execution stands. */
static void begin_waiting(struct turn *t, const struct step *step)
{
    struct execution *x = t->x;

    x->cursor.phase = PHASE_WAIT;
    x->status = STATUS_WAITING;
    x->waiting_for_json = describe_wait(t, step);
    (void)step_row(t, HISTORY_EVENT, STR("waiting"));
    turn_note(t, "wait", x->waiting_for_json);
}

/* --- running --- */

/* $.input of the commands is the execution's, with the step's own laid over it. */
static enum step_end evaluate_input(struct turn *t, const struct step *step)
{
    const struct mapping *failed;
    struct value input;

    if (step->input == NULL)
        return STEP_DONE;
    input = mapping_evaluate_at(t->mem, step->input, &t->activation, &failed);
    if (input.kind == VALUE_ERROR)
        return turn_fail_value(t, input, failed->pointer);
    if (!turn_freeze(t, &input, &t->x->cursor.input_json))
        return STEP_FAILED;
    if (input.kind == VALUE_MAP)
        t->slots[ROOT_INPUT] = state_merge(t->mem, t->x->input, input);
    return STEP_DONE;
}

static enum step_end evaluate_when(struct turn *t, const struct cel_program *when, bool *is_true)
{
    struct value v = value_bool(true);

    if (when != NULL)
        v = cel_evaluate(t->mem, when, &t->activation, NULL);
    if (v.kind == VALUE_ERROR)
        return turn_fail_value(t, v, STR_NONE);
    if (v.kind != VALUE_BOOL)
        return turn_fail(t, STR("expression_error"), STR("business"),
                         "'when' must be true or false, not %s",
                         value_kind_name((enum value_kind)v.kind));
    *is_true = v.b;
    return STEP_DONE;
}

static enum step_end run_commands(struct turn *t, const struct step *step)
{
    struct value result = value_null();

    for (uint32_t i = 0; i < step->procedure->command_count; i++) {
        const struct command *c = &step->procedure->commands[i];
        enum step_end end;
        bool wanted = false;

        end = evaluate_when(t, c->when, &wanted);
        if (end == STEP_DONE && wanted)
            end = command_run(t, c, &result);
        if (end != STEP_DONE)
            return end;
    }
    return step_complete(t, result, 0);
}

static enum step_end run_wait(struct turn *t, const struct step *step)
{
    struct value output;
    bool wanted = false;
    int64_t took;
    enum step_end end = evaluate_when(t, step->procedure->commands[0].when, &wanted);

    if (end != STEP_DONE)
        return end;
    if (!wanted)
        return step_complete(t, value_null(), 0);
    end = wait_begin(t, step, &output, &took);
    if (end == STEP_WAITS)
        begin_waiting(t, step);
    if (end == STEP_DONE)
        end = command_shape(t, &step->procedure->commands[0], &output);
    return end == STEP_DONE ? step_complete(t, output, took) : end;
}

static enum step_end run_one(struct turn *t)
{
    const struct step *step = turn_step(t);
    enum step_end end;
    bool wanted = false;

    t->x->cursor = (struct cursor){
        .step = step->index,
        .visit = t->x->steps[step->index].visit + 1,
        .attempt = 1,
        .started_at_us = t->now_us,
    };
    turn_begin_step(t);
    end = evaluate_when(t, step->when, &wanted);
    if (end != STEP_DONE)
        return end;
    if (!wanted) {
        skip(t);
        return STEP_DONE;
    }
    end = evaluate_input(t, step);
    if (end != STEP_DONE)
        return end;
    return wait_is(&step->procedure->commands[0]) ? run_wait(t, step) : run_commands(t, step);
}

bool step_run_all(struct turn *t)
{
    struct execution *x = t->x;

    x->status = STATUS_RUNNING;
    x->waiting_for_json = STR_NONE;
    for (unsigned steps = 0; x->cursor.step < x->program->step_count; steps++) {
        if (steps == TURN_STEPS_MAX || t->row_bytes > TURN_BYTES_MAX) {
            x->wake_at_us = WAKE_AT_ONCE;
            return true;
        }
        switch (run_one(t)) {
        case STEP_DONE:
            break;
        case STEP_WAITS:
            return true;
        case STEP_NEEDS:
            return false;
        case STEP_FAILED:
            if (!step_fail(t))
                return true;
            break;
        }
    }
    outcome_complete(t);
    return true;
}
