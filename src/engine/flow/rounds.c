/*
 * rounds.c - what running loops and parallel steps hold; see state.h.
 *
 * Lists are shared by states, so what is changed is copied first: the nodes
 * before it, which are few, because what is new stands first.
 *
 * A round is an iteration of a loop whose iterations run at once. Each sees its
 * own results of the steps in it; beside them the state has the one whose visit
 * has the highest number, which is what everybody else sees.
 */
#include "define/program.h"
#include "engine/state.h"

/* --- loops --- */

static size_t loop_bytes(const struct loop_data *l)
{
    return l->collected.bytes + l->errors.bytes;
}

static bool is_loop(const struct loop_data *l, uint32_t step, int64_t visit)
{
    return l->step == step && (l->visit == visit || l->visit == 0 || visit == 0);
}

const struct loop_data *state_loop(const struct execution *x, uint32_t step, int64_t visit)
{
    for (const struct loop_data *l = x->loops; l != NULL; l = l->outer)
        if (is_loop(l, step, visit))
            return l;
    return NULL;
}

/* A copy of the list up to `last`, whose own copy is *made, or which is left out when that is NULL. */
static void copy_loops_to(struct arena *mem, struct execution *x, const struct loop_data *last,
                          struct loop_data **made)
{
    const struct loop_data **link = &x->loops;

    for (const struct loop_data *l = x->loops; l != last; l = l->outer) {
        struct loop_data *copy = arena_alloc(mem, sizeof(*copy));
        *copy = *l;
        *link = copy;
        link = &copy->outer;
    }
    if (made == NULL) {
        *link = last->outer;
        return;
    }
    *made = arena_alloc(mem, sizeof(**made));
    **made = *last;
    *link = *made;
}

/* What the loop holds, to be written to. */
static struct loop_data *own_loop(struct arena *mem, struct execution *x, uint32_t step,
                                  int64_t visit)
{
    const struct loop_data *found = state_loop(x, step, visit);
    struct loop_data *l;

    if (found != NULL) {
        copy_loops_to(mem, x, found, &l);
        return l;
    }
    l = arena_alloc(mem, sizeof(*l));
    *l =
        (struct loop_data){.outer = x->loops, .step = step, .visit = visit, .list = value_absent()};
    x->loops = l;
    return l;
}

/* Numbers for the first visits of the steps in it: one for each iteration, never to come again. */
static int64_t give_out_visits(struct execution *x, uint32_t loop, int64_t count)
{
    int64_t base = 0;

    for (uint32_t i = 0; i < x->program->step_count; i++)
        if (x->program->steps[i].rounds == loop + 1 && state_visits(x, i) > base)
            base = state_visits(x, i);
    for (uint32_t i = 0; i < x->program->step_count; i++)
        if (x->program->steps[i].rounds == loop + 1)
            x->steps[i].given = base + count;
    return base;
}

void state_give_visits(struct execution *x)
{
    for (const struct loop_data *l = x->loops; l != NULL; l = l->outer)
        for (uint32_t i = 0; l->started > 0 && i < x->program->step_count; i++)
            if (x->program->steps[i].rounds == l->step + 1)
                state_give_visit(x, i, l->base + l->list.len);
}

void state_begin_loop(struct arena *mem, struct execution *x, uint32_t step, int64_t visit,
                      struct value list, size_t list_bytes, int64_t started)
{
    struct loop_data *l = own_loop(mem, x, step, visit);

    l->list = list;
    l->list_bytes = list_bytes;
    l->started = started;
    if (started > 0)
        l->base = give_out_visits(x, step, list.len);
}

void state_resume_loop(struct arena *mem, struct execution *x, uint32_t step, int64_t visit,
                       struct loop_data stored)
{
    struct loop_data *l = own_loop(mem, x, step, visit);

    l->list = stored.list;
    l->list_bytes = stored.list_bytes;
    l->base = stored.base;
    l->started = stored.started;
    l->ended = stored.ended;
}

struct value state_numbered(struct arena *mem, int64_t number, struct value v)
{
    struct value *pair = ARENA_ARRAY(mem, 2, struct value);

    pair[0] = value_int(number);
    pair[1] = v;
    return value_list(pair, 2);
}

void state_add_collected(struct arena *mem, struct execution *x, uint32_t step, int64_t visit,
                         struct value item, size_t bytes)
{
    items_add(mem, &own_loop(mem, x, step, visit)->collected, x, item, bytes);
    x->context_bytes += bytes;
}

void state_add_loop_error(struct arena *mem, struct execution *x, uint32_t step, int64_t visit,
                          struct value error, size_t bytes)
{
    items_add(mem, &own_loop(mem, x, step, visit)->errors, x, error, bytes);
    x->context_bytes += bytes;
}

void state_end_loop(struct arena *mem, struct execution *x, uint32_t step, int64_t visit)
{
    const struct loop_data *l = state_loop(x, step, visit);

    if (l == NULL)
        return;
    x->context_bytes -= loop_bytes(l);
    copy_loops_to(mem, x, l, NULL);
}

size_t state_checkpoint_bytes(const struct execution *x)
{
    size_t bytes = x->context_bytes + x->past_steps.bytes;

    for (const struct loop_data *l = x->loops; l != NULL; l = l->outer)
        bytes += l->list_bytes;
    return bytes;
}

/* --- rounds --- */

struct round state_round(const struct execution *x, uint32_t step)
{
    uint32_t loop = x->program->steps[step].rounds;

    for (uint32_t i = x->frame_count; loop > 0 && i-- > 0;)
        if (x->frames[i].step + 1 == loop)
            return (struct round){
                .loop = loop, .visit = x->frames[i].visit, .index = x->frames[i].index};
    return (struct round){0};
}

