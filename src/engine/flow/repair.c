/*
 * repair.c - what operators do with an execution that cannot go on by itself;
 * see repair.h.
 *
 *     retry    held or failed without rollback: the step runs again, as a new
 *              visit; as the same visit when its last outcome is not known. What
 *              failed between two steps is evaluated again, and no step runs
 *     skip     held, or waiting for a worker: the step counts as skipped, or as
 *              completed with an output. Without one, what a worker may have done
 *              is undone with the rest if the execution is rolled back
 *     migrate  waiting: the execution goes on with another version
 *     resolve  parked: what became of an attempt that reconcile could not find
 *              out; a retry asks anew
 */
#include "engine/flow/repair.h"
#include "engine/actions.h"
#include "engine/command/ledger.h"
#include "engine/command/procedure.h"
#include "engine/flow/debug.h"
#include "engine/flow/reconcile.h"
#include "engine/flow/step.h"
#include "engine/flow/strand.h"
#include "engine/flow/version.h"

static bool may_retry(const struct execution *x, struct err *err)
{
    if (execution_is_rolled_back(x) || x->rollback != NULL)
        return err_set(err, ERR_CONFLICT, "the execution has been rolled back");
    if (x->status != STATUS_FAILED && !execution_is_held(x))
        return err_set(err, ERR_CONFLICT, "only a failed or held execution can be tried again");
    return true;
}

static bool waits_for_worker(const struct execution *x)
{
    return x->status == STATUS_WAITING && x->waiting_kind == WAITING_JOB;
}

static bool may_skip(const struct execution *x, struct err *err)
{
    if (waits_for_worker(x))
        return true;
    if (!execution_is_held(x))
        return err_set(err, ERR_CONFLICT,
                       "only an execution that is held or waits for a worker has a step to skip");
    if (x->cursor.reconciling != NULL && x->cursor.reconciling->letter.len > 0)
        return err_set(err, ERR_CONFLICT,
                       "nobody knows whether the step has happened: resolve its dead letter with "
                       "an outcome");
    if (x->cursor.step >= x->program->step_count)
        return err_set(err, ERR_CONFLICT, "all its steps are done; it is the result that failed");
    return true;
}

static bool may_migrate(const struct execution *x, struct err *err)
{
    if (x->status != STATUS_WAITING && x->status != STATUS_WAITING_DEBUG)
        return err_set(err, ERR_CONFLICT, "only a waiting execution can move to another version");
    return true;
}

bool engine_may_repair(const struct execution *exec, enum event_kind kind, struct err *err)
{
    if (kind == EVENT_RETRY)
        return may_retry(exec, err);
    if (kind == EVENT_SKIP)
        return may_skip(exec, err);
    if (kind == EVENT_MIGRATE)
        return may_migrate(exec, err);
    PANIC("this repairs nothing");
}

bool repair_refuse(struct turn *t, const char *pointer, const char *code, struct sentence hint,
                   struct sentence message, struct err *err)
{
    *VEC_ADD(t->mem, &t->out->findings) = (struct finding){
        .pointer = str_of(pointer), .code = str_of(code), .message = message, .hint = hint};
    return err_set(err, ERR_INVALID, "%pS", SENTENCE_ARG(message));
}

/* --- another version --- */

bool repair_migrate(struct turn *t, struct err *err)
{
    if (!may_migrate(t->x, err))
        return false;
    (void)turn_row(t, HISTORY_EVENT, STR_NONE, action_row(ACTION_MIGRATE));
    if (!version_move(t, t->ev->program, err))
        return false;
    debug_move(t);
    return true;
}

/* --- again --- */

struct sentence repair_nearest_step(struct arena *mem, const struct program *p, struct str code)
{
    unsigned limit = code.len > 3 ? 2 : 1;
    struct str nearest = STR_NONE;

    for (uint32_t i = 0; i < p->step_count; i++) {
        unsigned distance = str_distance(code, p->steps[i].code, limit);
        if (distance > limit)
            continue;
        nearest = p->steps[i].code;
        limit = distance;
    }
    return nearest.len == 0 ? SENTENCE_NONE
                            : sentence_make(mem, "did you mean '%.*s'?", STR_ARG(nearest));
}

