/*
 * probe.c - what trials ask of the engine: procedures that are answered in
 * place of being run, and a list of the commands that ran; see command.h.
 *
 * A mocked procedure is a read like any other: its answer is asked for with
 * NEED, and the turn runs anew with it. So it answers at once, within its turn,
 * wherever a procedure may stand, and whoever answers counts the calls.
 */
#include "define/catalog/catalog.h"
#include "engine/command/command.h"
#include "engine/command/procedure.h"
#include "engine/commit/reads.h"

bool probe_is_mocked(const struct turn *t, const struct procedure *p)
{
    return t->ev->mocked.kind == VALUE_MAP && p->kind != PROCEDURE_INLINE &&
           value_map_get_str(t->ev->mocked, p->name).kind != VALUE_ABSENT;
}

enum step_result probe_answer(struct turn *t, const struct procedure *p, struct str place,
                              struct value input, struct value *out)
{
    const struct mock_reads *reads = &event_reads(t->ev)->mocks;
    struct str key = turn_key(t, key_position(t->mem, place.len > 0 ? place : STR("1")));
    /* A further attempt has the same key, and history has grown. */
    struct str call = str_printf(t->mem, "%.*s@%lld", STR_ARG(key), (long long)t->x->seq);

    for (size_t i = 0; i < reads->count; i++) {
        if (!str_eq(reads->items[i].call, call))
            continue;
        *out = reads->items[i].output;
        return out->kind != VALUE_ABSENT ? STEP_DONE : turn_fail_answer(t, reads->items[i].error);
    }
    *VEC_ADD(t->mem, &t->out->needs_mocks) =
        (struct mock_read){.name = p->name, .call = call, .input = input, .output = value_absent()};
    return STEP_NEEDS;
}

void probe_trace(struct turn *t, const struct command *c)
{
    bool asks = t->about != NULL && t->x->cursor.phase == PHASE_RECONCILE;

    if (!t->ev->traces)
        return;
    *VEC_ADD(t->mem, &t->out->commands) = (struct command_run){
        .step = turn_code(t),
        .kind = asks               ? HISTORY_RECONCILE
                : t->about != NULL ? HISTORY_ROLLBACK
                : t->reminder > 0  ? HISTORY_REMINDER
                                   : HISTORY_FORWARD,
        .visit = t->x->cursor.visit,
        .attempt = asks              ? t->x->cursor.asked
                   : t->reminder > 0 ? t->reminder
                                     : t->x->cursor.attempt,
        .place = procedure_command_place(t, c),
        .command = catalog_command(c->type),
    };
}
