/* parse_operand.c - what operators stand between: literals, names, calls; see parse_inner.h. */
#include "cel/syntax/parse_inner.h"

static struct ast_node *parse_call(struct parser *p, struct ast_node *receiver, struct str name,
                                   uint32_t offset)
{
    struct expr_items list, all;
    struct ast_node *n;

    if (!parse_advance(p) || !parse_items(p, &list, TOKEN_RPAREN, false, false))
        return NULL;
    if (receiver != NULL) {
        parse_items_init(&all);
        parse_items_add(p, &all, receiver, false);
        for (uint32_t i = 0; i < list.count; i++)
            parse_items_add(p, &all, list.items[i], false);
        n = parse_items_node(p, &all, NODE_CALL, offset);
    } else {
        n = parse_items_node(p, &list, NODE_CALL, offset);
    }
    n->is_member = receiver != NULL;
    n->text = name;
    if (p->with_macros)
        macro_expand(p, &n);
    return n;
}

static struct ast_node *parse_name(struct parser *p, bool is_absolute)
{
    struct lex_token t = p->token;
    struct ast_node *n;

    if (t.kind != TOKEN_IDENT)
        return parse_unexpected(p, "a name");
    if (!parse_advance(p))
        return NULL;
    if (p->token.kind == TOKEN_LPAREN)
        return parse_call(p, NULL, parse_token_text(p, t), t.offset);
    n = node_name(p->mem, t.offset, parse_token_text(p, t));
    n->is_absolute = is_absolute;
    return n;
}

static struct ast_node *parse_literal(struct parser *p, bool negative)
{
    struct lex_token t = p->token;
    struct value v;

    if (t.kind == TOKEN_INT || t.kind == TOKEN_UINT || t.kind == TOKEN_DOUBLE) {
        if (!lex_number(&p->lex, t, negative, &v, p->err))
            return NULL;
    } else if (t.kind == TOKEN_STRING || t.kind == TOKEN_BYTES) {
        if (!lex_text(p->keep, &p->lex, t, &v, p->err))
            return NULL;
    } else if (t.kind == TOKEN_NULL) {
        v = value_null();
    } else {
        v = value_bool(t.kind == TOKEN_TRUE);
    }
    return parse_advance(p) ? node_const(p->mem, t.offset, v) : NULL;
}

static struct ast_node *parse_braced(struct parser *p)
{
    uint32_t offset = p->token.offset;
    struct ast_node *n;

    if (!p->with_templates || !parse_at_double(p, TOKEN_LBRACE))
        return parse_advance(p) ? parse_map(p, offset) : NULL;
    p->lex.pos++;
    n = parse_template_part(p);
    return n != NULL && parse_advance(p) ? n : NULL;
}

static struct ast_node *parse_list(struct parser *p)
{
    uint32_t offset = p->token.offset;
    struct expr_items list;

    if (!parse_advance(p) || !parse_items(p, &list, TOKEN_RBRACKET, true, true))
        return NULL;
    return parse_items_node(p, &list, NODE_LIST, offset);
}

static struct ast_node *parse_primary(struct parser *p)
{
    struct lex_token t = p->token;
    struct ast_node *n;

    switch ((int)t.kind) {
    case TOKEN_INT:
    case TOKEN_UINT:
    case TOKEN_DOUBLE:
    case TOKEN_STRING:
    case TOKEN_BYTES:
    case TOKEN_TRUE:
    case TOKEN_FALSE:
    case TOKEN_NULL:
        return parse_literal(p, false);
    case TOKEN_IDENT:
        return parse_name(p, false);
    case TOKEN_DOT:
        return parse_advance(p) ? parse_name(p, true) : NULL;
    case TOKEN_ROOT:
        return parse_advance(p) ? node_new(p->mem, NODE_ROOT, t.offset) : NULL;
    case TOKEN_LPAREN:
        if (!parse_advance(p))
            return NULL;
        n = parse_expr(p);
        return n != NULL && parse_expect(p, TOKEN_RPAREN) ? n : NULL;
    case TOKEN_LBRACKET:
        return parse_list(p);
    case TOKEN_LBRACE:
        return parse_braced(p);
    default:
        return parse_unexpected(p, "a value");
    }
}

/* The name behind a dot: any word, or one in backquotes. */
static bool parse_field(struct parser *p, struct str *name, bool *quoted)
{
    struct lex_token t = p->token;

    *name = parse_token_text(p, t);
    *quoted = t.kind == TOKEN_QUOTED;
    if (*quoted)
        *name = str_slice(*name, 1, name->len - 1);
    else if (t.kind != TOKEN_IDENT && t.kind != TOKEN_RESERVED)
        return parse_unexpected(p, "the name of a field") != NULL;
    return parse_advance(p);
}

static struct ast_node *parse_select(struct parser *p, struct ast_node *operand)
{
    struct ast_node *n;
    struct str name;
    uint32_t offset;
    bool optional, quoted;

    if (!parse_advance(p))
        return NULL;
    optional = p->token.kind == TOKEN_QUESTION;
    if (optional && !parse_advance(p))
        return NULL;
    offset = p->token.offset;
    if (!parse_field(p, &name, &quoted))
        return NULL;
    if (p->token.kind == TOKEN_LPAREN && !optional && !quoted)
        return parse_call(p, operand, name, offset);
    n = node_new(p->mem, optional ? NODE_OPTIONAL_SELECT : NODE_SELECT, offset);
    n->operand = operand;
    n->is_quoted = quoted;
    n->text = name;
    n->depth = (uint16_t)(operand->depth + 1);
    return n;
}

static struct ast_node *parse_index(struct parser *p, struct ast_node *operand)
{
    uint32_t offset = p->token.offset;
    struct ast_node *index;
    bool optional;

    if (!parse_advance(p))
        return NULL;
    optional = p->token.kind == TOKEN_QUESTION;
    if (optional && !parse_advance(p))
        return NULL;
    index = parse_expr(p);
    if (index == NULL || !parse_expect(p, TOKEN_RBRACKET))
        return NULL;
    return parse_operator(p, optional ? OPERATOR_OPTIONAL_INDEX : OPERATOR_INDEX, offset, operand,
                          index);
}

static struct ast_node *parse_member(struct parser *p, struct ast_node *n)
{
    while (n != NULL) {
        if (p->token.kind == TOKEN_DOT)
            n = parse_select(p, n);
        else if (p->token.kind == TOKEN_LBRACKET)
            n = parse_index(p, n);
        else
            break;
        n = parse_bounded(p, n);
    }
    return n;
}

struct ast_node *parse_operand(struct parser *p)
{
    return parse_member(p, parse_primary(p));
}

struct ast_node *parse_negative(struct parser *p)
{
    return parse_member(p, parse_literal(p, true));
}
