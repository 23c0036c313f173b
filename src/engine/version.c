/*
 * version.c - an execution goes on with another version of its program; see
 * version.h. What stands under a code there is what stood under it here.
 */
#include "engine/version.h"

#include "engine/procedure.h"
#include "engine/strand.h"
#include "value/json.h"

static bool cannot_move(struct err *err, struct str code, const char *why)
{
    return err_set(err, ERR_CONFLICT, "the step '%.*s' %s in that version", STR_ARG(code), why);
}

/* The step of another version that stands for this one, or NULL after an error. */
static const struct step *counterpart(const struct execution *x, const struct program *to,
                                      uint32_t index, struct err *err)
{
    const struct step *from = &x->program->steps[index];
    const struct step *step = program_step(to, from->code);

    if (step == NULL)
        cannot_move(err, from->code, "does not exist");
    else if (step->kind != from->kind)
        cannot_move(err, from->code, "is of another kind");
    else
        return step;
    return NULL;
}

static bool move_frames(struct turn *t, const struct program *to, struct err *err)
{
    struct execution *x = t->x;
    struct frame *frames = ARENA_ARRAY(t->mem, x->frame_count + 1u, struct frame);

    for (uint32_t i = 0; i < x->frame_count; i++) {
        const struct step *from = &x->program->steps[x->frames[i].step];
        const struct step *step = counterpart(x, to, from->index, err);
        uint32_t number = x->frames[i].block - from->first_block;

        if (step == NULL)
            return false;
        if (number >= step->block_count)
            return cannot_move(err, from->code, "has fewer alternatives");
        if (from->kind == STEP_LOOP &&
            (from->loop->concurrency > 1) != (step->loop->concurrency > 1))
            return cannot_move(err, from->code, "runs its rounds in another way");
        frames[i] = x->frames[i];
        frames[i].step = step->index;
        frames[i].block = step->first_block + number;
    }
    x->frames = frames;
    return true;
}

bool version_is_within(const struct execution *x, const struct program *to, const struct step *step)
{
    uint32_t block = step->block;

    for (uint32_t i = x->frame_count; i-- > 0; block = to->steps[x->frames[i].step].block)
        if (x->frames[i].block != block)
            return false;
    return block == 0;
}

static bool move_loops(struct turn *t, const struct program *to, struct err *err)
{
    const struct loop_data *from = t->x->loops;
    const struct loop_data **link = &t->x->loops;

    for (; from != NULL; from = from->outer) {
        const struct step *step = counterpart(t->x, to, from->step, err);
        struct loop_data *l = arena_alloc(t->mem, sizeof(*l));

        if (step == NULL)
            return false;
        *l = *from;
        l->step = step->index;
        *link = l;
        link = &l->outer;
    }
    return true;
}

/* What steps have come to in iterations that run at once. */
static void move_rounds(struct turn *t, const struct program *to)
{
    const struct program *p = t->x->program;
    const struct round_step *from = t->x->rounds, **link = &t->x->rounds;

    for (; from != NULL; from = from->next) {
        const struct step *loop = program_step(to, p->steps[from->round.loop - 1].code);
        const struct step *step = program_step(to, p->steps[from->step].code);
        struct round_step *r;

        if (loop == NULL || step == NULL || step->rounds != loop->index + 1) {
            t->x->context_bytes -= from->state.output_json.len + from->state.error_json.len;
            continue;
        }
        r = arena_alloc(t->mem, sizeof(*r));
        *r = *from;
        r->round.loop = loop->index + 1;
        r->step = step->index;
        *link = r;
        link = &r->next;
    }
    *link = NULL;
}

/* What steps left behind that the other version does not have is history. */
static void drop_steps(struct turn *t, const struct program *to)
{
    struct execution *x = t->x;
    struct buf codes;

    buf_init_arena(&codes, t->mem);
    for (uint32_t i = 0; i < x->program->step_count; i++) {
        struct str code = x->program->steps[i].code;

        if (x->steps[i].outcome == OUTCOME_NONE || program_step(to, code) != NULL)
            continue;
        buf_char(&codes, codes.len == 0 ? '[' : ',');
        json_write_string(&codes, code);
        state_drop_step(x, i);
    }
    if (codes.len == 0)
        return;
    buf_char(&codes, ']');
    turn_note(t, "dropped", buf_view(&codes));
}

static void move_steps(struct turn *t, const struct program *to)
{
    struct execution *x = t->x;
    struct step_state *steps = arena_zalloc(t->mem, (to->step_count + 1u) * sizeof(*steps));
    uint32_t last = x->last_done;

    x->last_done = 0;
    for (uint32_t i = 0; i < x->program->step_count; i++) {
        const struct step *step = program_step(to, x->program->steps[i].code);

        if (step == NULL)
            continue;
        steps[step->index] = x->steps[i];
        if (last == i + 1)
            x->last_done = step->index + 1;
    }
    state_move_visits(t->mem, x, to, steps);
    x->steps = steps;
}

/* Whether the wait under way is one of the same command there. */
static bool keeps_wait(const struct step *from, const struct step *to)
{
    return to->procedure->command_count > 0 &&
           to->procedure->commands[0].type == from->procedure->commands[0].type;
}

static bool move_strand(struct turn *t, const struct program *to, struct err *err)
{
    struct execution *x = t->x;
    const struct step *step = NULL;

    if (x->cursor.step < x->program->step_count) {
        step = counterpart(x, to, x->cursor.step, err);
        if (step == NULL)
            return false;
        if (!status_is_terminal(x->status) && x->cursor.phase == PHASE_WAIT &&
            !keeps_wait(turn_step(t), step))
            return cannot_move(err, step->code, "waits for something else");
    }
    if (!move_frames(t, to, err))
        return false;
    if (step != NULL && !version_is_within(x, to, step))
        return cannot_move(err, step->code, "stands in another place");
    x->cursor.step = step != NULL ? step->index : to->step_count;
    return true;
}

bool version_move(struct turn *t, const struct program *to, struct err *err)
{
    struct execution *x = t->x;
    uint32_t index = x->strand_index;

    for (uint32_t i = 0; i <= x->other_count; i++) {
        strand_take(t, i);
        if (!move_strand(t, to, err))
            return false;
    }
    strand_take(t, index);
    if (!move_loops(t, to, err))
        return false;
    move_rounds(t, to);
    drop_steps(t, to);
    move_steps(t, to);
    x->program = to;
    state_give_visits(x);
    t->slots = ARENA_ARRAY(t->mem, to->slot_count + 1u, struct value);
    t->activation.slots = t->slots;
    turn_note(t, "version", str_printf(t->mem, "%lld", (long long)to->version));
    return true;
}
