/*
 * check_name.c - what names and fields stand for; see check.h.
 *
 * A chain like a.b.c is a declared variable of that name if there is one, the
 * longest declared beginning winning; otherwise a field of a field of a
 * variable. Variables of macros hide declared ones; `$.a` never means one.
 */
#include "cel/check.h"
#include "cel/syntax/foreign.h"

/* --- names --- */

struct local *check_local(const struct checker *c, struct str name)
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

struct str check_dotted_name(const struct ast_node *n, char out[DOTTED_MAX],
                             const struct ast_node **first)
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

static const struct type *become_variable(const struct checker *c, struct ast_node *n,
                                          const struct variable *v)
{
    if (v->is_constant) {
        n->kind = NODE_CONST;
        n->value = v->value;
    } else {
        n->kind = n->kind == NODE_HAS ? NODE_HAS_SLOT : NODE_SLOT;
        n->slot = v->slot;
    }
    return check_known_variable(c, v);
}

static const struct type *fail_undeclared(struct checker *c, struct ast_node *n, struct str name,
                                          struct str nearest)
{
    const char *advice = foreign_advice(FOREIGN_NAME, name);
    struct err err;

    if (advice != NULL)
        (void)err_set(&err, ERR_EXPRESSION_TYPE, "undeclared reference to '%.*s': %s",
                      STR_ARG(name), advice);
    else
        (void)err_set(&err, ERR_EXPRESSION_TYPE, "undeclared reference to '%.*s'", STR_ARG(name));
    err.about = ERR_ABOUT_VARIABLE;
    if (advice == NULL)
        check_hint(&err, nearest);
    return check_fail_unknown(c, n, &err);
}

/* A variable of a macro is nearer than a declared one. */
static struct str nearest_name(const struct checker *c, struct str name)
{
    for (struct local *l = c->locals; l != NULL; l = l->outer)
        if (l->name.ptr[0] != '@' && name.len > 2 && str_distance(name, l->name, 1) <= 1)
            return l->name;
    return env_nearest_variable(c->env, name);
}

