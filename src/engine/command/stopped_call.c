/*
 * stopped_call.c - what became of a call whose strand was stopped while it was in flight; see
 * stopped.c and procedure.h.
 *
 * When the strand was stopped nobody knew whether the call had happened, and the row that ended the
 * visit says so. The strand stays with the call as it stood then. The answer is judged as that of
 * any other call; a row `call_ended` of the same visit says what can be undone of it, with the
 * output that its rollback needs. Rolling back takes it in place of the older one. Nothing of the
 * step happens by that: what it had staged is gone, and the step remains stopped.
 */
#include "engine/command/ledger.h"
#include "engine/command/procedure.h"
#include "engine/command/wait.h"
#include "engine/context.h"
#include "engine/flow/rollback.h"
#include "engine/flow/step.h"
#include "engine/flow/strand.h"

/* What the strands that are kept may hold together. */
enum { KEPT_BYTES_MAX = CONTEXT_BYTES_MAX };

static size_t kept_bytes(const struct cursor *cursor)
{
    return cursor->input_json.len + cursor->suspended_json.len;
}

const struct strand *stopped_keep(struct turn *t, struct str *loop_json)
{
    struct strand *s = ARENA_NEW(t->mem, struct strand);
    struct value loop = context_loop(t);
    size_t bytes;

    *s = strand_in_hand(t->x);
    s->waiting_kind = WAITING_NONE;
    s->waiting_for_json = STR_NONE;
    s->cursor.phase = PHASE_JOB;
    s->cursor.wake_at_us = s->cursor.timeout_at_us = 0;
    *loop_json = STR_NONE;
    if (loop.kind == VALUE_MAP && !turn_json(t, loop, loop_json))
        return NULL;
    bytes = kept_bytes(&s->cursor) + loop_json->len;
    for (uint32_t i = 0; i < t->x->stopped_count; i++)
        if (t->x->stopped[i].strand != NULL)
            bytes += kept_bytes(&t->x->stopped[i].strand->cursor) + t->x->stopped[i].loop_json.len;
    return bytes <= KEPT_BYTES_MAX ? s : NULL;
}

/* Its commands are gone through with the answer. Whether the visit may have happened after all. */
static bool judge(struct turn *t)
{
    enum answer_taken taken = wake_take_answer(t, t->ev->answer_output, t->ev->answer_error);
    bool may_have_happened = failure_may_have_happened(t);
    bool has_rollback = turn_step(t)->rollback.procedure != NULL;
    enum step_result end;

    if (taken == ANSWER_REFUSED)
        suspend_refuse(t);
    t->is_stopping = t->is_judging = true;
    end = step_attempt(t);
    t->is_stopping = t->is_judging = false;
    t->refused_at = STR_NONE;
    /* It says nothing of an attempt before it. */
    if (taken == ANSWER_NEVER_SENT)
        return t->x->cursor.is_unsure;
    /* What a command around it has handled stands in the ledger. */
    if (taken == ANSWER_REFUSED)
        return may_have_happened && (t->failure.code.len > 0 || has_rollback);
    /* It has happened; but the rollback of the step has no result when that cannot be made. */
    return end == STEP_FAILED && t->failure.code.len > 0 && has_rollback;
}

void stopped_answered(struct turn *t, const struct stopped_child *c)
{
    struct strand mine = strand_in_hand(t->x);

    strand_put_in_hand(t->x, c->strand);
    turn_answered(t);
    strand_put_in_hand(t->x, &mine);
}

void stopped_judge(struct turn *t, const struct stopped_child *c)
{
    struct execution *x = t->x;
    struct strand mine = strand_in_hand(x);
    struct failure failure = t->failure;
    struct visit_view *about = ARENA_NEW(t->mem, struct visit_view);
    struct history_row *row;
    struct str output_json, error_json = STR_NONE;
    bool may_have_happened;

    strand_put_in_hand(x, c->strand);
    *about = (struct visit_view){
        .step = turn_step(t),
        .view = context_step_view(t->mem, turn_step(t), state_step(x, x->cursor.step)),
        .input = turn_read(t, x->cursor.input_json, value_absent()),
        .loop = turn_read(t, c->loop_json, value_absent())};
    turn_begin_step(t);
    t->about = about;
    t->failure = (struct failure){0};
    may_have_happened = judge(t);
    t->about = NULL;
    output_json = may_have_happened ? STR_NONE : t->refused_output_json;
    if (may_have_happened && t->failure.code.len == 0)
        (void)turn_fail(t, STR("stopped"), ERR_CLASS_INDETERMINATE, STRAND_STOPPED);
    if (t->failure.code.len > 0)
        (void)turn_failure(t, &error_json);
    if (may_have_happened)
        ledger_doubt(t);
    t->sent = x->cursor.asked_seq;
    row = step_row(t, HISTORY_EVENT, STR(STOPPED_CALL_ROW));
    row->output_json = output_json;
    row->error_json = error_json;
    if (c->loop_json.len > 0)
        turn_note(t, "loop", c->loop_json);
    rollback_command_note(t);
    if (may_have_happened)
        turn_note(t, "maybe", STR("true"));
    strand_put_in_hand(x, &mine);
    t->failure = failure;
    turn_begin_step(t);
}
