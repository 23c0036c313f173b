/* check_call.c - which function a call means, and whether it takes these arguments; see check.h. */
#include "cel/check.h"
#include "cel/syntax/foreign.h"
#include "cel/syntax/parse.h"
#include "cel/syntax/synonym.h"

/*
 * math.greatest(...): the receiver may be a part of the name of a function.
 * Answers that name, or an empty one when no function begins like that.
 */
static struct str dotted_function_name(struct checker *c, const struct ast_node *call)
{
    char dotted[DOTTED_MAX];
    const struct ast_node *first;
    struct str space;

    if (!call->is_member)
        return STR_NONE;
    space = check_dotted_name(call->items[0], dotted, &first);
    if (space.len == 0 || first->kind != NODE_NAME || !env_has_space(c->env, first->text) ||
        check_local(c, first->text) != NULL)
        return STR_NONE;
    return str_printf(c->mem, "%.*s.%.*s", STR_ARG(space), STR_ARG(call->text));
}

static void drop_receiver(struct ast_node *call)
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

static bool takes_count(const struct cel_function *f, uint32_t count)
{
    for (const struct overload *o = f->overloads; o != NULL; o = o->next)
        if (o->takes_numbers ? count > 0 : o->count == count)
            return true;
    return false;
}

static void write_types(struct buf *text, const struct type *const *types, uint32_t count)
{
    buf_char(text, '(');
    for (uint32_t i = 0; i < count; i++) {
        buf_text(text, i == 0 ? "" : ", ");
        type_write(text, types[i]);
    }
    buf_char(text, ')');
}

/* Add "; it takes (string, int) or (bytes, int)", unless there are too many ways to say. */
static void say_signatures(struct checker *c, const struct cel_function *f)
{
    enum { SAID_MAX = 4 };
    struct buf first, last;
    unsigned count = 0;

    for (const struct overload *o = f->overloads; o != NULL; o = o->next)
        count += o->takes_numbers ? SAID_MAX + 1 : 1;
    if (count > SAID_MAX)
        return;
    buf_init_arena(&first, c->mem);
    buf_init_arena(&last, c->mem);
    for (const struct overload *o = f->overloads; o != NULL; o = o->next) {
        buf_text(&first, first.len > 0 && o->next != NULL ? ", " : "");
        write_types(o->next == NULL ? &last : &first, o->params, o->count);
    }
    if (first.len == 0)
        (void)err_set_at(c->err, c->err->code, c->err->line, c->err->column, "%pS; it takes %.*s",
                         ERR_ARG(c->err), STR_ARG(buf_view(&last)));
    else
        (void)err_set_at(c->err, c->err->code, c->err->line, c->err->column,
                         "%pS; it takes %.*s or %.*s", ERR_ARG(c->err), STR_ARG(buf_view(&first)),
                         STR_ARG(buf_view(&last)));
}

static const struct type *fail_call(struct checker *c, struct ast_node *n, const struct type **args)
{
    struct err err;
    struct buf types;

    /* Functions rely on the number of their arguments, if not on their kinds. */
    if (c->is_lenient && !takes_count(n->function, n->count)) {
        (void)err_set(&err, ERR_EXPRESSION_TYPE, "no such overload: %.*s() with %u arguments",
                      STR_ARG(n->function->name), n->count);
        return check_fail_unknown(c, n, &err);
    }
    if (c->is_lenient)
        return type_basic(TYPE_DYN);
    if (n->is_member && n->count == 2 && str_eq(n->function->name, STR("contains")) &&
        infer_final(&c->infer, args[0])->kind == TYPE_LIST)
        return check_fail(c, n, "a list has no contains(): write \"x\" in list");
    for (uint32_t i = 0; i < n->count; i++)
        args[i] = infer_final(&c->infer, args[i]);
    buf_init_arena(&types, c->mem);
    write_types(&types, args, n->count);
    (void)check_fail(c, n, "no such overload: %.*s%.*s", STR_ARG(n->function->name),
                     STR_ARG(buf_view(&types)));
    say_signatures(c, n->function);
    return NULL;
}

static const struct type *check_overloads(struct checker *c, struct ast_node *n,
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
static bool check_format(struct checker *c, const struct ast_node *n)
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

static struct str nearest_function(const struct checker *c, const struct ast_node *n,
                                   struct str dotted)
{
    if (dotted.len > 0)
        return env_nearest_function(c->env, dotted, false);
    if (cel_synonym(n->text).len > 0)
        return cel_synonym(n->text);
    return env_nearest_function(c->env, n->text, n->is_member);
}

static const struct type *fail_unknown_function(struct checker *c, struct ast_node *n,
                                                struct str dotted)
{
    struct str name = dotted.len > 0 ? dotted : n->text;
    const char *advice = foreign_advice(FOREIGN_FUNCTION, name);
    bool is_other_way = dotted.len == 0 && env_function(c->env, n->text, !n->is_member) != NULL;
    struct err err;

    if (advice != NULL)
        (void)err_set(&err, ERR_EXPRESSION_TYPE, "undeclared function '%.*s': %s", STR_ARG(name),
                      advice);
    else if (macro_usage(n) != NULL)
        (void)err_set(&err, ERR_EXPRESSION_TYPE, "%.*s() is written %s", STR_ARG(n->text),
                      macro_usage(n));
    else if (is_other_way)
        (void)err_set(&err, ERR_EXPRESSION_TYPE, "undeclared function '%.*s'; call it as %s",
                      STR_ARG(name), n->is_member ? "a function: f(x)" : "a method: x.f()");
    else
        (void)err_set(&err, ERR_EXPRESSION_TYPE, "undeclared function '%.*s'", STR_ARG(name));
    if (advice != NULL || macro_usage(n) == NULL)
        err.about = ERR_ABOUT_FUNCTION;
    if (advice == NULL && macro_usage(n) == NULL && !is_other_way)
        check_hint(&err, nearest_function(c, n, dotted));
    return check_fail_unknown(c, n, &err);
}

const struct type *check_call(struct checker *c, struct ast_node *n)
{
    struct str dotted = dotted_function_name(c, n);
    const struct cel_function *f = dotted.len > 0 ? env_function(c->env, dotted, false) : NULL;
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
