/*
 * reconcile.c - what became of an attempt without an answer; see reconcile.h.
 *
 * An attempt that ends indeterminate may have happened. Where the step says how
 * to find out, that is asked before anything else is done about it:
 *
 *     asking --succeeded-----> the step is completed with the output
 *            --failed--------> it has failed: a business error
 *            --not_happened--> another attempt, if the policy has one left
 *            --anything else-> asked again after `every`; after `max` a dead
 *                              letter, and an operator says it (held)
 *
 * An execution that is to be rolled back asks first, too: it is compensating,
 * and no further attempt is made. What stays in doubt then is rolled back like
 * what has happened.
 *
 * The attempt is frozen meanwhile, so that it can be completed, undone or tried
 * again as if it had ended just now: cursor.asking. Its row is written then.
 */
#include "engine/flow/reconcile.h"
#include "engine/command/procedure.h"
#include "engine/context.h"
#include "engine/flow/rollback.h"
#include "engine/flow/step.h"

static struct reconciling *own_reconciling(struct turn *t)
{
    struct reconciling *a = arena_alloc(t->mem, sizeof(*a));

    *a = *t->x->cursor.reconciling;
    t->x->cursor.reconciling = a;
    return a;
}

/* --- waiting --- */

/* `until_us` = 0: nobody asks any more. */
static struct str reconcile_describe(struct turn *t, int64_t until_us)
{
    const struct cursor *cursor = &t->x->cursor;
    const struct reconciling *a = cursor->reconciling;
    struct buf why;

    buf_init_arena(&why, t->mem);
    field_kind(&why, until_us > 0 ? WAITING_RECONCILE : WAITING_PARKED);
    if (until_us == 0)
        field_json(&why, "parked", STR("true"));
    field_text(&why, "step", turn_code(t));
    field_json(&why, "asked", str_printf(t->mem, "%lld", (long long)(cursor->asked - a->before)));
    field_json(&why, "error", a->error_json);
    field_time(&why, "since", a->since_us);
    if (until_us > 0)
        field_time(&why, "until", until_us);
    return field_end(&why);
}

/* The next question comes at that time; the last row says so. */
static void wait_until(struct turn *t, int64_t us)
{
    t->x->cursor.wake_at_us = us;
    step_wait(t, PHASE_RECONCILE, WAITING_RECONCILE, STR_NONE, reconcile_describe(t, us));
}

/* It has been asked often enough: a person must find out. */
static void park(struct turn *t)
{
    struct cursor *cursor = &t->x->cursor;
    struct reconciling *a = own_reconciling(t);

    outcome_dead_letter(t, LETTER_RECONCILE, turn_code(t), cursor->asked - a->before, a->error_json,
                        a->input_json);
    t->out->dead_letters.items[t->out->dead_letters.count - 1].sent = a->sent;
    a->letter = uuid_text(t->mem, t->out->dead_letters.items[t->out->dead_letters.count - 1].id);
    cursor->wake_at_us = 0;
    step_wait(t, PHASE_HELD, WAITING_PARKED, STR_NONE, reconcile_describe(t, 0));
}

/* --- the beginning --- */

bool reconcile_is_wanted(const struct turn *t)
{
    const struct step *step = turn_step(t);

    return step->kind == STEP_PROCEDURE && step->reconcile != NULL &&
           t->failure.class == ERR_CLASS_INDETERMINATE;
}

/* What its commands have done stays done, whatever comes of it. */
static void suspend_attempt(struct turn *t)
{
    struct str before = t->x->cursor.suspended_json;

    /* Too large to be kept: another attempt begins where this one did. */
    if (t->run.finished.count > 0 && !suspend_step(t, STR_NONE))
        t->x->cursor.suspended_json = before;
}

enum step_result reconcile_begin(struct turn *t, struct str error_json, int64_t retry_at_us)
{
    struct cursor *cursor = &t->x->cursor;
    struct reconciling *a = ARENA_NEW(t->mem, struct reconciling);
    int64_t sent = t->sent;

