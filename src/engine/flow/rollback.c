/*
 * rollback.c - rolling back; see rollback.h.
 *
 * History is gone through from its end to its beginning. Every visit that
 * completed, or may have happened, and has a rollback is undone: by the step's
 * own rollback, else by those of its commands, the last first. What was undone
 * in a turn is recorded with rows of kind `rollback`, so it goes on after a
 * crash where it stood. A rollback that fails is tried again; one that fails
 * for good becomes a dead letter, and the rest goes on.
 *
 *     compensating --> failed or cancelled, error.compensation = {compensated, failed}
 *
 * The rows of the turn itself are at hand, earlier ones are asked for a page at
 * a time, one page a turn.
 */
#include "engine/flow/rollback.h"
#include "engine/actions.h"
#include "engine/command/ledger.h"
#include "engine/command/procedure.h"
#include "engine/commit/ask.h"
#include "engine/commit/reads.h"
#include "engine/context.h"
#include "engine/flow/step.h"
#include "engine/flow/strand.h"
#include "engine/ident.h"

/* From the first attempt of a rollback on, whatever its policy says. */
static const int64_t ROLLBACK_TIME_US = INT64_C(86400) * 1000000;

bool rollback_is_possible(const struct execution *x)
{
    const struct program *p = x->program;

    /* Whether an earlier program had rollbacks is found out when it is read. */
    if (x->has_moved)
        return true;
    for (uint32_t i = 0; i < p->step_count; i++) {
        const struct step *s = &p->steps[i];
        if (s->rollback.procedure != NULL ||
            (s->kind == STEP_PROCEDURE && s->procedure->has_rollbacks))
            return true;
    }
    return false;
}

static struct rollback *own_rollback(struct turn *t)
{
    struct rollback *rollback = arena_alloc(t->mem, sizeof(*rollback));

    *rollback = *t->x->rollback;
    t->x->rollback = rollback;
    return rollback;
}

/* What of a cursor is kept while it rolls back. */
static const struct cursor *trim_cursor(struct turn *t, const struct cursor *from)
{
    struct cursor *c = arena_alloc(t->mem, sizeof(*c));

    *c = (struct cursor){.step = from->step,
                         .visit = from->visit,
                         .attempt = from->attempt,
                         .started_at_us = from->started_at_us,
                         .input_json = from->input_json,
                         .suspended_json = from->suspended_json,
                         .is_unsure = from->is_unsure,
                         .asked = from->asked};
    return c;
}

/* The cursor goes back through history. */
static void leave_cursor(struct turn *t, struct rollback *rollback)
{
    struct execution *x = t->x;

    rollback->from = trim_cursor(t, &x->cursor);
    execution_set_waiting(x, WAITING_NONE, STR_NONE);
    x->cursor = (struct cursor){.step = x->cursor.step, .phase = PHASE_ROLLBACK};
}

/* The visit ends here, between two attempts or in one of which nothing is heard. */
static void leave_in_doubt(struct turn *t)
{
    struct failure why = t->failure, lost;
    struct value error;
    struct str json;

    (void)turn_fail(t, STR("external_unknown"), ERR_CLASS_INDETERMINATE,
                    "it is not known whether an earlier attempt has happened");
    error = failure_that_fits(t, &json);
    lost = t->failure;
    step_recall(t);
    t->failure = lost;
    /* The last attempt has its row; the next one will not be made. */
    if (t->x->cursor.awaited.len == 0)
        t->x->cursor.attempt++;
    failure_record(t, error, json);
    t->failure = why;
}

/* The visit ends here while it waits: what its commands have done is undone with the rest. */
static void leave_stopped(struct turn *t)
{
    struct failure why = t->failure;

    strand_fail_stopped(t, ERR_CLASS_BUSINESS, STRAND_STOPPED);
    t->failure = why;
}

/* What somebody was asked for will be known: the answer of a call, the end of a child. */
static bool awaits_outcome(const struct cursor *cursor)
{
    struct uuid id;

    return cursor->phase == PHASE_JOB && (ask_is_waited_for(cursor) || child_is_own(cursor, &id));
}

