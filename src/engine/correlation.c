/*
 * correlation.c - waits that signals find by a correlation: which of them a
 * commit opens and closes, and the signals that were kept for them. See turn.h.
 *
 * A signal that finds no wait is kept by the store, and a wait that begins
 * looks at what is kept. Neither may miss the other: a commit says up to which
 * kept signal it has looked, and the store refuses it when there are later ones.
 */
#include "engine/wait.h"

/* --- what is kept --- */

static const struct kept_read *find_read(const struct event *ev, struct str correlation)
{
    for (size_t i = 0; ev->kept != NULL && i < ev->kept->count; i++)
        if (str_eq(ev->kept->items[i].correlation, correlation))
            return &ev->kept->items[i];
    return NULL;
}

bool correlation_look(struct turn *t, struct str correlation, const struct kept_read **out)
{
    *out = find_read(t->ev, correlation);
    if (*out != NULL || t->ev->kept == NULL)
        return true;
    *VEC_ADD(t->mem, &t->out->needs_kept) = correlation;
    return false;
}

bool correlation_has(const struct turn *t, const struct kept_signal *kept)
{
    for (size_t i = 0; i < t->out->kept_taken.count; i++)
        if (t->out->kept_taken.items[i].row == kept->row)
            return true;
    return signals_find(&t->x->signals, kept->signal.id) != NULL;
}

void correlation_take(struct turn *t, const struct kept_signal *kept, const struct signal *signal)
{
    receive(t, signal);
    *VEC_ADD(t->mem, &t->out->kept_taken) = (struct kept_take){.row = kept->row, .signal = signal};
}

/* --- what opens and closes --- */

/* The waits that are open in a state. */
static void list_waits(struct arena *mem, const struct execution *x, struct correlated_waits *out)
{
    for (uint32_t i = 0; !status_is_terminal(x->status) && i < execution_strands(x); i++) {
        const struct cursor *c = execution_cursor(x, i);

        if (c->phase == PHASE_WAIT && c->correlation.len > 0 && c->deferred_seq == 0)
            *VEC_ADD(mem, out) = (struct correlated_wait){
                .step = x->program->steps[c->step].code,
                .visit = c->visit,
                .correlation = c->correlation,
                .types_json = c->types_json,
            };
    }
}

static bool is_among(const struct correlated_waits *waits, const struct correlated_wait *w)
{
    for (size_t i = 0; i < waits->count; i++) {
        const struct correlated_wait *other = &waits->items[i];

        if (w->visit == other->visit && str_eq(w->step, other->step) &&
            str_eq(w->correlation, other->correlation) && str_eq(w->types_json, other->types_json))
            return true;
    }
    return false;
}

void correlation_compare(struct turn *t, const struct execution *before)
{
    struct correlated_waits was = {0}, is = {0};

    list_waits(t->mem, before, &was);
    list_waits(t->mem, t->x, &is);
    for (size_t i = 0; i < was.count; i++)
        if (!is_among(&is, &was.items[i]))
            *VEC_ADD(t->mem, &t->out->closed) = was.items[i];
    for (size_t i = 0; i < is.count; i++)
        if (!is_among(&was, &is.items[i])) {
            const struct kept_read *kept = find_read(t->ev, is.items[i].correlation);

            is.items[i].kept_up_to = kept == NULL ? INT64_MAX : kept->last_row;
            *VEC_ADD(t->mem, &t->out->opened) = is.items[i];
        }
}