    suspend_attempt(t);
    step_row(t, HISTORY_EVENT, STR("reconcile"))->error_json = error_json;
    *a = (struct reconciling){
        .since_us = t->now_us,
        .before = cursor->asked,
        .retry_at_us = retry_at_us,
        .error_json = error_json,
        .input_json = cursor->input_json,
        .suspended_json = cursor->suspended_json,
        .sent = sent,
    };
    cursor->reconciling = a;
    cursor->input_json = cursor->suspended_json = STR_NONE;
    wait_until(t, t->wall_us);
    return STEP_WAITS;
}

void reconcile_restart(struct turn *t)
{
    struct cursor *cursor = &t->x->cursor;
    struct reconciling *a = own_reconciling(t);

    a->since_us = t->now_us;
    a->before = cursor->asked;
    a->letter = STR_NONE;
    cursor_forget_asked(cursor);
    cursor->input_json = cursor->suspended_json = STR_NONE;
    cursor->timeout_at_us = 0;
    wait_until(t, t->wall_us);
}

void reconcile_release(struct turn *t)
{
    struct cursor *cursor = &t->x->cursor;
    struct reconciling *a = own_reconciling(t);

    if (a->letter.len > 0) {
        a->since_us = t->now_us;
        a->before = cursor->asked;
        a->letter = STR_NONE;
    }
    cursor->phase = PHASE_RECONCILE;
    cursor->wake_at_us = t->wall_us;
    execution_set_waiting(t->x, WAITING_RECONCILE, reconcile_describe(t, t->wall_us));
    if (cursor->ask == ASK_CALL)
        call_release(t);
}

/* --- the end --- */

/* Nobody is asked any more; what the commands before have done is known again. */
static void recall_attempt(struct turn *t)
{
    struct cursor *cursor = &t->x->cursor;

    cursor->phase = PHASE_ENTER;
    cursor_forget_asked(cursor);
    cursor->wake_at_us = cursor->timeout_at_us = 0;
    turn_begin_step(t);
    if (cursor->suspended_json.len > 0)
        suspend_recall(t, turn_step(t)->procedure);
}

/* Back to the attempt as it was when it ended, but for what it has staged. */
static void end_reconciling(struct turn *t)
{
    struct cursor *cursor = &t->x->cursor;
    const struct reconciling *a = cursor->reconciling;

    cursor->reconciling = NULL;
    cursor->input_json = a->input_json;
    cursor->suspended_json = a->suspended_json;
    t->sent = a->sent;
    recall_attempt(t);
}

/* The attempt has failed as it did at first. */
static enum step_result fail_as_before(struct turn *t, struct str error_json)
{
    struct value error = turn_read(t, error_json, value_null());
    struct value source = value_map_member(error, STR("source"));

    (void)turn_fail_answer(t, error);
    if (source.kind == VALUE_STRING) {
        t->failure.source = value_text(source);
        t->failure.version = value_map_int(error, STR("version"));
    }
    return STEP_FAILED;
}

static enum step_result fail_as_said(struct turn *t, struct value error)
{
    (void)turn_fail_answer(t, error);
    if (error.kind != VALUE_MAP)
        t->failure.message = sentence_of(STR("it has failed, as was found out afterwards"));
    t->failure.class = ERR_CLASS_BUSINESS;
    return STEP_FAILED;
}

static enum step_result complete(struct turn *t, struct value output)
{
    enum step_result end = rollback_recall(t, turn_step(t)->procedure);
    struct failure failure = t->failure;

    if (end == STEP_NEEDS)
        return end;
    if (end == STEP_DONE)
        return step_complete(t, output, 0);
    /* A record has changed. It has happened, so its rollback will run. */
    if (!turn_freeze(t, &output, &t->refused_output_json))
        t->refused_output_json = STR("null");
    t->failure = failure;
    return STEP_FAILED;
}

enum step_result reconcile_complete(struct turn *t, struct value output)
{
    if (t->x->cursor.reconciling != NULL)
        end_reconciling(t);
    else
        recall_attempt(t);
    return complete(t, output);
}

