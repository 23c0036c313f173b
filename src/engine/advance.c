/*
 * advance.c - events in, commits out; see advance.h.
 *
 *     START, WAKE (left in the middle) --> run steps
 *     WAKE (time has come)             --> the wait ends, an attempt begins --> run steps
 *     WAKE (past the deadline)         --> as the scenario's onError says
 *     WAKE (compensating)              --> roll back
 *     SIGNAL                           --> recorded; a wait that takes it ends --> run steps
 *     ANSWER                           --> the step that asked goes on --> run steps
 *     CANCEL                           --> rolled back, then cancelled
 *     WAKE, ANSWER (an attempt in doubt) --> reconcile.c
 *     RETRY, SKIP, MIGRATE, RESOLVE    --> repair.c
 *     PAUSE                            --> pause.c: only the deadline and CANCEL still count
 *     RESUME                           --> what was deferred, what has become due --> run steps
 *     CONTINUE, BREAKPOINTS            --> debug.c: the next step, or as far as it may go
 *     ASSIGN                           --> people.c: a wait is in other inboxes
 *     ROLLBACK                         --> roll back once more what was given up: rollback_retry.c
 *
 * A turn that leads to rolling back begins with that at once.
 */
#include "engine/advance.h"
#include "engine/actions.h"

#include "engine/command/machine.h"
#include "engine/command/procedure.h"
#include "engine/command/task.h"
#include "engine/command/wait.h"
#include "engine/commit/ask.h"
#include "engine/flow/debug.h"
#include "engine/flow/reconcile.h"
#include "engine/flow/repair.h"
#include "engine/flow/rollback.h"
#include "engine/flow/step.h"
#include "engine/flow/strand.h"
#include "engine/stored.h"

/* Contexts up to this size are checkpointed with every commit. */
enum { CHECKPOINT_SMALL = 4096 };

/* The view scenario_step_history computes the same. */
struct uuid engine_row_id(struct uuid execution, int64_t seq, int64_t completed_at_us)
{
    uint8_t random[UUID_RANDOM_LEN];

    random[0] = (uint8_t)(seq >> 8 & 0xF);
    random[1] = (uint8_t)seq;
    memcpy(random + 2, execution.bytes + 8, 8);
    return uuid_v7(completed_at_us / 1000, random);
}

/* --- cancelling --- */

static bool cancel_rolls_back(const struct turn *t)
{
    switch (t->ev->cancel_rollback) {
    case CANCEL_BY_STRATEGY:
        if (t->x->program->kind == KIND_MACHINE)
            return !machine_is_at_rest(t->x);
        return t->x->program->on_error == ON_ERROR_COMPENSATE;
    case CANCEL_ROLLS_BACK:
        return true;
    case CANCEL_LEAVES:
        return false;
    }
    PANIC("unknown choice of an operator");
}

/* Whether an attempt of the strand may have happened. */
static bool is_unsure(const struct turn *t, const struct cursor *cursor)
{
    return t->x->other_count > 0 && (cursor->reconciling != NULL || cursor->is_unsure);
}

