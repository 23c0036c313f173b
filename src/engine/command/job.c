/*
 * job.c - procedures that workers do: a job is asked for, a worker claims and
 * answers it; see ask.h.
 *
 * A worker has as long as it keeps its lease, which is the store's and not the
 * engine's: one that runs out comes as an answer of its own, "nobody knows". A
 * timer is set by the `timeout` of the step alone. When that is up, leases are
 * read: what a worker holds may have happened, what nobody has claimed did not.
 */
#include "engine/command/command.h"
#include "engine/command/procedure.h"
#include "engine/commit/ask.h"
#include "engine/commit/reads.h"
#include "engine/flow/step.h"
#include "engine/ident.h"

static struct str describe_job(struct turn *t, const struct procedure *p)
{
    const struct cursor *cursor = &t->x->cursor;
    struct buf why;

    buf_init_arena(&why, t->mem);
    field_kind(&why, WAITING_JOB);
    field_text(&why, "step", turn_code(t));
    field_text(&why, "procedure", p->name);
    if (cursor->phase == PHASE_RECONCILE)
        field_json(&why, "reconcile", STR("true"));
    field_text(&why, "reason", STR("none has asked for it"));
    field_time(&why, "since", t->now_us);
    if (cursor->wake_at_us > 0)
        field_time(&why, "until", cursor->wake_at_us);
    return field_end(&why);
}

/* The commands stop here until a worker has answered. */
static enum step_result ask_worker(struct turn *t, const struct procedure *p, struct str place,
                                   struct value input)
{
    struct cursor *cursor = &t->x->cursor;
    struct str input_json = STR_NONE;
    int64_t timeout_us = turn_step(t)->timeout_us;
    struct ask *job;

    if (input.kind != VALUE_ABSENT && !turn_json(t, input, &input_json))
        return STEP_FAILED;
    if (!ask_begin(t, ASK_JOB, place))
        return STEP_FAILED;
    cursor->wake_at_us = timeout_us > 0 ? t->wall_us + timeout_us : 0;
    job = ask_leave(
        t, (struct ask){.type = p->name, .request_json = input_json, .timeout_us = timeout_us},
        describe_job(t, p));
    job->id = ident_make(t->x->id, job->seq, UINT32_MAX - 2, t->now_us);
    return STEP_WAITS;
}

enum step_result job_run(struct turn *t, const struct procedure *p, struct str place,
                         struct value input, struct value *out)
{
    if (procedure_answered(t, place, out) == STEP_FAILED)
        return STEP_FAILED;
    if (out->kind == VALUE_ABSENT && t->is_stopping)
        return STEP_FAILED;
    return out->kind != VALUE_ABSENT ? STEP_DONE : ask_worker(t, p, place, input);
}

/* It was asked for before the store kept jobs: nobody can have claimed it. */
static bool job_never_left(const struct turn *t, const struct cursor *cursor)
{
    return cursor->asked_seq == 0 && cursor->phase == PHASE_JOB && t->x->rollback == NULL;
}

static enum step_result job_wake(struct turn *t)
{
    if (job_never_left(t, &t->x->cursor))
        return STEP_DONE;
    if (!event_reads(t->ev)->has_leases) {
        t->out->needs_leases = true;
        return STEP_NEEDS;
    }
    turn_begin_step(t);
    if (ask_is_leased(t->ev, &t->x->cursor))
        return turn_fail(t, STR("timeout_step"), ERR_CLASS_INDETERMINATE,
                         "the worker had not answered when the time was up: nobody knows what it "
                         "has done");
    return turn_fail(t, STR("timeout_step"), ERR_CLASS_TRANSIENT,
                     "no worker had begun it when the time was up");
}

const struct ask_functions ask_job = {
    .waiting = WAITING_JOB, .has_news = job_never_left, .wake = job_wake};
