/*
 * measure.c - what a durable commit and a batch count for; see measure.h.
 *
 * Times of steps are those of their history. A command that is all of its step
 * takes as long as that, and is timed when the step ends; what else runs within
 * a turn takes no time.
 */
#include "node/chore/measure.h"

#include "define/catalog/catalog.h"
#include "effect/effect.h"
#include "engine/commit/commit.h"
#include "engine/execution.h"
#include "node/cache/entry.h"
#include "node/inner.h"
#include "node/meter.h"
#include "node/notify.h"
#include "store/change_job.h"
#include "store/store.h"

/* The command that is all of a step, or NULL. */
static const struct command *only_command(const struct step *step)
{
    if (step == NULL || step->procedure == NULL || step->procedure->command_count != 1)
        return NULL;
    return &step->procedure->commands[0];
}

static void take_command(struct meters *m, const struct command_spec *command, int64_t took_us)
{
    meter_take(m, METER_COMMAND_DURATION, str_of(command->name), STR_NONE, STR_NONE, took_us);
}

static void count_row(struct meters *m, const struct program *p, const struct history_row *row)
{
    const struct step *step = row->step.len > 0 ? program_step(p, row->step) : NULL;
    int64_t took_us = row->completed_at_us - row->started_at_us;

    if (row->kind == HISTORY_EVENT)
        return;
    meter_take(m, METER_STEP_DURATION, p->code, row->step, row->status, took_us);
    if (row->kind != HISTORY_FORWARD || step == NULL || str_eq(row->status, STR("skipped")))
        return;
    if (only_command(step) != NULL)
        take_command(m, catalog_command(only_command(step)->type), took_us);
    if (step->procedure != NULL && step->procedure->name.len > 0) {
        meter_count(m, METER_PROCEDURES, step->procedure->name, row->status, STR_NONE);
        meter_take(m, METER_PROCEDURE_DURATION, step->procedure->name, STR_NONE, STR_NONE, took_us);
    }
}

static void count_command(struct meters *m, const struct program *p, const struct command_run *run)
{
    const struct command *only = only_command(program_step(p, run->step));

    meter_count(m, METER_COMMANDS, str_of(run->command->name), STR_NONE, STR_NONE);
    if (run->kind != HISTORY_FORWARD || only == NULL || catalog_command(only->type) != run->command)
        take_command(m, run->command, 0);
}

static void count_end(struct meters *m, const struct ask_end *end)
{
    static const char *const outcomes[] = {
        [ASK_ANSWERED] = "completed", [ASK_REFUSED] = "failed", [ASK_LOST] = "expired",
        [ASK_LAPSED] = "expired",     [ASK_UNWANTED] = "ended", [ASK_UNCLAIMED] = "ended"};

    meter_count(m, METER_JOBS_ENDED, str_of(outcomes[end->how]), STR_NONE, STR_NONE);
}

void measure_claimed(struct node *n, const struct stored_job *job)
{
    struct meters *m = n->options.meters;
    int64_t waited_us = clock_wall_us(n->clock) - job->created_at_us;

    if (m == NULL)
        return;
    meter_count(m, METER_JOB_CLAIMS, job->type, STR_NONE, STR_NONE);
    meter_take(m, METER_JOB_WAIT, job->type, STR_NONE, STR_NONE, waited_us > 0 ? waited_us : 0);
}

void measure_not_allowed(struct node *n, const struct entry *e, uint32_t count)
{
    for (; n->options.meters != NULL && count > 0; count--)
        meter_count(n->options.meters, METER_EVENTS_NOT_ALLOWED, e->x->program->code, STR_NONE,
                    STR_NONE);
}

void measure_commit(struct node *n, const struct entry *e, const struct commit *commit)
{
    const struct execution *x = commit->after;
    enum execution_status before = entry_status_before(e);
    bool is_end = notify_is_end(commit, before);
    struct meters *m = n->options.meters;

    if (m == NULL)
        return;
    for (size_t i = 0; i < commit->history.count; i++)
        count_row(m, x->program, &commit->history.items[i]);
    for (size_t i = 0; i < commit->commands.count; i++)
        count_command(m, x->program, &commit->commands.items[i]);
    for (size_t i = 0; i < commit->asks_ended.count; i++)
        count_end(m, &commit->asks_ended.items[i]);
    measure_not_allowed(n, e, commit->not_allowed);
    if (before == x->status && !is_end)
        return;
    meter_count(m, METER_FLOW_TRANSITIONS, x->program->code, str_of(status_name(before)),
                str_of(status_name(x->status)));
    if (is_end)
        meter_take(m, METER_E2E_LATENCY, x->program->code, STR_NONE, STR_NONE,
                   x->completed_at_us - x->created_at_us);
    if (is_end && x->key.len > 0)
        meter_take(m, METER_ORDER_LATENCY, STR_NONE, STR_NONE, STR_NONE,
                   x->completed_at_us - x->created_at_us);
}

/* How a call has ended: the class of its status, or the code of its error. */
static struct str call_outcome(const struct effect_call *call)
{
    static const char *const classes[] = {"1xx", "2xx", "3xx", "4xx", "5xx"};

    if (call->error_code != NULL)
        return str_of(call->error_code);
    if (call->status < 100 || call->status > 599)
        return STR("other");
    return str_of(classes[call->status / 100 - 1]);
}

void measure_call(struct node *n, const struct effect_call *call)
{
    struct meters *m = n->options.meters;

    if (m == NULL)
        return;
    meter_count(m, METER_CALLS, call->host, call_outcome(call), STR_NONE);
    meter_take(m, METER_CALL_DURATION, call->host, STR_NONE, STR_NONE,
               clock_mono_us(n->clock) - call->sent_at_us);
}

void measure_batch(struct node *n, const struct batch *b, int64_t sent_at_us)
{
    if (n->options.meters == NULL || b->end != BATCH_COMMITTED)
        return;
    meter_take(n->options.meters, METER_BATCH_SIZE, STR_NONE, STR_NONE, STR_NONE,
               (int64_t)b->members.count);
    meter_take(n->options.meters, METER_BATCH_DURATION, STR_NONE, STR_NONE, STR_NONE,
               clock_mono_us(n->clock) - sent_at_us);
}
