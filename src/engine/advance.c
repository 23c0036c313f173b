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
 *     RESUME                           --> what was kept, what has become due --> run steps
 *     UNDO                             --> roll back once more what was given up: undo_again.c
 *
 * A turn that leads to rolling back begins with that at once.
 */
#include "engine/advance.h"

#include "engine/turn.h"

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

/* --- waking --- */

/* The deadline of the whole execution has passed: its onError decides, whatever the step's says. */
static void apply_deadline(struct turn *t)
{
    struct str error_json;

    pause_forget(t);
    (void)turn_fail(t, STR("timeout_execution"), STR("business"),
                    "the execution did not end before its deadline");
    (void)turn_failure(t, &error_json);
    turn_row(t, HISTORY_EVENT, STR_NONE, STR("timeout"))->error_json = error_json;
    t->x->stop_requested = true;
    outcome_fail(t, t->x->program->on_error, error_json);
}

/* Go on after a step that ended like this. False: reads are needed first. */
static bool go_on(struct turn *t, enum step_end end)
{
    if (end == STEP_NEEDS)
        return false;
    return !flow_settle(t, end) || step_run_all(t);
}

/* The wait under way has ended with `output`, or failed. */
static bool leave_wait(struct turn *t, enum step_end end, struct value output, int64_t took)
{
    const struct command *c = &turn_step(t)->procedure->commands[0];

    if (end == STEP_DONE)
        end = command_shape(t, c, &output);
    if (end == STEP_DONE)
        end = step_complete(t, output, took);
    return go_on(t, end);
}

static bool wake_wait(struct turn *t)
{
    const struct step *step = turn_step(t);
    const struct command *c = &step->procedure->commands[0];
    struct value output = value_null();
    enum step_end end;

    turn_begin_step(t);
    if (!wait_is_over(t))
        return wait_remind(t, step);
    end = wait_expired(t, step, &output);
    if (end == STEP_DONE && c->type == COMMAND_WAIT_SIGNAL &&
        c->wait->on_timeout == ON_TIMEOUT_JUMP) {
        end = command_shape(t, c, &output);
        if (end == STEP_DONE)
            end = step_complete(t, output, 0);
        if (end == STEP_DONE)
            end = flow_jump(t, c->wait->timeout_kind, c->wait->timeout_step);
        if (end == STEP_FAILED && str_eq(t->failure.code, STR("limit_goto")))
            end = failure_of_jump(t);
        return go_on(t, end);
    }
    return leave_wait(t, end, output, 0);
}

/* The next attempt of the visit under way. */
static bool wake_attempt(struct turn *t)
{
    struct cursor *cursor = &t->x->cursor;

    cursor->attempt++;
    cursor->started_at_us = t->now_us;
    cursor->phase = PHASE_ENTER;
    cursor->wake_at_us = 0;
    turn_begin_step(t);
    return go_on(t, step_attempt(t));
}

static bool answered(struct turn *t, struct value output, struct value error);

/*
 * What the step has asked for is there, or will never be: its commands go on
 * behind it, or handle that. False: reads are needed first.
 */
static bool go_on_behind(struct turn *t)
{
    struct cursor *cursor = &t->x->cursor;
    enum step_end end;

    cursor->awaited = STR_NONE;
    cursor->wake_at_us = cursor->timeout_at_us = 0;
    if (cursor->phase == PHASE_RECONCILE) {
        t->is_answered = true;
        return reconcile_ask(t);
    }
    if (t->x->undo != NULL) {
        t->is_answered = true; /* engine_advance() goes on with it */
        return true;
    }
    cursor->phase = PHASE_ENTER;
    end = step_attempt(t);
    t->refused_at = STR_NONE;
    return go_on(t, end);
}

/* The parent looks for itself whether the execution that it started has ended. */
static bool wake_child(struct turn *t)
{
    struct value output, error;
    enum step_end end;

    turn_begin_step(t);
    end = child_look(t, &output, &error);
    t->has_nothing_to_wake = end == STEP_SKIPPED;
    if (end != STEP_DONE && end != STEP_FAILED)
        return end != STEP_NEEDS;
    if (end == STEP_DONE)
        return answered(t, output, error);
    freeze_refuse(t);
    return go_on_behind(t);
}

static bool wake_job(struct turn *t)
{
    if (child_is_awaited(&t->x->cursor))
        return wake_child(t);
    turn_begin_step(t);
    (void)turn_fail(t, STR("timeout_step"), STR("transient"),
                    "no worker did it before the time was up");
    freeze_refuse(t);
    return go_on_behind(t);
}