void rollback_begin(struct turn *t, enum execution_status end)
{
    struct execution *x = t->x;
    struct rollback *rollback = ARENA_NEW(t->mem, struct rollback);
    /* What may have happened is found out first: the answer of a call comes, or reconcile.c asks. */
    bool is_awaiting = x->cursor.phase == PHASE_RECONCILE || awaits_outcome(&x->cursor);

    if (!is_awaiting && turn_is_in_doubt(x))
        leave_in_doubt(t);
    else if (!is_awaiting && turn_is_in_visit(x) && !ledger_is_empty(t))
        leave_stopped(t);
    turn_note(t, "compensate", str_printf(t->mem, "\"%s\"", status_name(end)));
    if (!is_awaiting)
        turn_leave_visit(t);
    strand_leave_others(t, rollback);
    rollback->end = end;
    rollback->before = x->seq + 1;
    x->rollback = rollback;
    x->status = STATUS_COMPENSATING;
    if (!is_awaiting)
        leave_cursor(t, rollback);
    else if (child_is_awaited(&x->cursor))
        x->cursor.timeout_at_us = 0; /* it ends when it has been undone */
}

void rollback_keep_done(struct turn *t)
{
    own_rollback(t)->keeps_done = true;
    turn_note(t, "keepsDone", STR("true"));
}

void rollback_look_from_end(struct turn *t)
{
    if (t->x->rollback->before <= t->x->seq)
        own_rollback(t)->before = t->x->seq + 1;
}

void rollback_resume(struct turn *t)
{
    struct rollback *rollback = own_rollback(t);

    rollback->before = t->x->seq + 1;
    leave_cursor(t, rollback);
}

/* --- which visit is next --- */

/* A row of the history, or NULL when it must be read first. */
static const struct history_row *row_at(const struct turn *t, int64_t seq)
{
    int64_t stored = t->x->seq - (int64_t)t->out->history.count;
    const struct history *page = &event_reads(t->ev)->history;
    const struct history_row *page_row;

    if (seq > stored)
        return seq <= t->x->seq ? &t->out->history.items[seq - stored - 1] : NULL;
    if (page->count == 0 || seq < page->items[0].seq ||
        (uint64_t)(seq - page->items[0].seq) >= page->count)
        return NULL;
    page_row = &page->items[seq - page->items[0].seq];
    return page_row->seq == seq ? page_row : NULL; /* a row between them is gone */
}

/* The page of the history that ends with this row must be read first. */
static enum step_result need_history(struct turn *t, int64_t seq)
{
    t->out->needs_history = (struct history_need){
        .is_needed = true, .after = seq > ROLLBACK_PAGE ? seq - ROLLBACK_PAGE : 0};
    return STEP_NEEDS;
}

/* A member of what the row has changed, or absent. */
static struct value delta_member(struct turn *t, const struct history_row *row, struct str name)
{
    return value_map_get_str(turn_read(t, row->delta_json, value_map_empty()), name);
}

/* How a visit is undone: not at all, by the step's own rollback, or by those of its commands. */
enum rollback_way { ROLLBACK_NONE, ROLLBACK_STEP, ROLLBACK_COMMANDS };

static enum rollback_way way_of(struct turn *t, const struct program *p,
                                const struct history_row *row, struct value *delta)
{
    const struct step *step = program_step(p, row->step);
    bool completed = str_eq(row->status, STR("completed"));

    if (step == NULL || (step->rollback.procedure == NULL &&
                         (step->kind != STEP_PROCEDURE || !step->procedure->has_rollbacks)))
        return ROLLBACK_NONE;
    *delta = turn_read(t, row->delta_json, value_map_empty());
    if (value_map_get_str(*delta, STR("retry")).kind != VALUE_ABSENT)
        return ROLLBACK_NONE;
    /* One that failed with an output has done its work; one that may have is like it. */
    if (step->rollback.procedure != NULL &&
        (completed || row->output_json.len > 0 ||
         value_is_true(value_map_get_str(*delta, STR("maybe")))))
        return ROLLBACK_STEP;
    return rollback_command_count(value_map_get_str(*delta, STR("undo"))) > 0 ? ROLLBACK_COMMANDS
                                                                              : ROLLBACK_NONE;
}

/* Nobody knows whether it has happened, and it says nothing about how it is undone. */
static bool is_lost(struct turn *t, const struct program *p, const struct history_row *row)
{
    const struct step *step = program_step(p, row->step);

    return step != NULL && str_eq(row->status, STR("failed")) && step->rollback.procedure == NULL &&
           value_is_true(delta_member(t, row, STR("maybe"))) &&
           !rollback_command_is_in_doubt(delta_member(t, row, STR("undo")));
}

