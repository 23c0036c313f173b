/*
 * macro.c - calls that are not functions: has(), all(), map(), cel.bind() ...
 *
 * A macro looks like a call, but introduces variables or does not evaluate
 * all of its arguments. The parser hands over each call it has read; what is
 * a macro by name, receiver and number of arguments is replaced by the nodes
 * it stands for. The same name with other arguments stays a call.
 */
#include "cel/syntax/parse.h"

typedef struct ast_node *expand_fn(struct parser *p, struct ast_node *call);

struct macro {
    const char *name;
    const char *space;   /* the receiver is this name: "cel" in cel.bind() */
    bool is_member;      /* any other receiver */
    uint32_t count;      /* of arguments, without the receiver */
    expand_fn *expand;   /* NULL: a loop, which is all in its row */
    const char *usage;   /* in the first row of a name: how it is written */
    enum fold_kind fold; /* of a loop: what it gathers */
    uint32_t variables;  /* of a loop: how many it has */
};

/* --- helpers --- */

static struct ast_node **arguments(const struct ast_node *call)
{
    return call->items + (call->is_member ? 1 : 0);
}

/* The name that an argument introduces as a variable. */
static bool variable_name(struct parser *p, const struct ast_node *call, const struct ast_node *arg,
                          struct str *name)
{
    if (arg->kind != NODE_NAME || arg->is_absolute) {
        parse_fail(p, arg->offset, "%.*s() wants the name of a variable here", STR_ARG(call->text));
        return false;
    }
    *name = arg->text;
    return true;
}

static uint16_t deeper(uint16_t depth, const struct ast_node *child)
{
    return child != NULL && child->depth >= depth ? (uint16_t)(child->depth + 1) : depth;
}

static struct ast_node *new_fold(struct parser *p, const struct ast_node *call, enum fold_kind kind,
                                 bool two_variables, struct ast_node *filter, struct ast_node *body)
{
    struct ast_node *n = node_new(p->mem, NODE_FOLD, call->offset);
    struct ast_node **args = arguments(call);
    struct fold *fold = ARENA_NEW(p->mem, struct fold);

    fold->kind = kind;
    fold->range = call->items[0];
    fold->filter = filter;
    fold->body = body;
    if (!variable_name(p, call, args[0], &fold->first.name))
        return NULL;
    if (two_variables) {
        if (!variable_name(p, call, args[1], &fold->second.name))
            return NULL;
        if (str_eq(fold->first.name, fold->second.name))
            return parse_fail(p, args[1]->offset, "the two variables of %.*s() must differ",
                              STR_ARG(call->text));
    }
    n->fold = fold;
    n->depth = deeper(deeper(deeper(1, fold->range), filter), body);
    return n;
}

static struct ast_node *new_bind(struct parser *p, uint32_t offset, struct str name,
                                 struct ast_node *init, struct ast_node *body)
{
    struct ast_node *items[2] = {init, body};
    struct ast_node *n = node_items(p->mem, NODE_BIND, offset, items, 2);

    n->local = ARENA_NEW(p->mem, struct local);
    n->local->name = name;
    return n;
}

/* --- expansions --- */

static struct ast_node *expand_has(struct parser *p, struct ast_node *call)
{
    struct ast_node *arg = call->items[0];

    if (arg->kind != NODE_SELECT)
        return parse_fail(p, arg->offset, "has() wants a field, as in has(a.b)");
    arg->kind = NODE_HAS;
    return arg;
}

/* The variables, a condition if there is one argument more, and what is gathered. */
static struct ast_node *expand_fold(struct parser *p, struct ast_node *call, const struct macro *m)
{
    struct ast_node **args = arguments(call);
    struct ast_node *filter = m->count > m->variables + 1 ? args[m->variables] : NULL;

    return new_fold(p, call, m->fold, m->variables == 2, filter, args[m->count - 1]);
}

