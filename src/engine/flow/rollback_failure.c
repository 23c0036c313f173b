/*
 * rollback_failure.c - a rollback that has failed is tried again later, or given
 * up: a dead letter, and the rest goes on; see rollback.h.
 */
#include "engine/command/ledger.h"
#include "engine/flow/rollback.h"
#include "engine/flow/step.h"
#include "engine/ident.h"

bool rollback_is_past_budget(const struct turn *t)
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

/* How the rollback in hand is tried again: as the command that failed says, else as the rollback. */
static const struct retry *rollback_policy(struct turn *t, struct value delta)
{
    const struct step *step = turn_step(t);
    const struct procedure_call *call = &step->rollback;
    struct ledger_command found;

    if (t->failure.retry != NULL)
        return t->failure.retry;
    if (t->x->rollback->commands_left > 0 &&
        ledger_find(step->procedure, rollback_command_place(t, delta), &found))
        call = &found.command->rollback;
    return call->retry;
}

void rollback_fail_program(struct turn *t, struct str name)
{
    (void)turn_fail(t, STR("internal_program"), ERR_CLASS_BUSINESS,
                    "version %.*s, which it has run with, cannot be read any more: what was done "
                    "by it cannot be rolled back",
                    STR_ARG(name));
}

void rollback_give_up(struct turn *t, struct str error_json)
{
    outcome_dead_letter(t, LETTER_COMPENSATION, turn_code(t), t->x->cursor.attempt, error_json,
                        t->x->cursor.input_json);
    rollback_retry_note(t);
    rollback_entry_end(t, false);
}

enum step_result rollback_failed(struct turn *t, struct value delta)
{
    const struct retry *policy = rollback_policy(t, delta);
    const struct history_row *about = t->about->row;
    struct str error_json;
    int64_t at_us;

    (void)turn_failure(t, &error_json);
    if (t->failure.is_contended && !rollback_is_past_budget(t))
        return wait_for_record(t, error_json);
    rollback_entry_row(t, about, STR("failed"))->error_json = error_json;
    if (!rollback_is_past_budget(t) && policy != NULL && failure_tries_again(t, policy, &at_us))
        return try_later(t, error_json, at_us);
    rollback_give_up(t, error_json);
    return STEP_DONE;
}