/* Leave the frames that are not around the step to go on from. */
static bool go_to(struct turn *t, struct str code, struct err *err)
{
    struct execution *x = t->x;
    const struct step *step = program_step(x->program, code);

    if (step == NULL)
        return repair_refuse(t, "/from", "unknown_step",
                             repair_nearest_step(t->mem, x->program, code),
                             sentence_make(t->mem, "there is no step '%.*s'", STR_ARG(code)), err);
    while (x->frame_count > 0 && !version_is_within(x, x->program, step)) {
        const struct frame *frame = &x->frames[x->frame_count - 1];

        if (x->other_count > 0)
            strand_stop_others(t, frame);
        t->has_stopped = true;
        x->cursor = (struct cursor){.step = frame->step,
                                    .visit = frame->visit,
                                    .attempt = 1,
                                    .started_at_us = frame->started_at_us};
        x->frame_count--;
        (void)step_row(t, HISTORY_FORWARD, STR("skipped"));
        step_set(t, (struct step_state){.outcome = OUTCOME_SKIPPED, .visit = frame->visit});
    }
    if (!version_is_within(x, x->program, step))
        return repair_refuse(
            t, "/from", "unreachable_step", SENTENCE_NONE,
            sentence_make(t->mem, "the step '%.*s' is inside another one", STR_ARG(code)), err);
    x->cursor = (struct cursor){.step = step->index};
    return true;
}

static bool replace_input(struct turn *t, struct err *err)
{
    const struct sentence no_object = SENTENCE("the input must be an object");
    struct value input = t->ev->input;
    struct str json;

    if (input.kind == VALUE_ABSENT)
        return true;
    if (input.kind != VALUE_MAP)
        return repair_refuse(t, "/input", "bad_value", SENTENCE_NONE, no_object, err);
    if (!turn_freeze(t, &input, &json))
        return repair_refuse(t, "/input", "bad_value", SENTENCE_NONE, t->failure.message, err);
    if (t->x->context_bytes - t->x->input_json.len + json.len > CONTEXT_BYTES_MAX)
        return err_set(err, ERR_TOO_LARGE, "the context would be larger than %d bytes",
                       CONTEXT_BYTES_MAX);
    turn_note(t, "input", json);
    state_set_input(t->x, value_copy(t->mem, input), json);
    return true;
}

/* Whether nobody knows what became of the last attempt. */
static bool is_indeterminate(const struct execution *x)
{
    const struct step_state *s;

    if (x->cursor.step >= x->program->step_count || turn_is_in_visit(x))
        return false;
    s = state_step(x, x->cursor.step);
    if (s->outcome == OUTCOME_FAILED && x->cursor.is_unsure && x->cursor.visit == s->visit)
        return true;
    return s->outcome == OUTCOME_FAILED &&
           err_class_find(value_map_text(s->error, STR("class"))) == ERR_CLASS_INDETERMINATE;
}

/* Whether it goes on from another step than the one that the cursor stands at. */
static bool leads_elsewhere(const struct turn *t)
{
    return t->ev->from.len > 0 &&
           (t->x->cursor.step >= t->x->program->step_count || !str_eq(t->ev->from, turn_code(t)));
}

/* Whether the retry is one more attempt of the last visit, with its key and its input. */
static bool continues_visit(const struct turn *t)
{
    const struct cursor *cursor = &t->x->cursor;

    if (leads_elsewhere(t))
        return false;
    if (!turn_is_in_visit(t->x))
        return is_indeterminate(t->x);
    /* Who names the step has it begin anew; but nothing is left that may have happened. */
    if (t->ev->from.len > 0)
        return turn_is_in_doubt(t->x);
    /* It has failed before, or somebody was asked: one that only waits begins anew. */
    return (cursor->tries > 0 || cursor->waits > 0 || cursor->awaited.len > 0) &&
           !child_is_awaited(cursor);
}

static enum step_result next_attempt(struct turn *t)
{
    struct cursor *cursor = &t->x->cursor;

    cursor->phase = PHASE_ENTER;
    cursor->attempt++;
    cursor->started_at_us = t->now_us;
    cursor->tries = cursor->waits = 0;
    cursor_forget_asked(cursor);
    cursor->wake_at_us = cursor->timeout_at_us = 0;
    turn_begin_step(t);
    return step_attempt(t);
}

enum step_result repair_take_up(struct turn *t)
{
    bool continues = is_indeterminate(t->x);
    struct str carried = continues ? STR_NONE : ledger_carry(t);

    if (!continues && carried.len == 0) {
        t->x->cursor = (struct cursor){.step = t->x->cursor.step};
        return STEP_MOVED;
    }
    (void)step_row(t, HISTORY_EVENT, action_row(ACTION_RETRY));
    turn_note_visit(t, "again");
    return continues ? next_attempt(t) : step_visit_again(t, carried);
}

static void forget_end(struct turn *t)
{
    struct execution *x = t->x;

    x->error_json = STR_NONE;
    if (x->completed_at_us > 0)
        x->reopened_at_us = t->now_us;
    x->completed_at_us = 0;
    execution_set_waiting(x, WAITING_NONE, STR_NONE);
    x->status = STATUS_RUNNING;
    x->stop_requested = false;
    x->jumps = 0;
    /* The time it had is used up, but not for what an operator begins anew. */
    if (x->deadline_at_us > 0 && x->deadline_at_us <= t->wall_us)
        x->deadline_at_us = t->wall_us + x->program->timeout_us;
}

