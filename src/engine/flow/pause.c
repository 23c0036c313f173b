/*
 * pause.c - executions that an operator has stopped, until one lets them go on;
 * see repair.h.
 *
 *     going forward --PAUSE--> paused --RESUME--> what was deferred, then what is due
 *                                |
 *                                +--the deadline, CANCEL--> as ever
 *
 * A paused execution stands where it stood: its strands keep their phases and
 * timers, and nothing looks at them. Its wake_at is its deadline. What comes
 * meanwhile is recorded. A signal that a wait would take, or the answer that a
 * step waits for, is deferred for that strand alone (cursor.deferred_seq), so that it
 * is decided when it comes who gets it, as it would be without the pause.
 *
 * What the strands wait for is in strand_waiting_json and in the others, as
 * beside each other; waiting_for_json shows the pause with these as `branches`.
 */
#include "engine/actions.h"
#include "engine/flow/repair.h"
#include "engine/flow/strand.h"

static bool may_pause(const struct turn *t, struct err *err)
{
    if (t->x->pause != NULL)
        return err_set(err, ERR_CONFLICT, "the execution is paused already");
    if (t->x->rollback != NULL)
        return err_set(err, ERR_CONFLICT, "the execution is being rolled back");
    if (execution_is_stopped(t->x))
        return err_set(err, ERR_CONFLICT, "the execution is stopped by its debugger already");
    if (strand_find(t, strand_is_held) != NO_STRAND)
        return err_set(err, ERR_CONFLICT, "the execution is held: it does not go on by itself");
    return true;
}

struct str pause_who(struct turn *t)
{
    struct str json = STR_NONE;

    if (t->ev->by.kind == VALUE_MAP && !turn_json(t, t->ev->by, &json))
        json = STR_NONE;
    return json;
}

/* Who and why, for whoever reads the history. */
static void note(struct turn *t, const char *name, struct str reason, struct str by_json)
{
    struct buf out;

    buf_init_arena(&out, t->mem);
    if (reason.len > 0)
        field_text(&out, "reason", reason);
    if (by_json.len > 0)
        field_json(&out, "by", by_json);
    if (out.len > 0)
        turn_note(t, name, field_end(&out));
}

bool pause_begin(struct turn *t, struct err *err)
{
    struct pause *pause;

    if (!may_pause(t, err))
        return false;
    pause = ARENA_NEW(t->mem, struct pause);
    pause->since_us = t->now_us;
    pause->reason = str_copy(t->mem, t->ev->reason);
    pause->by_json = pause_who(t);
    (void)turn_row(t, HISTORY_EVENT, STR_NONE, action_row(ACTION_PAUSE));
    note(t, "pause", pause->reason, pause->by_json);
    t->x->pause = pause;
    return true;
}

bool pause_end(struct turn *t, struct err *err)
{
    struct execution *x = t->x;

    if (x->pause == NULL)
        return err_set(err, ERR_CONFLICT, "the execution is not paused");
    (void)turn_row(t, HISTORY_EVENT, STR_NONE, action_row(ACTION_RESUME));
    note(t, "resume", STR_NONE, pause_who(t));
    x->pause = NULL;
    /* It was paused before its first step. */
    if (x->started_at_us == 0)
        x->started_at_us = t->now_us;
    return true;
}

static void drop_deferred(struct cursor *cursor)
{
    cursor->deferred_seq = 0;
    cursor->deferred_answer_json = STR_NONE;
}

void pause_forget(struct turn *t)
{
    t->x->pause = NULL;
    if (t->x->cursor.deferred_answer_json.len == 0)
        drop_deferred(&t->x->cursor);
}

/* --- what comes meanwhile --- */

void pause_defer_signal(struct turn *t, const struct signal *signal)
{
    t->x->cursor.deferred_seq = signal->seq;
}

void pause_defer_answer(struct turn *t, struct value output, struct value error)
{
    struct cursor *cursor = &t->x->cursor;
    struct str json = STR_NONE;
    struct buf answer;
    bool is_output = output.kind != VALUE_ABSENT && turn_freeze(t, &output, &json);

    /* Without a JSON form it is no answer: that is what has failed. */
    if (!is_output && output.kind != VALUE_ABSENT)
        (void)turn_failure(t, &json);
    else if (!is_output && !turn_json(t, turn_or_null(error), &json))
        json = STR("null");
    turn_answered(t);
    turn_record_answer(t);
    buf_init_arena(&answer, t->mem);
    field_json(&answer, is_output ? "output" : "error", json);
    cursor->deferred_answer_json = field_end(&answer);
    cursor->deferred_seq = t->x->seq;
}

/* --- going on --- */