static bool apply_cancel(struct turn *t, struct err *err)
{
    bool is_in_doubt = turn_is_in_doubt(t->x) || strand_find(t, is_unsure) != NO_STRAND;
    bool undoes =
        cancel_rolls_back(t) && (rollback_is_possible(t->x) || is_in_doubt || t->x->has_unrolled);
    /* What others do for it is undone first, whatever becomes of its own. */
    bool waits = t->ev->cancel_rollback != CANCEL_LEAVES && child_is_left(t);
    struct str reason = t->ev->reason;
    struct buf note;

    if (t->x->rollback != NULL)
        return err_set(err, ERR_CONFLICT, "the execution is being rolled back already");
    if (t->ev->is_by_parent && (!t->x->has_parent || uuid_cmp(t->x->parent_id, t->ev->parent) != 0))
        return err_set(err, ERR_CONFLICT, "another execution has started it");
    pause_forget(t);
    (void)turn_row(t, HISTORY_EVENT, STR_NONE, action_row(ACTION_CANCEL));
    if (reason.len > 0) {
        buf_init_arena(&note, t->mem);
        field_text(&note, "reason", reason);
        turn_note(t, "cancel", field_end(&note));
    }
    if (!undoes && !waits) {
        outcome_end(t, STATUS_CANCELLED);
        return true;
    }
    /* Asking has been given up before; else it goes on first. */
    if (t->x->cursor.reconciling != NULL && t->x->cursor.phase != PHASE_RECONCILE)
        reconcile_give_up(t);
    t->failure = (struct failure){
        .code = STR("cancelled"),
        .class = ERR_CLASS_BUSINESS,
        .message =
            reason.len > 0 ? sentence_of(reason) : sentence_of(STR("the execution was cancelled")),
    };
    (void)turn_failure(t, &t->x->error_json);
    t->x->stop_requested = true;
    rollback_begin(t, STATUS_CANCELLED);
    if (!undoes)
        rollback_keep_done(t);
    return true;
}

/* --- going on after a pause --- */

/* Rolling back waits for an answer, and it came during the pause. */
static bool awaits_deferred(const struct turn *t)
{
    return t->x->status == STATUS_COMPENSATING && t->x->cursor.deferred_answer_json.len > 0;
}

/* What came during a pause that is over. False: reads are needed first. */
static bool act_on_deferred(struct turn *t)
{
    struct pause_deferred deferred;
    struct value output;
    bool complete = t->x->pause != NULL || status_is_terminal(t->x->status) || remind_take_kept(t);

    while (complete && t->x->pause == NULL && (turn_goes_forward(t) || awaits_deferred(t)) &&
           pause_take(t, &deferred)) {
        if (deferred.signal == NULL) {
            complete = wake_with_answer(t, deferred.output, deferred.error);
            continue;
        }
        turn_begin_step(t);
        if (wait_takes(t, turn_step(t), deferred.signal, &output))
            complete = wake_leave_wait(t, STEP_DONE, output, deferred.signal->seq);
    }
    return complete;
}

/* What came meanwhile comes before what has become due: it was there, and nobody looked. */
static bool apply_resume(struct turn *t, bool *complete, struct err *err)
{
    if (!pause_end(t, err))
        return false;
    *complete = act_on_deferred(t) && machine_judge_kept(t);
    if (*complete && turn_goes_forward(t))
        (void)wake_apply(t, complete);
    return true;
}

/* What came while it was stopped comes before the step that is let go, which may be over with it. */
static bool apply_continue(struct turn *t, bool *complete, struct err *err)
{
    struct str branch;

    if (!debug_continue(t, &branch, err))
        return false;
    *complete = act_on_deferred(t);
    if (*complete && turn_goes_forward(t))
        *complete = debug_run(t, branch);
    return true;
}

/*
 * The strands that the debugger has stopped are gone, by an answer to another one: those that are
 * left go on. False: reads are needed first.
 */
static bool go_on_unstopped(struct turn *t)
{
    if (!debug_is_idle(t))
        return true;
    debug_release(t);
    return act_on_deferred(t) && strand_run_rest(t);
}

/* --- the commit --- */

static int64_t earlier(int64_t a, int64_t b)
{
    return a == 0 ? b : b == 0 || a < b ? a : b;
}

/* A record that was made and deleted in the same turn is not written at all. */
static void drop_made_and_deleted(struct record_writes *writes)
{
    size_t kept = 0;

    for (size_t i = 0; i < writes->count; i++)
        if (!writes->items[i].is_delete || writes->items[i].read_version != 0)
            writes->items[kept++] = writes->items[i];
    writes->count = kept;
}