static bool is_round(struct round a, struct round b)
{
    return a.loop == b.loop && a.visit == b.visit && a.index == b.index;
}

const struct round_step *state_find_round_step(const struct execution *x, struct round round,
                                               uint32_t step)
{
    for (const struct round_step *r = x->rounds; r != NULL; r = r->next)
        if (r->step == step && is_round(r->round, round))
            return r;
    return NULL;
}

const struct step_state *state_step(const struct execution *x, uint32_t step)
{
    static const struct step_state none;
    const struct round_step *found;
    struct round round;

    if (x->program->steps[step].rounds == 0)
        return &x->steps[step];
    round = state_round(x, step);
    if (round.loop == 0)
        return &x->steps[step];
    found = state_find_round_step(x, round, step);
    return found != NULL ? &found->state : &none;
}

int64_t state_visits(const struct execution *x, uint32_t step)
{
    const struct step_state *s = &x->steps[step];

    return s->given > s->visit ? s->given : s->visit;
}

int64_t state_next_visit(struct execution *x, uint32_t step)
{
    struct round round = state_round(x, step);
    const struct loop_data *loop;
    int64_t visit;

    if (round.loop == 0)
        return state_visits(x, step) + 1;
    loop = state_loop(x, round.loop - 1, round.visit);
    visit = state_step(x, step)->visit == 0 && loop != NULL ? loop->base + round.index + 1
                                                            : state_visits(x, step) + 1;
    state_give_visit(x, step, visit);
    return visit;
}

void state_give_visit(struct execution *x, uint32_t step, int64_t visit)
{
    if (x->program->steps[step].rounds > 0 && x->steps[step].given < visit)
        x->steps[step].given = visit;
}

size_t state_bytes_with(const struct execution *x, size_t bytes)
{
    const struct step_state *own = state_step(x, x->cursor.step);
    const struct step_state *shared = &x->steps[x->cursor.step];
    size_t total = x->context_bytes - state_step_bytes(own) + bytes;

    if (own == shared || x->cursor.visit < shared->visit)
        return total;
    return total - state_step_bytes(shared) + bytes;
}

/* The list without one of its nodes. */
static void take_out(struct arena *mem, struct execution *x, const struct round_step *out)
{
    const struct round_step **link = &x->rounds;

    for (const struct round_step *r = x->rounds; r != out; r = r->next) {
        struct round_step *copy = arena_alloc(mem, sizeof(*copy));
        *copy = *r;
        *link = copy;
        link = &copy->next;
    }
    *link = out->next;
    x->context_bytes -= state_step_bytes(&out->state);
}

void state_set_round_step(struct arena *mem, struct execution *x, struct round round, uint32_t step,
                          struct step_state state)
{
    const struct round_step *before = state_find_round_step(x, round, step);
    struct round_step *made = arena_alloc(mem, sizeof(*made));

    if (before != NULL)
        take_out(mem, x, before);
    *made = (struct round_step){.next = x->rounds, .round = round, .step = step, .state = state};
    x->rounds = made;
    x->context_bytes += state_step_bytes(&state);
}

void state_end_round(struct arena *mem, struct execution *x, struct round round)
{
    const struct loop_data *data = state_loop(x, round.loop - 1, round.visit);
    const struct round_step *r, *next;

    for (r = x->rounds; r != NULL; r = next) {
        next = r->next;
        if (is_round(r->round, round))
            take_out(mem, x, r);
    }
    if (data != NULL) {
        struct loop_data *l = own_loop(mem, x, round.loop - 1, round.visit);
        l->ended++;
        if (l->list.kind == VALUE_LIST && l->started < (int64_t)l->list.len)
            l->started++;
    }
}

/* --- what nobody is in any more --- */

static const struct frame *find_frame(const struct frame *frames, uint32_t count, uint32_t step,
                                      int64_t visit, const int64_t *index)
{
    for (uint32_t i = 0; i < count; i++)
        if (frames[i].step == step && (visit == 0 || frames[i].visit == visit) &&
            (index == NULL || frames[i].index == *index))
            return &frames[i];
    return NULL;
}

/* The frame of a strand that is in that step, or NULL. */
static const struct frame *under_way(const struct execution *x, uint32_t step, int64_t visit,
                                     const int64_t *index)
{
    const struct frame *found;

    if (status_is_terminal(x->status) && x->status != STATUS_FAILED)
        return NULL;
    found = find_frame(x->frames, x->frame_count, step, visit, index);
    for (uint32_t i = 0; i < x->other_count && found == NULL; i++)
        found = find_frame(x->others[i]->frames, x->others[i]->frame_count, step, visit, index);
    for (uint32_t i = 0; x->rollback != NULL && i < x->rollback->other_count && found == NULL; i++)
        found = find_frame(x->rollback->others[i]->frames, x->rollback->others[i]->frame_count,
                           step, visit, index);
    return found;
}

void state_prune(struct arena *mem, struct execution *x)
{
    const struct loop_data *l, *outer;
    const struct round_step *r, *next;

    for (l = x->loops; l != NULL; l = outer) {
        const struct frame *frame = under_way(x, l->step, l->visit, NULL);

        outer = l->outer;
        if (frame == NULL)
            state_end_loop(mem, x, l->step, l->visit);
        else if (l->visit == 0)
            own_loop(mem, x, l->step, 0)->visit = frame->visit;
    }
    for (r = x->rounds; r != NULL; r = next) {
        next = r->next;
        if (under_way(x, r->round.loop - 1, r->round.visit, &r->round.index) == NULL)
            take_out(mem, x, state_find_round_step(x, r->round, r->step));
    }
}
