/*
 * check.c - names and types of every kind of node; see check.h.
 *
 * A chain like a.b.c is a declared variable of that name if there is one, the
 * longest declared beginning winning; otherwise a field of a field of a
 * variable. Variables of macros hide declared ones; `$.a` never means one.
 */
#include "cel/check.h"

#include "cel/parse.h"

#include <stdarg.h>
#include <stdio.h>

enum { DOTTED_MAX = 256 };

static const struct type *check_node(struct checker *c, struct node *n);

/* --- messages --- */

const char *check_text(struct checker *c, const struct type *t)
{
    struct buf text;

    buf_init_arena(&text, c->mem);
    type_write(&text, infer_final(&c->infer, t));
    buf_char(&text, '\0');
    return text.ptr;
}

static void report(struct checker *c, const struct node *n, const char *message)
{
    uint32_t line, column;

    cel_place(c->source, n->offset, &line, &column);
    err_set_at(c->err, ERR_EXPRESSION_TYPE, line, column, "%s", message);
}

const struct type *check_fail(struct checker *c, const struct node *n, const char *format, ...)
{
    char message[sizeof(c->err->message)];
    va_list args;

    if (c->is_lenient)
        return type_basic(TYPE_DYN);
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    report(c, n, message);
    return NULL;
}

/* Something that does not exist: an error now, or when it is evaluated. */
static const struct type *fail_unknown(struct checker *c, struct node *n, struct str message)
{
    if (!c->is_lenient) {
        report(c, n, message.ptr);
        return NULL;
    }
    n->kind = NODE_FAIL;
    n->text = message;
    return type_basic(TYPE_DYN);
}

static struct str with_hint(struct checker *c, struct str message, struct str nearest)
{
    if (nearest.len == 0)
        return message;
    return str_printf(c->mem, "%.*s; did you mean '%.*s'?", STR_ARG(message), STR_ARG(nearest));
}

/* --- names --- */

static struct local *find_local(const struct checker *c, struct str name)
{
    for (struct local *l = c->locals; l != NULL; l = l->outer)
        if (str_eq(l->name, name))
            return l;
    return NULL;
}

/* Look a name up in the container first, then in what surrounds it. */
static const struct variable *find_variable(const struct checker *c, struct str name)
{
    struct str container = c->env->container;
    char dotted[DOTTED_MAX];

    while (container.len > 0) {
        if (container.len + 1 + name.len <= sizeof(dotted)) {
            const struct variable *v;
            memcpy(dotted, container.ptr, container.len);
            dotted[container.len] = '.';
            memcpy(dotted + container.len + 1, name.ptr, name.len);
            v = env_variable(c->env, str_from(dotted, container.len + 1 + name.len));
            if (v != NULL && v->type != NULL)
                return v;
        }
        while (container.len > 0 && container.ptr[--container.len] != '.')
            ;
    }
    return env_variable(c->env, name);
}

/*
 * The names of a chain of selections with dots between them, written to `out`
 * from its end on, and the node at its beginning. Empty when it is no such
 * chain or longer than any declared name.
 */
static struct str dotted_name(const struct node *n, char out[DOTTED_MAX], const struct node **first)
{
    size_t start = DOTTED_MAX;

    for (; n->kind != NODE_ROOT; n = n->operand) {
        bool is_field = n->kind == NODE_SELECT || n->kind == NODE_HAS;

        if ((!is_field && n->kind != NODE_NAME) || n->text.len >= start ||
            (n->is_quoted && str_find(n->text, STR("."), 0) >= 0))
            return STR_NONE;
        if (start < DOTTED_MAX)
            out[--start] = '.';
        start -= n->text.len;
        memcpy(out + start, n->text.ptr, n->text.len);
        if (!is_field)
            break;
    }
    *first = n;
    return str_from(out + start, DOTTED_MAX - start);
}

