/*
 * rollback_entry.c - one attempt to roll back what stands in history: a visit
 * by the rollback of its step, or one command of its ledger by its own; see
 * rollback.h.
 */
#include "engine/command/procedure.h"
#include "engine/commit/reads.h"
#include "engine/context.h"
#include "engine/flow/rollback.h"
#include "engine/flow/step.h"

/* From the first attempt of a rollback on, whatever its policy says. */
static const int64_t ROLLBACK_TIME_US = INT64_C(86400) * 1000000;

/* The next attempt begins, or the one that was answered goes on. */
static void begin_attempt(struct turn *t, const struct history_row *row, struct value delta)
{
    const struct program *p = t->x->program;
    const struct step *step = program_step(p, row->step);
    struct cursor *cursor = &t->x->cursor;
    struct str place;

    if (t->x->rollback->deadline_at_us == 0)
        rollback_own(t)->deadline_at_us = t->wall_us + ROLLBACK_TIME_US;
    if (cursor->attempt == 0)
        *cursor = (struct cursor){.tries = cursor->tries, .failed_at = cursor->failed_at};
    cursor->phase = PHASE_ROLLBACK;
    cursor->step = step != NULL ? step->index : p->step_count;
    cursor->past = step != NULL ? STR_NONE : str_copy(t->mem, row->step);
    cursor->visit = row->visit;
    if (!t->is_answered) {
        cursor->attempt++;
        cursor->started_at_us = t->now_us;
    }
    cursor->wake_at_us = 0;
    execution_set_waiting(t->x, WAITING_NONE, STR_NONE);
    turn_begin_step(t);
    t->failure = (struct failure){0};
    t->key_suffix = STR("-rollback");
    if (t->x->rollback->commands_left == 0)
        return;
    place = rollback_command_place(t, delta);
    t->key_suffix = str_printf(t->mem, ".%.*s-rollback", STR_ARG(place));
    t->key_visit = rollback_command_visit(value_map_get_str(delta, STR("undo")), place);
}

static void leave_attempt(struct turn *t)
{
    t->about = NULL;
    t->key_suffix = STR_NONE;
    t->key_visit = 0;
    t->is_answered = false;
    t->refused_at = STR_NONE;
}

/* What the rollback sees: $.steps.SELF, $.input, $.loop and $.error of the visit. */
static void look_at_visit(struct turn *t, struct visit_view *u, const struct history_row *row,
                          struct value delta)
{
    const struct step *step = program_step(t->x->program, row->step);
    struct step_state state = {.outcome = OUTCOME_COMPLETED, .visit = row->visit};

    state.output = turn_read(t, row->output_json, value_null());
    *u = (struct visit_view){.step = step,
                             .row = row,
                             .view = context_step_view(t->mem, step, &state),
                             .input = turn_read(t, row->input_json, value_absent()),
                             .loop = value_map_get_str(delta, STR("loop"))};
    t->about = u;
    t->error = turn_read(t, t->x->error_json, value_null());
}

struct history_row *rollback_entry_row(struct turn *t, const struct history_row *about,
                                       struct str status)
{
    struct history_row *row = turn_row(t, HISTORY_ROLLBACK, about->step, status);

    row->visit = about->visit;
    row->attempt = t->x->cursor.attempt;
    row->key = turn_key(t, STR_NONE);
    row->input_json = t->x->cursor.input_json;
    row->started_at_us = t->x->cursor.started_at_us;
    row->part = t->x->rollback->commands_left;
    turn_note_sent(t, row);
    return row;
}

void rollback_entry_end(struct turn *t, bool ok)
{
    struct rollback *rollback = rollback_own(t);
    struct str code = turn_code(t);

    if (rollback->commands_left > 0)
        rollback->commands_left--;
    rollback->has_failed = rollback->has_failed || !ok;
    rollback->deadline_at_us = 0;
    if (rollback->is_retry) {
        rollback_retry_end(t, code, rollback->row, ok);
        rollback->row = 0;
    } else if (rollback->commands_left == 0) {
        turn_note(t, "undone", rollback->has_failed ? STR("false") : STR("true"));
        state_add_compensated(t->mem, t->x, code, !rollback->has_failed);
        rollback->row = 0;
        rollback->has_failed = false;
    }
    t->x->cursor = (struct cursor){
        .step = t->x->cursor.step, .past = t->x->cursor.past, .phase = PHASE_ROLLBACK};
}

static enum step_result succeeded(struct turn *t, struct value output)
{
    struct str output_json, variables_json = STR_NONE, assigned_json = STR_NONE;
    const struct history_row *about = t->about->row;

