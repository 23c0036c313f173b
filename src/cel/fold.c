/*
 * fold.c - evaluate at compile time what needs nothing from outside.
 *
 * Goes from the leaves up. What fails stays as it is, because its error must
 * appear when it is evaluated, and may be absorbed there. Folding has a small
 * budget of its own: constants that would grow large are left to evaluation.
 */
#include "cel/program.h"

enum { FOLD_MEMORY = 64 * 1024, FOLD_COST = 10000 };

static void fold_node(struct cel_eval *ev, struct ast_node *n);

static bool all_constant(const struct ast_node *n)
{
    for (uint32_t i = 0; i < n->count; i++)
        if (n->items[i]->kind != NODE_CONST)
            return false;
    return true;
}

static void become(struct ast_node *n, struct value v)
{
    if (v.kind == VALUE_ERROR)
        return;
    n->kind = NODE_CONST;
    n->value = v;
}

static struct value *collect(struct cel_eval *ev, const struct ast_node *n)
{
    struct value *values = cel_alloc(ev, n->count * sizeof(*values) + 1);

    if (values == NULL)
        return NULL;
    for (uint32_t i = 0; i < n->count; i++)
        values[i] = n->items[i]->value;
    return values;
}

static void fold_call(struct cel_eval *ev, struct ast_node *n)
{
    struct value args[FUNCTION_PARAMS_MAX];

    if (!n->function->is_pure || n->count > FUNCTION_PARAMS_MAX)
        return;
    for (uint32_t i = 0; i < n->count; i++)
        args[i] = n->items[i]->value;
    become(n, function_call(ev, n->function, args, n->count));
}

static void fold_collection(struct cel_eval *ev, struct ast_node *n)
{
    struct value *items;

    if (n->optional != NULL)
        return;
    items = collect(ev, n);
    if (items == NULL)
        return;
    if (n->kind == NODE_LIST)
        become(n, value_list(items, n->count));
    else
        become(n, operate_map(ev, items, n->count, NULL));
}

static void fold_items(struct cel_eval *ev, struct ast_node *n)
{
    for (uint32_t i = 0; i < n->count; i++)
        fold_node(ev, n->items[i]);
}

/* Of constants alone. */
static void fold_constant(struct cel_eval *ev, struct ast_node *n)
{
    if (n->kind == NODE_OPERATOR)
        become(n, operate(ev, (enum operator)n->op, n->items[0]->value,
                          n->count == 2 ? n->items[1]->value : value_absent()));
    else if (n->kind == NODE_CALL)
        fold_call(ev, n);
    else
        fold_collection(ev, n);
}

static void fold_node(struct cel_eval *ev, struct ast_node *n)
{
    switch ((enum node_kind)n->kind) {
    case NODE_OPERATOR:
    case NODE_CALL:
    case NODE_LIST:
    case NODE_MAP:
        fold_items(ev, n);
        if (all_constant(n))
            fold_constant(ev, n);
        return;
    case NODE_TERNARY:
        fold_items(ev, n);
        if (n->items[0]->kind == NODE_CONST && n->items[0]->value.kind == VALUE_BOOL)
            *n = *n->items[n->items[0]->value.b ? 1 : 2];
        return;
    case NODE_AND:
    case NODE_OR:
    case NODE_BIND:
    case NODE_OPTIONAL_MAP:
    case NODE_JOIN:
        fold_items(ev, n);
        return;
    case NODE_SELECT:
    case NODE_HAS:
    case NODE_OPTIONAL_SELECT:
        fold_node(ev, n->operand);
        return;
    case NODE_FOLD:
        fold_node(ev, n->fold->range);
        if (n->fold->filter != NULL)
            fold_node(ev, n->fold->filter);
        fold_node(ev, n->fold->body);
        return;
    case NODE_CONST:
    case NODE_NAME:
    case NODE_SLOT:
    case NODE_HAS_SLOT:
    case NODE_LOCAL:
    case NODE_ROOT:
    case NODE_FAIL:
        return;
    }
    PANIC("unknown kind of node");
}

void fold_constants(struct arena *mem, enum cel_mode mode, struct ast_node *tree)
{
    struct cel_eval ev = {
        .mem = mem, .mem_left = FOLD_MEMORY, .cost_left = FOLD_COST, .mode = mode};

    fold_node(&ev, tree);
}