static bool is_timer_due(const struct turn *t)
{
    return t->x->cursor.wake_at_us > 0 && t->x->cursor.wake_at_us <= t->wall_us;
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
        return is_timer_due(t) && t->x->cursor.awaited.len > 0 ? wake_job(t) : reconcile_ask(t);
    case PHASE_UNDO: /* engine_advance() goes on with it */
        return !is_timer_due(t) || t->x->cursor.awaited.len == 0 || wake_job(t);
    case PHASE_HELD:
    case PHASE_COUNT:
        break;
    }
    PANIC("a held execution is not woken");
}

/* Whether there is anything to do now. */
static bool is_due(const struct turn *t)
{
    const struct execution *x = t->x;

    if (x->cursor.phase == PHASE_HELD)
        return false;
    if (x->cursor.phase == PHASE_ENTER)
        return true;
    if (x->undo != NULL && x->cursor.wake_at_us == 0 && x->cursor.awaited.len == 0)
        return true;
    if (x->undo != NULL && x->undo->deadline_at_us > 0 && x->undo->deadline_at_us <= t->wall_us)
        return true;
    /* Its child may have ended at any time. */
    if (x->undo == NULL && child_is_awaited(&x->cursor))
        return true;
    return is_timer_due(t);
}

/* --- several strands --- */

static bool waits_for_child(const struct turn *t, const struct cursor *cursor)
{
    (void)t;
    return child_is_awaited(cursor);
}

/* Its time has come, or its child may have ended. */
static bool may_be_over(const struct turn *t, const struct cursor *cursor)
{
    if (cursor->phase == PHASE_HELD || cursor->phase == PHASE_ENTER)
        return false;
    return (cursor->wake_at_us > 0 && cursor->wake_at_us <= t->wall_us) ||
           waits_for_child(t, cursor);
}

/* All children are looked at together. False: they must be read first. */
static bool has_read_children(struct turn *t)
{
    struct value output, error;
    bool ok = true;

    for (uint32_t i = 0; i <= t->x->other_count; i++) {
        strand_take(t, i);
        if (waits_for_child(t, &t->x->cursor) && t->ev->children == NULL)
            ok = child_look(t, &output, &error) != STEP_NEEDS && ok;
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
        uint32_t place = strand_at_visit(t, due.items[i].step, due.items[i].visit);

        /* One that was woken before it may have stopped it. */
        if (place == NO_STRAND)
            continue;
        strand_take(t, place);
        if (!wake_step(t))
            return false;
        if (t->x->undo != NULL || status_is_terminal(t->x->status))
            return true;
    }
    return true;
}

/* *complete: false when reads are needed first. False: there is nothing to wake. */
static bool apply_wake(struct turn *t, bool *complete)
{
    const struct execution *x = t->x;

    if (x->cursor.phase != PHASE_HELD && x->undo == NULL && x->deadline_at_us > 0 &&
        t->wall_us >= x->deadline_at_us) {
        apply_deadline(t);
        return true;
    }
    if (x->pause != NULL)
        return false;
    if (x->other_count > 0) {
        *complete = wake_strands(t) && strand_run_rest(t);
        return !*complete || t->out->history.count > 0;
    }
    if (!is_due(t))
        return false;
    *complete = wake_step(t);
    return !t->has_nothing_to_wake;
}

/* --- signals --- */

enum signal_known engine_signal_known(const struct execution *exec, struct str id, struct str type,
                                      struct value payload)
{
    const struct signal *s = signals_find(&exec->signals, id);

    if (s == NULL)
        return SIGNAL_NEW;
    return str_eq(s->type, type) && value_equal(value_map_get_str(s->view, STR("payload")),
                                                turn_or_null(payload), NULL)
               ? SIGNAL_SAME
               : SIGNAL_DIFFERS;
}

/* The waits that such a signal is for, the oldest first. */
struct takers {
    VEC_OF(struct cursor);
};

static void find_takers(struct turn *t, struct takers *out)
{
    for (uint32_t i = 0; i < execution_strands(t->x); i++) {
        const struct cursor *cursor = execution_cursor(t->x, i);
        size_t at;

        if (cursor->phase != PHASE_WAIT || cursor->kept_seq > 0)
            continue;
        (void)VEC_ADD(t->mem, out);
        for (at = out->count - 1; at > 0 && out->items[at - 1].seq > cursor->seq; at--)
            out->items[at] = out->items[at - 1];
        out->items[at] = *cursor;
    }
}