    if (!turn_freeze(t, &output, &output_json))
        return STEP_FAILED;
    if (t->assigned.len > 0 && (!turn_freeze(t, &t->variables, &variables_json) ||
                                !turn_json(t, t->assigned, &assigned_json)))
        return STEP_FAILED;
    rollback_entry_row(t, about, STR("compensated"))->output_json = output_json;
    t->row_bytes += output_json.len;
    if (t->assigned.len > 0) {
        turn_note(t, "variables", assigned_json);
        state_set_variables(t->x, t->variables, variables_json);
    }
    step_apply_staged(t);
    rollback_entry_end(t, true);
    return STEP_DONE;
}

enum step_result rollback_input(struct turn *t, const struct mapping *input, struct value *out)
{
    struct str *stored = &t->x->cursor.input_json;

    if (stored->len > 0) {
        *out = turn_read(t, *stored, value_absent());
        return STEP_DONE;
    }
    if (turn_evaluate(t, input, out) != STEP_DONE)
        return STEP_FAILED;
    return out->kind == VALUE_ABSENT || turn_freeze(t, out, stored) ? STEP_DONE : STEP_FAILED;
}

enum step_result rollback_recall(struct turn *t, const struct procedure *p)
{
    return t->x->cursor.suspended_json.len > 0 ? suspend_resume(t, p) : STEP_DONE;
}

static enum step_result run_rollback(struct turn *t, struct value delta, struct value *out)
{
    const struct rollback *rollback = t->x->rollback;
    const struct step *step = t->about->step;
    struct value input;
    enum step_result end;

    if (rollback_is_past_budget(t))
        return turn_fail(t, STR("timeout_compensation"), ERR_CLASS_BUSINESS,
                         "the rollback has been tried for 24 hours");
    if (rollback->commands_left > 0)
        return rollback_command_run(t, step, value_map_get_str(delta, STR("undo")),
                                    rollback_command_place(t, delta), out);
    end = rollback_recall(t, step->rollback.procedure);
    if (end != STEP_DONE)
        return end;
    if (rollback_input(t, step->rollback.input, &input) != STEP_DONE)
        return STEP_FAILED;
    return procedure_run(t, step->rollback.procedure, STR_NONE, input, out);
}

/* The name of the program that has run the visit, or the command of it whose rollback is next. */
static struct str program_of_entry(struct turn *t, struct value delta)
{
    const struct rollback *rollback = t->x->rollback;
    struct str under = STR_NONE;

    if (rollback->commands_left > 0)
        under = rollback_command_under(value_map_get_str(delta, STR("undo")),
                                       rollback_command_place(t, delta));
    return under.len > 0 ? under : rollback->under;
}

/* That program is not there any more: this entry is given up, all others are tried. */
static enum step_result lose_entry(struct turn *t, const struct history_row *row,
                                   struct value delta)
{
    struct str error_json;

    begin_attempt(t, row, delta);
    rollback_fail_program(t, program_of_entry(t, delta));
    (void)turn_failure(t, &error_json);
    rollback_entry_row(t, row, STR("failed"))->error_json = error_json;
    rollback_give_up(t, error_json);
    leave_attempt(t);
    return STEP_DONE;
}

/* Whether the row is of a step that can be rolled back: it was, when it was chosen. */
static bool may_be_rolled_back(const struct turn *t, const struct program *p,
                               const struct history_row *row)
{
    const struct step *step = program_step(p, row->step);

    if (step == NULL)
        return false;
    return t->x->rollback->commands_left > 0 ? step->kind == STEP_PROCEDURE
                                             : step->rollback.procedure != NULL;
}

static enum step_result try_rollback(struct turn *t, const struct history_row *row,
                                     struct value delta)
{
    struct value output;
    struct visit_view u;
    enum step_result end;

    begin_attempt(t, row, delta);
    look_at_visit(t, &u, row, delta);
    end = run_rollback(t, delta, &output);
    if (end == STEP_DONE)
        end = succeeded(t, output);
    if (end == STEP_FAILED)
        end = rollback_failed(t, delta);
    leave_attempt(t);
    return end;
}

enum step_result rollback_entry_try(struct turn *t)
{
    const struct history_row *row = rollback_row_at(t, t->x->rollback->row);
    const struct program *p;
    struct rollback_detour own;
    struct history_row copy;
    struct value delta;
    enum step_result end;

    if (row == NULL && event_reads(t->ev)->has_history)
        return rollback_lose_history(t);
    if (row == NULL)
        return rollback_need_history(t, t->x->rollback->row);
    /* Rows are added while it is in use, and the array may move. */
    copy = *row;
    delta = turn_read(t, copy.delta_json, value_map_empty());
    end = rollback_program(t, program_of_entry(t, delta), &p);
    if (end == STEP_NEEDS)
        return end;
    if (end == STEP_FAILED || program_step(p, copy.step) == NULL)
        return lose_entry(t, &copy, delta);
    if (!may_be_rolled_back(t, p, &copy)) {
        turn_damaged(t, "the row that is rolled back is of no step that can be");
        return STEP_WAITS;
    }
    rollback_detour(t, p, &own);
    end = try_rollback(t, &copy, delta);
    rollback_return(t, &own);
    return end;
}