const struct type *check_name(struct checker *c, struct ast_node *n)
{
    struct local *local = n->is_absolute ? NULL : check_local(c, n->text);
    const struct variable *v;

    if (local != NULL) {
        n->kind = NODE_LOCAL;
        n->local = local;
        return local->type;
    }
    v = n->is_absolute ? env_variable(c->env, n->text) : find_variable(c, n->text);
    if (v != NULL && v->type != NULL)
        return become_variable(c, n, v);
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
static const struct type *check_dotted(struct checker *c, struct ast_node *n)
{
    char dotted[DOTTED_MAX];
    const struct ast_node *first;
    const struct variable *v;
    struct str name = check_dotted_name(n, dotted, &first);

    if (name.len == 0)
        return NULL;
    if (first->kind == NODE_ROOT) {
        v = env_variable(c->env, name);
    } else {
        if (!first->is_absolute && check_local(c, first->text) != NULL)
            return NULL;
        /* Most chains begin with a variable that is no beginning of a longer name. */
        v = env_variable(c->env, first->text);
        if (v != NULL && !v->is_prefix && c->env->container.len == 0)
            return NULL;
        v = first->is_absolute ? env_variable(c->env, name) : find_variable(c, name);
    }
    if (v == NULL || v->type == NULL || (n->kind == NODE_HAS && v->is_constant))
        return NULL;
    return become_variable(c, n, v);
}

/* --- fields --- */

/* `is_asked`: by .?, or within an optional, so that it may be missing. */
static const struct type *field_type(struct checker *c, const struct ast_node *n,
                                     const struct type *t, bool is_asked)
{
    t = infer_resolve(&c->infer, t);
    if (t->kind == TYPE_DYN || t->kind == TYPE_VARIABLE)
        return type_basic(TYPE_DYN);
    if (t->kind == TYPE_MAP)
        return t->params[1];
    if (t->kind == TYPE_NULL && is_asked && c->env->mode == CEL_DEFINITION)
        return type_basic(TYPE_DYN);
    if (t->kind == TYPE_OPTIONAL) {
        const struct type *inner = field_type(c, n, t->params[0], true);
        return inner == NULL ? NULL : type_optional(c->mem, inner);
    }
    if (foreign_advice(FOREIGN_FIELD, n->text) != NULL)
        return check_fail(c, n, "%s has no field '%.*s': %s", check_text(c, t), STR_ARG(n->text),
                          foreign_advice(FOREIGN_FIELD, n->text));
    return check_fail(c, n, "%s has no fields, so it has no '%.*s'", check_text(c, t),
                      STR_ARG(n->text));
}

/*
 * The dotted name of a field of $, or of what is closed or only the beginning
 * of declared names, if that is not declared: steps.pya. Empty when it is, or
 * when the root is open and it may exist. `asks`: the expression wants to know
 * whether it exists.
 */
static struct str undeclared_part(struct checker *c, const struct ast_node *n, bool asks)
{
    char dotted[DOTTED_MAX];
    const struct ast_node *first;
    const struct variable *above;
    struct str name, beginning;

    if (c->env->open_root)
        return STR_NONE;
    name = check_dotted_name(n, dotted, &first);
    if (n->operand->kind == NODE_ROOT)
        return name.len == 0                        ? str_printf(c->mem, "`%.*s`", STR_ARG(n->text))
               : env_variable(c->env, name) != NULL ? STR_NONE
                                                    : n->text;
    if (name.len == 0 || env_variable(c->env, name) != NULL ||
        (first->kind == NODE_NAME && check_local(c, first->text) != NULL))
        return STR_NONE;
    beginning = str_slice(name, 0, name.len - n->text.len - 1);
    above = first->is_absolute ? env_variable(c->env, beginning) : find_variable(c, beginning);
    if (above == NULL || above->is_field ||
        (above->type != NULL && !above->is_closed && !above->is_listed))
        return STR_NONE;
    if (above->is_listed && asks)
        return STR_NONE;
    return str_copy(c->mem, name);
}

/* Whether all fields of what a node reads are known. */
static bool lists_fields(const struct checker *c, const struct ast_node *n)
{
    char dotted[DOTTED_MAX];
    const struct variable *v;
    const struct ast_node *first;
    struct str name;

    if (n->kind == NODE_ROOT)
        return !c->env->open_root;
    name = check_dotted_name(n, dotted, &first);
    if (name.len == 0 || (first->kind == NODE_NAME && check_local(c, first->text) != NULL))
        return false;
    v = env_variable(c->env, name);
    return v != NULL && (v->is_closed || v->is_listed ||
                         (c->facts != CEL_FACTS_NONE && v->shape != NULL && v->shape->is_closed));
}

void check_constant_index(const struct checker *c, struct ast_node *n)
{
    struct ast_node *operand;

    if (n->kind != NODE_OPERATOR || (n->op != OPERATOR_INDEX && n->op != OPERATOR_OPTIONAL_INDEX) ||
        n->items[1]->kind != NODE_CONST || n->items[1]->value.kind != VALUE_STRING)
        return;
    operand = n->items[0];
    check_constant_index(c, operand);
    if (!lists_fields(c, operand))
        return;
    n->kind = n->op == OPERATOR_INDEX ? NODE_SELECT : NODE_OPTIONAL_SELECT;
    n->text = value_text(n->items[1]->value);
    n->is_quoted = true;
    n->offset = n->items[1]->offset;
    n->operand = operand;
}

const struct type *check_select(struct checker *c, struct ast_node *n)
{
    bool is_has = n->kind == NODE_HAS;
    const struct type *t = check_dotted(c, n);
    struct str undeclared;

    if (t != NULL)
        return is_has ? type_basic(TYPE_BOOL) : t;
    undeclared = undeclared_part(c, n, is_has);
    if (undeclared.len > 0)
        return fail_undeclared(c, n, undeclared, env_nearest_variable(c->env, undeclared));
    t = check_node(c, n->operand);
    if (t == NULL)
        return NULL;
    t = field_type(c, n, t, false);
    if (t == NULL || is_has)
        return t == NULL ? NULL : type_basic(TYPE_BOOL);
    return c->facts == CEL_FACTS_NONE ? t : check_known_field(c, n, t);
}

const struct type *check_optional_select(struct checker *c, struct ast_node *n)
{
    const struct type *t, *field;
    struct ast_node plain = *n;
    struct str undeclared;

    plain.kind = NODE_SELECT;
    undeclared = undeclared_part(c, &plain, true);
    if (undeclared.len > 0)
        return fail_undeclared(c, n, undeclared, env_nearest_variable(c->env, undeclared));
    t = check_node(c, n->operand);
    if (t == NULL)
        return NULL;
    field = field_type(c, n, t, true);
    if (field == NULL || infer_resolve(&c->infer, t)->kind == TYPE_OPTIONAL)
        return field;
    return type_optional(c->mem, field);
}
