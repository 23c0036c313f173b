/* check_call.c - which function a call means, and whether it takes these arguments; see check.h. */
#include "cel/check.h"
#include "cel/foreign.h"
#include "cel/parse.h"
#include "cel/synonym.h"

/*
 * math.greatest(...): the receiver may be a part of the name of a function.
 * Answers that name, or an empty one when no function begins like that.
 */
static struct str dotted_function_name(struct checker *c, const struct node *call)
{
    char dotted[DOTTED_MAX];
    const struct node *first;
    struct str space;

    if (!call->is_member)
        return STR_NONE;
    space = check_dotted_name(call->items[0], dotted, &first);
    if (space.len == 0 || first->kind != NODE_NAME || !env_has_space(c->env, first->text) ||
        check_local(c, first->text) != NULL)
        return STR_NONE;
    return str_printf(c->mem, "%.*s.%.*s", STR_ARG(space), STR_ARG(call->text));
}

static void drop_receiver(struct node *call)
{
    call->items++;
    call->count--;
    call->is_member = false;
}

static bool overload_fits(struct checker *c, const struct overload *o, const struct type **args,
                          uint32_t count, const struct type **result)
{
    const struct type *fresh[TYPE_SIGNATURE_PARAMS];
    uint32_t mark = infer_mark(&c->infer);

    if (o->count != count)
        return false;
    if (!o->is_generic) {
        for (uint32_t i = 0; i < count; i++)
            if (!infer_assignable(&c->infer, args[i], o->params[i])) {
                infer_undo(&c->infer, mark);
                return false;
            }
        *result = o->result;
        return true;
    }
    memset(fresh, 0, sizeof(fresh));
    for (uint32_t i = 0; i < count; i++)
        if (!infer_assignable(&c->infer, args[i], infer_instance(&c->infer, o->params[i], fresh))) {
            infer_undo(&c->infer, mark);
            return false;
        }
    *result = infer_instance(&c->infer, o->result, fresh);
    return true;
}

static bool numbers_fit(struct checker *c, const struct type **args, uint32_t count,
                        const struct type **result)
{
    *result = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct type *t = infer_resolve(&c->infer, args[i]);
        if (t->kind == TYPE_VARIABLE)
            t = type_basic(TYPE_DYN);
        if (!type_is_number(t) && t->kind != TYPE_DYN)
            return false;
        if (*result == NULL)
            *result = t;
        else if ((*result)->kind != t->kind)
            *result = type_basic(TYPE_DYN);
    }
    return *result != NULL;
}

static bool takes_count(const struct function *f, uint32_t count)
{
    for (const struct overload *o = f->overloads; o != NULL; o = o->next)
        if (o->takes_numbers ? count > 0 : o->count == count)
            return true;
    return false;
}

/* "; it takes (string, int) or (bytes, int)"; nothing when there are too many ways to say. */
static void write_signatures(struct buf *text, const struct function *f)
{
    enum { SAID_MAX = 4 };
    unsigned count = 0;

    for (const struct overload *o = f->overloads; o != NULL; o = o->next)
        count += o->takes_numbers ? SAID_MAX + 1 : 1;
    if (count > SAID_MAX)
        return;
    buf_text(text, "; it takes ");
    for (const struct overload *o = f->overloads; o != NULL; o = o->next) {
        buf_char(text, '(');
        for (unsigned i = 0; i < o->count; i++) {
            buf_text(text, i == 0 ? "" : ", ");
            type_write(text, o->params[i]);
        }
        buf_text(text, o->next == NULL ? ")" : o->next->next == NULL ? ") or " : "), ");
    }
}

static const struct type *fail_call(struct checker *c, struct node *n, const struct type **args)
{
    struct buf text;

    /* Functions rely on the number of their arguments, if not on their kinds. */
    if (c->is_lenient && !takes_count(n->function, n->count))
        return check_fail_unknown(c, n,
                                  str_printf(c->mem, "no such overload: %.*s() with %u arguments",
                                             STR_ARG(n->function->name), n->count));
    if (c->is_lenient)
        return type_basic(TYPE_DYN);
    if (n->is_member && n->count == 2 && str_eq(n->function->name, STR("contains")) &&
        infer_final(&c->infer, args[0])->kind == TYPE_LIST)
        return check_fail(c, n, "a list has no contains(): write \"x\" in list");
    buf_init_arena(&text, c->mem);
    for (uint32_t i = 0; i < n->count; i++) {
        buf_text(&text, i == 0 ? "" : ", ");
        type_write(&text, infer_final(&c->infer, args[i]));
    }
    buf_char(&text, ')');
    write_signatures(&text, n->function);
    return check_fail(c, n, "no such overload: %.*s(%.*s", STR_ARG(n->function->name),
                      STR_ARG(buf_view(&text)));
}

