/*
 * failure.c - what a failure leads to; see step.h.
 *
 *     another attempt, if a policy says so: the one of the command, else of the
 *     step, else the default one
 *     onError "continue" of the step, of a loop or a step around it
 *     the end: outcome.c
 */
#include "engine/flow/reconcile.h"
#include "engine/flow/step.h"
#include "engine/flow/strand.h"
#include "engine/ident.h"

/* --- another attempt? --- */

/* Attempts that a service may put off in one visit; from then on they count. */
enum { WAITS_MAX = 100 };

/* A code, a class, or a beginning: "prefix_*" or "prefix_". */
static bool names_failure(struct str pattern, const struct failure *f)
{
    if (str_ends_with(pattern, STR("*")))
        return str_starts_with(f->code, str_slice(pattern, 0, pattern.len - 1));
    if (str_ends_with(pattern, STR("_")))
        return str_starts_with(f->code, pattern);
    return str_eq(pattern, f->code) || err_class_find(pattern) == f->class;
}

static bool is_named(const struct str *patterns, uint32_t count, const struct failure *f)
{
    for (uint32_t i = 0; i < count; i++)
        if (names_failure(patterns[i], f))
            return true;
    return false;
}

int64_t failure_delay_us(struct turn *t, const struct retry *policy, int64_t tries)
{
    double delay = (double)policy->delay_us, longest = (double)policy->max_delay_us;

    for (int64_t i = 1; i < tries && delay < longest; i++)
        delay *= policy->backoff;
    if (delay > longest)
        delay = longest;
    if (policy->has_jitter)
        delay *= (double)ident_random(t->x->id, t->x->seq + 1, 0) / 4294967296.0;
    return (int64_t)delay;
}

/* How often what failed now has failed in this visit: a command with a policy counts for itself. */
static int64_t tries_with(const struct turn *t)
{
    const struct cursor *cursor = &t->x->cursor;

    return str_eq(cursor->failed_at, t->failure.at) ? cursor->tries + 1 : 1;
}

/* Whether nothing lies between the execution and its deadline but this wait; rollbacks have none. */
static bool is_behind_deadline(const struct turn *t, int64_t at_us)
{
    return t->x->rollback == NULL && t->x->deadline_at_us > 0 && at_us >= t->x->deadline_at_us;
}

/* *is_wait: the service asked for a longer delay than the policy has, which is no try. */
static bool may_try_again(struct turn *t, const struct retry *policy, int64_t *at_us, bool *is_wait)
{
    const struct failure *f = &t->failure;
    int64_t tries = tries_with(t), delay_us;

    if (f->is_final || f->class == ERR_CLASS_BUSINESS)
        return false;
    if (policy->on_count > 0 && !is_named(policy->on, policy->on_count, f))
        return false;
    if (is_named(policy->not_on, policy->not_on_count, f))
        return false;
    delay_us = failure_delay_us(t, policy, tries);
    *is_wait = f->retry_after_us > delay_us && t->x->cursor.waits < WAITS_MAX;
    if (!*is_wait && tries >= policy->max_attempts)
        return false;
    *at_us = t->wall_us + (f->retry_after_us > delay_us ? f->retry_after_us : delay_us);
    /* Nobody would hear the answer: the step fails with what the service has said. */
    return f->retry_after_us <= delay_us || !is_behind_deadline(t, *at_us);
}

bool failure_retries(struct turn *t, const struct retry *policy, int64_t *at_us)
{
    bool is_wait;

    return may_try_again(t, policy, at_us, &is_wait);
}

bool failure_tries_again(struct turn *t, const struct retry *policy, int64_t *at_us)
{
    struct cursor *cursor = &t->x->cursor;
    bool is_wait = false, retries = may_try_again(t, policy, at_us, &is_wait);

    if (retries && is_wait) {
        cursor->waits++;
        return true;
    }
    cursor->tries = tries_with(t);
    cursor->failed_at = t->failure.at;
    return retries;
}

const struct retry *failure_policy(const struct turn *t, const struct step *step)
{
    const struct program *p = t->x->program;

    if (t->failure.retry != NULL)
        return t->failure.retry;
    if (step->retry != NULL)
        return step->retry;
    return step->on_error == ON_ERROR_FAIL_FAST && !p->retry_is_written ? NULL : &p->retry;
}

struct str failure_describe_retry(struct turn *t, struct str error_json, int64_t at_us)
{
    struct buf why;

    buf_init_arena(&why, t->mem);
    field_kind(&why, WAITING_RETRY);
    field_text(&why, "step", turn_code(t));
    if (t->x->rollback != NULL)
        field_json(&why, "rollback", STR("true"));
    field_json(&why, "attempt", str_printf(t->mem, "%lld", (long long)t->x->cursor.attempt + 1));
    field_json(&why, "error", error_json);
    field_time(&why, "since", t->now_us);
    field_time(&why, "until", at_us);
    return field_end(&why);
}