static const struct signal *signal_at(const struct execution *x, int64_t seq)
{
    struct shared_iter iter = {0};
    const struct signal *s;

    while ((s = signals_next(&x->signals, &iter)) != NULL)
        if (s->seq == seq)
            return s;
    return NULL;
}

bool pause_defers(const struct execution *x, int64_t seq)
{
    for (uint32_t i = 0; i < execution_strands(x); i++)
        if (execution_cursor(x, i)->deferred_seq == seq)
            return true;
    return false;
}

bool pause_has_answer(const struct turn *t)
{
    const struct execution *x = t->x;

    if (!turn_goes_forward(t))
        return x->status == STATUS_COMPENSATING && x->cursor.deferred_answer_json.len > 0;
    for (uint32_t i = 0; i < execution_strands(x); i++)
        if (execution_cursor(x, i)->deferred_answer_json.len > 0 &&
            execution_cursor(x, i)->phase != PHASE_HELD)
            return true;
    return false;
}

/* Take up the strand for which something of these kinds was deferred first. */
static bool take_deferred_strand(struct turn *t, bool takes_signals, bool takes_answers)
{
    const struct execution *x = t->x;
    const struct cursor *first = NULL;

    for (uint32_t i = 0; i < execution_strands(x); i++) {
        const struct cursor *cursor = execution_cursor(x, i);
        bool is_wanted = cursor->deferred_answer_json.len > 0 ? takes_answers : takes_signals;

        /* What is held goes on when an operator says so. */
        if (cursor->deferred_seq > 0 && cursor->phase != PHASE_HELD && is_wanted &&
            (first == NULL || cursor->deferred_seq < first->deferred_seq))
            first = cursor;
    }
    return first != NULL && strand_take_visit(t, first);
}

const struct signal *pause_take_signal(struct turn *t)
{
    const struct signal *signal;

    if (!take_deferred_strand(t, true, false))
        return NULL;
    signal = signal_at(t->x, t->x->cursor.deferred_seq);
    if (signal == NULL)
        turn_damaged(t, "the signal that it goes on with is not there");
    drop_deferred(&t->x->cursor);
    return signal;
}

bool pause_take(struct turn *t, struct pause_deferred *out)
{
    struct execution *x = t->x;
    struct value answer;

    /* A signal ends no wait while a debugger has stopped the execution. */
    if (!take_deferred_strand(t, !execution_is_stopped(x) || t->is_continued, true))
        return false;
    *out = (struct pause_deferred){.output = value_absent(), .error = value_absent()};
    if (x->cursor.deferred_answer_json.len == 0) {
        out->signal = signal_at(x, x->cursor.deferred_seq);
        if (out->signal == NULL) {
            turn_damaged(t, "the signal that it goes on with is not there");
            return false;
        }
    } else {
        answer = turn_read(t, x->cursor.deferred_answer_json, value_null());
        out->output = value_map_get_str(answer, STR("output"));
        out->error = value_map_get_str(answer, STR("error"));
    }
    drop_deferred(&x->cursor);
    return true;
}

/* --- what it shows --- */

/* {kind: paused, step, reason?, by?, since, branches?} */
static struct str pause_describe(struct turn *t)
{
    const struct execution *x = t->x;
    struct buf why, waits;
    uint32_t waiting;

    buf_init_arena(&waits, t->mem);
    buf_char(&waits, '[');
    waiting = strand_write_waits(x, x->strand_waiting_json, &waits);
    buf_char(&waits, ']');
    buf_init_arena(&why, t->mem);
    field_kind(&why, WAITING_PAUSED);
    if (turn_code(t).len > 0)
        field_text(&why, "step", turn_code(t));
    if (x->pause->reason.len > 0)
        field_text(&why, "reason", x->pause->reason);
    if (x->pause->by_json.len > 0)
        field_json(&why, "by", x->pause->by_json);
    field_time(&why, "since", x->pause->since_us);
    if (waits.len > 2)
        field_json(&why, "branches", buf_view(&waits));
    if (waiting > BRANCHES_SHOWN)
        field_json(&why, "branchCount", str_printf(t->mem, "%u", waiting));
    return field_end(&why);
}

void pause_settle(struct turn *t)
{
    struct execution *x = t->x;

    if (x->other_count == 0) {
        x->strand_waiting_json = x->pause != NULL ? x->waiting_for_json : STR_NONE;
        x->strand_waiting_kind = x->pause != NULL ? x->waiting_kind : WAITING_NONE;
    }
    if (x->pause == NULL)
        return;
    x->status = STATUS_WAITING;
    execution_set_waiting(x, WAITING_PAUSED, pause_describe(t));
}