/* An operator's retry has gone on with a visit that had failed: {code: visit}. */
static void rollback_read_again(struct turn *t, struct rollback *rollback,
                                const struct history_row *row)
{
    struct value again = value_absent();
    struct past_visit *made;

    if (row->kind == HISTORY_EVENT && str_eq(row->status, action_row(ACTION_RETRY)))
        again = delta_member(t, row, STR("again"));
    if (again.kind != VALUE_MAP || again.len == 0)
        return;
    made = ARENA_NEW(t->mem, struct past_visit);
    *made = (struct past_visit){.code = value_text(again.map->entries[0].key),
                                .visit = again.map->entries[0].value.i,
                                .next = rollback->again};
    rollback->again = made;
}

static bool was_tried_again(const struct rollback *rollback, const struct history_row *row)
{
    for (const struct past_visit *v = rollback->again; v != NULL; v = v->next)
        if (row->kind == HISTORY_FORWARD && row->visit == v->visit && str_eq(row->step, v->code))
            return true;
    return false;
}

/*
 * What a child could not undo is what this one could not: ["STEP/CODE", ...]. A row says so, since
 * it is part of the state from then on.
 */
static void take_unrolled(struct turn *t, const struct history_row *about)
{
    struct value names = delta_member(t, about, STR("childFailed"));
    struct str step = about->step, json;

    if (names.kind != VALUE_LIST || !turn_json(t, names, &json))
        return;
    (void)turn_row(t, HISTORY_EVENT, step, STR("compensating"));
    turn_note(t, "unrolled", json);
    for (uint32_t i = 0; i < names.len; i++)
        state_add_compensated(t->mem, t->x, value_text_or(names.items[i], STR_NONE), false);
}

/* Whether history was gone through before, up to this row: nothing was undone, and it went on. */
static bool ends_rollback(struct turn *t, const struct history_row *row)
{
    return row->delta_json.len > 0 && value_is_true(delta_member(t, row, STR("looked")));
}

/*
 * Rows that were asked for are not there any more: nobody can tell what else
 * there was to roll back. A person must see it, and it goes no further.
 */
static enum step_result lose_history(struct turn *t)
{
    struct rollback *rollback = own_rollback(t);
    struct str error_json;

    (void)turn_fail(t, STR("internal_history_gone"), ERR_CLASS_BUSINESS,
                    "the history up to row %lld is gone: what was done there cannot be rolled back",
                    (long long)(rollback->row != 0 ? rollback->row : rollback->before - 1));
    (void)turn_failure(t, &error_json);
    turn_row(t, HISTORY_EVENT, STR_NONE, STR("lost"))->error_json = error_json;
    outcome_dead_letter(t, LETTER_COMPENSATION, STR_NONE, 1, error_json, STR_NONE);
    rollback->row = 0;
    rollback->before = 1;
    return STEP_DONE;
}

/* The program that a visit has run with is not there any more: a person must see that. */
static void lose_program(struct turn *t, struct rollback *rollback)
{
    struct str error_json;

    (void)turn_fail(t, STR("internal_program"), ERR_CLASS_BUSINESS,
                    "version %.*s, which it has run with, cannot be read any more: what was done "
                    "by it cannot be rolled back",
                    STR_ARG(rollback->under));
    (void)turn_failure(t, &error_json);
    turn_row(t, HISTORY_EVENT, STR_NONE, STR("lost"))->error_json = error_json;
    outcome_dead_letter(t, LETTER_COMPENSATION, STR_NONE, 1, error_json, STR_NONE);
    rollback->is_unreadable = true;
    rollback->row = 0;
}

static bool ends_visit(const struct history_row *row)
{
    return row->kind == HISTORY_FORWARD &&
           (str_eq(row->status, STR("completed")) || str_eq(row->status, STR("failed")));
}

/*
 * Whether a visit that has ended is to be rolled back, by the program that it
 * has run with. STEP_MOVED: it is, and it is rollback.row; STEP_DONE, STEP_NEEDS.
 */
static enum step_result choose_visit(struct turn *t, struct rollback *rollback,
                                     const struct history_row *row)
{
    const struct program *p;
    enum step_result end = rollback_program(t, rollback->under, &p);
    enum rollback_way way;
    struct value delta;

    if (end == STEP_FAILED)
        lose_program(t, rollback);
    if (end != STEP_DONE)
        return end == STEP_NEEDS ? end : STEP_DONE;
    if (!rollback->is_known && is_lost(t, p, row))
        outcome_lost(t, row);
    way = way_of(t, p, row, &delta);
    if (way == ROLLBACK_NONE)
        return STEP_DONE;
    rollback->row = row->seq;
    rollback->commands_left = way == ROLLBACK_COMMANDS
                                  ? rollback_command_count(value_map_get_str(delta, STR("undo")))
                                  : 0;
    return STEP_MOVED;
}

