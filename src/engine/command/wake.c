/*
 * wake.c - what stood still goes on: a wait is over, an attempt begins, an
 * answer is there, the deadline has passed; see wait.h.
 */
#include "engine/command/command.h"
#include "engine/command/machine.h"
#include "engine/command/procedure.h"
#include "engine/command/task.h"
#include "engine/command/wait.h"
#include "engine/commit/ask.h"
#include "engine/commit/call_capacity.h"
#include "engine/commit/reads.h"
#include "engine/flow/debug.h"
#include "engine/flow/reconcile.h"
#include "engine/flow/repair.h"
#include "engine/flow/step.h"
#include "engine/flow/strand.h"

/* --- a step goes on --- */

/* The wait of the current strand ends with a signal, and nothing goes on behind it yet. */
static void end_wait_here(struct turn *t, struct value output, int64_t took)
{
    const struct command *c = &turn_step(t)->procedure->commands[0];
    struct cursor *cursor = &t->x->cursor;
    struct str error_json;
    struct value error;
    enum step_result end;

    people_leave(t, c);
    end = command_shape(t, c, &output);
    if (end == STEP_DONE)
        end = step_complete(t, output, took);
    if (end == STEP_FAILED) {
        error = failure_that_fits(t, &error_json);
        failure_record(t, error, error_json);
    }
    *cursor = (struct cursor){.step = cursor->step,
                              .visit = cursor->visit,
                              .attempt = cursor->attempt,
                              .started_at_us = cursor->started_at_us,
                              .behind = end == STEP_DONE ? BEHIND_STEP : BEHIND_NOTHING,
                              .seq = t->x->other_count > 0 ? t->x->seq : 0};
    execution_set_waiting(t->x, WAITING_NONE, STR_NONE);
}

/* What came during a pause was there before the time was up: the waits that it is for end with it. */
static void end_deferred_waits(struct turn *t)
{
    uint32_t first = t->x->strand_index;
    const struct signal *signal;
    struct value output;

    while ((signal = pause_take_signal(t)) != NULL) {
        turn_begin_step(t);
        if (wait_takes(t, turn_step(t), signal, &output))
            end_wait_here(t, output, signal->seq);
    }
    strand_take(t, first);
}

/* The deadline of the whole execution has passed: its onError decides, whatever the step's says. */
static void apply_deadline(struct turn *t)
{
    struct str error_json;

    if (t->x->pause != NULL)
        end_deferred_waits(t);
    pause_forget(t);
    (void)turn_fail(t, STR("timeout_execution"), ERR_CLASS_BUSINESS,
                    "the execution did not end before its deadline");
    (void)turn_failure(t, &error_json);
    turn_row(t, HISTORY_EVENT, STR_NONE, STR("timeout"))->error_json = error_json;
    t->x->stop_requested = true;
    outcome_fail(t, t->x->program->on_error, error_json);
}

/* Go on after a step that ended like this. False: reads are needed first. */
static bool wake_go_on(struct turn *t, enum step_result end)
{
    if (end == STEP_NEEDS)
        return false;
    return !flow_settle(t, end) || step_run_all(t);
}

bool wake_leave_wait(struct turn *t, enum step_result end, struct value output, int64_t took)
{
    const struct command *c = &turn_step(t)->procedure->commands[0];
    struct value by = value_map_member(output, STR("by"));

    people_leave(t, c);
    if (end == STEP_DONE)
        end = command_shape(t, c, &output);
    if (end == STEP_DONE)
        end = step_complete(t, output, took);
    if (end == STEP_DONE && took > 0)
        people_answered(t, by);
    return wake_go_on(t, end);
}

/* The time of the current wait was up before what it waits for had come. */
static bool leave_expired(struct turn *t, enum step_result end, struct value output)
{
    const struct command *c = &turn_step(t)->procedure->commands[0];

    if (end != STEP_DONE || c->wait->on_timeout != ON_TIMEOUT_JUMP)
        return wake_leave_wait(t, end, output, 0);
    end = command_shape(t, c, &output);
    if (end == STEP_DONE)
        end = step_complete(t, output, 0);
    if (end == STEP_DONE)
        end = flow_jump(t, c->wait->timeout_kind, c->wait->timeout_step);
    return wake_go_on(t, end);
}

static bool wake_task(struct turn *t)
{
    struct value output = value_null();
    bool has_expired;
    enum step_result end = task_wake(t, turn_step(t), &output, &has_expired);

    if (end == STEP_WAITS)
        return true;
    return has_expired ? leave_expired(t, end, output) : wake_leave_wait(t, end, output, 0);
}