void failure_retry(struct turn *t, struct str error_json, int64_t at_us)
{
    struct history_row *row = step_row(t, HISTORY_FORWARD, STR("failed"));

    row->error_json = error_json;
    t->row_bytes += (size_t)state_row_bytes(row);
    turn_note(t, "retry", str_printf(t->mem, "%lld", (long long)at_us));
    if (t->failure.class == ERR_CLASS_INDETERMINATE || t->failure.is_unsure)
        t->x->cursor.is_unsure = true;
    t->x->cursor.wake_at_us = at_us;
    step_wait(t, PHASE_RETRY, WAITING_RETRY, STR_NONE,
              failure_describe_retry(t, error_json, at_us));
}

void failure_release(struct turn *t)
{
    struct execution *x = t->x;
    struct value why = turn_read(t, x->waiting_for_json, value_null());
    struct str error_json;

    if (!turn_json(t, turn_or_null(value_map_member(why, STR("error"))), &error_json))
        error_json = STR("null");
    x->cursor.phase = PHASE_RETRY;
    x->cursor.wake_at_us = t->wall_us;
    execution_set_waiting(x, WAITING_RETRY, failure_describe_retry(t, error_json, t->wall_us));
}

/* --- the last one --- */

struct value failure_that_fits(struct turn *t, struct str *json)
{
    struct value error = turn_failure(t, json);

    if (state_bytes_with(t->x, json->len) > CONTEXT_BYTES_MAX && turn_drop_details(t))
        error = turn_failure(t, json);
    if (state_bytes_with(t->x, json->len) <= CONTEXT_BYTES_MAX)
        return error;
    /* The user's message or details do not fit; ours do, near enough. */
    (void)turn_fail_size(t);
    return turn_failure(t, json);
}

enum step_result failure_of_step(struct turn *t)
{
    const struct step *step = turn_step(t);
    const struct retry *policy = failure_policy(t, step);
    bool asks = reconcile_is_wanted(t), retries;
    struct str error_json;
    int64_t at_us = 0;

    /* What is still in doubt is not part of the context. */
    if (asks)
        (void)turn_failure(t, &error_json);
    else
        (void)failure_that_fits(t, &error_json);
    retries =
        step->kind == STEP_PROCEDURE && policy != NULL && failure_tries_again(t, policy, &at_us);
    if (asks)
        return reconcile_begin(t, error_json, retries ? at_us : 0);
    if (!retries)
        return failure_for_good(t);
    failure_retry(t, error_json, at_us);
    return STEP_WAITS;
}

/* The failure is recorded: `end` if the step goes on, else who handles it, or the end. */
static enum step_result failure_handle(struct turn *t, struct value error, struct str error_json,
                                       enum step_result end)
{
    const struct step *step = turn_step(t);

    if (step->continues || flow_catch(t, error, error_json, &end))
        return end;
    outcome_fail(t, step->on_error, error_json);
    return STEP_WAITS;
}

enum step_result failure_for_good(struct turn *t)
{
    struct str error_json;
    struct value error = failure_that_fits(t, &error_json);

    failure_record(t, error, error_json);
    /* Its goto may look at what became of it. */
    return failure_handle(t, error, error_json, STEP_DONE);
}

enum step_result failure_of_jump(struct turn *t)
{
    struct str error_json;
    struct value error = turn_failure(t, &error_json);

    step_row(t, HISTORY_EVENT, STR("failed"))->error_json = error_json;
    t->x->cursor.behind = BEHIND_STEP;
    /* The edges of a node are all there is behind it: what fails there is not caught by them. */
    if (turn_step(t)->leaves_by_jumps) {
        outcome_fail(t, turn_step(t)->on_error, error_json);
        return STEP_WAITS;
    }
    return failure_handle(t, error, error_json, STEP_SKIPPED);
}

/* Whether the loop of the innermost frame may fail and something around it goes on. */
static bool loop_is_caught(const struct turn *t)
{
    for (uint32_t i = t->x->frame_count; i-- > 0;) {
        const struct step *step = &t->x->program->steps[t->x->frames[i].step];

        if (step->continues ||
            (i + 1 < t->x->frame_count && step->kind == STEP_LOOP && step->loop->continues))
            return true;
    }
    return false;
}

enum step_result failure_of_loop(struct turn *t, enum cursor_behind behind)
{
    const struct step *loop = &t->x->program->steps[frame_top(t)->step];
    struct str error_json;

    /* No round has begun, or the failure is handled: the loop is over. */
    if (turn_step(t) == loop || loop_is_caught(t)) {
        (void)frame_pop(t);
        return STEP_FAILED;
    }
    (void)turn_failure(t, &error_json);
    step_row(t, HISTORY_EVENT, STR("failed"))->error_json = error_json;
    t->x->cursor.behind = behind;
    outcome_fail(t, loop->on_error, error_json);
    return STEP_WAITS;
}
