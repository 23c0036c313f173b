/*
 * check.c - the types of every kind of node; see check.h. Names and fields are
 * in check_name.c, calls in check_call.c, operators in check_operator.c.
 */
#include "cel/check.h"

#include <stdarg.h>

/* --- messages --- */

const char *check_text(struct checker *c, const struct type *t)
{
    struct buf text;

    buf_init_arena(&text, c->mem);
    type_write(&text, infer_final(&c->infer, t));
    buf_char(&text, '\0');
    return text.ptr;
}

const struct type *check_fail(struct checker *c, const struct ast_node *n, const char *format, ...)
{
    uint32_t line, column;
    va_list args;

    if (c->is_lenient)
        return type_basic(TYPE_DYN);
    cel_place(c->source, n->offset, &line, &column);
    va_start(args, format);
    (void)err_vset(c->err, ERR_EXPRESSION_TYPE, line, column, format, args);
    va_end(args);
    return NULL;
}

/* Something that does not exist: an error now, or when it is evaluated. */
const struct type *check_fail_unknown(struct checker *c, struct ast_node *n, const struct err *err)
{
    if (!c->is_lenient) {
        *c->err = *err;
        cel_place(c->source, n->offset, &c->err->line, &c->err->column);
        return NULL;
    }
    n->kind = NODE_FAIL;
    n->value = value_error_of(c->mem, ERR_EXPRESSION_ERROR, n->offset, err_sentence(err));
    return type_basic(TYPE_DYN);
}

void check_hint(struct err *err, struct str nearest)
{
    if (nearest.len > 0)
        err_set_hint(err, "did you mean '%.*s'?", STR_ARG(nearest));
}

/* --- the rest --- */

/* The operand must be a bool, or might be one. */
static bool check_condition(struct checker *c, struct ast_node *n)
{
    const struct type *t = check_node(c, n);

    if (t == NULL)
        return false;
    if (infer_assignable(&c->infer, t, type_basic(TYPE_BOOL)))
        return true;
    return check_fail(c, n, "no such overload: a bool is needed here, not %s", check_text(c, t)) !=
           NULL;
}

/* What makes && false, or || true, decides whatever stands beside it, before it or behind it. */
static const struct type *check_logic(struct checker *c, struct ast_node *n)
{
    size_t outer = c->guards.count;

    for (uint32_t i = 0; i < n->count && c->facts != CEL_FACTS_NONE; i++)
        check_guards(c, n->items[i], n->kind == NODE_AND, &c->guards);
    for (uint32_t i = 0; i < n->count; i++)
        if (!check_condition(c, n->items[i]))
            return NULL;
    c->guards.count = outer;
    return type_basic(TYPE_BOOL);
}

/* One of the two ways that a condition with these guards decides about. */
static const struct type *check_way(struct checker *c, struct ast_node *n,
                                    const struct guards *guards)
{
    size_t outer = c->guards.count;
    const struct type *t;

    for (size_t i = 0; i < guards->count; i++)
        *VEC_ADD(c->mem, &c->guards) = guards->items[i];
    t = check_node(c, n);
    c->guards.count = outer;
    return t;
}

static const struct type *check_ternary(struct checker *c, struct ast_node *n)
{
    struct guards when_true = {0}, when_false = {0};
    const struct type *a, *b, *joined;

    if (c->facts != CEL_FACTS_NONE) {
        check_guards(c, n->items[0], true, &when_true);
        check_guards(c, n->items[0], false, &when_false);
    }
    if (!check_condition(c, n->items[0]))
        return NULL;
    a = check_way(c, n->items[1], &when_true);
    b = a == NULL ? NULL : check_way(c, n->items[2], &when_false);
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
static const struct type *check_item(struct checker *c, struct ast_node *n, bool is_optional)
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

static const struct type *check_list(struct checker *c, struct ast_node *n)
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
           t->kind == TYPE_NUMBER || t->kind == TYPE_BOOL || t->kind == TYPE_DYN ||
           t->kind == TYPE_VARIABLE;
}

static const struct type *check_map(struct checker *c, struct ast_node *n)
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
static bool fold_variables(struct checker *c, const struct ast_node *n, const struct type *range)
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

static const struct type *fold_result(struct checker *c, const struct ast_node *n,
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

static const struct type *check_fold(struct checker *c, struct ast_node *n)
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
                                         const struct type *type, struct ast_node *body)
{
    const struct type *t;

    local->type = type;
    local->outer = c->locals;
    c->locals = local;
    t = check_node(c, body);
    c->locals = local->outer;
    return t;
}

static const struct type *check_bind(struct checker *c, struct ast_node *n)
{
    const struct type *t = check_node(c, n->items[0]);

    return t == NULL ? NULL : check_in_scope(c, n->local, t, n->items[1]);
}

static const struct type *check_optional_map(struct checker *c, struct ast_node *n)
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

static const struct type *check_join(struct checker *c, struct ast_node *n)
{
    for (uint32_t i = 0; i < n->count; i++)
        if (n->items[i]->kind == NODE_CONST)
            check_dollar(c, n->items[i], true);
        else if (check_node(c, n->items[i]) == NULL)
            return NULL;
    return type_basic(TYPE_STRING);
}

static const struct type *check_operands(struct checker *c, struct ast_node *n)
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

const struct type *check_node(struct checker *c, struct ast_node *n)
{
    switch ((enum node_kind)n->kind) {
    case NODE_CONST:
        check_dollar(c, n, false);
        return type_of_value(n->value);
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
        check_constant_index(c, n);
        return n->kind == NODE_OPERATOR ? check_operands(c, n)
               : n->kind == NODE_SELECT ? check_select(c, n)
                                        : check_optional_select(c, n);
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
                  struct str source, const struct cel_options *options, struct err *err)
{
    *c = (struct checker){.mem = mem, .env = env, .source = source, .err = err};
    if (options != NULL) {
        c->is_lenient = options->without_check;
        c->facts = options->facts;
    }
    infer_init(&c->infer, mem);
}

const struct type *check_tree(struct checker *c, struct ast_node *n)
{
    const struct type *t = check_node(c, n);

    return t == NULL ? NULL : infer_final(&c->infer, t);
}