/* Running and terminal ones have theirs already. */
static void set_wake_of_strands(struct execution *x)
{
    if (x->pause != NULL) {
        x->wake_at_us = x->deadline_at_us;
    } else if (execution_is_stopped(x)) {
        x->wake_at_us = debug_wake_at(x);
    } else if (x->status == STATUS_WAITING) {
        x->wake_at_us =
            x->cursor.phase == PHASE_HELD ? 0 : earlier(x->cursor.wake_at_us, x->deadline_at_us);
        for (uint32_t i = 0; i < x->other_count; i++)
            x->wake_at_us = earlier(x->wake_at_us, x->others[i]->cursor.wake_at_us);
    }
    if (x->status != STATUS_COMPENSATING)
        return;
    ASSERT(x->rollback != NULL);
    if (x->cursor.wake_at_us == 0 && x->cursor.awaited.len == 0 && x->stopped_count == 0)
        x->wake_at_us = WAKE_AT_ONCE;
    else
        x->wake_at_us = earlier(x->cursor.wake_at_us, x->rollback->deadline_at_us);
    for (uint32_t i = 0; i < x->stopped_count; i++)
        x->wake_at_us = earlier(x->wake_at_us, x->stopped[i].look_at_us);
}

static void set_wake(struct execution *x)
{
    set_wake_of_strands(x);
    for (uint32_t i = 0; x->pause == NULL && i < x->reminding_count; i++)
        if (!debug_holds_timer(x, &x->reminding[i]->cursor))
            x->wake_at_us = earlier(x->wake_at_us, x->reminding[i]->cursor.wake_at_us);
}

/* Whether this turn has held a strand at the step, maybe once more. */
static bool is_held_anew(const struct turn *t, struct str code)
{
    for (size_t i = 0; i < t->out->dead_letters.count; i++)
        if (str_eq(t->out->dead_letters.items[i].step, code))
            return true;
    return false;
}

/* A strand that is left alone does not know any more since when it is held. */
static bool is_still_held(const struct turn *t, struct str code, const struct cursor *held)
{
    const struct execution *x = t->x;

    for (uint32_t i = 0; execution_is_held(x) && i < execution_strands(x); i++) {
        const struct cursor *c = execution_cursor(x, i);
        if (c->phase == PHASE_HELD && str_eq(execution_code(x, c), code) &&
            c->visit == held->visit && c->attempt == held->attempt &&
            (c->seq == held->seq || (x->other_count == 0 && !is_held_anew(t, code))))
            return true;
    }
    return false;
}

/* Beside other strands an incident also ends when its own is stopped, and others may go on. */
static enum letter_status incidents_after(struct turn *t, const struct execution *before)
{
    bool goes_on = false;

    for (uint32_t i = 0; i < execution_strands(before); i++) {
        const struct cursor *c = execution_cursor(before, i);
        if (c->phase != PHASE_HELD)
            continue;
        if (is_still_held(t, execution_code(before, c), c))
            goes_on = true;
        else
            *VEC_ADD(t->mem, &t->out->incident.steps) = execution_code(before, c);
    }
    if (t->out->incident.steps.count == 0)
        return LETTER_OPEN;
    if (!goes_on)
        t->out->incident.steps.count = 0;
    return t->ev->kind == EVENT_RETRY ? LETTER_RETRIED : LETTER_RESOLVED;
}

/* Nothing but these four leads out of a hold. */
static enum letter_status incident_after(struct turn *t, const struct execution *before)
{
    enum event_kind event = t->ev->kind;

    if (!execution_is_held(before))
        return LETTER_OPEN;
    if (before->other_count > 0)
        return incidents_after(t, before);
    if (event == EVENT_RETRY)
        return LETTER_RETRIED;
    return event == EVENT_SKIP || event == EVENT_CANCEL || event == EVENT_RESOLVE ? LETTER_RESOLVED
                                                                                  : LETTER_OPEN;
}

/*
 * Whether the commit lies behind the point at which working on the execution may
 * have ended the process: a step or a rollback has completed, or it has ended.
 * That an attempt begins or was lost says nothing: its answer may be that point.
 */
static bool has_progressed(const struct turn *t)
{
    const struct commit *out = t->out;

    for (size_t i = 0; i < out->history.count; i++)
        if (out->history.items[i].kind != HISTORY_EVENT &&
            str_eq(out->history.items[i].status, STR("completed")))
            return true;
    return status_is_terminal(t->x->status);
}