/* Another attempt, if there is one left. */
static enum step_result try_again(struct turn *t, const struct reconciling *a)
{
    struct str error_json;

    if (a->retry_at_us == 0 || t->x->rollback != NULL)
        return STEP_FAILED;
    (void)turn_failure(t, &error_json);
    failure_retry(t, error_json, a->retry_at_us > t->wall_us ? a->retry_at_us : t->wall_us);
    return STEP_WAITS;
}

enum step_result reconcile_decide(struct turn *t, enum verdict verdict, struct value answer)
{
    const struct reconciling *a = t->x->cursor.reconciling;

    end_reconciling(t);
    switch (verdict) {
    case VERDICT_SUCCEEDED:
        return complete(t, answer);
    case VERDICT_FAILED:
        return fail_as_said(t, answer);
    case VERDICT_NOT_HAPPENED:
        t->x->cursor.is_unsure = false;
        (void)fail_as_before(t, a->error_json);
        t->failure.class = ERR_CLASS_TRANSIENT;
        return try_again(t, a);
    case VERDICT_COUNT:
        break;
    }
    PANIC("no outcome");
}

/* The failure of the visit, for good: its row. */
static void record_failure(struct turn *t)
{
    struct str error_json;
    struct value error = failure_that_fits(t, &error_json);

    failure_record(t, error, error_json);
}

bool reconcile_settle(struct turn *t, enum step_result end)
{
    if (end == STEP_NEEDS)
        return false;
    if (t->x->rollback != NULL) {
        if (end == STEP_FAILED)
            record_failure(t);
        else
            t->x->cursor.behind = BEHIND_STEP; /* an operator's retry goes on behind it */
        rollback_resume(t);
        return true;
    }
    if (end == STEP_FAILED)
        end = failure_for_good(t);
    return !flow_settle(t, end) || step_run_all(t);
}

void reconcile_give_up(struct turn *t)
{
    struct str error_json = t->x->cursor.reconciling->error_json;

    end_reconciling(t);
    (void)fail_as_before(t, error_json);
    record_failure(t);
}

/* --- asking --- */

static enum step_result run_question(struct turn *t, const struct reconcile *r, struct value *out)
{
    struct cursor *cursor = &t->x->cursor;
    struct value input = value_absent();
    enum step_result end;

    *out = value_null();
    if (cursor->suspended_json.len > 0) {
        input = turn_read(t, cursor->input_json, value_absent());
        end = suspend_resume(t, r->call.procedure);
        if (end != STEP_DONE)
            return end;
    } else if (turn_evaluate(t, r->call.input, &input) != STEP_DONE ||
               (input.kind != VALUE_ABSENT && !turn_freeze(t, &input, &cursor->input_json))) {
        return STEP_FAILED;
    }
    return procedure_run(t, r->call.procedure, STR_NONE, input, out);
}

/* What it has set becomes part of the state. False: t->failure says why not. */
static bool keep_variables(struct turn *t, struct str *variables, struct str *assigned)
{
    const struct execution *x = t->x;

    if (t->assigned.len == 0)
        return true;
    if (!turn_freeze(t, &t->variables, variables) || !turn_json(t, t->assigned, assigned))
        return false;
    return x->context_bytes - x->variables_json.len + variables->len <= CONTEXT_BYTES_MAX ||
           turn_fail_size(t) == STEP_DONE;
}

/* The row of a question, and what it leaves behind. */
static enum step_result record_question(struct turn *t, enum step_result end, struct value *output)
{
    struct str output_json = STR_NONE, error_json = STR_NONE;
    struct str variables = STR_NONE, assigned = STR_NONE;
    struct history_row *row;