static const struct type *become_variable(struct node *n, const struct variable *v)
{
    if (v->is_constant) {
        n->kind = NODE_CONST;
        n->value = v->value;
    } else {
        n->kind = n->kind == NODE_HAS ? NODE_HAS_SLOT : NODE_SLOT;
        n->slot = v->slot;
    }
    return v->type;
}

static const struct type *fail_undeclared(struct checker *c, struct node *n, struct str name,
                                          struct str nearest)
{
    struct str message = str_printf(c->mem, "undeclared reference to '%.*s'", STR_ARG(name));

    return fail_unknown(c, n, with_hint(c, message, nearest));
}

/* A variable of a macro is nearer than a declared one. */
static struct str nearest_name(const struct checker *c, struct str name)
{
    for (struct local *l = c->locals; l != NULL; l = l->outer)
        if (l->name.ptr[0] != '@' && name.len > 2 && str_distance(name, l->name, 1) <= 1)
            return l->name;
    return env_nearest_variable(c->env, name);
}

static const struct type *check_name(struct checker *c, struct node *n)
{
    struct local *local = n->is_absolute ? NULL : find_local(c, n->text);
    const struct variable *v;

    if (local != NULL) {
        n->kind = NODE_LOCAL;
        n->local = local;
        return local->type;
    }
    v = n->is_absolute ? env_variable(c->env, n->text) : find_variable(c, n->text);
    if (v != NULL && v->type != NULL)
        return become_variable(n, v);
    if (v != NULL && c->env->mode == CEL_DEFINITION) {
        /* The beginning of longer names: the part of $ that holds them all. */
        n->kind = NODE_SELECT;
        n->operand = node_new(c->mem, NODE_ROOT, n->offset);
        return type_basic(TYPE_DYN);
    }
    return fail_undeclared(c, n, n->text, nearest_name(c, n->text));
}

/*
 * Turn a.b.c or $.a.b into a variable if one is declared under that whole
 * name. Answers NULL and leaves `n` alone if not.
 */
static const struct type *check_dotted(struct checker *c, struct node *n)
{
    char dotted[DOTTED_MAX];
    const struct node *first;
    const struct variable *v;
    struct str name = dotted_name(n, dotted, &first);

    if (name.len == 0)
        return NULL;
    if (first->kind == NODE_ROOT) {
        v = env_variable(c->env, name);
    } else {
        if (!first->is_absolute && find_local(c, first->text) != NULL)
            return NULL;
        /* Most chains begin with a variable that is no beginning of a longer name. */
        v = env_variable(c->env, first->text);
        if (v != NULL && !v->is_prefix && c->env->container.len == 0)
            return NULL;
        v = first->is_absolute ? env_variable(c->env, name) : find_variable(c, name);
    }
    if (v == NULL || v->type == NULL || (n->kind == NODE_HAS && v->is_constant))
        return NULL;
    return become_variable(n, v);
}

/* --- fields --- */

static const struct type *field_type(struct checker *c, const struct node *n, const struct type *t)
{
    t = infer_resolve(&c->infer, t);
    if (t->kind == TYPE_DYN || t->kind == TYPE_VARIABLE)
        return type_basic(TYPE_DYN);
    if (t->kind == TYPE_MAP)
        return t->params[1];
    if (t->kind == TYPE_OPTIONAL) {
        const struct type *inner = field_type(c, n, t->params[0]);
        return inner == NULL ? NULL : type_optional(c->mem, inner);
    }
    return check_fail(c, n, "%s has no fields, so it has no '%.*s'", check_text(c, t),
                      STR_ARG(n->text));
}

/*
 * The dotted name of a field of $, or of what is closed or only the beginning
 * of declared names, if that is not declared: steps.pya. Empty when it is, or
 * when the root is open and it may exist.
 */
static struct str undeclared_part(struct checker *c, const struct node *n)
{
    char dotted[DOTTED_MAX];
    const struct node *first;
    const struct variable *above;
    struct str name, beginning;

