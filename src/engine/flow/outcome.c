/* outcome.c - how an execution ends, or comes to a halt; see step.h. */
#include "engine/command/machine.h"
#include "engine/command/procedure.h"
#include "engine/flow/rollback.h"
#include "engine/flow/step.h"
#include "engine/ident.h"
#include "value/json.h"
#include "value/object.h"

void outcome_end(struct turn *t, enum execution_status status)
{
    struct execution *x = t->x;

    turn_note(t, "end", str_printf(t->mem, "\"%s\"", status_name(status)));
    x->status = status;
    x->completed_at_us = t->now_us;
    x->wake_at_us = 0;
    execution_set_waiting(x, WAITING_NONE, STR_NONE);
}

/* What the attempt of a step that has just ended has sent: its row says so. */
static int64_t sent_by(const struct turn *t, struct str step)
{
    for (size_t i = t->out->history.count; i-- > 0;) {
        const struct history_row *row = &t->out->history.items[i];

        if (row->kind != HISTORY_EVENT && str_eq(row->step, step))
            return row->sent;
    }
    return 0;
}

void outcome_dead_letter(struct turn *t, enum letter_kind kind, struct str step, int64_t attempts,
                         struct str cause_json, struct str payload_json)
{
    *VEC_ADD(t->mem, &t->out->dead_letters) = (struct dead_letter){
        .id = ident_make(t->x->id, t->x->seq, UINT32_MAX, t->now_us),
        .kind = str_of(letter_kind_name(kind)),
        .step = step,
        .seq = t->x->seq,
        .attempts = attempts,
        .cause_json = cause_json,
        .payload_json = payload_json,
        .sent = sent_by(t, step),
    };
}

void outcome_lost(struct turn *t, const struct history_row *row)
{
    *VEC_ADD(t->mem, &t->out->dead_letters) = (struct dead_letter){
        .id = ident_make(t->x->id, row->seq, UINT32_MAX - 1, t->now_us),
        .kind = str_of(letter_kind_name(LETTER_COMPENSATION)),
        .step = row->step,
        .seq = row->seq,
        .attempts = row->attempt,
        .cause_json = row->error_json,
        .payload_json = row->input_json,
        .sent = state_row_sent(t->mem, row),
    };
}

/* An incident: an operator decides. */
static void hold(struct turn *t, struct str error_json)
{
    struct execution *x = t->x;
    struct str code = STR_NONE;
    struct buf why;

    if (x->cursor.step < x->program->step_count)
        code = turn_code(t);
    buf_init_arena(&why, t->mem);
    field_kind(&why, WAITING_INCIDENT);
    if (code.len > 0)
        field_text(&why, "step", code);
    field_json(&why, "error", error_json);
    field_time(&why, "since", t->now_us);
    execution_set_waiting(x, WAITING_INCIDENT, field_end(&why));
    turn_note(t, "wait", x->waiting_for_json);
    outcome_dead_letter(t, LETTER_INCIDENT, code, x->cursor.attempt, error_json,
                        x->cursor.input_json);
    x->cursor.phase = PHASE_HELD;
    x->cursor.wake_at_us = 0;
    if (x->other_count > 0)
        x->cursor.seq = x->seq;
    x->status = STATUS_WAITING;
}

static struct str error_with_no_compensation(struct turn *t, struct str error_json)
{
    struct buf text;

    object_begin_with(&text, t->mem, error_json);
    object_next(&text);
    buf_text(&text, NOTHING_ROLLED_BACK);
    return object_end(&text);
}

/* The error as the execution has it, which has left its steps: with the step. */
static struct str with_step(struct turn *t, struct str error_json)
{
    struct buf text;

    if (t->x->cursor.step >= t->x->program->step_count)
        return error_json;
    object_begin_with(&text, t->mem, error_json);
    object_text(&text, "step", turn_code(t));
    return object_end(&text);
}

void outcome_fail(struct turn *t, enum on_error on_error, struct str error_json)
{
    /* A typo must not roll back a paid order. A state that cannot wait has nothing to go back to. */
    if (machine_stands(t->x) || on_error == ON_ERROR_HOLD ||
        (t->failure.is_own && on_error != ON_ERROR_FAIL_FAST)) {
        hold(t, error_json);
        return;
    }
    if (on_error == ON_ERROR_COMPENSATE && machine_may_return(t->x)) {
        machine_undo(t);
        return;
    }
    t->x->error_json = with_step(t, error_json);
    if (on_error == ON_ERROR_COMPENSATE &&
        (rollback_is_possible(t->x) || turn_is_in_doubt(t->x) ||
         t->failure.class == ERR_CLASS_INDETERMINATE || child_is_left(t) || t->x->has_unrolled)) {
        rollback_begin(t, STATUS_FAILED);
        return;
    }
    if (on_error == ON_ERROR_COMPENSATE)
        t->x->error_json = error_with_no_compensation(t, t->x->error_json);
    outcome_end(t, STATUS_FAILED);
}

void outcome_stop(struct turn *t)
{
    struct str error_json;

    (void)turn_failure(t, &error_json);
    turn_row(t, HISTORY_EVENT, turn_code(t), STR("failed"))->error_json = error_json;
    outcome_fail(t, t->x->program->on_error, error_json);
}

/* Without a mapping: the result of the step that completed last. */
static struct str last_output(const struct execution *x)
{
    const struct step_state *last = x->last_done > 0 ? &x->steps[x->last_done - 1] : NULL;

    return last != NULL && last->outcome == OUTCOME_COMPLETED ? last->output_json : STR("null");
}

/* The mapping `result`. False: t->failure says why there is none. */
static bool evaluate_result(struct turn *t, struct str *out)
{
    struct value result;

    turn_begin_step(t);
    return turn_evaluate(t, t->x->program->result, &result) == STEP_DONE &&
           turn_freeze(t, &result, out);
}

void outcome_complete(struct turn *t)
{
    struct execution *x = t->x;
    struct str error_json = STR_NONE, result_json = STR_NONE;

    if (x->program->result != NULL && !evaluate_result(t, &result_json)) {
        (void)turn_failure(t, &error_json);
        turn_row(t, HISTORY_EVENT, STR_NONE, STR("failed"))->error_json = error_json;
        hold(t, error_json);
        return;
    }
    x->result_json = x->program->result != NULL ? result_json : last_output(x);
    if (t->out->history.count == 0)
        (void)turn_row(t, HISTORY_EVENT, STR_NONE, STR("completed"));
    if (x->program->result != NULL)
        turn_note(t, "result", result_json);
    outcome_end(t, STATUS_COMPLETED);
}