/* The next visit to undo becomes rollback.row. STEP_DONE: there is none left. */
static enum step_result find_next(struct turn *t)
{
    struct rollback *rollback = own_rollback(t);
    bool has_looked = false;

    while (rollback->before > 1) {
        const struct history_row *row = row_at(t, rollback->before - 1);
        struct history_row copy;
        enum step_result end;

        if (row == NULL && !event_reads(t->ev)->has_history)
            return need_history(t, rollback->before - 1);
        if (row == NULL && !has_looked && t->out->history.count == 0)
            return lose_history(t);
        if (row == NULL) {
            /* The page is done: what was looked at must not be looked at again. */
            if (has_looked && t->out->history.count == 0)
                (void)turn_row(t, HISTORY_EVENT, STR_NONE, STR("compensating"));
            return STEP_WAITS;
        }
        /* Rows are added while it is in use, and the array may move. */
        copy = *row;
        row = &copy;
        has_looked = true;
        rollback->before--;
        take_unrolled(t, row);
        if (rollback->keeps_done)
            continue;
        rollback_read_again(t, rollback, row);
        rollback->is_known = rollback->is_known || ends_rollback(t, row);
        rollback_pass_move(t, rollback, row);
        if (was_tried_again(rollback, row) || !ends_visit(row) || rollback->is_unreadable)
            continue;
        end = choose_visit(t, rollback, row);
        if (end != STEP_DONE)
            return end;
    }
    return STEP_DONE;
}

/* --- undoing it --- */

/* What the rollback sees: $.steps.SELF, $.input, $.loop and $.error of the visit. */
static void begin_rollback(struct turn *t, struct visit_view *u, const struct history_row *row,
                           struct value delta)
{
    const struct step *step = program_step(t->x->program, row->step);
    struct step_state state = {.outcome = OUTCOME_COMPLETED, .visit = row->visit};
    struct cursor *cursor = &t->x->cursor;

    state.output = turn_read(t, row->output_json, value_null());
    *u = (struct visit_view){.step = step,
                             .row = row,
                             .view = context_step_view(t->mem, step, &state),
                             .input = turn_read(t, row->input_json, value_absent()),
                             .loop = value_map_get_str(delta, STR("loop"))};
    if (t->x->rollback->deadline_at_us == 0)
        own_rollback(t)->deadline_at_us = t->wall_us + ROLLBACK_TIME_US;
    if (cursor->attempt == 0)
        *cursor = (struct cursor){.tries = cursor->tries, .failed_at = cursor->failed_at};
    cursor->phase = PHASE_ROLLBACK;
    cursor->step = step->index;
    cursor->visit = row->visit;
    if (!t->is_answered) {
        cursor->attempt++;
        cursor->started_at_us = t->now_us;
    }
    cursor->wake_at_us = 0;
    execution_set_waiting(t->x, WAITING_NONE, STR_NONE);
    turn_begin_step(t);
    t->about = u;
    t->error = turn_read(t, t->x->error_json, value_null());
    t->key_suffix = STR("-rollback");
}