    if (c->env->open_root)
        return STR_NONE;
    name = dotted_name(n, dotted, &first);
    if (n->operand->kind == NODE_ROOT)
        return name.len == 0                        ? str_printf(c->mem, "`%.*s`", STR_ARG(n->text))
               : env_variable(c->env, name) != NULL ? STR_NONE
                                                    : n->text;
    if (name.len == 0 || env_variable(c->env, name) != NULL ||
        (first->kind == NODE_NAME && find_local(c, first->text) != NULL))
        return STR_NONE;
    beginning = str_slice(name, 0, name.len - n->text.len - 1);
    above = first->is_absolute ? env_variable(c->env, beginning) : find_variable(c, beginning);
    if (above == NULL || (above->type != NULL && !above->is_closed))
        return STR_NONE;
    return str_copy(c->mem, name);
}

static const struct type *check_select(struct checker *c, struct node *n)
{
    bool is_has = n->kind == NODE_HAS;
    const struct type *t = check_dotted(c, n);
    struct str undeclared;

    if (t != NULL)
        return is_has ? type_basic(TYPE_BOOL) : t;
    undeclared = undeclared_part(c, n);
    if (undeclared.len > 0)
        return fail_undeclared(c, n, undeclared, env_nearest_variable(c->env, undeclared));
    t = check_node(c, n->operand);
    if (t == NULL)
        return NULL;
    t = field_type(c, n, t);
    return t == NULL ? NULL : is_has ? type_basic(TYPE_BOOL) : t;
}

static const struct type *check_optional_select(struct checker *c, struct node *n)
{
    const struct type *t, *field;
    struct node plain = *n;
    struct str undeclared;

    plain.kind = NODE_SELECT;
    undeclared = undeclared_part(c, &plain);
    if (undeclared.len > 0)
        return fail_undeclared(c, n, undeclared, env_nearest_variable(c->env, undeclared));
    t = check_node(c, n->operand);
    if (t == NULL)
        return NULL;
    field = field_type(c, n, t);
    if (field == NULL || infer_resolve(&c->infer, t)->kind == TYPE_OPTIONAL)
        return field;
    return type_optional(c->mem, field);
}

/* --- calls --- */

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
    space = dotted_name(call->items[0], dotted, &first);
    if (space.len == 0 || first->kind != NODE_NAME || !env_has_space(c->env, first->text) ||
        find_local(c, first->text) != NULL)
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
        if (t->kind != TYPE_INT && t->kind != TYPE_UINT && t->kind != TYPE_DOUBLE &&
            t->kind != TYPE_DYN)
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

