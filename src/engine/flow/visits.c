/*
 * visits.c - how often steps were visited, where no result of theirs says so;
 * see state.h.
 *
 * The number of a visit is part of its idempotency key and must never come
 * again: not after a visit that an operator's retry left in the middle, nor for
 * a step that one version lacks and the next one has.
 */
#include "define/program.h"
#include "engine/state.h"
#include "engine/stored.h"
#include "value/json.h"
#include "value/object.h"

/* The list with this visit in place of an earlier one; 0: without it. Ordered by code. */
static const struct past_visit *with(struct arena *mem, const struct past_visit *list,
                                     struct str code, int64_t visit)
{
    const struct past_visit *out = NULL, **link = &out;

    for (; list != NULL && str_cmp(list->code, code) < 0; list = list->next) {
        struct past_visit *copy = ARENA_NEW(mem, struct past_visit);
        *copy = *list;
        *link = copy;
        link = &copy->next;
    }
    if (list != NULL && str_eq(list->code, code))
        list = list->next;
    if (visit > 0) {
        struct past_visit *made = ARENA_NEW(mem, struct past_visit);
        *made = (struct past_visit){.code = code, .visit = visit, .next = list};
        list = made;
    }
    *link = list;
    return out;
}

/* In an iteration that runs beside others, the next visit is not its first. */
static void count_in_round(struct arena *mem, struct execution *x, struct round round,
                           const struct step *step, int64_t visit)
{
    const struct round_step *found = state_find_round_step(x, round, step->index);
    struct step_state state = found != NULL ? found->state : (struct step_state){0};

    if (state.visit >= visit)
        return;
    state.visit = visit;
    state_set_round_step(mem, x, round, step->index, state);
}

void state_count_visit(struct arena *mem, struct execution *x, struct round round, struct str code,
                       int64_t visit)
{
    const struct step *step = program_step(x->program, code);

    if (step == NULL) {
        x->past_visits = with(mem, x->past_visits, code, visit);
        return;
    }
    if (round.loop > 0)
        count_in_round(mem, x, round, step, visit);
    if (step->rounds > 0)
        state_give_visit(x, step->index, visit);
    else if (x->steps[step->index].visit < visit)
        x->steps[step->index].visit = visit;
}

/* Without a result the visits are counted in one place: by round where it may run in several. */
static void settle(struct step_state *s, const struct step *step)
{
    int64_t visits = s->visit > s->given ? s->visit : s->given;

    if (s->outcome != OUTCOME_NONE)
        return;
    s->visit = step->rounds > 0 ? 0 : visits;
    s->given = step->rounds > 0 ? visits : 0;
}

void state_move_visits(struct arena *mem, struct execution *x, const struct program *to,
                       struct step_state *steps)
{
    for (const struct past_visit *p = x->past_visits, *next; p != NULL; p = next) {
        const struct step *step = program_step(to, p->code);

        next = p->next;
        if (step == NULL)
            continue;
        if (step->rounds > 0)
            steps[step->index].given = p->visit;
        else
            steps[step->index].visit = p->visit;
        x->past_visits = with(mem, x->past_visits, p->code, 0);
    }
    for (uint32_t i = 0; i < x->program->step_count; i++)
        if (state_visits(x, i) > 0 && program_step(to, x->program->steps[i].code) == NULL)
            x->past_visits =
                with(mem, x->past_visits, x->program->steps[i].code, state_visits(x, i));
    for (uint32_t i = 0; i < to->step_count; i++)
        settle(&steps[i], &to->steps[i]);
}

static void write_visit(struct buf *out, struct str code, int64_t visit)
{
    object_next(out);
    json_write_string(out, code);
    buf_printf(out, ":%lld", (long long)visit);
}

void state_write_visits(struct buf *out, const struct execution *x)
{
    size_t begin = out->len, empty;

    object_nested(out, "visits");
    empty = out->len;
    for (uint32_t i = 0; i < x->program->step_count; i++)
        if ((x->steps[i].outcome == OUTCOME_NONE && x->steps[i].visit > 0) ||
            x->steps[i].given > x->steps[i].visit)
            write_visit(out, x->program->steps[i].code, state_visits(x, i));
    for (const struct past_visit *p = x->past_visits; p != NULL; p = p->next)
        write_visit(out, p->code, p->visit);
    if (out->len == empty)
        out->len = begin;
    else
        buf_char(out, '}');
}

void state_count_visits(struct arena *mem, struct execution *x, struct round round,
                        struct value visits)
{
    for (uint32_t i = 0; visits.kind == VALUE_MAP && i < visits.len; i++)
        if (visits.map->entries[i].value.kind == VALUE_INT &&
            stored_counts(visits.map->entries[i].value.i))
            state_count_visit(mem, x, round, value_text(visits.map->entries[i].key),
                              visits.map->entries[i].value.i);
}

void state_restore_visits(struct arena *mem, struct execution *x, struct value visits)
{
    for (uint32_t i = 0; visits.kind == VALUE_MAP && i < visits.len; i++) {
        struct str code = value_text(visits.map->entries[i].key);
        const struct step *step = program_step(x->program, code);
        int64_t visit = visits.map->entries[i].value.i;

        if (visits.map->entries[i].value.kind != VALUE_INT || !stored_counts(visit))
            continue;
        /* One that has a result has its own number: these were given beside it. */
        if (step != NULL && x->steps[step->index].outcome != OUTCOME_NONE)
            x->steps[step->index].given = visit;
        else
            state_count_visit(mem, x, (struct round){0}, code, visit);
    }
}

const struct past_visit *state_copy_visits(struct arena *mem, const struct past_visit *list)
{
    const struct past_visit *out = NULL, **link = &out;

    for (; list != NULL; list = list->next) {
        struct past_visit *copy = ARENA_NEW(mem, struct past_visit);
        *copy = (struct past_visit){.code = str_copy(mem, list->code), .visit = list->visit};
        *link = copy;
        link = &copy->next;
    }
    return out;
}
