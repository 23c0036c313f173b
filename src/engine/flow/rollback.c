/*
 * rollback.c - rolling back: how it begins, goes on and ends; see rollback.h.
 *
 * History is gone through from its end to its beginning (rollback_walk.c).
 * Every visit that completed, or may have happened, and has a rollback is
 * undone: by the step's own rollback, else by those of its commands, the last
 * first (rollback_entry.c). What was undone in a turn is recorded with rows of
 * kind `rollback`, so it goes on after a crash where it stood. A rollback that
 * fails is tried again; one that fails for good becomes a dead letter, and the
 * rest goes on (rollback_failure.c).
 *
 *     compensating --> failed or cancelled, error.compensation = {compensated, failed}
 */
#include "engine/flow/rollback.h"
#include "engine/command/ledger.h"
#include "engine/command/machine.h"
#include "engine/command/procedure.h"
#include "engine/commit/ask.h"
#include "engine/context.h"
#include "engine/flow/step.h"
#include "engine/flow/strand.h"
#include "value/object.h"

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

struct rollback *rollback_own(struct turn *t)
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
                         .behind = from->behind,
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

    if (!is_awaiting)
        stopped_add_call(t);
    if (!is_awaiting && turn_is_in_doubt(x))
        leave_in_doubt(t);
    else if (!is_awaiting && turn_is_in_visit(x) && !ledger_is_empty(t))
        leave_stopped(t);
    else if (!is_awaiting && turn_is_in_visit(x) && x->other_count > 0)
        (void)step_row(t, HISTORY_EVENT, STR("stopped")); /* as those beside it: strand.c */
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
        child_await_undone(&x->cursor);
}

void rollback_keep_done(struct turn *t)
{
    rollback_own(t)->keeps_done = true;
    turn_note(t, "keepsDone", STR("true"));
}

void rollback_look_from_end(struct turn *t)
{
    if (t->x->rollback->before <= t->x->seq)
        rollback_own(t)->before = t->x->seq + 1;
}

void rollback_resume(struct turn *t)
{
    struct rollback *rollback = rollback_own(t);

    rollback->before = t->x->seq + 1;
    leave_cursor(t, rollback);
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
    object_begin_with(&text, t->mem, x->error_json);
    object_json(&text, "compensation", json);
    x->error_json = object_end(&text);
}

static void rollback_finish(struct turn *t)
{
    struct execution *x = t->x;
    enum execution_status end = x->rollback->end;

    if (x->rollback->returns) {
        machine_return(t);
        return;
    }
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
            end = rollback_entry_try(t);
            continue;
        }
        end = rollback_walk_on(t);
        if (end == STEP_DONE) {
            rollback_finish(t);
            return true;
        }
    }
    return end != STEP_NEEDS;
}
