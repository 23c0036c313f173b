/*
 * version.c - an execution goes on with another version of its program; see
 * version.h. What stands under a code there is what stood under it here.
 */
#include "engine/flow/version.h"

#include "base/text/ascii.h"
#include "engine/command/ledger.h"
#include "engine/command/machine.h"
#include "engine/command/procedure.h"
#include "engine/command/wait.h"
#include "engine/commit/reads.h"
#include "engine/flow/rollback.h"
#include "engine/flow/step.h"
#include "engine/flow/strand.h"
#include "value/json.h"

#define OTHER_COMMANDS "has other commands in place of those that are done or in flight"

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

/*
 * What steps left behind that the other version does not have is history, and what rollbacks of
 * this one see.
 */
static bool drop_steps(struct turn *t, const struct program *to, struct err *err)
{
    struct execution *x = t->x;
    bool is_kept = rollback_is_possible(x);
    struct buf codes;

    buf_init_arena(&codes, t->mem);
    for (uint32_t i = 0; i < x->program->step_count; i++) {
        struct str code = x->program->steps[i].code;

        if (x->steps[i].outcome == OUTCOME_NONE || program_step(to, code) != NULL)
            continue;
        buf_char(&codes, codes.len == 0 ? '[' : ',');
        json_write_string(&codes, code);
        if (is_kept)
            state_keep_step(t->mem, x, code, &x->steps[i]);
        state_drop_step(x, i);
    }
    if (x->past_steps.bytes > CONTEXT_BYTES_MAX)
        return err_set(err, ERR_CONFLICT,
                       "that version does not have steps whose results rollbacks may need, and "
                       "these take more than %d bytes",
                       CONTEXT_BYTES_MAX);
    if (codes.len > 0) {
        buf_char(&codes, ']');
        turn_note(t, "dropped", buf_view(&codes));
    }
    return true;
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

/* Whether the current wait is one of the same command there. */
static bool keeps_wait(const struct step *from, const struct step *to)
{
    return to->procedure->command_count > 0 &&
           to->procedure->commands[0].type == from->procedure->commands[0].type;
}

/* --- what the commands of the visit have done --- */

enum { CALLS_DEEP = 16 }; /* procedures within procedures that are compared */

static bool is_same_call(const struct procedure *a, const struct procedure *b, unsigned depth);

static bool are_same_commands(const struct command *a, const struct command *b, uint32_t count,
                              unsigned depth)
{
    for (uint32_t i = 0; i < count; i++) {
        if (a[i].written_hash != b[i].written_hash ||
            !is_same_call(a[i].call.procedure, b[i].call.procedure, depth))
            return false;
        for (uint32_t k = 0; k < a[i].body_count; k++)
            if (!are_same_commands(a[i].bodies[k].commands, b[i].bodies[k].commands,
                                   a[i].bodies[k].count, depth))
                return false;
    }
    return true;
}

/* Whether two procedures do the same in their first commands, and in what those call. */
static bool is_same_start(const struct procedure *a, const struct procedure *b, uint32_t count,
                          unsigned depth)
{
    return depth < CALLS_DEEP && a->kind == b->kind && str_eq(a->name, b->name) &&
           a->version == b->version && a->command_count >= count && b->command_count >= count &&
           are_same_commands(a->commands, b->commands, count, depth + 1);
}

static bool is_same_call(const struct procedure *a, const struct procedure *b, unsigned depth)
{
    if (a == NULL || b == NULL)
        return a == b;
    return a->command_count == b->command_count && is_same_start(a, b, a->command_count, depth);
}

/* The number of the command of a procedure that a place such as "2.1" is within. */
static uint32_t command_number(struct str place)
{
    uint32_t number = 0;

    for (size_t i = 0; i < place.len && ascii_is_digit(place.ptr[i]) && number < 1000; i++)
        number = 10 * number + (uint32_t)(place.ptr[i] - '0');
    return number;
}

/*
 * Whether the commands that a suspended visit has run, and the one that it waits
 * for or tries again, are the same in two procedures: what they have answered is
 * kept by their places, and their idempotency keys name these.
 */
static bool keeps_commands(struct turn *t, struct str suspended_json, const struct procedure *from,
                           const struct procedure *to)
{
    struct value suspended, results;
    uint32_t count;

    if (suspended_json.len == 0)
        return true;
    suspended = turn_read(t, suspended_json, value_null());
    results = value_map_get_str(suspended, STR("results"));
    count = command_number(value_map_text(suspended, STR("asks")));
    for (uint32_t i = 0; results.kind == VALUE_MAP && i < results.len; i++) {
        uint32_t number = command_number(value_text(results.map->entries[i].key));

        count = number > count ? number : count;
    }
    return is_same_start(from, to, count, 0);
}

/* Whether what the current visit has done and waits for has its place in a step of another version. */
static bool keeps_visit(struct turn *t, const struct step *to)
{
    const struct cursor *cursor = &t->x->cursor;
    const struct step *from = turn_step(t);

    if (from->kind != STEP_PROCEDURE)
        return true;
    if (cursor->reconciling == NULL)
        return keeps_commands(t, cursor->suspended_json, from->procedure, to->procedure);
    return keeps_commands(t, cursor->reconciling->suspended_json, from->procedure, to->procedure) &&
           (to->reconcile == NULL || from->reconcile == NULL ||
            keeps_commands(t, cursor->suspended_json, from->reconcile->call.procedure,
                           to->reconcile->call.procedure));
}

bool version_keeps_commands(struct turn *t, struct str suspended_json, struct err *err)
{
    const struct step *step;

    if (t->ev->program == NULL)
        return true;
    step = counterpart(t->x, t->ev->program, t->x->cursor.step, err);
    if (step == NULL)
        return false;
    return keeps_commands(t, suspended_json, turn_step(t)->procedure, step->procedure) ||
           cannot_move(err, step->code, OTHER_COMMANDS);
}

/* What the visit has done by now was done with the program that is left. */
static bool name_program(struct turn *t, struct err *err)
{
    struct cursor *cursor = &t->x->cursor;
    struct str name = former_name(t->mem, t->x->program);
    struct reconciling *asking;
    bool ok;

    if (cursor->reconciling != NULL) {
        asking = arena_alloc(t->mem, sizeof(*asking));
        *asking = *cursor->reconciling;
        ok = ledger_name_program(t, name, &asking->suspended_json);
        cursor->reconciling = asking;
    } else {
        ok = ledger_name_program(t, name, &cursor->suspended_json);
    }
    return ok || err_set(err, ERR_CONFLICT, "%pS", SENTENCE_ARG(t->failure.message));
}

bool version_keeps_visit(struct turn *t, struct err *err)
{
    const struct step *step;

    if (t->ev->program == NULL)
        return true;
    step = counterpart(t->x, t->ev->program, t->x->cursor.step, err);
    return step != NULL && (keeps_visit(t, step) || cannot_move(err, step->code, OTHER_COMMANDS));
}

/* Whether the strand in hand goes on with what its visit has done, once the execution has moved. */
static bool goes_on_with_visit(const struct turn *t, bool is_first)
{
    if (turn_is_in_visit(t->x))
        return true;
    /* The step that a retry is about is looked at by whoever decides what becomes of it. */
    return t->x->cursor.suspended_json.len > 0 && (!is_first || t->ev->kind == EVENT_MIGRATE);
}

static bool move_strand(struct turn *t, const struct program *to, bool is_first, struct err *err)
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
        if (!status_is_terminal(x->status) && x->cursor.phase == PHASE_WAIT)
            remind_move(&x->cursor, step->procedure->commands[0].wait);
        if (goes_on_with_visit(t, is_first) && !keeps_visit(t, step))
            return cannot_move(err, step->code, OTHER_COMMANDS);
    }
    if (!move_frames(t, to, err))
        return false;
    if (step != NULL && !version_is_within(x, to, step))
        return cannot_move(err, step->code, "stands in another place");
    if (!name_program(t, err))
        return false;
    x->cursor.step = step != NULL ? step->index : to->step_count;
    return true;
}