static bool wake_wait(struct turn *t)
{
    const struct step *step = turn_step(t);
    const struct command *c = &step->procedure->commands[0];
    struct value output = value_null();
    enum step_result end;

    turn_begin_step(t);
    if (task_has_news(t, &t->x->cursor) || (task_is_awaited(&t->x->cursor) && wait_is_over(t)))
        return wake_task(t);
    if (!wait_is_over(t))
        return remind_send(t, step);
    if (step->state != NULL)
        return machine_wake(t, step);
    people_leave(t, c);
    end = wait_expired(t, step, &output);
    return c->type == COMMAND_WAIT_SIGNAL ? leave_expired(t, end, output)
                                          : wake_leave_wait(t, end, output, 0);
}

/* The next attempt of the current visit. */
static bool wake_attempt(struct turn *t)
{
    struct cursor *cursor = &t->x->cursor;

    cursor->attempt++;
    cursor->started_at_us = t->now_us;
    cursor->phase = PHASE_ENTER;
    cursor->wake_at_us = 0;
    turn_begin_step(t);
    return wake_go_on(t, step_attempt(t));
}

/*
 * A call was in flight when rolling back began, and it is known now what became
 * of it: the attempt ends, and nothing else of it leaves.
 */
static bool end_attempt(struct turn *t)
{
    enum step_result end;
    struct str error_json;

    t->x->cursor.phase = PHASE_ENTER;
    t->failure = (struct failure){0}; /* what stops it is no failure of the attempt */
    t->is_stopping = t->is_answered = true;
    end = step_attempt(t);
    t->is_stopping = t->is_answered = false;
    t->refused_at = STR_NONE;
    if (end == STEP_FAILED && t->failure.code.len == 0) {
        (void)turn_fail(t, STR("stopped"), ERR_CLASS_BUSINESS, STRAND_STOPPED);
        t->failure.is_own = true; /* it says nothing of earlier attempts */
    }
    if (end == STEP_FAILED && reconcile_is_wanted(t)) {
        (void)turn_failure(t, &error_json);
        (void)reconcile_begin(t, error_json, 0);
        return true;
    }
    return reconcile_settle(t, end);
}

bool wake_go_on_behind(struct turn *t)
{
    struct cursor *cursor = &t->x->cursor;
    enum step_result end;

    t->dep = cursor->host;
    t->sent = cursor->asked_seq;
    cursor_forget_asked(cursor);
    cursor->wake_at_us = cursor->timeout_at_us = 0;
    if (t->reminded != NULL)
        return remind_go_on(t);
    if (cursor->phase == PHASE_RECONCILE) {
        t->is_answered = true;
        return reconcile_ask(t);
    }
    if (t->x->rollback != NULL && cursor->phase == PHASE_JOB)
        return end_attempt(t);
    if (t->x->rollback != NULL) {
        t->is_answered = true; /* engine_advance() goes on with it */
        return true;
    }
    cursor->phase = PHASE_ENTER;
    end = step_attempt(t);
    t->refused_at = STR_NONE;
    return wake_go_on(t, end);
}

/* The answer becomes part of the step. False: t->failure says why not, and that it may have happened. */
static bool keep_answer(struct turn *t, struct value output)
{
    const struct ask_functions *asked = t->x->cursor.ask != ASK_NONE ? ask_of(&t->x->cursor) : NULL;

    if (suspend_answer(t, output))
        return true;
    if (asked != NULL && asked->reduce != NULL && suspend_answer(t, asked->reduce(t, output)))
        t->failure = (struct failure){0};
    else
        t->failure.is_unsure = true;
    return t->failure.code.len == 0;
}

/* The node says that the attempt has not left: the command runs again, and no attempt was used. */
static bool was_never_sent(const struct turn *t, struct value error)
{
    return t->x->cursor.ask == ASK_CALL && error.kind == VALUE_MAP &&
           str_eq(value_map_text(error, STR("code")), STR(CALL_NEVER_SENT));
}

enum answer_taken wake_take_answer(struct turn *t, struct value output, struct value error)
{
    bool is_output = output.kind != VALUE_ABSENT;

    if (!is_output && was_never_sent(t, error))
        return ANSWER_NEVER_SENT;
    if (!is_output)
        (void)turn_fail_answer(t, error);
    else if (t->x->cursor.ask != ASK_NONE && ask_of(&t->x->cursor)->judge != NULL)
        is_output = ask_of(&t->x->cursor)->judge(t, output) == STEP_DONE;
    return is_output && keep_answer(t, output) ? ANSWER_TAKEN : ANSWER_REFUSED;
}

bool wake_with_answer(struct turn *t, struct value output, struct value error)
{
    turn_begin_step(t);
    if (wake_take_answer(t, output, error) == ANSWER_REFUSED)
        suspend_refuse(t);
    return wake_go_on_behind(t);
}

