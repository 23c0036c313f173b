/*
 * macro.c - calls that are not functions: has(), all(), map(), cel.bind() ...
 *
 * A macro looks like a call, but introduces variables or does not evaluate
 * all of its arguments. The parser hands over each call it has read; what is
 * a macro by name, receiver and number of arguments is replaced by the nodes
 * it stands for. The same name with other arguments stays a call.
 */
#include "cel/parse.h"

typedef struct node *expand_fn(struct parser *p, struct node *call);

struct macro {
    const char *name;
    const char *space; /* the receiver is this name: "cel" in cel.bind() */
    bool is_member;    /* any other receiver */
    uint32_t count;    /* of arguments, without the receiver */
    expand_fn *expand;
    const char *usage; /* in the first row of a name: how it is written */
};

/* --- helpers --- */

static struct node **arguments(const struct node *call)
{
    return call->items + (call->is_member ? 1 : 0);
}

/* The name that an argument introduces as a variable. */
static bool variable_name(struct parser *p, const struct node *call, const struct node *arg,
                          struct str *name)
{
    if (arg->kind != NODE_NAME || arg->is_absolute) {
        parse_fail(p, arg->offset, "%.*s() wants the name of a variable here", STR_ARG(call->text));
        return false;
    }
    *name = arg->text;
    return true;
}

static uint16_t deeper(uint16_t depth, const struct node *child)
{
    return child != NULL && child->depth >= depth ? (uint16_t)(child->depth + 1) : depth;
}