static struct ast_node *expand_filter(struct parser *p, struct ast_node *call)
{
    struct ast_node **args = arguments(call);
    struct str name;

    if (!variable_name(p, call, args[0], &name))
        return NULL;
    return new_fold(p, call, FOLD_LIST, false, args[1], node_name(p->mem, call->offset, name));
}

/* optMap(), and optFlatMap(), whose result is an optional already. */
static struct ast_node *expand_optional(struct parser *p, struct ast_node *call)
{
    struct ast_node **args = arguments(call);
    struct ast_node *items[2] = {call->items[0], args[1]};
    struct ast_node *n = node_items(p->mem, NODE_OPTIONAL_MAP, call->offset, items, 2);

    n->is_flat = str_eq(call->text, STR("optFlatMap"));
    n->local = ARENA_NEW(p->mem, struct local);
    return variable_name(p, call, args[0], &n->local->name) ? n : NULL;
}

/* list.sortBy(x, key): the list once, the list of its keys, and a function that sorts by them. */
static struct ast_node *expand_sort_by(struct parser *p, struct ast_node *call)
{
    struct str name = str_printf(p->mem, "@list%u", p->next_name++);
    struct ast_node *list = call->items[0], *keys, *sort;
    struct ast_node *items[2];

    call->items[0] = node_name(p->mem, call->offset, name);
    keys = new_fold(p, call, FOLD_LIST, false, NULL, arguments(call)[1]);
    if (keys == NULL)
        return NULL;
    items[0] = node_name(p->mem, call->offset, name);
    items[1] = keys;
    sort = node_items(p->mem, NODE_CALL, call->offset, items, 2);
    sort->is_member = true;
    sort->text = STR("@sortByAssociatedKeys");
    return new_bind(p, call->offset, name, list, sort);
}

static struct ast_node *expand_bind(struct parser *p, struct ast_node *call)
{
    struct ast_node **args = arguments(call);
    struct str name;

    if (!variable_name(p, call, args[0], &name))
        return NULL;
    return new_bind(p, call->offset, name, args[1], args[2]);
}

/* A small non-negative number written as a literal. */
static bool literal_index(struct parser *p, const struct ast_node *arg, int64_t *out)
{
    if (arg->kind != NODE_CONST || arg->value.kind != VALUE_INT || arg->value.i < 0) {
        parse_fail(p, arg->offset, "expected a number that is written out");
        return false;
    }
    *out = arg->value.i;
    return true;
}

/* cel.block([a, b], c): a and b are computed once; cel.index(0) and cel.index(1) name them. */
static struct ast_node *expand_block(struct parser *p, struct ast_node *call)
{
    struct ast_node *list = arguments(call)[0], *n = arguments(call)[1];

    if (list->kind != NODE_LIST || list->optional != NULL)
        return parse_fail(p, list->offset, "cel.block() wants a list that is written out");
    if (list->count > CEL_NESTING_MAX)
        return parse_fail(p, list->offset, "cel.block() takes at most %d values", CEL_NESTING_MAX);
    for (uint32_t i = list->count; i-- > 0;)
        n = new_bind(p, call->offset, str_printf(p->mem, "@index%u", i), list->items[i], n);
    return n;
}

static struct ast_node *expand_index(struct parser *p, struct ast_node *call)
{
    int64_t i;

    if (!literal_index(p, arguments(call)[0], &i))
        return NULL;
    return node_name(p->mem, call->offset, str_printf(p->mem, "@index%lld", (long long)i));
}

static struct ast_node *expand_iter_var(struct parser *p, struct ast_node *call)
{
    int64_t i, j;

    if (!literal_index(p, arguments(call)[0], &i) || !literal_index(p, arguments(call)[1], &j))
        return NULL;
    return node_name(p->mem, call->offset,
                     str_printf(p->mem, "@it:%lld:%lld", (long long)i, (long long)j));
}

/* --- the table --- */