static const struct type *fail_call(struct checker *c, struct node *n, const struct type **args)
{
    struct buf text;

    /* Functions rely on the number of their arguments, if not on their kinds. */
    if (c->is_lenient && !takes_count(n->function, n->count))
        return fail_unknown(c, n,
                            str_printf(c->mem, "no such overload: %.*s() with %u arguments",
                                       STR_ARG(n->function->name), n->count));
    if (c->is_lenient)
        return type_basic(TYPE_DYN);
    buf_init_arena(&text, c->mem);
    for (uint32_t i = 0; i < n->count; i++) {
        buf_text(&text, i == 0 ? "" : ", ");
        type_write(&text, infer_final(&c->infer, args[i]));
    }
    return check_fail(c, n, "no such overload: %.*s(%.*s)", STR_ARG(n->function->name),
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

static const struct type *fail_unknown_function(struct checker *c, struct node *n,
                                                struct str dotted)
{
    struct str name = dotted.len > 0 ? dotted : n->text;
    struct str message = str_printf(c->mem, "undeclared function '%.*s'", STR_ARG(name));

    if (macro_usage(n) != NULL)
        message = str_printf(c->mem, "%.*s() is written %s", STR_ARG(n->text), macro_usage(n));
    else if (dotted.len > 0)
        message = with_hint(c, message, env_nearest_function(c->env, dotted, false));
    else if (env_function(c->env, n->text, !n->is_member) != NULL)
        message = str_printf(c->mem, "%.*s; call it as %s", STR_ARG(message),
                             n->is_member ? "a function: f(x)" : "a method: x.f()");
    else
        message = with_hint(c, message, env_nearest_function(c->env, n->text, n->is_member));
    return fail_unknown(c, n, message);
}

static const struct type *check_call(struct checker *c, struct node *n)
{
    struct str dotted = dotted_function_name(c, n);
    const struct function *f = dotted.len > 0 ? env_function(c->env, dotted, false) : NULL;
    const struct type *inline_args[8];
    const struct type **args = inline_args;

    if (f != NULL)
        drop_receiver(n);
    else
        f = env_function(c->env, n->text, n->is_member);
    if (n->count > sizeof(inline_args) / sizeof(inline_args[0]))
        args = ARENA_ARRAY(c->mem, n->count, const struct type *);
    if (f == NULL)
        return fail_unknown_function(c, n, dotted);
    for (uint32_t i = 0; i < n->count; i++) {
        args[i] = check_node(c, n->items[i]);
        if (args[i] == NULL)
            return NULL;
    }
    n->function = f;
    return check_overloads(c, n, args);
}

/* --- the rest --- */

/* The operand must be a bool, or might be one. */
static bool check_condition(struct checker *c, struct node *n)
{
    const struct type *t = check_node(c, n);

    if (t == NULL)
        return false;
    if (infer_assignable(&c->infer, t, type_basic(TYPE_BOOL)))
        return true;
    return check_fail(c, n, "no such overload: a bool is needed here, not %s", check_text(c, t)) !=
           NULL;
}

static const struct type *check_logic(struct checker *c, struct node *n)
{
    for (uint32_t i = 0; i < n->count; i++)
        if (!check_condition(c, n->items[i]))
            return NULL;
    return type_basic(TYPE_BOOL);
}

static const struct type *check_ternary(struct checker *c, struct node *n)
{
    const struct type *a, *b, *joined;

    if (!check_condition(c, n->items[0]))
        return NULL;
    a = check_node(c, n->items[1]);
    b = a == NULL ? NULL : check_node(c, n->items[2]);
    if (b == NULL)
        return NULL;
    joined = infer_join(&c->infer, a, b);
    if (joined != NULL)
        return joined;
    if (c->env->mode == CEL_DEFINITION)
        return type_basic(TYPE_DYN);
    return check_fail(c, n, "no such overload: '?:' would be %s or %s", check_text(c, a),
                      check_text(c, b));
}

/* The type of an item with a '?' before it is what its optional holds. */
static const struct type *check_item(struct checker *c, struct node *n, bool is_optional)
{
    const struct type *t = check_node(c, n), *inner;

    if (t == NULL || !is_optional)
        return t;
    t = infer_resolve(&c->infer, t);
    if (t->kind == TYPE_DYN)
        return t;
    inner = infer_variable(&c->infer);
    if (!infer_assignable(&c->infer, t, type_optional(c->mem, inner)))
        return check_fail(c, n, "an optional is needed behind '?', not %s", check_text(c, t));
    return inner;
}

/* Join an item's type into that of all items so far; items may differ, then it is dyn. */
static const struct type *join_item(struct checker *c, const struct type *all,
                                    const struct type *item)
{
    const struct type *joined;

    if (all == NULL)
        return item;
    joined = infer_join(&c->infer, all, item);
    return joined != NULL ? joined : type_basic(TYPE_DYN);
}

static const struct type *check_list(struct checker *c, struct node *n)
{
    const struct type *all = NULL;

    for (uint32_t i = 0; i < n->count; i++) {
        const struct type *t = check_item(c, n->items[i], n->optional != NULL && n->optional[i]);
        if (t == NULL)
            return NULL;
        all = join_item(c, all, t);
    }
    return type_list(c->mem, all != NULL ? all : infer_variable(&c->infer));
}

static bool may_be_key(const struct type *t)
{
    return t->kind == TYPE_STRING || t->kind == TYPE_INT || t->kind == TYPE_UINT ||
           t->kind == TYPE_BOOL || t->kind == TYPE_DYN || t->kind == TYPE_VARIABLE;
}

static const struct type *check_map(struct checker *c, struct node *n)
{
    const struct type *keys = NULL, *values = NULL;

    for (uint32_t i = 0; i < n->count; i += 2) {
        const struct type *key = check_node(c, n->items[i]), *value;
        if (key == NULL)
            return NULL;
        if (!may_be_key(infer_resolve(&c->infer, key)) &&
            check_fail(c, n->items[i], "a key is a string, int, uint or bool, not %s",
                       check_text(c, key)) == NULL)
            return NULL;
        value = check_item(c, n->items[i + 1], n->optional != NULL && n->optional[i + 1]);
        if (value == NULL)
            return NULL;
        keys = join_item(c, keys, key);
        values = join_item(c, values, value);
    }
    if (keys == NULL) {
        keys = infer_variable(&c->infer);
        values = infer_variable(&c->infer);
    }
    return type_map(c->mem, keys, values);
}

/* What the variables of a comprehension over `range` are. */
static bool fold_variables(struct checker *c, const struct node *n, const struct type *range)
{
    struct fold *f = n->fold;
    bool two = f->second.name.len > 0;

    range = infer_resolve(&c->infer, range);
    f->first.type = f->second.type = type_basic(TYPE_DYN);
    if (range->kind == TYPE_LIST) {
        f->first.type = two ? type_basic(TYPE_INT) : range->params[0];
        f->second.type = range->params[0];
    } else if (range->kind == TYPE_MAP) {
        f->first.type = range->params[0];
        f->second.type = range->params[1];
    } else if (range->kind != TYPE_DYN && range->kind != TYPE_VARIABLE) {
        return check_fail(c, n, "no such overload: %s is neither a list nor a map",
                          check_text(c, range)) != NULL;
    }
    return true;
}

static const struct type *fold_result(struct checker *c, const struct node *n,
                                      const struct type *body)
{
    const struct fold *f = n->fold;

    switch (f->kind) {
    case FOLD_ALL:
    case FOLD_EXISTS:
    case FOLD_EXISTS_ONE:
        if (!infer_assignable(&c->infer, body, type_basic(TYPE_BOOL)) &&
            check_fail(c, f->body, "no such overload: a bool is needed here, not %s",
                       check_text(c, body)) == NULL)
            return NULL;
        return type_basic(TYPE_BOOL);
    case FOLD_LIST:
        return type_list(c->mem, body);
    case FOLD_MAP:
        return type_map(c->mem, f->first.type, body);
    case FOLD_MAP_ENTRY:
        body = infer_resolve(&c->infer, body);
        if (body->kind != TYPE_MAP && body->kind != TYPE_DYN &&
            check_fail(c, f->body, "a map is needed here, not %s", check_text(c, body)) == NULL)
            return NULL;
        return body->kind == TYPE_MAP ? body : type_basic(TYPE_MAP);
    }
    PANIC("unknown kind of comprehension");
}

static const struct type *check_fold(struct checker *c, struct node *n)
{
    struct fold *f = n->fold;
    struct local *outer = c->locals;
    const struct type *t = check_node(c, f->range);

    if (t == NULL || !fold_variables(c, n, t))
        return NULL;
    f->first.outer = outer;
    c->locals = &f->first;
    if (f->second.name.len > 0) {
        f->second.outer = &f->first;
        c->locals = &f->second;
    }
    t = NULL;
    if (f->filter == NULL || check_condition(c, f->filter))
        t = check_node(c, f->body);
    c->locals = outer;
    return t == NULL ? NULL : fold_result(c, n, t);
}

static const struct type *check_in_scope(struct checker *c, struct local *local,
                                         const struct type *type, struct node *body)
{
    const struct type *t;

    local->type = type;
    local->outer = c->locals;
    c->locals = local;
    t = check_node(c, body);
    c->locals = local->outer;
    return t;
}

static const struct type *check_bind(struct checker *c, struct node *n)
{
    const struct type *t = check_node(c, n->items[0]);

    return t == NULL ? NULL : check_in_scope(c, n->local, t, n->items[1]);
}

static const struct type *check_optional_map(struct checker *c, struct node *n)
{
    const struct type *inner = infer_variable(&c->infer);
    const struct type *t = check_node(c, n->items[0]);

    if (t == NULL)
        return NULL;
    if (!infer_assignable(&c->infer, t, type_optional(c->mem, inner)) &&
        check_fail(c, n, "an optional is needed here, not %s", check_text(c, t)) == NULL)
        return NULL;
    t = check_in_scope(c, n->local, infer_resolve(&c->infer, inner), n->items[1]);
    if (t == NULL || !n->is_flat)
        return t == NULL ? NULL : type_optional(c->mem, t);
    if (!infer_assignable(&c->infer, t, type_basic(TYPE_OPTIONAL)))
        return check_fail(c, n->items[1], "optFlatMap() wants an optional here, not %s",
                          check_text(c, t));
    return t;
}

static const struct type *check_join(struct checker *c, struct node *n)
{
    for (uint32_t i = 0; i < n->count; i++)
        if (check_node(c, n->items[i]) == NULL)
            return NULL;
    return type_basic(TYPE_STRING);
}

static const struct type *check_operands(struct checker *c, struct node *n)
{
    const struct type *a = check_node(c, n->items[0]), *b = NULL;

    if (a == NULL)
        return NULL;
    if (n->count == 2) {
        b = check_node(c, n->items[1]);
        if (b == NULL)
            return NULL;
    }
    return check_operator(c, n, a, b);
}

static const struct type *check_node(struct checker *c, struct node *n)
{
    switch ((enum node_kind)n->kind) {
    case NODE_CONST:
        return type_of_value(c->mem, n->value);
    case NODE_NAME:
        return check_name(c, n);
    case NODE_ROOT:
        return type_basic(TYPE_DYN);
    case NODE_SELECT:
    case NODE_HAS:
        return check_select(c, n);
    case NODE_OPTIONAL_SELECT:
        return check_optional_select(c, n);
    case NODE_OPERATOR:
        return check_operands(c, n);
    case NODE_CALL:
        return check_call(c, n);
    case NODE_AND:
    case NODE_OR:
        return check_logic(c, n);
    case NODE_TERNARY:
        return check_ternary(c, n);
    case NODE_LIST:
        return check_list(c, n);
    case NODE_MAP:
        return check_map(c, n);
    case NODE_FOLD:
        return check_fold(c, n);
    case NODE_BIND:
        return check_bind(c, n);
    case NODE_OPTIONAL_MAP:
        return check_optional_map(c, n);
    case NODE_JOIN:
        return check_join(c, n);
    case NODE_FAIL:
        return type_basic(TYPE_DYN);
    case NODE_SLOT:
    case NODE_HAS_SLOT:
    case NODE_LOCAL:
        break; /* made here; a tree is checked once */
    }
    PANIC("a tree is checked once");
}

void checker_init(struct checker *c, struct arena *mem, const struct cel_env *env,
                  struct str source, bool is_lenient, struct err *err)
{
    *c = (struct checker){
        .mem = mem, .env = env, .source = source, .is_lenient = is_lenient, .err = err};
    infer_init(&c->infer, mem);
}

const struct type *check_tree(struct checker *c, struct node *n)
{
    const struct type *t = check_node(c, n);

    return t == NULL ? NULL : infer_final(&c->infer, t);
}
