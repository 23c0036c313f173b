/* parse_items.c - the items of lists, maps and calls; see parse_inner.h. */
#include "cel/syntax/parse_inner.h"

void parse_items_init(struct expr_items *list)
{
    list->items = list->inline_items;
    list->optional = list->inline_optional;
    list->count = 0;
    list->capacity = ITEMS_INLINE;
    list->any_optional = false;
}

void parse_items_add(struct parser *p, struct expr_items *list, struct ast_node *n, bool optional)
{
    if (list->count == list->capacity) {
        struct ast_node **items = ARENA_ARRAY(p->mem, list->capacity * 2, struct ast_node *);
        bool *flags = ARENA_ARRAY(p->mem, list->capacity * 2, bool);
        memcpy(items, list->items, list->count * sizeof(*items));
        memcpy(flags, list->optional, list->count * sizeof(*flags));
        list->items = items;
        list->optional = flags;
        list->capacity *= 2;
    }
    list->optional[list->count] = optional;
    list->items[list->count++] = n;
    list->any_optional |= optional;
}

struct ast_node *parse_items_node(struct parser *p, struct expr_items *list, enum node_kind kind,
                                  uint32_t offset)
{
    struct ast_node *n = node_items(p->mem, kind, offset, list->items, list->count);

    if (list->any_optional) {
        bool *flags = ARENA_ARRAY(p->mem, list->count, bool);
        memcpy(flags, list->optional, list->count * sizeof(*flags));
        n->optional = flags;
    }
    return n;
}

/* The grammar allows a comma in front of the closing bracket of an empty list or map too. */
static bool parse_lone_comma(struct parser *p, enum token_kind close)
{
    if (p->token.kind != TOKEN_COMMA)
        return true;
    if (!parse_advance(p))
        return false;
    return p->token.kind == close || parse_unexpected(p, "an item before ','") != NULL;
}

bool parse_items(struct parser *p, struct expr_items *list, enum token_kind close,
                 bool may_be_optional, bool may_end_with_comma)
{
    parse_items_init(list);
    if (may_end_with_comma && !parse_lone_comma(p, close))
        return false;
    while (p->token.kind != close) {
        bool optional = may_be_optional && p->token.kind == TOKEN_QUESTION;
        struct ast_node *n;

        if (optional && !parse_advance(p))
            return false;
        n = parse_expr(p);
        if (n == NULL)
            return false;
        parse_items_add(p, list, n, optional);
        if (p->token.kind != TOKEN_COMMA)
            break;
        if (!parse_advance(p))
            return false;
        if (p->token.kind == close && !may_end_with_comma) {
            parse_unexpected(p, "another argument");
            return false;
        }
    }
    if (p->token.kind != close) {
        parse_unclosed(p, close == TOKEN_RPAREN ? "',' or ')'" : "',' or ']'", close);
        return false;
    }
    return parse_advance(p);
}

struct ast_node *parse_map(struct parser *p, uint32_t offset)
{
    struct expr_items list;

    parse_items_init(&list);
    if (!parse_lone_comma(p, TOKEN_RBRACE))
        return NULL;
    while (p->token.kind != TOKEN_RBRACE) {
        bool optional = p->token.kind == TOKEN_QUESTION;
        struct ast_node *key, *value;

        if (optional && !parse_advance(p))
            return NULL;
        key = parse_expr(p);
        if (key == NULL || !parse_expect(p, TOKEN_COLON))
            return NULL;
        value = parse_expr(p);
        if (value == NULL)
            return NULL;
        parse_items_add(p, &list, key, optional);
        parse_items_add(p, &list, value, optional);
        if (p->token.kind != TOKEN_COMMA)
            break;
        if (!parse_advance(p))
            return NULL;
    }
    if (p->token.kind != TOKEN_RBRACE)
        return parse_unclosed(p, "',' or '}'", TOKEN_RBRACE);
    if (!parse_advance(p))
        return NULL;
    return parse_items_node(p, &list, NODE_MAP, offset);
}