static const struct type *check_overloads(struct checker *c, struct node *n,
                                          const struct type **args)
{
    const struct type *result = NULL;

    for (const struct overload *o = n->function->overloads; o != NULL; o = o->next) {
        const struct type *t = NULL;
        if (o->takes_numbers ? !numbers_fit(c, args, n->count, &t)
                             : !overload_fits(c, o, args, n->count, &t))
            continue;
        if (result == NULL)
            result = t;
        else if (!infer_same(&c->infer, result, t))
            result = type_basic(TYPE_DYN);
    }
    return result != NULL ? result : fail_call(c, n, args);
}

/* How many values a template of format() takes. */
static uint32_t count_verbs(struct str template)
{
    uint32_t count = 0;

    for (size_t i = 0; i + 1 < template.len; i++)
        if (template.ptr[i] == '%')
            count += template.ptr[++i] != '%';
    return count;
}

/* format() with everything written out: values that the template has no place for are lost. */
static bool check_format(struct checker *c, const struct node *n)
{
    uint32_t verbs;

    if (c->facts == CEL_FACTS_NONE || c->env->mode != CEL_DEFINITION || !n->is_member ||
        n->count != 2 || !str_eq(n->text, STR("format")) || n->items[0]->kind != NODE_CONST ||
        n->items[0]->value.kind != VALUE_STRING || n->items[1]->kind != NODE_LIST ||
        n->items[1]->optional != NULL)
        return true;
    verbs = count_verbs(value_text(n->items[0]->value));
    if (n->items[1]->count <= verbs)
        return true;
    return check_fail(c, n->items[1]->items[verbs],
                      "format() is given %u values and the text has room for %u: write another %%s "
                      "in it, or leave this one out",
                      n->items[1]->count, verbs) != NULL;
}

static const struct type *fail_unknown_function(struct checker *c, struct node *n,
                                                struct str dotted)
{
    struct str name = dotted.len > 0 ? dotted : n->text;
    struct str message = str_printf(c->mem, "undeclared function '%.*s'", STR_ARG(name));

    if (foreign_advice(FOREIGN_FUNCTION, name) != NULL)
        message = str_printf(c->mem, "%.*s: %s", STR_ARG(message),
                             foreign_advice(FOREIGN_FUNCTION, name));
    else if (macro_usage(n) != NULL)
        message = str_printf(c->mem, "%.*s() is written %s", STR_ARG(n->text), macro_usage(n));
    else if (dotted.len > 0)
        message = check_hint(c, message, env_nearest_function(c->env, dotted, false));
    else if (env_function(c->env, n->text, !n->is_member) != NULL)
        message = str_printf(c->mem, "%.*s; call it as %s", STR_ARG(message),
                             n->is_member ? "a function: f(x)" : "a method: x.f()");
    else if (cel_synonym(n->text).len > 0)
        message = check_hint(c, message, cel_synonym(n->text));
    else
        message = check_hint(c, message, env_nearest_function(c->env, n->text, n->is_member));
    return check_fail_unknown(c, n, message);
}

const struct type *check_call(struct checker *c, struct node *n)
{
    struct str dotted = dotted_function_name(c, n);
    const struct function *f = dotted.len > 0 ? env_function(c->env, dotted, false) : NULL;
    const struct type *inline_args[8];
    const struct type **args = inline_args;

    if (f != NULL)
        drop_receiver(n);
    else
        f = env_function(c->env, n->text, n->is_member);
    if (n->count > ARRAY_SIZE(inline_args))
        args = ARENA_ARRAY(c->mem, n->count, const struct type *);
    if (f == NULL)
        return fail_unknown_function(c, n, dotted);
    for (uint32_t i = 0; i < n->count; i++) {
        args[i] = check_node(c, n->items[i]);
        if (args[i] == NULL)
            return NULL;
    }
    if (!check_format(c, n))
        return NULL;
    n->function = f;
    return check_overloads(c, n, args);
}
