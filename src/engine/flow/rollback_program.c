/*
 * rollback_program.c - what was done with an earlier program is rolled back by
 * that one; see rollback.h.
 *
 * A row that moves the execution to another program names the one before it:
 * delta.was. Going back through history, rows in front of it ran with that. In
 * the ledger of a visit that began before the move, entries name it themselves.
 * Results of steps that the move dropped are there for it: past_steps.c.
 */
#include "engine/actions.h"
#include "engine/commit/reads.h"
#include "engine/flow/rollback.h"

void rollback_pass_move(struct turn *t, struct rollback *rollback, const struct history_row *row)
{
    struct value was;

    if (!t->x->has_moved || row->delta_json.len == 0)
        return;
    was = value_map_member(turn_read(t, row->delta_json, value_null()), STR("was"));
    if (was.kind != VALUE_STRING)
        return;
    rollback->under = str_copy(t->mem, value_text(was));
    rollback->is_unreadable = false;
}

enum step_result rollback_program(struct turn *t, struct str name, const struct program **out)
{
    const struct former_reads *reads = &event_reads(t->ev)->formers;

    *out = t->x->program;
    if (name.len == 0 || str_eq(name, former_name(t->mem, t->x->program)))
        return STEP_DONE;
    for (size_t i = 0; i < reads->count; i++)
        if (str_eq(reads->items[i].name, name)) {
            *out = reads->items[i].program;
            return *out != NULL ? STEP_DONE : STEP_FAILED;
        }
    *VEC_ADD(t->mem, &t->out->needs_formers) = name;
    return STEP_NEEDS;
}

void rollback_detour(struct turn *t, const struct program *p, struct rollback_detour *own)
{
    struct execution *x = t->x;
    struct step_state *steps;

    *own = (struct rollback_detour){x->program, x->steps, t->slots};
    if (p == x->program)
        return;
    steps = arena_zalloc(t->mem, (p->step_count + 1u) * sizeof(*steps));
    for (uint32_t i = 0; i < p->step_count; i++) {
        const struct step *step = program_step(x->program, p->steps[i].code);

        /* The latest visit: one that came after a move, else that of a step which a move dropped. */
        if (step != NULL && x->steps[step->index].outcome != OUTCOME_NONE)
            steps[i] = x->steps[step->index];
        else if (!state_past_step(t->mem, x, p->steps[i].code, &steps[i]) && step != NULL)
            steps[i] = x->steps[step->index];
    }
    x->program = p;
    x->steps = steps;
    t->slots = ARENA_ARRAY(t->mem, p->slot_count + 1u, struct value);
    t->activation.slots = t->slots;
}

void rollback_return(struct turn *t, const struct rollback_detour *own)
{
    struct execution *x = t->x;
    const struct program *p = x->program;
    const struct step *step;
    struct str code;

    if (p == own->program)
        return;
    code = turn_code(t);
    step = program_step(own->program, code);
    x->cursor.step = step != NULL ? step->index : own->program->step_count;
    x->cursor.past = step != NULL ? STR_NONE : str_copy(t->mem, code);
    x->program = own->program;
    x->steps = own->steps;
    t->slots = own->slots;
    t->activation.slots = t->slots;
}