/* Take up a strand that waits. */
static void take_waiting(struct turn *t, const struct cursor *cursor)
{
    if (t->x->other_count > 0)
        strand_take(t, strand_at_visit(t, cursor->step, cursor->visit));
}

/*
 * Those that want something else than the payload do not take it. False: it was
 * for some, and none of them wants it; `err` is what the oldest says.
 */
static bool check_forms(struct turn *t, struct takers *takers, struct err *err)
{
    struct findings findings = {0};
    struct err refused;
    size_t count = 0;
    bool is_wanted = false, is_refused = false;

    for (size_t i = 0; i < takers->count; i++) {
        take_waiting(t, &takers->items[i]);
        if (!wait_is_for(t, turn_step(t)))
            continue;
        if (wait_checks_form(t, turn_step(t), &refused)) {
            is_wanted = true;
            takers->items[count++] = takers->items[i];
        } else if (!is_refused) {
            is_refused = true;
            findings = t->out->findings;
            *err = refused;
        }
    }
    takers->count = count;
    if (is_wanted)
        findings.count = 0;
    t->out->findings = findings;
    return is_wanted || !is_refused;
}

static bool apply_signal(struct turn *t, bool *complete, struct err *err)
{
    const struct event *ev = t->ev;
    struct arrival arrival = {ev->signal_id, ev->signal_type, ev->signal_payload, ev->signal_by,
                              t->now_us};
    struct signal *signal = ARENA_NEW(t->mem, struct signal);
    struct takers takers = {0};
    struct value output;

    find_takers(t, &takers);
    if (!check_forms(t, &takers, err) || !receive_make(t, &arrival, signal, err))
        return false;
    receive(t, signal);
    t->out->received = signal;
    for (size_t i = 0; i < takers.count; i++) {
        take_waiting(t, &takers.items[i]);
        turn_begin_step(t);
        if (!wait_takes(t, turn_step(t), signal, &output))
            continue;
        if (t->x->pause != NULL)
            pause_keep_signal(t, signal);
        else
            *complete = leave_wait(t, STEP_DONE, output, signal->seq);
        return true;
    }
    return ev->signal_correlation.len == 0 ||
           err_set(err, ERR_CONFLICT, "no wait with this correlation takes the signal");
}

/* --- cancelling --- */