static const struct procedure *reminder_of(const struct step *step)
{
    const struct wait *wait = step_is_wait(step) ? step->procedure->commands[0].wait : NULL;

    return wait != NULL ? wait->reminder.procedure : NULL;
}

/* Reminders that wait for an answer go on with the same commands. */
static bool move_reminders(struct turn *t, const struct program *to, struct err *err)
{
    struct execution *x = t->x;
    const struct strand **moved;

    if (x->reminding_count == 0)
        return true;
    moved = ARENA_ARRAY(t->mem, x->reminding_count, const struct strand *);
    for (uint32_t i = 0; i < x->reminding_count; i++) {
        const struct cursor *c = &x->reminding[i]->cursor;
        const struct step *from = &x->program->steps[c->step];
        const struct step *step = counterpart(x, to, c->step, err);
        struct strand *made = arena_alloc(t->mem, sizeof(*made));

        if (step == NULL)
            return false;
        if (reminder_of(step) == NULL ||
            !keeps_commands(t, c->suspended_json, reminder_of(from), reminder_of(step)))
            return cannot_move(err, step->code, OTHER_COMMANDS);
        *made = *x->reminding[i];
        made->cursor.step = step->index;
        moved[i] = made;
    }
    x->reminding = moved;
    return true;
}

/* --- parallel steps --- */