static void advance_finish(struct turn *t, bool has_moved)
{
    struct execution *x = t->x;
    struct commit *out = t->out;
    int64_t bytes;

    drop_made_and_deleted(&out->records);
    strand_settle(t);
    pause_settle(t);
    debug_settle(t);
    remind_settle(t);
    if ((t->has_stopped || status_is_terminal(x->status)) &&
        (x->loops != NULL || x->rounds != NULL))
        state_prune(t->mem, x);
    ASSERT_SLOW(x->context_bytes == state_context_bytes(x));
    x->row_version++;
    x->updated_at_us = t->now_us;
    if (has_progressed(t)) {
        out->ends_parking = x->crash_count >= CRASHES_MAX;
        x->crash_count = 0;
    }
    set_wake(x);
    /* It is due as soon as it is not parked any more. */
    if (t->ev->is_only_kept && !status_is_terminal(x->status))
        x->wake_at_us = WAKE_AT_ONCE;
    for (size_t i = 0; i < out->history.count; i++)
        x->log_bytes += state_row_bytes(&out->history.items[i]);
    for (size_t i = 0; i < out->history.count; i++)
        x->history_bytes += state_row_bytes(&out->history.items[i]);
    bytes = (int64_t)state_checkpoint_bytes(x);
    /* Rows are folded with one version: those of another are behind a checkpoint. */
    if (bytes <= CHECKPOINT_SMALL || x->log_bytes >= bytes || has_moved) {
        out->writes_context = true;
        out->context_json = state_context_json(t->mem, x);
        x->checkpoint_seq = x->seq;
        x->log_bytes = 0;
    }
    /* A failed one keeps its place for an operator's retry. */
    if (!status_is_terminal(x->status) || x->status == STATUS_FAILED)
        out->cursor_json = state_cursor_json(t->mem, x);
}

/* What the commit leaves as it was: indexes over that need not be written. */
static struct commit_before what_stays(const struct execution *before,
                                       const struct execution *after)
{
    return (struct commit_before){
        .is_known = true,
        .status = before->status,
        .keeps_wake = before->wake_at_us == after->wake_at_us,
        .keeps_step = str_eq(execution_current_step(before), execution_current_step(after)),
        .keeps_rest = before->status == after->status &&
                      before->waiting_kind == after->waiting_kind &&
                      (before->other_count > 0) == (after->other_count > 0) &&
                      str_eq(before->error_json, after->error_json),
    };
}

/*
 * Whether rolling back goes on. One that has asked somebody outside goes on when that has ended, or
 * when it is woken: the answer to something else does not end its attempt, be it due or not.
 */
static bool rollback_is_ready(struct turn *t)
{
    const struct execution *x = t->x;

    return x->rollback != NULL && x->cursor.phase == PHASE_ROLLBACK && x->stopped_count == 0 &&
           wake_is_due(t) && (x->cursor.awaited.len == 0 || t->ev->kind == EVENT_WAKE);
}

/* What else can go on after an event. False: reads are needed first. */
static bool advance_rest(struct turn *t, const struct execution *exec)
{
    /* The deadline may have held one strand, and an operator's retry goes on with all. */
    bool complete = act_on_deferred(t);

    if (complete && t->has_strands && exec->status == STATUS_FAILED)
        complete = deliver_kept(t, exec) && wake_unheard(t, exec);
    if (complete && t->has_strands && exec->status == STATUS_FAILED)
        task_begin_anew(t, exec);
    if (complete && t->has_strands && t->x->pause == NULL)
        complete = strand_run_rest(t);
    complete = complete && go_on_unstopped(t);
    if (complete && exec->status == STATUS_FAILED)
        child_look_at_all(t);
    complete = complete && wake_told(t);
    if (complete)
        child_compare(t);
    complete = complete && stopped_settle(t);
    if (complete && rollback_is_ready(t))
        complete = rollback_run(t);
    return complete;
}