static bool cancel_rolls_back(const struct turn *t)
{
    switch (t->ev->cancel_rollback) {
    case CANCEL_BY_STRATEGY:
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
    return t->x->other_count > 0 && (cursor->asking != NULL || cursor->is_unsure);
}

static bool apply_cancel(struct turn *t, struct err *err)
{
    bool is_in_doubt = turn_is_in_doubt(t->x) || strand_find(t, is_unsure) != NO_STRAND;
    struct str reason = t->ev->reason;
    struct buf note;

    if (t->x->undo != NULL)
        return err_set(err, ERR_CONFLICT, "the execution is being rolled back already");
    pause_forget(t);
    (void)turn_row(t, HISTORY_EVENT, STR_NONE, STR("cancelled"));
    if (reason.len > 0) {
        buf_init_arena(&note, t->mem);
        member_text(&note, "reason", reason);
        turn_note(t, "cancel", member_end(&note));
    }
    if (!cancel_rolls_back(t) || !(undo_is_possible(t->x->program) || is_in_doubt)) {
        outcome_end(t, STATUS_CANCELLED);
        return true;
    }
    /* Asking has been given up before; else it goes on first. */
    if (t->x->cursor.asking != NULL && t->x->cursor.phase != PHASE_RECONCILE)
        reconcile_give_up(t);
    t->failure = (struct failure){
        .code = STR("cancelled"),
        .class = STR("business"),
        .message = reason.len > 0 ? reason : STR("the execution was cancelled"),
    };
    (void)turn_failure(t, &t->x->error_json);
    t->x->stop_requested = true;
    undo_begin(t, STATUS_CANCELLED);
    return true;
}

/* --- answers --- */

/* The step goes on with the answer to what it has asked for. False: reads are needed first. */
static bool act_on_answer(struct turn *t, struct value output, struct value error)
{
    turn_begin_step(t);
    if (output.kind == VALUE_ABSENT)
        (void)turn_fail_answer(t, error);
    if (output.kind == VALUE_ABSENT || !freeze_answer(t, output))
        freeze_refuse(t);
    return go_on_behind(t);
}

static bool answered(struct turn *t, struct value output, struct value error)
{
    turn_row(t, HISTORY_EVENT, turn_step(t)->code, STR("answer"))->key = t->x->cursor.awaited;
    return act_on_answer(t, output, error);
}

static bool is_answered(const struct turn *t, const struct cursor *cursor)
{
    return cursor->awaited.len > 0 && cursor->kept_seq == 0 &&
           str_eq(cursor->awaited, t->ev->answer_key);
}

static bool apply_answer(struct turn *t, bool *complete, struct err *err)
{
    const struct event *ev = t->ev;
    uint32_t place = strand_find(t, is_answered);

    if (place == NO_STRAND)
        return err_set(err, ERR_CONFLICT, "the execution does not wait for this answer");
    strand_take(t, place);
    if (t->x->pause != NULL)
        pause_keep_answer(t, ev->answer_output, ev->answer_error);
    else
        *complete = answered(t, ev->answer_output, ev->answer_error);
    return true;
}

/* --- going on after a pause --- */

static bool has_turned(const struct turn *t)
{
    return t->x->undo != NULL || status_is_terminal(t->x->status);
}

/* What came during a pause that is over. False: reads are needed first. */
static bool act_on_kept(struct turn *t)
{
    struct pause_kept kept;
    struct value output;
    bool complete = true;

    while (complete && t->x->pause == NULL && !has_turned(t) && pause_take(t, &kept)) {
        if (kept.signal == NULL) {
            complete = act_on_answer(t, kept.output, kept.error);
            continue;
        }
        turn_begin_step(t);
        if (wait_takes(t, turn_step(t), kept.signal, &output))
            complete = leave_wait(t, STEP_DONE, output, kept.signal->seq);
    }
    return complete;
}

/* What came meanwhile comes before what has become due: it was there, and nobody looked. */
static bool apply_resume(struct turn *t, bool *complete, struct err *err)
{
    if (!pause_end(t, err))
        return false;
    *complete = act_on_kept(t);
    if (*complete && !has_turned(t))
        (void)apply_wake(t, complete);
    return true;
}

/*
 * Waits beside the step that failed were closed with the execution, and are
 * open again: what came for them meanwhile is kept. False: reads are needed
 * first.
 */
static bool look_again(struct turn *t, const struct execution *before)
{
    struct takers waits = {0};
    struct value output;
    int64_t took;

    find_takers(t, &waits);
    for (size_t i = 0; i < waits.count && !has_turned(t); i++) {
        const struct cursor *c = &waits.items[i];

        if (c->correlation.len == 0 || c->seq > before->seq ||
            strand_at_visit(t, c->step, c->visit) == NO_STRAND)
            continue;
        take_waiting(t, c);
        turn_begin_step(t);
        if (wait_looks(t, turn_step(t), &output, &took) == STEP_NEEDS ||
            (took > 0 && !leave_wait(t, STEP_DONE, output, took)))
            return false;
    }
    return true;
}

/* --- the commit --- */

static int64_t earlier(int64_t a, int64_t b)
{
    return a == 0 ? b : b == 0 || a < b ? a : b;
}

static bool is_unborn(const struct record_write *write)
{
    return write->is_delete && write->read_version == 0;
}

/* A record that was made and deleted in this turn never was. */
static void drop_unborn(struct record_writes *writes)
{
    size_t kept = 0;

    for (size_t i = 0; i < writes->count; i++)
        if (!is_unborn(&writes->items[i]))
            writes->items[kept++] = writes->items[i];
    writes->count = kept;
}

/* Running and terminal ones have theirs already. */
static void set_wake(struct execution *x)
{
    if (x->pause != NULL) {
        x->wake_at_us = x->deadline_at_us;
    } else if (x->status == STATUS_WAITING) {
        x->wake_at_us =
            x->cursor.phase == PHASE_HELD ? 0 : earlier(x->cursor.wake_at_us, x->deadline_at_us);
        for (uint32_t i = 0; i < x->other_count; i++)
            x->wake_at_us = earlier(x->wake_at_us, x->others[i].cursor.wake_at_us);
    }
    if (x->status != STATUS_COMPENSATING)
        return;
    ASSERT(x->undo != NULL);
    if (x->cursor.wake_at_us == 0 && x->cursor.awaited.len == 0)
        x->wake_at_us = WAKE_AT_ONCE;
    else
        x->wake_at_us = earlier(x->cursor.wake_at_us, x->undo->deadline_at_us);
}

static struct str code_at(const struct execution *x, const struct cursor *c)
{
    return c->step < x->program->step_count ? x->program->steps[c->step].code : STR_NONE;
}

static bool is_still_held(const struct execution *after, struct str code, const struct cursor *held)
{
    for (uint32_t i = 0; execution_is_held(after) && i < execution_strands(after); i++) {
        const struct cursor *c = execution_cursor(after, i);
        if (c->phase == PHASE_HELD && str_eq(code_at(after, c), code) && c->visit == held->visit &&
            c->attempt == held->attempt)
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
        if (is_still_held(t->x, code_at(before, c), c))
            goes_on = true;
        else
            *VEC_ADD(t->mem, &t->out->incident_steps) = code_at(before, c);
    }
    if (t->out->incident_steps.count == 0)
        return LETTER_OPEN;
    if (!goes_on)
        t->out->incident_steps.count = 0;
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

static void finish(struct turn *t, bool has_moved)
{
    struct execution *x = t->x;
    struct commit *out = t->out;

    ASSERT(out->history.count > 0);
    drop_unborn(&out->records);
    strand_settle(t);
    pause_settle(t);
    if ((t->has_stopped || status_is_terminal(x->status)) &&
        (x->loops != NULL || x->rounds != NULL))
        state_prune(t->mem, x);
    ASSERT_SLOW(x->context_bytes == state_context_bytes(x));
    x->row_version++;
    x->updated_at_us = t->now_us;
    x->crash_count = 0;
    set_wake(x);
    for (size_t i = 0; i < out->history.count; i++)
        x->log_bytes += state_row_bytes(&out->history.items[i]);
    /* Rows are folded with one version: those of another are behind a checkpoint. */
    if (x->context_bytes <= CHECKPOINT_SMALL || x->log_bytes >= (int64_t)x->context_bytes ||
        has_moved) {
        out->writes_context = true;
        out->context_json = state_context_json(t->mem, x);
        x->checkpoint_seq = x->seq;
        x->log_bytes = 0;
    }
    /* A failed one keeps its place for an operator's retry. */
    if (!status_is_terminal(x->status) || x->status == STATUS_FAILED)
        out->cursor_json = state_cursor_json(t->mem, x);
}

bool engine_advance(struct arena *mem, const struct execution *exec, const struct event *ev,
                    int64_t now_us, struct commit *out, struct err *err)
{
    struct turn t;
    bool complete = true, ok = true;

    if (status_is_terminal(exec->status) && ev->kind != EVENT_UNDO &&
        !(exec->status == STATUS_FAILED && ev->kind == EVENT_RETRY)) {
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
        if (!apply_wake(&t, &complete))
            return err_set(err, ERR_CONFLICT, "there is nothing to wake");
        break;
    case EVENT_SIGNAL:
        ok = apply_signal(&t, &complete, err);
        break;
    case EVENT_CANCEL:
        ok = apply_cancel(&t, err);
        break;
    case EVENT_ANSWER:
        ok = apply_answer(&t, &complete, err);
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
    case EVENT_UNDO:
        ok = undo_again_begin(&t, err);
        break;
    case EVENT_PAUSE:
        ok = pause_begin(&t, err);
        break;
    case EVENT_RESUME:
        ok = apply_resume(&t, &complete, err);
        break;
    }
    if (!ok)
        return false;
    /* The deadline may have held one strand, and an operator's retry goes on with all. */
    if (complete)
        complete = act_on_kept(&t);
    if (complete && t.has_strands && exec->status == STATUS_FAILED)
        complete = look_again(&t, exec);
    if (complete && t.has_strands && t.x->pause == NULL)
        complete = strand_run_rest(&t);
    if (complete && t.x->undo != NULL && t.x->cursor.phase == PHASE_UNDO && is_due(&t))
        complete = undo_run(&t);
    out->result = complete ? ADVANCE_COMMIT : ADVANCE_NEED;
    if (complete) {
        finish(&t, t.x->program != exec->program);
        out->wakes_parent = t.x->has_parent && status_is_terminal(t.x->status);
        out->incident = incident_after(&t, exec);
        out->incident_note = ev->note;
        correlation_compare(&t, exec);
        out->moves = t.x->program != exec->program || t.x->deadline_at_us != exec->deadline_at_us;
    }
    return true;
}
