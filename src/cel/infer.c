/* infer.c - type variables and their bindings; see infer.h. */
#include "cel/infer.h"

void infer_init(struct infer *in, struct arena *mem)
{
    *in = (struct infer){.mem = mem};
}

const struct type *infer_variable(struct infer *in)
{
    *VEC_ADD(in->mem, &in->bindings) = NULL;
    return type_variable(in->mem, (uint32_t)in->bindings.count - 1);
}

static void bind(struct infer *in, uint32_t index, const struct type *t)
{
    *VEC_ADD(in->mem, &in->trail) =
        (struct binding_change){.index = index, .before = in->bindings.items[index]};
    in->bindings.items[index] = t;
}

uint32_t infer_mark(const struct infer *in)
{
    return (uint32_t)in->trail.count;
}

void infer_undo(struct infer *in, uint32_t mark)
{
    while (in->trail.count > mark) {
        struct binding_change *c = &in->trail.items[--in->trail.count];
        in->bindings.items[c->index] = c->before;
    }
}

const struct type *infer_instance(struct infer *in, const struct type *t,
                                  const struct type *fresh[TYPE_SIGNATURE_PARAMS])
{
    const struct type *params[TYPE_PARAMS_MAX] = {NULL};

    if (!t->is_generic)
        return t;
    if (t->kind == TYPE_PARAM) {
        if (fresh[t->index] == NULL)
            fresh[t->index] = infer_variable(in);
        return fresh[t->index];
    }
    for (unsigned i = 0; i < t->count; i++)
        params[i] = infer_instance(in, t->params[i], fresh);
    return type_with(in->mem, t, params);
}

const struct type *infer_resolve(const struct infer *in, const struct type *t)
{
    while (t->kind == TYPE_VARIABLE && in->bindings.items[t->index] != NULL)
        t = in->bindings.items[t->index];
    return t;
}

static bool mentions(const struct infer *in, const struct type *t, uint32_t index)
{
    t = infer_resolve(in, t);
    if (t->kind == TYPE_VARIABLE)
        return t->index == index;
    for (unsigned i = 0; i < t->count; i++)
        if (mentions(in, t->params[i], index))
            return true;
    return false;
}

/* Null may stand for what can be missing. */
static bool is_nullable(const struct type *t)
{
    return t->kind == TYPE_NULL || t->kind == TYPE_OPTIONAL || t->kind == TYPE_OPAQUE ||
           t->kind == TYPE_TIMESTAMP || t->kind == TYPE_DURATION;
}

/* Whether `a` says no more than `b`: dyn less than anything, list(dyn) less than list(int). */
static bool is_more_general(const struct infer *in, const struct type *a, const struct type *b)
{
    a = infer_resolve(in, a);
    b = infer_resolve(in, b);
    if (a->kind == TYPE_DYN || a->kind == TYPE_VARIABLE)
        return true;
    if (b->kind == TYPE_DYN || b->kind == TYPE_VARIABLE)
        return false;
    if (b->kind == TYPE_NULL)
        return true;
    if (a->kind == TYPE_NUMBER && type_is_number(b))
        return true;
    if (a->kind != b->kind || a->count != b->count)
        return false;
    if (a->kind == TYPE_TYPE)
        return true;
    for (unsigned i = 0; i < a->count; i++)
        if (!is_more_general(in, a->params[i], b->params[i]))
            return false;
    return true;
}

static bool fits(struct infer *in, const struct type *from, const struct type *to);

/* Let the unbound end `variable` of a chain of bindings be `t` too. */
static bool fit_variable(struct infer *in, const struct type *variable, const struct type *t)
{
    const struct type *bound = in->bindings.items[variable->index];

    if (t->kind == TYPE_VARIABLE && t->index == variable->index)
        return true;
    if (bound == NULL) {
        if (mentions(in, t, variable->index))
            return false;
        bind(in, variable->index, t);
        return true;
    }
    if (!fits(in, t, bound))
        return false;
    if (is_more_general(in, t, bound) && !mentions(in, t, variable->index))
        bind(in, variable->index, t);
    return true;
}

static bool fits(struct infer *in, const struct type *from, const struct type *to)
{
    if (to->kind == TYPE_VARIABLE)
        return fit_variable(in, to, from);
    if (from->kind == TYPE_VARIABLE)
        return fit_variable(in, from, to);
    if (from->kind == TYPE_DYN || to->kind == TYPE_DYN)
        return true;
    if (from->kind == TYPE_NULL || to->kind == TYPE_NULL)
        return is_nullable(from->kind == TYPE_NULL ? to : from);
    if (from->kind == TYPE_NUMBER || to->kind == TYPE_NUMBER)
        return type_is_number(from) && type_is_number(to);
    if (from->kind != to->kind)
        return false;
    if (from->kind == TYPE_TYPE)
        return true;
    if (from->count != to->count || (from->kind == TYPE_OPAQUE && !str_eq(from->name, to->name)))
        return false;
    for (unsigned i = 0; i < from->count; i++)
        if (!fits(in, from->params[i], to->params[i]))
            return false;
    return true;
}

bool infer_assignable(struct infer *in, const struct type *from, const struct type *to)
{
    uint32_t mark = infer_mark(in);

    if (from == to || fits(in, from, to))
        return true;
    infer_undo(in, mark);
    return false;
}

const struct type *infer_join(struct infer *in, const struct type *a, const struct type *b)
{
    if (!infer_assignable(in, a, b))
        return NULL;
    return is_more_general(in, a, b) ? a : b;
}

const struct type *infer_final(struct infer *in, const struct type *t)
{
    const struct type *params[TYPE_PARAMS_MAX] = {NULL};

    t = infer_resolve(in, t);
    if (t->kind == TYPE_VARIABLE)
        return type_basic(TYPE_DYN);
    if (t->count == 0)
        return t;
    for (unsigned i = 0; i < t->count; i++)
        params[i] = infer_final(in, t->params[i]);
    return type_with(in->mem, t, params);
}

bool infer_same(const struct infer *in, const struct type *a, const struct type *b)
{
    a = infer_resolve(in, a);
    b = infer_resolve(in, b);
    if (a == b)
        return true;
    if (a->kind != b->kind || a->count != b->count || a->index != b->index ||
        !str_eq(a->name, b->name))
        return false;
    for (unsigned i = 0; i < a->count; i++)
        if (!infer_same(in, a->params[i], b->params[i]))
            return false;
    return true;
}