static struct node *new_fold(struct parser *p, const struct node *call, enum fold_kind kind,
                             bool two_variables, struct node *filter, struct node *body)
{
    struct node *n = node_new(p->mem, NODE_FOLD, call->offset);
    struct node **args = arguments(call);
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

static struct node *new_bind(struct parser *p, uint32_t offset, struct str name, struct node *init,
                             struct node *body)
{
    struct node *items[2] = {init, body};
    struct node *n = node_items(p->mem, NODE_BIND, offset, items, 2);

    n->local = ARENA_NEW(p->mem, struct local);
    n->local->name = name;
    return n;
}

/* --- expansions --- */

static struct node *expand_has(struct parser *p, struct node *call)
{
    struct node *arg = call->items[0];

    if (arg->kind != NODE_SELECT)
        return parse_fail(p, arg->offset, "has() wants a field, as in has(a.b)");
    arg->kind = NODE_HAS;
    return arg;
}

static struct node *expand_all(struct parser *p, struct node *call)
{
    return new_fold(p, call, FOLD_ALL, false, NULL, arguments(call)[1]);
}

static struct node *expand_all2(struct parser *p, struct node *call)
{
    return new_fold(p, call, FOLD_ALL, true, NULL, arguments(call)[2]);
}

static struct node *expand_exists(struct parser *p, struct node *call)
{
    return new_fold(p, call, FOLD_EXISTS, false, NULL, arguments(call)[1]);
}

static struct node *expand_exists2(struct parser *p, struct node *call)
{
    return new_fold(p, call, FOLD_EXISTS, true, NULL, arguments(call)[2]);
}

static struct node *expand_exists_one(struct parser *p, struct node *call)
{
    return new_fold(p, call, FOLD_EXISTS_ONE, false, NULL, arguments(call)[1]);
}

static struct node *expand_exists_one2(struct parser *p, struct node *call)
{
    return new_fold(p, call, FOLD_EXISTS_ONE, true, NULL, arguments(call)[2]);
}

static struct node *expand_map(struct parser *p, struct node *call)
{
    return new_fold(p, call, FOLD_LIST, false, NULL, arguments(call)[1]);
}

static struct node *expand_map_filtered(struct parser *p, struct node *call)
{
    return new_fold(p, call, FOLD_LIST, false, arguments(call)[1], arguments(call)[2]);
}

static struct node *expand_filter(struct parser *p, struct node *call)
{
    struct node **args = arguments(call);
    struct str name;

    if (!variable_name(p, call, args[0], &name))
        return NULL;
    return new_fold(p, call, FOLD_LIST, false, args[1], node_name(p->mem, call->offset, name));
}

static struct node *expand_transform_list(struct parser *p, struct node *call)
{
    return new_fold(p, call, FOLD_LIST, true, NULL, arguments(call)[2]);
}

static struct node *expand_transform_list_filtered(struct parser *p, struct node *call)
{
    return new_fold(p, call, FOLD_LIST, true, arguments(call)[2], arguments(call)[3]);
}

static struct node *expand_transform_map(struct parser *p, struct node *call)
{
    return new_fold(p, call, FOLD_MAP, true, NULL, arguments(call)[2]);
}

static struct node *expand_transform_map_filtered(struct parser *p, struct node *call)
{
    return new_fold(p, call, FOLD_MAP, true, arguments(call)[2], arguments(call)[3]);
}

static struct node *expand_transform_entry(struct parser *p, struct node *call)
{
    return new_fold(p, call, FOLD_MAP_ENTRY, true, NULL, arguments(call)[2]);
}

static struct node *expand_transform_entry_filtered(struct parser *p, struct node *call)
{
    return new_fold(p, call, FOLD_MAP_ENTRY, true, arguments(call)[2], arguments(call)[3]);
}

static struct node *new_optional_map(struct parser *p, struct node *call, bool is_flat)
{
    struct node **args = arguments(call);
    struct node *items[2] = {call->items[0], args[1]};
    struct node *n = node_items(p->mem, NODE_OPTIONAL_MAP, call->offset, items, 2);

    n->is_flat = is_flat;
    n->local = ARENA_NEW(p->mem, struct local);
    return variable_name(p, call, args[0], &n->local->name) ? n : NULL;
}

static struct node *expand_opt_map(struct parser *p, struct node *call)
{
    return new_optional_map(p, call, false);
}

static struct node *expand_opt_flat_map(struct parser *p, struct node *call)
{
    return new_optional_map(p, call, true);
}

/* list.sortBy(x, key): the list once, the list of its keys, and a function that sorts by them. */
static struct node *expand_sort_by(struct parser *p, struct node *call)
{
    struct str name = str_printf(p->mem, "@list%u", p->next_name++);
    struct node *list = call->items[0], *keys, *sort;
    struct node *items[2];

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

static struct node *expand_bind(struct parser *p, struct node *call)
{
    struct node **args = arguments(call);
    struct str name;

    if (!variable_name(p, call, args[0], &name))
        return NULL;
    return new_bind(p, call->offset, name, args[1], args[2]);
}

/* A small non-negative number written as a literal. */
static bool literal_index(struct parser *p, const struct node *arg, int64_t *out)
{
    if (arg->kind != NODE_CONST || arg->value.kind != VALUE_INT || arg->value.i < 0) {
        parse_fail(p, arg->offset, "expected a number that is written out");
        return false;
    }
    *out = arg->value.i;
    return true;
}

/* cel.block([a, b], c): a and b are computed once; cel.index(0) and cel.index(1) name them. */
static struct node *expand_block(struct parser *p, struct node *call)
{
    struct node *list = arguments(call)[0], *n = arguments(call)[1];

    if (list->kind != NODE_LIST || list->optional != NULL)
        return parse_fail(p, list->offset, "cel.block() wants a list that is written out");
    if (list->count > CEL_NESTING_MAX)
        return parse_fail(p, list->offset, "cel.block() takes at most %d values", CEL_NESTING_MAX);
    for (uint32_t i = list->count; i-- > 0;)
        n = new_bind(p, call->offset, str_printf(p->mem, "@index%u", i), list->items[i], n);
    return n;
}

static struct node *expand_index(struct parser *p, struct node *call)
{
    int64_t i;

    if (!literal_index(p, arguments(call)[0], &i))
        return NULL;
    return node_name(p->mem, call->offset, str_printf(p->mem, "@index%lld", (long long)i));
}

static struct node *expand_iter_var(struct parser *p, struct node *call)
{
    int64_t i, j;

    if (!literal_index(p, arguments(call)[0], &i) || !literal_index(p, arguments(call)[1], &j))
        return NULL;
    return node_name(p->mem, call->offset,
                     str_printf(p->mem, "@it:%lld:%lld", (long long)i, (long long)j));
}

/* --- the table --- */

static const struct macro macros[] = {
    {"has", NULL, false, 1, expand_has, "has(a.b)"},
    {"all", NULL, true, 2, expand_all, "list.all(x, condition)"},
    {"all", NULL, true, 3, expand_all2, NULL},
    {"exists", NULL, true, 2, expand_exists, "list.exists(x, condition)"},
    {"exists", NULL, true, 3, expand_exists2, NULL},
    {"exists_one", NULL, true, 2, expand_exists_one, "list.exists_one(x, condition)"},
    {"exists_one", NULL, true, 3, expand_exists_one2, NULL},
    {"existsOne", NULL, true, 2, expand_exists_one, "list.existsOne(x, condition)"},
    {"existsOne", NULL, true, 3, expand_exists_one2, NULL},
    {"map", NULL, true, 2, expand_map, "list.map(x, result)"},
    {"map", NULL, true, 3, expand_map_filtered, NULL},
    {"filter", NULL, true, 2, expand_filter, "list.filter(x, condition)"},
    {"transformList", NULL, true, 3, expand_transform_list, "list.transformList(i, x, result)"},
    {"transformList", NULL, true, 4, expand_transform_list_filtered, NULL},
    {"transformMap", NULL, true, 3, expand_transform_map, "map.transformMap(key, x, result)"},
    {"transformMap", NULL, true, 4, expand_transform_map_filtered, NULL},
    {"transformMapEntry", NULL, true, 3, expand_transform_entry,
     "map.transformMapEntry(key, x, {newKey: result})"},
    {"transformMapEntry", NULL, true, 4, expand_transform_entry_filtered, NULL},
    {"optMap", NULL, true, 2, expand_opt_map, "optional.optMap(x, result)"},
    {"optFlatMap", NULL, true, 2, expand_opt_flat_map, "optional.optFlatMap(x, optional)"},
    {"sortBy", NULL, true, 2, expand_sort_by, "list.sortBy(x, key)"},
    {"bind", "cel", false, 3, expand_bind, "cel.bind(x, value, result)"},
    {"block", "cel", false, 2, expand_block, "cel.block([value, ...], result)"},
    {"index", "cel", false, 1, expand_index, "cel.index(0)"},
    {"iterVar", "cel", false, 2, expand_iter_var, "cel.iterVar(0, 0)"},
};

static bool is_call_of(const struct macro *m, const struct node *call)
{
    uint32_t count = call->count - (call->is_member ? 1 : 0);

    if (count != m->count || !str_eq(call->text, str_of(m->name)))
        return false;
    if (m->space != NULL)
        return call->is_member && call->items[0]->kind == NODE_NAME &&
               str_eq(call->items[0]->text, str_of(m->space));
    return call->is_member == m->is_member;
}

void macro_expand(struct parser *p, struct node **node)
{
    for (size_t i = 0; i < ARRAY_SIZE(macros); i++)
        if (macros[i].name[0] == (*node)->text.ptr[0] && is_call_of(&macros[i], *node)) {
            *node = macros[i].expand(p, *node);
            return;
        }
}

const char *macro_usage(const struct node *call)
{
    for (size_t i = 0; i < ARRAY_SIZE(macros); i++)
        if (macros[i].usage != NULL && str_eq(call->text, str_of(macros[i].name)))
            return macros[i].usage;
    return NULL;
}