/* A parallel step that runs, as it was in the version that the execution comes from. */
struct running_parallel {
    uint32_t strand, depth, had; /* the last strand in it, its frame there, its branches */
    int64_t visit;
    uint32_t step;
};

struct running_parallels {
    VEC_OF(struct running_parallel);
};

static void note_parallels(struct turn *t, uint32_t strand, struct running_parallels *all)
{
    const struct execution *x = t->x;

    for (uint32_t i = 0; i < x->frame_count; i++) {
        const struct step *step = &x->program->steps[x->frames[i].step];
        struct running_parallel *found = NULL;

        if (step->kind != STEP_PARALLEL)
            continue;
        for (size_t k = 0; k < all->count; k++)
            if (all->items[k].step == step->index && all->items[k].visit == x->frames[i].visit)
                found = &all->items[k];
        if (found == NULL)
            found = VEC_ADD(t->mem, all);
        *found = (struct running_parallel){.strand = strand,
                                           .depth = i,
                                           .had = step->block_count,
                                           .visit = x->frames[i].visit,
                                           .step = step->index};
    }
}

/* Branches are told apart by their place: what has run in one must not come again in another. */
static bool keep_branches(const struct execution *x, const struct program *to,
                          const struct running_parallels *all, struct err *err)
{
    for (size_t k = 0; k < all->count; k++) {
        const struct step *from = &x->program->steps[all->items[k].step];
        const struct step *parallel = counterpart(x, to, from->index, err);

        if (parallel == NULL)
            return false;
        for (uint32_t i = 0; i < x->program->step_count; i++) {
            const struct step *was = &x->program->steps[i], *is;
            uint32_t number = was->block - from->first_block;

            if (was->block < from->first_block || number >= from->block_count)
                continue;
            is = program_step(to, was->code);
            if (is != NULL && is->block != parallel->first_block + number)
                return cannot_move(err, was->code, "stands in another place");
        }
    }
    return true;
}

/* From the last strand on: those before keep their places. */
static bool begin_gained(struct turn *t, const struct running_parallels *all, struct err *err)
{
    uint32_t index = t->x->strand_index;

    for (uint32_t strand = execution_strands(t->x); strand-- > 0;)
        for (size_t k = all->count; k-- > 0;) {
            const struct running_parallel *p = &all->items[k];
            uint32_t before = execution_strands(t->x);

            if (p->strand != strand)
                continue;
            strand_take(t, strand);
            if (!parallel_begin_gained(t, p->depth, p->had))
                return err_set(err, ERR_CONFLICT, "%pS", SENTENCE_ARG(t->failure.message));
            if (strand < index)
                index += execution_strands(t->x) - before;
        }
    strand_take(t, index);
    return true;
}

/* What calls that were stopped have done is not judged by another version: they may have happened. */
static void forget_stopped_strands(struct turn *t)
{
    struct execution *x = t->x;
    struct stopped_child *all = ARENA_ARRAY(t->mem, x->stopped_count + 1u, struct stopped_child);

    for (uint32_t i = 0; i < x->stopped_count; i++) {
        all[i] = x->stopped[i];
        all[i].strand = NULL;
        all[i].loop_json = STR_NONE;
    }
    x->stopped = x->stopped_count > 0 ? all : NULL;
}

bool version_move(struct turn *t, const struct program *to, struct err *err)
{
    struct execution *x = t->x;
    uint32_t index = x->strand_index;
    struct running_parallels parallels = {0};
    struct str was;

    for (uint32_t i = 0; i <= x->other_count; i++) {
        strand_take(t, i);
        note_parallels(t, i, &parallels);
    }
    if (!keep_branches(x, to, &parallels, err))
        return false;
    for (uint32_t i = 0; i <= x->other_count; i++) {
        strand_take(t, i);
        if (!move_strand(t, to, i == index, err))
            return false;
    }
    strand_take(t, index);
    if (!move_reminders(t, to, err) || !move_loops(t, to, err))
        return false;
    move_rounds(t, to);
    if (!drop_steps(t, to, err))
        return false;
    move_steps(t, to);
    forget_stopped_strands(t);
    was = former_name(t->mem, x->program);
    turn_note(t, "was", str_printf(t->mem, "\"%.*s\"", STR_ARG(was)));
    x->program = to;
    x->has_moved = true;
    state_give_visits(x);
    t->slots = ARENA_ARRAY(t->mem, to->slot_count + 1u, struct value);
    t->activation.slots = t->slots;
    turn_note(t, "version", str_printf(t->mem, "%lld", (long long)to->version));
    return begin_gained(t, &parallels, err) && machine_moved(t, err);
}