static bool is_held_there(const struct turn *t, const struct cursor *cursor)
{
    return cursor->phase == PHASE_HELD && cursor->step < t->x->program->step_count &&
           str_eq(t->x->program->steps[cursor->step].code, t->ev->held);
}

/* Of several strands that are held, the one that is meant. */
static bool take_held(struct turn *t, struct err *err)
{
    uint32_t index;

    if (t->x->other_count == 0 || t->ev->held.len == 0)
        return true;
    index = strand_find(t, is_held_there);
    if (index == NO_STRAND)
        return err_set(err, ERR_CONFLICT, "the step '%.*s' is not held any more",
                       STR_ARG(t->ev->held));
    strand_take(t, index);
    return true;
}

/*
 * Whether `from` leads away from a step that the other version does not have, and
 * that has failed for certain: nothing of it is left to be undone or asked about.
 */
static bool leaves_step_behind(const struct turn *t)
{
    const struct execution *x = t->x;
    const struct program *to = t->ev->program;

    if (to == NULL || t->ev->from.len == 0 || program_step(to, t->ev->from) == NULL)
        return false;
    if (x->other_count > 0 || x->frame_count > 0 || x->cursor.step >= x->program->step_count ||
        x->cursor.reconciling != NULL || turn_is_in_visit(x) || is_indeterminate(x))
        return false;
    return program_step(to, turn_code(t)) == NULL;
}

/* The visit that the cursor stands in ends here: what it has done, or may have, can be undone. */
static void leave_unfinished(struct turn *t, const char *why)
{
    bool is_in_doubt = turn_is_in_doubt(t->x);

    if (is_in_doubt || (turn_is_in_visit(t->x) && !ledger_is_empty(t)))
        strand_fail_stopped(t, is_in_doubt ? ERR_CLASS_INDETERMINATE : ERR_CLASS_BUSINESS, why);
}

/* Whether the retry is of the step that the cursor stands at, and not of another one. */
static bool takes_up_step(const struct turn *t)
{
    const struct execution *x = t->x;

    return x->cursor.step < x->program->step_count && x->cursor.reconciling == NULL &&
           !leads_elsewhere(t);
}

bool repair_retry(struct turn *t, bool *complete, struct err *err)
{
    struct execution *x = t->x;
    struct str carried = STR_NONE;
    enum step_result end;
    bool continues, is_behind;

    if (!may_retry(x, err) || !take_held(t, err))
        return false;
    if (x->program->kind == KIND_MACHINE && t->ev->from.len > 0 &&
        !str_eq(t->ev->from, turn_code(t)))
        return err_set(err, ERR_CONFLICT,
                       "a machine goes on with the transition that has failed: '%.*s'",
                       STR_ARG(turn_code(t)));
    (void)turn_row(t, HISTORY_EVENT, STR_NONE, action_row(ACTION_RETRY));
    if (leaves_step_behind(t))
        x->cursor = (struct cursor){.step = x->program->step_count};
    is_behind = x->cursor.behind != BEHIND_NOTHING && t->ev->from.len == 0;
    continues = !is_behind && continues_visit(t);
    if (continues && !version_keeps_visit(t, err))
        return false;
    if (!continues && !is_behind && takes_up_step(t))
        carried = ledger_carry(t);
    if (carried.len > 0 && !version_keeps_commands(t, carried, err))
        return false;
    if (carried.len > 0 && t->ev->program != NULL &&
        !ledger_name_program(t, former_name(t->mem, x->program), &carried))
        return err_set(err, ERR_CONFLICT, "%pS", SENTENCE_ARG(t->failure.message));
    /* By the version that the visit has run with. */
    if (!continues && !is_behind && carried.len == 0 && x->cursor.reconciling == NULL)
        leave_unfinished(t, "it was left before it had ended");
    if (!replace_input(t, err) || (t->ev->program != NULL && !version_move(t, t->ev->program, err)))
        return false;
    if (x->cursor.reconciling != NULL && !leads_elsewhere(t)) {
        forget_end(t);
        reconcile_restart(t);
        return true;
    }
    if (x->cursor.reconciling != NULL)
        reconcile_give_up(t);
    if (carried.len > 0 || (continues && !turn_is_in_visit(x)))
        turn_note_visit(t, "again"); /* rolling back must not look at how it failed */
    if (!continues && !is_behind)
        turn_leave_visit(t);
    if (t->ev->from.len > 0 && !continues && carried.len == 0 && !go_to(t, t->ev->from, err))
        return false;
    forget_end(t);
    debug_move(t);
    /* The step that is tried again begins, wherever the debugger stands. */
    t->may_begin_step = true;
    /* The attempt that was in flight has been answered meanwhile: act_on_deferred() goes on with that. */
    if (continues && x->cursor.deferred_seq > 0) {
        x->cursor.phase = PHASE_JOB;
        return true;
    }
    /* Its answer is still to come: no second attempt leaves beside it. */
    if (continues && call_waits_on(t))
        return true;
    if (continues || carried.len > 0) {
        end = continues ? next_attempt(t) : step_visit_again(t, carried);
        *complete = end != STEP_NEEDS && (!flow_settle(t, end) || step_run_all(t));
        return true;
    }
    if (!is_behind)
        x->cursor = (struct cursor){.step = x->cursor.step};
    *complete = step_run_all(t);
    return true;
}