static bool answered(struct turn *t, struct value output, struct value error)
{
    struct uuid id;
    bool is_own = child_is_own(&t->x->cursor, &id), complete;

    child_hear(t);
    turn_answered(t);
    /* While it rolls back, stopped_settle() says it of all of them. */
    if (is_own && t->x->rollback == NULL && output.kind == VALUE_ABSENT)
        child_note_unrolled(t, turn_code(t), error);
    complete = wake_with_answer(t, output, error);
    turn_record_answer(t);
    return complete;
}

/* The parent looks for itself whether the execution that it started has ended. */
static bool wake_child(struct turn *t)
{
    struct value output, error;
    enum step_result end;

    turn_begin_step(t);
    end = child_look(t, &output, &error);
    t->has_nothing_to_wake = end == STEP_SKIPPED;
    if (end != STEP_DONE && end != STEP_FAILED)
        return end != STEP_NEEDS;
    if (end == STEP_DONE)
        return answered(t, output, error);
    suspend_refuse(t);
    return wake_go_on_behind(t);
}

static bool wake_job(struct turn *t)
{
    enum step_result end;

    if (child_is_awaited(&t->x->cursor))
        return wake_child(t);
    end = ask_of(&t->x->cursor)->wake(t);
    t->has_nothing_to_wake = end == STEP_SKIPPED;
    if (end != STEP_FAILED && end != STEP_DONE)
        return end != STEP_NEEDS;
    if (end == STEP_FAILED)
        suspend_refuse(t);
    return wake_go_on_behind(t);
}

static bool is_timer_due(const struct turn *t)
{
    return t->x->cursor.wake_at_us > 0 && t->x->cursor.wake_at_us <= t->wall_us;
}

/* Whoever was asked has not answered in time, or there is news of it. */
static bool is_asked_due(const struct turn *t)
{
    const struct cursor *cursor = &t->x->cursor;

    return cursor->awaited.len > 0 && (is_timer_due(t) || ask_has_news(t, cursor));
}

static bool wake_step(struct turn *t)
{
    switch (t->x->cursor.phase) {
    case PHASE_ENTER:
        return step_run_all(t);
    case PHASE_WAIT:
        return wake_wait(t);
    case PHASE_RETRY:
        return wake_attempt(t);
    case PHASE_JOB:
        return wake_job(t);
    case PHASE_RECONCILE:
        return is_asked_due(t) ? wake_job(t) : reconcile_ask(t);
    case PHASE_ROLLBACK: /* engine_advance() goes on with it */
        return !is_asked_due(t) || wake_job(t);
    case PHASE_HELD:
    case PHASE_COUNT:
        break;
    }
    PANIC("a held execution is not woken");
}

bool wake_is_due(const struct turn *t)
{
    const struct execution *x = t->x;

    if (x->cursor.phase == PHASE_HELD)
        return false;
    if (x->cursor.phase == PHASE_ENTER)
        return !debug_stops(x, &x->cursor);
    if (x->rollback != NULL && x->cursor.wake_at_us == 0 && x->cursor.awaited.len == 0)
        return x->stopped_count == 0;
    if (x->rollback != NULL && x->rollback->deadline_at_us > 0 &&
        x->rollback->deadline_at_us <= t->wall_us)
        return true;
    return is_timer_due(t) || child_has_news(t, &x->cursor) || ask_has_news(t, &x->cursor) ||
           task_has_news(t, &x->cursor);
}

/* --- several strands --- */

/* Its time has come, or there is news for it. */
static bool may_be_over(const struct turn *t, const struct cursor *cursor)
{
    if (cursor->phase == PHASE_HELD || cursor->phase == PHASE_ENTER)
        return false;
    return (cursor->wake_at_us > 0 && cursor->wake_at_us <= t->wall_us &&
            !debug_holds_timer(t->x, cursor)) ||
           child_has_news(t, cursor) || ask_has_news(t, cursor) || task_has_news(t, cursor);
}

/* All children that it is time to look at are looked at together. False: they must be read first. */
static bool has_read_children(struct turn *t)
{
    bool ok = true;

    for (uint32_t i = 0; i <= t->x->other_count; i++) {
        strand_take(t, i);
        ok = !child_asks_to_read(t) && ok;
    }
    return ok;
}

/* Each strand that is due is woken once; those that are ready run later. */
static bool wake_strands(struct turn *t)
{
    struct {
        VEC_OF(struct cursor);
    } due = {0};

    if (!has_read_children(t))
        return false;
    for (uint32_t i = 0; i <= t->x->other_count; i++) {
        strand_take(t, i);
        if (may_be_over(t, &t->x->cursor))
            *VEC_ADD(t->mem, &due) = t->x->cursor;
    }
    for (size_t i = 0; i < due.count; i++) {
        /* One that was woken before it may have stopped it. */
        if (!strand_take_visit(t, &due.items[i]))
            continue;
        if (!wake_step(t))
            return false;
        if (!turn_goes_forward(t))
            return true;
    }
    return true;
}