    if (end == STEP_DONE &&
        (!turn_freeze(t, output, &output_json) || !keep_variables(t, &variables, &assigned)))
        end = STEP_FAILED;
    if (end == STEP_FAILED)
        (void)turn_failure(t, &error_json);
    row = step_row(t, HISTORY_RECONCILE, end == STEP_DONE ? STR("completed") : STR("failed"));
    row->attempt = t->x->cursor.asked;
    row->key = turn_key(t, STR_NONE);
    row->output_json = end == STEP_DONE ? output_json : STR_NONE;
    row->error_json = error_json;
    row->started_at_us = t->x->cursor.reconciling->asked_at_us;
    t->row_bytes += (size_t)state_row_bytes(row);
    if (end != STEP_DONE)
        return end;
    if (t->assigned.len > 0) {
        turn_note(t, "variables", assigned);
        state_set_variables(t->x, t->variables, variables);
    }
    step_apply_staged(t);
    return end;
}

/* One question. STEP_DONE with what it answered, STEP_FAILED, STEP_WAITS or STEP_NEEDS. */
static enum step_result put_question(struct turn *t, const struct step *step, struct value *out)
{
    struct cursor *cursor = &t->x->cursor;
    struct reconciling *a = own_reconciling(t);
    struct visit_view u = {.step = step,
                           .view = value_null(),
                           .input = turn_read(t, a->input_json, value_absent()),
                           .loop = context_loop(t)};
    enum step_result end;

    if (!t->is_answered) {
        cursor->asked++;
        a->asked_at_us = t->now_us;
        cursor->input_json = cursor->suspended_json = STR_NONE;
    }
    cursor->wake_at_us = 0;
    turn_begin_step(t);
    t->failure = (struct failure){0};
    t->about = &u;
    t->error = turn_read(t, a->error_json, value_null());
    t->key_suffix = str_printf(t->mem, "-reconcile-%lld", (long long)cursor->asked);
    end = run_question(t, step->reconcile, out);
    if (end == STEP_DONE || end == STEP_FAILED)
        end = record_question(t, end, out);
    t->about = NULL;
    t->error = value_absent();
    t->key_suffix = t->refused_at = STR_NONE;
    t->is_answered = false;
    return end;
}

/* {outcome, output or error}: whether that says what became of it. */
static bool read_answer(struct value answer, enum verdict *verdict, struct value *what)
{
    struct value outcome = value_map_member(answer, STR("outcome"));

    if (outcome.kind != VALUE_STRING || !verdict_read(value_text(outcome), verdict))
        return false;
    *what = value_map_get_str(answer, *verdict == VERDICT_SUCCEEDED ? STR("output") : STR("error"));
    if (*verdict == VERDICT_SUCCEEDED && what->kind == VALUE_ABSENT)
        *what = value_null();
    return true;
}

/* There is no answer yet. */
static bool ask_later(struct turn *t, const struct reconcile *r)
{
    const struct cursor *cursor = &t->x->cursor;

    if (cursor->asked - cursor->reconciling->before < (int64_t)r->max) {
        wait_until(t, t->wall_us + r->every_us);
        return true;
    }
    if (t->x->rollback == NULL) {
        park(t);
        return true;
    }
    reconcile_give_up(t);
    rollback_resume(t);
    return true;
}

/* A version without `reconcile` has no question: as if there had never been one. */
static bool stop_reconciling(struct turn *t)
{
    const struct reconciling *a = t->x->cursor.reconciling;

    end_reconciling(t);
    (void)fail_as_before(t, a->error_json);
    return reconcile_settle(t, try_again(t, a));
}

bool reconcile_ask(struct turn *t)
{
    const struct step *step = turn_step(t);
    const struct rollback *rollback = t->x->rollback;
    struct value output, what = value_absent();
    enum verdict verdict;
    enum step_result end;

    if (step->reconcile == NULL || (rollback != NULL && rollback->deadline_at_us > 0 &&
                                    rollback->deadline_at_us <= t->wall_us))
        return stop_reconciling(t);
    end = put_question(t, step, &output);
    if (end == STEP_NEEDS || end == STEP_WAITS)
        return end == STEP_WAITS;
    t->x->cursor.input_json = t->x->cursor.suspended_json = STR_NONE;
    if (end == STEP_DONE && read_answer(output, &verdict, &what))
        return reconcile_settle(t, reconcile_decide(t, verdict, what));
    return ask_later(t, step->reconcile);
}