/* Whether a step that an operator says is done cannot be so because of what he says. */
static bool refuses_output(struct turn *t, enum step_result end, struct err *err)
{
    if (end != STEP_FAILED || str_eq(t->failure.code, STR("conflict_version")))
        return false;
    (void)repair_refuse(t, "/output", "bad_value", SENTENCE_NONE, t->failure.message, err);
    return true;
}

/* The visit for which a worker was asked has ended with this result; the worker comes too late. */
static bool complete_asked(struct turn *t, bool *complete, struct err *err)
{
    enum step_result end = reconcile_complete(t, value_copy(t->mem, t->ev->output));

    if (refuses_output(t, end, err))
        return false;
    forget_end(t);
    *complete = reconcile_settle(t, end);
    return true;
}

bool repair_skip(struct turn *t, bool *complete, struct err *err)
{
    struct execution *x = t->x;
    enum step_result end = STEP_SKIPPED;

    if (!may_skip(x, err))
        return false;
    (void)turn_row(t, HISTORY_EVENT, STR_NONE, action_row(ACTION_SKIP));
    if (waits_for_worker(x) && t->ev->output.kind != VALUE_ABSENT)
        return complete_asked(t, complete, err);
    /* Between two rounds it is the loop that is held. */
    if (x->cursor.behind > BEHIND_STEP)
        (void)frame_pop(t);
    if (x->cursor.reconciling != NULL)
        reconcile_give_up(t);
    else if (x->cursor.phase == PHASE_JOB)
        strand_fail_stopped(t, ERR_CLASS_INDETERMINATE,
                            "it was skipped before a worker had answered");
    else
        leave_unfinished(t, "it was skipped before it had ended");
    /* A new visit, because the one that failed is recorded, at least its attempts. */
    turn_leave_visit(t);
    x->cursor.visit = state_next_visit(x, x->cursor.step);
    x->cursor.attempt = 1;
    x->cursor.started_at_us = t->now_us;
    x->cursor.input_json = STR_NONE;
    x->cursor.behind = BEHIND_NOTHING;
    x->cursor.deferred_seq = 0;
    cursor_forget_asked(&x->cursor);
    turn_begin_step(t);
    if (t->ev->output.kind != VALUE_ABSENT) {
        end = step_complete(t, value_copy(t->mem, t->ev->output), 0);
        if (end == STEP_FAILED)
            return repair_refuse(t, "/output", "bad_value", SENTENCE_NONE, t->failure.message, err);
    } else {
        (void)step_row(t, HISTORY_FORWARD, STR("skipped"));
        step_set(t, (struct step_state){.outcome = OUTCOME_SKIPPED, .visit = x->cursor.visit});
    }
    forget_end(t);
    *complete = !flow_settle(t, end) || step_run_all(t);
    return true;
}

static bool is_resolved(const struct turn *t, const struct cursor *cursor)
{
    return cursor->phase == PHASE_HELD && cursor->reconciling != NULL &&
           str_eq(cursor->reconciling->letter, t->ev->letter);
}

bool repair_resolve(struct turn *t, bool *complete, struct err *err)
{
    uint32_t index = execution_is_held(t->x) ? strand_find(t, is_resolved) : NO_STRAND;
    struct value output = t->ev->output;
    enum step_result end;

    if (index == NO_STRAND)
        return err_set(err, ERR_CONFLICT, "the execution does not wait for this outcome any more");
    strand_take(t, index);
    (void)step_row(t, HISTORY_EVENT, ACTION_ROW_RESOLVED);
    turn_note(t, "outcome", str_printf(t->mem, "\"%s\"", verdict_name(t->ev->verdict)));
    if (t->ev->verdict == VERDICT_SUCCEEDED && output.kind == VALUE_ABSENT)
        output = value_null();
    forget_end(t);
    end = reconcile_decide(t, t->ev->verdict, value_copy(t->mem, output));
    if (t->ev->verdict == VERDICT_SUCCEEDED && refuses_output(t, end, err))
        return false;
    *complete = reconcile_settle(t, end);
    return true;
}