bool wake_told(struct turn *t)
{
    if (t->x->rollback == NULL || !child_has_news(t, &t->x->cursor))
        return true;
    return wake_child(t);
}

/* The same of its strands. */
static bool wake_waiting(struct turn *t, bool *complete)
{
    const struct execution *x = t->x;

    /* It came while the execution was parked: engine_advance() goes on with it. */
    if (pause_has_answer(t) || remind_has_kept(x))
        return true;
    if (x->other_count > 0) {
        *complete = wake_strands(t) && strand_run_rest(t);
        return !*complete || t->out->history.count > 0;
    }
    if (!wake_is_due(t))
        return false;
    *complete = wake_step(t);
    return !t->has_nothing_to_wake;
}

bool wake_apply(struct turn *t, bool *complete)
{
    const struct execution *x = t->x;
    bool is_woken;

    if (x->cursor.phase != PHASE_HELD && x->rollback == NULL && !execution_is_stopped(x) &&
        x->deadline_at_us > 0 && t->wall_us >= x->deadline_at_us) {
        apply_deadline(t);
        /* Beside the strand that is held others go on, with what this event says of their children. */
        if (turn_goes_forward(t) && x->other_count > 0)
            *complete = wake_strands(t);
        return true;
    }
    if (x->pause != NULL)
        return false;
    *complete = remind_wake(t);
    is_woken = t->out->history.count > 0;
    return !*complete || wake_waiting(t, complete) || is_woken;
}

/* --- answers --- */

static bool cursor_is_answered(const struct turn *t, const struct cursor *cursor)
{
    if (cursor->awaited.len == 0 || cursor->deferred_seq > 0)
        return false;
    return t->ev->answer_seq > 0 ? t->ev->answer_seq == cursor->asked_seq
                                 : str_eq(cursor->awaited, t->ev->answer_key);
}

static bool was_ended(const struct execution *before, const struct cursor *cursor)
{
    return cursor->phase != PHASE_HELD && ask_is_open(cursor) && cursor->asked_seq <= before->seq;
}

/* The answer of a worker that nobody waited for when it came, if it came. */
static struct value unheard(struct turn *t)
{
    return turn_read(t,
                     STR("{\"code\":\"external_unknown\",\"class\":\"indeterminate\",\"message\":"
                         "\"the execution had ended before a worker had answered\"}"),
                     value_null());
}

bool wake_unheard(struct turn *t, const struct execution *before)
{
    struct {
        VEC_OF(struct cursor);
    } asked = {0};

    for (uint32_t i = 0; i < execution_strands(t->x); i++)
        if (was_ended(before, execution_cursor(t->x, i)))
            *VEC_ADD(t->mem, &asked) = *execution_cursor(t->x, i);
    for (size_t i = 0; i < asked.count && turn_goes_forward(t); i++) {
        /* One that went on before it may have stopped it. */
        if (strand_take_visit(t, &asked.items[i]) && was_ended(before, &t->x->cursor) &&
            !wake_with_answer(t, value_absent(), unheard(t)))
            return false;
    }
    return true;
}

/* Workers are not waited for: what they answer is refused. */
static bool call_is_answered(const struct turn *t, const struct cursor *cursor)
{
    return call_is_awaited(cursor) && cursor_is_answered(t, cursor);
}

bool wake_keep_answer(struct turn *t, struct err *err)
{
    uint32_t first = t->x->strand_index, index = strand_find(t, call_is_answered);

    if (index == NO_STRAND && stopped_hear_call(t))
        return true;
    if (index == NO_STRAND)
        return err_set(err, ERR_CONFLICT, "the execution is %s", status_name(t->x->status));
    strand_take(t, index);
    pause_defer_answer(t, t->ev->answer_output, t->ev->answer_error);
    strand_take(t, first);
    return true;
}

bool wake_answered(struct turn *t, bool *complete, struct err *err)
{
    const struct event *ev = t->ev;
    uint32_t index;

    for (uint32_t i = 0; i < t->x->reminding_count; i++)
        if (cursor_is_answered(t, &t->x->reminding[i]->cursor)) {
            *complete =
                remind_answered(t, i, ev->answer_output, ev->answer_error, ev->is_only_kept);
            return true;
        }
    index = strand_find(t, cursor_is_answered);
    if (index == NO_STRAND && stopped_hear_call(t))
        return true;
    if (index == NO_STRAND)
        return err_set(err, ERR_CONFLICT, "the execution does not wait for this answer");
    strand_take(t, index);
    if (t->x->pause != NULL || t->x->cursor.phase == PHASE_HELD || ev->is_only_kept)
        pause_defer_answer(t, ev->answer_output, ev->answer_error);
    else
        *complete = answered(t, ev->answer_output, ev->answer_error);
    return true;
}
