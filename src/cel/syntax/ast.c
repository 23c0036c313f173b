/* ast.c - making nodes; see ast.h. */
#include "cel/syntax/ast.h"

static const char *const operator_texts[] = {
#define OPERATOR(symbol, name, text) (text),
#include "cel/syntax/operator.def"
#undef OPERATOR
};

const char *operator_text(enum operator op)
{
    return operator_texts[op];
}

struct ast_node *node_new(struct arena *mem, enum node_kind kind, uint32_t offset)
{
    struct ast_node *n = arena_alloc(mem, sizeof(*n));

    *n = (struct ast_node){.kind = (uint8_t)kind, .offset = offset, .depth = 1};
    return n;
}

struct ast_node *node_const(struct arena *mem, uint32_t offset, struct value v)
{
    struct ast_node *n = node_new(mem, NODE_CONST, offset);

    n->value = v;
    return n;
}

struct ast_node *node_name(struct arena *mem, uint32_t offset, struct str name)
{
    struct ast_node *n = node_new(mem, NODE_NAME, offset);

    n->text = name;
    return n;
}

struct ast_node *node_items(struct arena *mem, enum node_kind kind, uint32_t offset,
                            struct ast_node *const *items, uint32_t count)
{
    struct ast_node *n = node_new(mem, kind, offset);

    n->count = count;
    n->items = ARENA_ARRAY(mem, count, struct ast_node *);
    for (uint32_t i = 0; i < count; i++) {
        n->items[i] = items[i];
        if (items[i]->depth >= n->depth)
            n->depth = (uint16_t)(items[i]->depth + 1);
    }
    return n;
}