bool engine_advance(struct arena *mem, const struct execution *exec, const struct event *ev,
                    int64_t now_us, struct commit *out, struct err *err)
{
    /* A failed one may be tried again: what was asked for meanwhile is not asked for once more. */
    bool keeps_answer = exec->status == STATUS_FAILED && ev->kind == EVENT_ANSWER;
    struct turn t;
    bool complete = true, ok = true;

    if (status_is_terminal(exec->status) && ev->kind != EVENT_ROLLBACK &&
        !(exec->status == STATUS_FAILED && (ev->kind == EVENT_RETRY || keeps_answer))) {
        *out = (struct commit){0}; /* there are no findings */
        return err_set(err, ERR_CONFLICT, "the execution is %s", status_name(exec->status));
    }
    turn_init(&t, mem, exec, ev, now_us, out);
    switch (ev->kind) {
    case EVENT_START:
        t.x->started_at_us = t.now_us;
        out->is_start = true;
        t.x->cursor.step = t.x->program->step_count > 0 ? 0 : t.x->program->step_count;
        complete = step_run_all(&t);
        break;
    case EVENT_WAKE:
        /* One that another execution has started begins when it is first woken. */
        if (exec->status == STATUS_PENDING) {
            t.x->started_at_us = t.now_us;
            complete = step_run_all(&t);
            break;
        }
        if (!wake_apply(&t, &complete) && !stopped_has_news(&t))
            return err_set(err, ERR_CONFLICT, "there is nothing to wake");
        break;
    case EVENT_SIGNAL:
        ok = deliver_signal(&t, &complete, err);
        break;
    case EVENT_CANCEL:
        ok = apply_cancel(&t, err);
        break;
    case EVENT_ANSWER:
        ok = keeps_answer ? wake_keep_answer(&t, err) : wake_answered(&t, &complete, err);
        break;
    case EVENT_RETRY:
        ok = repair_retry(&t, &complete, err);
        break;
    case EVENT_SKIP:
        ok = repair_skip(&t, &complete, err);
        break;
    case EVENT_MIGRATE:
        ok = repair_migrate(&t, err);
        break;
    case EVENT_RESOLVE:
        ok = repair_resolve(&t, &complete, err);
        break;
    case EVENT_ROLLBACK:
        ok = rollback_retry_begin(&t, err);
        break;
    case EVENT_PAUSE:
        ok = pause_begin(&t, err);
        break;
    case EVENT_RESUME:
        ok = apply_resume(&t, &complete, err);
        break;
    case EVENT_CONTINUE:
        ok = apply_continue(&t, &complete, err);
        break;
    case EVENT_BREAKPOINTS:
        ok = debug_set_breakpoints(&t, err);
        break;
    case EVENT_ASSIGN:
        ok = people_assign(&t, err);
        break;
    }
    if (ok && complete && !ev->is_only_kept && !keeps_answer)
        complete = advance_rest(&t, exec);
    if (t.damaged != NULL)
        return stored_broken(err, t.damaged);
    if (!ok)
        return false;
    out->result = complete ? ADVANCE_COMMIT : ADVANCE_NEED;
    /* Of a state that the engine has written itself every event leaves a row. */
    if (complete && out->history.count == 0)
        return stored_broken(err, "it waits for nothing that can happen");
    if (complete) {
        advance_finish(&t, t.x->program != exec->program);
        if (!out->is_start)
            out->before = what_stays(exec, t.x);
        if (t.x->has_parent && status_is_terminal(t.x->status) && !keeps_answer)
            child_notify_end(&t);
        out->incident.status = incident_after(&t, exec);
        out->incident.note = ev->note;
        correlation_compare(&t, exec);
        ask_compare(&t, exec);
        if (ev->kind == EVENT_RETRY || ev->kind == EVENT_SKIP || ev->kind == EVENT_RESOLVE)
            task_look_at_all(&t, exec);
        task_compare(&t, exec);
        out->moves = t.x->program != exec->program || t.x->deadline_at_us != exec->deadline_at_us;
    }
    return true;
}