static const struct macro macros[] = {
    {"has", NULL, false, 1, expand_has, "has(a.b)", 0, 0},
    {"all", NULL, true, 2, NULL, "list.all(x, condition)", FOLD_ALL, 1},
    {"all", NULL, true, 3, NULL, NULL, FOLD_ALL, 2},
    {"exists", NULL, true, 2, NULL, "list.exists(x, condition)", FOLD_EXISTS, 1},
    {"exists", NULL, true, 3, NULL, NULL, FOLD_EXISTS, 2},
    {"exists_one", NULL, true, 2, NULL, "list.exists_one(x, condition)", FOLD_EXISTS_ONE, 1},
    {"exists_one", NULL, true, 3, NULL, NULL, FOLD_EXISTS_ONE, 2},
    {"existsOne", NULL, true, 2, NULL, "list.existsOne(x, condition)", FOLD_EXISTS_ONE, 1},
    {"existsOne", NULL, true, 3, NULL, NULL, FOLD_EXISTS_ONE, 2},
    {"map", NULL, true, 2, NULL, "list.map(x, result)", FOLD_LIST, 1},
    {"map", NULL, true, 3, NULL, NULL, FOLD_LIST, 1},
    {"filter", NULL, true, 2, expand_filter, "list.filter(x, condition)", 0, 0},
    {"transformList", NULL, true, 3, NULL, "list.transformList(i, x, result)", FOLD_LIST, 2},
    {"transformList", NULL, true, 4, NULL, NULL, FOLD_LIST, 2},
    {"transformMap", NULL, true, 3, NULL, "map.transformMap(key, x, result)", FOLD_MAP, 2},
    {"transformMap", NULL, true, 4, NULL, NULL, FOLD_MAP, 2},
    {"transformMapEntry", NULL, true, 3, NULL, "map.transformMapEntry(key, x, {newKey: result})",
     FOLD_MAP_ENTRY, 2},
    {"transformMapEntry", NULL, true, 4, NULL, NULL, FOLD_MAP_ENTRY, 2},
    {"optMap", NULL, true, 2, expand_optional, "optional.optMap(x, result)", 0, 0},
    {"optFlatMap", NULL, true, 2, expand_optional, "optional.optFlatMap(x, optional)", 0, 0},
    {"sortBy", NULL, true, 2, expand_sort_by, "list.sortBy(x, key)", 0, 0},
    {"bind", "cel", false, 3, expand_bind, "cel.bind(x, value, result)", 0, 0},
    {"block", "cel", false, 2, expand_block, "cel.block([value, ...], result)", 0, 0},
    {"index", "cel", false, 1, expand_index, "cel.index(0)", 0, 0},
    {"iterVar", "cel", false, 2, expand_iter_var, "cel.iterVar(0, 0)", 0, 0},
};

static bool is_call_of(const struct macro *m, const struct ast_node *call)
{
    uint32_t count = call->count - (call->is_member ? 1 : 0);

    if (count != m->count || !str_eq(call->text, str_of(m->name)))
        return false;
    if (m->space != NULL)
        return call->is_member && call->items[0]->kind == NODE_NAME &&
               str_eq(call->items[0]->text, str_of(m->space));
    return call->is_member == m->is_member;
}

void macro_expand(struct parser *p, struct ast_node **node)
{
    for (size_t i = 0; i < ARRAY_SIZE(macros); i++)
        if (macros[i].name[0] == (*node)->text.ptr[0] && is_call_of(&macros[i], *node)) {
            *node = macros[i].expand != NULL ? macros[i].expand(p, *node)
                                             : expand_fold(p, *node, &macros[i]);
            return;
        }
}

const char *macro_usage(const struct ast_node *call)
{
    for (size_t i = 0; i < ARRAY_SIZE(macros); i++)
        if (macros[i].usage != NULL && str_eq(call->text, str_of(macros[i].name)))
            return macros[i].usage;
    return NULL;
}
