/* disk_letter.c - dead letters on the disk of the simulator; see sim.h. */
#include "engine/commit/commit.h"
#include "engine/commit/history.h"
#include "engine/commit/letter.h"
#include "engine/execution.h"
#include "sim/disk.h"

/* All of them, or the oldest of a step. */
static void close_incident(struct disk_execution *x, struct str step)
{
    for (size_t i = 0; i < x->letters.count; i++) {
        struct disk_letter *l = &x->letters.items[i];

        if (!l->is_incident || !l->is_open || (step.len > 0 && !str_eq(l->step, step)))
            continue;
        l->is_open = false;
        if (step.len > 0)
            return;
    }
}

void disk_write_letters(struct sim *sim, struct disk_execution *x, const struct commit *c)
{
    struct disk *d = &sim->disk;

    if (c->incident.status != LETTER_OPEN && c->incident.steps.count == 0)
        close_incident(x, STR_NONE);
    for (size_t i = 0; c->incident.status != LETTER_OPEN && i < c->incident.steps.count; i++)
        close_incident(x, c->incident.steps.items[i]);
    for (size_t i = 0; c->retries_letter && i < x->letters.count; i++)
        if (uuid_cmp(x->letters.items[i].id, c->retried_letter) == 0)
            x->letters.items[i].is_open = false;
    for (size_t i = 0; i < c->dead_letters.count; i++) {
        const struct dead_letter *l = &c->dead_letters.items[i];

        for (size_t k = 0; k < x->letters.count; k++)
            SIM_CHECK(sim, uuid_cmp(x->letters.items[k].id, l->id) != 0,
                      "two dead letters have one id");
        SIM_CHECK(sim, l->seq >= 1 && l->seq <= (int64_t)x->history.count,
                  "a dead letter names no row");
        SIM_CHECK(sim, l->cause_json.len > 0, "a dead letter without a cause");
        *VEC_ADD(&d->mem, &x->letters) =
            (struct disk_letter){.id = l->id,
                                 .seq = l->seq,
                                 .step = str_copy(&d->mem, l->step),
                                 .is_incident = !str_eq(l->kind, STR("compensation")),
                                 .is_open = true};
        sim_note(sim, (uint64_t)l->seq);
    }
}

void disk_check_incident(struct sim *sim, const struct disk_execution *x,
                         const struct execution *after)
{
    unsigned open = 0, held = 0;

    for (size_t i = 0; i < x->letters.count; i++)
        open += x->letters.items[i].is_incident && x->letters.items[i].is_open;
    for (uint32_t i = 0; !status_is_terminal(after->status) && i < execution_strands(after); i++)
        held += execution_cursor(after, i)->phase == PHASE_HELD;
    SIM_CHECK(sim, open == held, "%u dead letters are open of %.*s, which is held %u times", open,
              STR_ARG(sim_id(sim, after->id)), held);
}

/*
 * A step that failed and may have happened, or one whose call was stopped: it has a letter if
 * nothing could undo it.
 */
static bool may_be_lost(const struct history_row *row)
{
    return str_eq(row->status, row->kind == HISTORY_FORWARD ? STR("failed") : STR("call_ended")) &&
           str_find(row->delta_json, STR("\"maybe\":true"), 0) >= 0;
}

void disk_check_compensations(struct sim *sim, const struct disk_execution *x)
{
    for (size_t i = 0; i < x->history.count; i++) {
        const struct history_row *row = &x->history.items[i];
        bool is_given_up = row->kind == HISTORY_ROLLBACK && str_eq(row->status, STR("failed")) &&
                           str_find(row->delta_json, STR("\"retry\":"), 0) < 0;
        unsigned letters = 0;

        for (size_t k = 0; k < x->letters.count; k++)
            letters += !x->letters.items[k].is_incident && x->letters.items[k].seq == row->seq;
        SIM_CHECK(sim, letters == (is_given_up ? 1u : 0u) || (letters == 1 && may_be_lost(row)),
                  "%u dead letters for row %lld, a %s that is %.*s", letters, (long long)row->seq,
                  history_kind_name(row->kind), STR_ARG(row->status));
    }
}