static struct history_row *rollback_row(struct turn *t, const struct history_row *about,
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

/* This one is over, whatever became of it: on to the next. */
static void end_rollback(struct turn *t, bool ok)
{
    struct rollback *rollback = own_rollback(t);
    uint32_t step = t->x->cursor.step;

    if (rollback->commands_left > 0)
        rollback->commands_left--;
    rollback->has_failed = rollback->has_failed || !ok;
    rollback->deadline_at_us = 0;
    if (rollback->is_retry) {
        rollback_retry_end(t, &t->x->program->steps[step], rollback->row, ok);
        rollback->row = 0;
    } else if (rollback->commands_left == 0) {
        turn_note(t, "undone", rollback->has_failed ? STR("false") : STR("true"));
        state_add_compensated(t->mem, t->x, t->x->program->steps[step].code, !rollback->has_failed);
        rollback->row = 0;
        rollback->has_failed = false;
    }
    t->x->cursor = (struct cursor){.step = step, .phase = PHASE_ROLLBACK};
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
    rollback_row(t, about, STR("compensated"))->output_json = output_json;
    t->row_bytes += output_json.len;
    if (t->assigned.len > 0) {
        turn_note(t, "variables", assigned_json);
        state_set_variables(t->x, t->variables, variables_json);
    }
    step_apply_staged(t);
    end_rollback(t, true);
    return STEP_DONE;
}

static bool is_past_budget(const struct turn *t)
{
    return t->x->rollback->deadline_at_us > 0 && t->wall_us >= t->x->rollback->deadline_at_us;
}

/* The next attempt begins at that time. */
static enum step_result try_later(struct turn *t, struct str error_json, int64_t at_us)
{
    turn_note(t, "retry", str_printf(t->mem, "%lld", (long long)at_us));
    t->x->cursor.wake_at_us = at_us;
    step_wait(t, PHASE_ROLLBACK, WAITING_RETRY, STR_NONE,
              failure_describe_retry(t, error_json, at_us));
    return STEP_WAITS;
}

/*
 * Others keep changing a record that the rollback writes: it has not been tried
 * at all. The delay grows, and only the time for rolling back ends it.
 */
static enum step_result wait_for_record(struct turn *t, struct str error_json)
{
    static const struct retry growing = {
        .delay_us = 50000, .backoff = 2, .max_delay_us = INT64_C(60) * 1000000};
    static const char CONTENDED[] = "contended"; /* in place of a command: it is no failure */
    struct cursor *cursor = &t->x->cursor;
    int64_t tries = str_eq(cursor->failed_at, str_of(CONTENDED)) ? cursor->tries + 1 : 1;
    int64_t delay_us = failure_delay_us(t, &growing, tries);
    int64_t random_us = delay_us / 2 * ident_random(t->x->id, t->x->seq + 1, 0) / UINT32_MAX;
    struct history_row *row = step_row(t, HISTORY_EVENT, STR("contended"));

    row->error_json = error_json;
    cursor->tries = tries;
    cursor->failed_at = str_of(CONTENDED);
    cursor->attempt--; /* it begins anew */
    return try_later(t, error_json, t->wall_us + delay_us / 2 + random_us);
}

/* The place of the command whose rollback is next, among those that the row lists. */
static struct str command_place(const struct turn *t, struct value delta)
{
    struct value done = value_map_get_str(value_map_get_str(delta, STR("undo")), STR("done"));

    return value_text(done.items[t->x->rollback->commands_left - 1]);
}

/* How the rollback in hand is tried again: as the command that failed says, else as the rollback. */
static const struct retry *rollback_policy(struct turn *t, struct value delta)
{
    const struct step *step = turn_step(t);
    const struct procedure_call *call = &step->rollback;
    struct ledger_command found;

    if (t->failure.retry != NULL)
        return t->failure.retry;
    if (t->x->rollback->commands_left > 0 &&
        ledger_find(step->procedure, command_place(t, delta), &found))
        call = &found.command->rollback;
    return call->retry;
}

/* It is tried again later, or given up. */
static enum step_result rollback_failed(struct turn *t, struct value delta)
{
    const struct step *step = turn_step(t);
    const struct retry *policy = rollback_policy(t, delta);
    const struct history_row *about = t->about->row;
    struct str error_json;
    int64_t at_us;

    (void)turn_failure(t, &error_json);
    if (t->failure.is_contended && !is_past_budget(t))
        return wait_for_record(t, error_json);
    rollback_row(t, about, STR("failed"))->error_json = error_json;
    if (!is_past_budget(t) && policy != NULL && failure_tries_again(t, policy, &at_us))
        return try_later(t, error_json, at_us);
    outcome_dead_letter(t, LETTER_COMPENSATION, step->code, t->x->cursor.attempt, error_json,
                        t->x->cursor.input_json);
    rollback_retry_note(t);
    end_rollback(t, false);
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
    struct value input, done = value_absent();
    struct str place = STR_NONE;
    enum step_result end;

    if (rollback->commands_left > 0) {
        done = value_map_get_str(delta, STR("undo"));
        place = command_place(t, delta);
        t->key_suffix = str_printf(t->mem, ".%.*s-rollback", STR_ARG(place));
        t->key_visit = rollback_command_visit(done, place);
    }
    t->failure = (struct failure){0};
    if (is_past_budget(t))
        return turn_fail(t, STR("timeout_compensation"), ERR_CLASS_BUSINESS,
                         "the rollback has been tried for 24 hours");
    if (rollback->commands_left > 0)
        return rollback_command_run(t, step, done, place, out);
    end = rollback_recall(t, step->rollback.procedure);
    if (end != STEP_DONE)
        return end;
    if (rollback_input(t, step->rollback.input, &input) != STEP_DONE)
        return STEP_FAILED;
    return procedure_run(t, step->rollback.procedure, STR_NONE, input, out);
}

/* The program that has run the visit, or the command of it whose rollback is next. */
static enum step_result program_of_visit(struct turn *t, const struct history_row *row,
                                         struct value delta, const struct program **out)
{
    const struct rollback *rollback = t->x->rollback;
    struct str under = STR_NONE;
    enum step_result end;

    if (rollback->commands_left > 0)
        under =
            rollback_command_under(value_map_get_str(delta, STR("undo")), command_place(t, delta));
    end = rollback_program(t, under.len > 0 ? under : rollback->under, out);
    return end == STEP_DONE && program_step(*out, row->step) == NULL ? STEP_FAILED : end;
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

    begin_rollback(t, &u, row, delta);
    end = run_rollback(t, delta, &output);
    if (end == STEP_DONE)
        end = succeeded(t, output);
    if (end == STEP_FAILED)
        end = rollback_failed(t, delta);
    t->about = NULL;
    t->key_suffix = STR_NONE;
    t->key_visit = 0;
    t->is_answered = false;
    t->refused_at = STR_NONE;
    return end;
}

/* One attempt of the visit of rollback.row. */
static enum step_result roll_back_one(struct turn *t)
{
    const struct history_row *row = row_at(t, t->x->rollback->row);
    const struct program *p;
    struct rollback_detour own;
    struct history_row copy;
    struct value delta;
    enum step_result end;

    if (row == NULL && event_reads(t->ev)->has_history)
        return lose_history(t);
    if (row == NULL)
        return need_history(t, t->x->rollback->row);
    /* Rows are added while it is in use, and the array may move. */
    copy = *row;
    delta = turn_read(t, copy.delta_json, value_map_empty());
    end = program_of_visit(t, &copy, delta, &p);
    if (end == STEP_FAILED)
        lose_program(t, own_rollback(t));
    if (end != STEP_DONE)
        return end == STEP_FAILED ? STEP_DONE : end;
    if (!may_be_rolled_back(t, p, &copy)) {
        turn_damaged(t, "the row that is rolled back is of no step that can be");
        return STEP_WAITS;
    }
    rollback_detour(t, p, &own);
    end = try_rollback(t, &copy, delta);
    rollback_return(t, &own);
    return end;
}

/* --- the end of it --- */

/* The error says what was undone, and what could not be. */
static void say_compensation(struct turn *t)
{
    struct execution *x = t->x;
    struct str json;
    struct buf text;

    if (x->error_json.len < 2) {
        turn_damaged(t, "it rolls back without an error");
        return;
    }
    if (!turn_json(t, context_compensation(t), &json))
        json = STR("null");
    buf_init_arena(&text, t->mem);
    buf_add(&text, x->error_json.ptr, x->error_json.len - 1);
    buf_text(&text, ",\"compensation\":");
    buf_str(&text, json);
    buf_char(&text, '}');
    x->error_json = buf_view(&text);
}

static void rollback_finish(struct turn *t)
{
    struct execution *x = t->x;
    enum execution_status end = x->rollback->end;

    /* One that has only waited has no error of its own. */
    if (x->rollback->keeps_done && !execution_is_rolled_back(x))
        x->error_json = STR_NONE;
    else
        say_compensation(t);
    if (!execution_is_rolled_back(x) && x->rollback->from != NULL) {
        x->cursor = *x->rollback->from;
        strand_resume_others(t, x->rollback);
    }
    x->rollback = NULL;
    if (t->out->history.count == 0)
        (void)turn_row(t, HISTORY_EVENT, STR_NONE, STR("compensated"));
    turn_note(t, "looked", STR("true"));
    outcome_end(t, end);
}

bool rollback_run(struct turn *t)
{
    enum step_result end = STEP_DONE;

    while (end == STEP_DONE || end == STEP_MOVED) {
        if (step_turn_is_long(t))
            return true;
        t->steps++;
        if (t->x->rollback->row != 0) {
            end = roll_back_one(t);
            continue;
        }
        end = find_next(t);
        if (end == STEP_DONE) {
            rollback_finish(t);
            return true;
        }
    }
    return end != STEP_NEEDS;
}
