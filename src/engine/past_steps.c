/*
 * past_steps.c - results of steps that a move to another program has dropped;
 * see state.h. They are no part of the context, and rolling back by an earlier
 * program sees them.
 *
 *     {step: CODE, bytes, state: {visit, output | error | skipped}}    in the order of being dropped
 *
 * why: decision 0426
 */
#include "engine/state.h"
#include "engine/stored.h"
#include "value/json.h"

static bool is_past_of(struct value past, struct str code)
{
    return str_eq(value_map_text(past, STR("step")), code);
}

static struct value past_state(struct arena *mem, const struct step_state *s)
{
    struct value_entry *entries = ARENA_ARRAY(mem, 2, struct value_entry);
    size_t count = 0;

    value_entry_add(entries, &count, STR("visit"), value_int(s->visit));
    if (s->outcome == OUTCOME_COMPLETED)
        value_entry_add(entries, &count, STR("output"), s->output);
    else if (s->outcome == OUTCOME_FAILED)
        value_entry_add(entries, &count, STR("error"), s->error);
    else
        value_entry_add(entries, &count, STR("skipped"), value_bool(true));
    return value_map_take(mem, entries, count);
}

/* What is kept of the step, or NULL. */
static const struct value *find_past(const struct execution *x, struct str code)
{
    struct shared_iter iter = {0};
    const struct value *v;

    while ((v = items_next(&x->past_steps, &iter)) != NULL)
        if (is_past_of(*v, code))
            return v;
    return NULL;
}

static void forget_past(struct arena *mem, struct execution *x, struct str code)
{
    struct items before = x->past_steps;
    struct shared_iter iter = {0};
    const struct value *v;

    x->past_steps = (struct items){0};
    while ((v = items_next(&before, &iter)) != NULL)
        if (!is_past_of(*v, code))
            items_add(mem, &x->past_steps, x, *v, (size_t)value_map_int(*v, STR("bytes")));
}

void state_keep_step(struct arena *mem, struct execution *x, struct str code,
                     const struct step_state *s)
{
    size_t bytes = state_step_bytes(s);

    if (find_past(x, code) != NULL)
        forget_past(mem, x, code);
    items_add(mem, &x->past_steps, x,
              value_map_of(mem, VALUE_ENTRIES({value_key(STR("step")), value_string(code)},
                                              {value_key(STR("bytes")), value_int((int64_t)bytes)},
                                              {value_key(STR("state")), past_state(mem, s)})),
              bytes);
}

bool state_past_step(struct arena *mem, const struct execution *x, struct str code,
                     struct step_state *out)
{
    const struct value *past = find_past(x, code);

    if (past != NULL)
        *out = state_read_step(mem, value_map_get_str(*past, STR("state")));
    return past != NULL;
}

void state_restore_past_steps(struct arena *mem, struct execution *x, struct value stored)
{
    for (uint32_t i = 0; stored.kind == VALUE_LIST && i < stored.len; i++) {
        struct str code = value_map_text(stored.items[i], STR("step"));
        struct step_state s = state_read_step(mem, value_map_member(stored.items[i], STR("state")));

        if (code.len > 0 && s.outcome != OUTCOME_NONE)
            state_keep_step(mem, x, code, &s);
    }
}
