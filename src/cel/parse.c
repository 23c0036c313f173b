/*
 * parse.c - recursive descent over the grammar of CEL; see parse.h.
 *
 * Real nesting is bounded by CEL_NESTING_MAX before the parser recurses. What
 * only chains to the left (a + b + c, a.b.c) needs no recursion here, but the
 * later passes walk the tree, so the depth of the tree is bounded too.
 */
#include "cel/parse.h"

#include "base/utf8.h"
#include "cel/synonym.h"

#include <stdarg.h>
#include <stdio.h>

enum { TREE_DEPTH_MAX = 2000, ITEMS_INLINE = 16 };

/* Items of a list, map or call while their number is not yet known. */
struct items {
    struct node *inline_items[ITEMS_INLINE];
    bool inline_optional[ITEMS_INLINE];
    struct node **items;
    bool *optional;
    uint32_t count, room;
    bool any_optional;
};

static struct node *parse_expr(struct parser *p);

/* --- tokens --- */

struct node *parse_fail(struct parser *p, uint32_t offset, const char *format, ...)
{
    char message[sizeof(p->err->message)];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    lex_fail(&p->lex, offset, p->err, "%s", message);
    return NULL;
}

static bool advance(struct parser *p)
{
    return lex_next(&p->lex, &p->token, p->err);
}

static struct node *fail_unexpected(struct parser *p, const char *wanted)
{
    struct token t = p->token;

    if (t.kind == TOKEN_RESERVED)
        return parse_fail(p, t.offset, "'%.*s' is a reserved word, not a name", (int)t.len,
                          p->lex.source.ptr + t.offset);
    return parse_fail(p, t.offset, "expected %s, but found %s", wanted, token_name(t.kind));
}

static bool expect(struct parser *p, enum token_kind kind)
{
    if (p->token.kind != kind) {
        fail_unexpected(p, token_name(kind));
        return false;
    }
    return advance(p);
}

static struct str token_text(const struct parser *p, struct token t)
{
    return str_slice(p->lex.source, t.offset, t.offset + t.len);
}

/* Two of these tokens with nothing between: the braces of a template. */
static bool at_double(const struct parser *p, enum token_kind kind)
{
    return p->token.kind == kind && p->lex.pos < p->lex.source.len &&
           p->lex.source.ptr[p->lex.pos] == p->lex.source.ptr[p->token.offset];
}

static bool enter(struct parser *p)
{
    if (++p->nesting <= CEL_NESTING_MAX)
        return true;
    parse_fail(p, p->token.offset, "nested more than %d deep", CEL_NESTING_MAX);
    p->err->code = ERR_LIMIT_EXPRESSION_SIZE;
    return false;
}

static struct node *check_depth(struct parser *p, struct node *n)
{
    if (n == NULL || n->depth <= TREE_DEPTH_MAX)
        return n;
    parse_fail(p, n->offset, "this chain of operators is longer than %d", TREE_DEPTH_MAX);
    p->err->code = ERR_LIMIT_EXPRESSION_SIZE;
    return NULL;
}

/* --- lists of items --- */

static void items_init(struct items *list)
{
    list->items = list->inline_items;
    list->optional = list->inline_optional;
    list->count = 0;
    list->room = ITEMS_INLINE;
    list->any_optional = false;
}

static void items_add(struct parser *p, struct items *list, struct node *n, bool optional)
{
    if (list->count == list->room) {
        struct node **items = ARENA_ARRAY(p->mem, list->room * 2, struct node *);
        bool *flags = ARENA_ARRAY(p->mem, list->room * 2, bool);
        memcpy(items, list->items, list->count * sizeof(*items));
        memcpy(flags, list->optional, list->count * sizeof(*flags));
        list->items = items;
        list->optional = flags;
        list->room *= 2;
    }
    list->optional[list->count] = optional;
    list->items[list->count++] = n;
    list->any_optional |= optional;
}

static struct node *items_node(struct parser *p, struct items *list, enum node_kind kind,
                               uint32_t offset)
{
    struct node *n = node_items(p->mem, kind, offset, list->items, list->count);

    if (list->any_optional) {
        bool *flags = ARENA_ARRAY(p->mem, list->count, bool);
        memcpy(flags, list->optional, list->count * sizeof(*flags));
        n->optional = flags;
    }
    return n;
}

/* Comma-separated expressions up to `close`, which is consumed. */
static bool parse_items(struct parser *p, struct items *list, enum token_kind close,
                        bool may_be_optional, bool may_end_with_comma)
{
    items_init(list);
    while (p->token.kind != close) {
        bool optional = may_be_optional && p->token.kind == TOKEN_QUESTION;
        struct node *n;

        if (optional && !advance(p))
            return false;
        n = parse_expr(p);
        if (n == NULL)
            return false;
        items_add(p, list, n, optional);
        if (p->token.kind != TOKEN_COMMA)
            break;
        if (!advance(p))
            return false;
        if (p->token.kind == close && !may_end_with_comma) {
            fail_unexpected(p, "another argument");
            return false;
        }
    }
    if (p->token.kind != close) {
        fail_unexpected(p, close == TOKEN_RPAREN ? "',' or ')'" : "',' or ']'");
        return false;
    }
    return advance(p);
}

static struct node *parse_map(struct parser *p, uint32_t offset)
{
    struct items list;

    items_init(&list);
    while (p->token.kind != TOKEN_RBRACE) {
        bool optional = p->token.kind == TOKEN_QUESTION;
        struct node *key, *value;

        if (optional && !advance(p))
            return NULL;
        key = parse_expr(p);
        if (key == NULL || !expect(p, TOKEN_COLON))
            return NULL;
        value = parse_expr(p);
        if (value == NULL)
            return NULL;
        items_add(p, &list, key, optional);
        items_add(p, &list, value, optional);
        if (p->token.kind != TOKEN_COMMA)
            break;
        if (!advance(p))
            return NULL;
    }
    if (p->token.kind != TOKEN_RBRACE)
        return fail_unexpected(p, "',' or '}'");
    if (!advance(p))
        return NULL;
    return items_node(p, &list, NODE_MAP, offset);
}

/* --- from the inside out --- */

static struct node *parse_call(struct parser *p, struct node *receiver, struct str name,
                               uint32_t offset)
{
    struct items list, all;
    struct node *n;

    if (!advance(p) || !parse_items(p, &list, TOKEN_RPAREN, false, false))
        return NULL;
    if (receiver != NULL) {
        items_init(&all);
        items_add(p, &all, receiver, false);
        for (uint32_t i = 0; i < list.count; i++)
            items_add(p, &all, list.items[i], false);
        n = items_node(p, &all, NODE_CALL, offset);
    } else {
        n = items_node(p, &list, NODE_CALL, offset);
    }
    n->is_member = receiver != NULL;
    n->text = name;
    if (p->with_macros)
        macro_expand(p, &n);
    return n;
}

static struct node *parse_name(struct parser *p, bool is_absolute)
{
    struct token t = p->token;
    struct node *n;

    if (t.kind != TOKEN_IDENT)
        return fail_unexpected(p, "a name");
    if (!advance(p))
        return NULL;
    if (p->token.kind == TOKEN_LPAREN)
        return parse_call(p, NULL, token_text(p, t), t.offset);
    n = node_name(p->mem, t.offset, token_text(p, t));
    n->is_absolute = is_absolute;
    return n;
}

static struct node *parse_literal(struct parser *p, bool negative)
{
    struct token t = p->token;
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
    return advance(p) ? node_const(p->mem, t.offset, v) : NULL;
}

static struct node *parse_braced(struct parser *p)
{
    uint32_t offset = p->token.offset;
    struct node *n;

    if (!p->with_templates || !at_double(p, TOKEN_LBRACE))
        return advance(p) ? parse_map(p, offset) : NULL;
    p->lex.pos++;
    n = parse_template_part(p);
    return n != NULL && advance(p) ? n : NULL;
}

static struct node *parse_list(struct parser *p)
{
    uint32_t offset = p->token.offset;
    struct items list;

    if (!advance(p) || !parse_items(p, &list, TOKEN_RBRACKET, true, true))
        return NULL;
    return items_node(p, &list, NODE_LIST, offset);
}

static struct node *parse_primary(struct parser *p)
{
    struct token t = p->token;
    struct node *n;

    switch (t.kind) {
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
        return advance(p) ? parse_name(p, true) : NULL;
    case TOKEN_ROOT:
        return advance(p) ? node_new(p->mem, NODE_ROOT, t.offset) : NULL;
    case TOKEN_LPAREN:
        if (!advance(p))
            return NULL;
        n = parse_expr(p);
        return n != NULL && expect(p, TOKEN_RPAREN) ? n : NULL;
    case TOKEN_LBRACKET:
        return parse_list(p);
    case TOKEN_LBRACE:
        return parse_braced(p);
    case TOKEN_END:
    case TOKEN_QUOTED:
    case TOKEN_RESERVED:
    case TOKEN_IN:
    case TOKEN_RPAREN:
    case TOKEN_RBRACKET:
    case TOKEN_RBRACE:
    case TOKEN_COMMA:
    case TOKEN_COLON:
    case TOKEN_QUESTION:
    case TOKEN_PLUS:
    case TOKEN_MINUS:
    case TOKEN_STAR:
    case TOKEN_SLASH:
    case TOKEN_PERCENT:
    case TOKEN_NOT:
    case TOKEN_LT:
    case TOKEN_LE:
    case TOKEN_GT:
    case TOKEN_GE:
    case TOKEN_EQ:
    case TOKEN_NE:
    case TOKEN_AND:
    case TOKEN_OR:
        break;
    }
    return fail_unexpected(p, "a value");
}

/* The name behind a dot: any word, or one in backquotes. */
static bool parse_field(struct parser *p, struct str *name, bool *quoted)
{
    struct token t = p->token;

    *name = token_text(p, t);
    *quoted = t.kind == TOKEN_QUOTED;
    if (*quoted)
        *name = str_slice(*name, 1, name->len - 1);
    else if (t.kind != TOKEN_IDENT && t.kind != TOKEN_RESERVED)
        return fail_unexpected(p, "the name of a field") != NULL;
    return advance(p);
}

static struct node *parse_select(struct parser *p, struct node *operand)
{
    struct node *n;
    struct str name;
    uint32_t offset;
    bool optional, quoted;

    if (!advance(p))
        return NULL;
    optional = p->token.kind == TOKEN_QUESTION;
    if (optional && !advance(p))
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

static struct node *new_operator(struct parser *p, enum operator op, uint32_t offset,
                                 struct node *a, struct node *b)
{
    struct node *items[2] = {a, b};
    struct node *n = node_items(p->mem, NODE_OPERATOR, offset, items, b == NULL ? 1 : 2);

    n->op = (uint8_t)op;
    return n;
}

static struct node *parse_index(struct parser *p, struct node *operand)
{
    uint32_t offset = p->token.offset;
    struct node *index;
    bool optional;

    if (!advance(p))
        return NULL;
    optional = p->token.kind == TOKEN_QUESTION;
    if (optional && !advance(p))
        return NULL;
    index = parse_expr(p);
    if (index == NULL || !expect(p, TOKEN_RBRACKET))
        return NULL;
    return new_operator(p, optional ? OPERATOR_OPTIONAL_INDEX : OPERATOR_INDEX, offset, operand,
                        index);
}

static struct node *parse_member(struct parser *p, struct node *n)
{
    while (n != NULL) {
        if (p->token.kind == TOKEN_DOT)
            n = parse_select(p, n);
        else if (p->token.kind == TOKEN_LBRACKET)
            n = parse_index(p, n);
        else
            break;
        n = check_depth(p, n);
    }
    return n;
}

static struct node *parse_unary(struct parser *p)
{
    struct token t = p->token;
    struct node *n;

    if (t.kind != TOKEN_NOT && t.kind != TOKEN_MINUS)
        return parse_member(p, parse_primary(p));
    if (!advance(p))
        return NULL;
    /* The minus belongs to the literal, so that the smallest int can be written. */
    if (t.kind == TOKEN_MINUS && (p->token.kind == TOKEN_INT || p->token.kind == TOKEN_DOUBLE))
        return parse_member(p, parse_literal(p, true));
    if (!enter(p))
        return NULL;
    n = parse_unary(p);
    p->nesting--;
    if (n == NULL)
        return NULL;
    return new_operator(p, t.kind == TOKEN_NOT ? OPERATOR_NOT : OPERATOR_NEGATE, t.offset, n, NULL);
}

/* How tightly a binary operator binds: larger is tighter, 0 is none. */
static int binary_strength(enum token_kind kind, enum operator* op)
{
    switch ((int)kind) {
    case TOKEN_STAR:
        *op = OPERATOR_MULTIPLY;
        return 3;
    case TOKEN_SLASH:
        *op = OPERATOR_DIVIDE;
        return 3;
    case TOKEN_PERCENT:
        *op = OPERATOR_MODULO;
        return 3;
    case TOKEN_PLUS:
        *op = OPERATOR_ADD;
        return 2;
    case TOKEN_MINUS:
        *op = OPERATOR_SUBTRACT;
        return 2;
    case TOKEN_EQ:
        *op = OPERATOR_EQ;
        return 1;
    case TOKEN_NE:
        *op = OPERATOR_NE;
        return 1;
    case TOKEN_LT:
        *op = OPERATOR_LT;
        return 1;
    case TOKEN_LE:
        *op = OPERATOR_LE;
        return 1;
    case TOKEN_GT:
        *op = OPERATOR_GT;
        return 1;
    case TOKEN_GE:
        *op = OPERATOR_GE;
        return 1;
    case TOKEN_IN:
        *op = OPERATOR_IN;
        return 1;
    default:
        return 0;
    }
}

/* Operators of at least this strength; all of them chain to the left. */
static struct node *parse_binary(struct parser *p, int weakest)
{
    struct node *left = parse_unary(p);

    while (left != NULL) {
        struct token t = p->token;
        enum operator op;
        int strength = binary_strength(t.kind, &op);
        struct node *right;

        if (strength == 0 || strength < weakest)
            break;
        if (!advance(p))
            return NULL;
        right = parse_binary(p, strength + 1);
        if (right == NULL)
            return NULL;
        left = check_depth(p, new_operator(p, op, t.offset, left, right));
    }
    return left;
}

/* a && b && c is one node of three items: long chains stay flat. */
static struct node *parse_logic(struct parser *p, enum token_kind kind)
{
    struct node *first = kind == TOKEN_OR ? parse_logic(p, TOKEN_AND) : parse_binary(p, 1);
    uint32_t offset = p->token.offset;
    struct items list;

    if (first == NULL || p->token.kind != kind)
        return first;
    items_init(&list);
    items_add(p, &list, first, false);
    while (p->token.kind == kind) {
        struct node *next;
        if (!advance(p))
            return NULL;
        next = kind == TOKEN_OR ? parse_logic(p, TOKEN_AND) : parse_binary(p, 1);
        if (next == NULL)
            return NULL;
        items_add(p, &list, next, false);
    }
    return items_node(p, &list, kind == TOKEN_OR ? NODE_OR : NODE_AND, offset);
}

static struct node *parse_ternary(struct parser *p)
{
    struct node *items[3];
    uint32_t offset;

    items[0] = parse_logic(p, TOKEN_OR);
    if (items[0] == NULL || p->token.kind != TOKEN_QUESTION)
        return items[0];
    offset = p->token.offset;
    if (!advance(p))
        return NULL;
    items[1] = parse_logic(p, TOKEN_OR);
    if (items[1] == NULL || !expect(p, TOKEN_COLON))
        return NULL;
    items[2] = parse_expr(p);
    if (items[2] == NULL)
        return NULL;
    return node_items(p->mem, NODE_TERNARY, offset, items, 3);
}

static struct node *parse_expr(struct parser *p)
{
    struct node *n;

    if (!enter(p))
        return NULL;
    n = parse_ternary(p);
    p->nesting--;
    return n;
}

/* --- wholes --- */

bool parser_init(struct parser *p, struct arena *mem, struct arena *keep, struct str source,
                 enum cel_mode mode, bool with_macros, struct err *err)
{
    size_t valid;

    *p = (struct parser){
        .mem = mem,
        .keep = keep,
        .lex = {.source = source, .with_root = mode == CEL_DEFINITION},
        .err = err,
        .with_macros = with_macros,
        .with_templates = mode == CEL_DEFINITION,
    };
    if (source.len > CEL_SOURCE_MAX &&
        (source.len > CEL_SOURCE_MAX * 4 || utf8_count(source) > CEL_SOURCE_MAX))
        return err_set(err, ERR_LIMIT_EXPRESSION_SIZE,
                       "the expression is longer than %d characters", CEL_SOURCE_MAX);
    valid = utf8_valid_prefix(source);
    if (valid < source.len) {
        p->lex.source.len = valid;
        return lex_fail(&p->lex, (uint32_t)valid, err, "the expression is not UTF-8 from here on");
    }
    return true;
}

/* "and" for "&&", and the like. */
static struct str operator_here(struct str word)
{
    struct str here = cel_synonym(word);

    return here.len > 0 && memchr("&|!", here.ptr[0], 3) != NULL ? here : STR_NONE;
}

/* What follows a whole expression may be an operator of another language: "a and b", "not a". */
static struct node *fail_behind(struct parser *p, const struct node *n, const char *wanted)
{
    struct str word = p->token.kind == TOKEN_IDENT ? token_text(p, p->token) : STR_NONE;
    uint32_t offset = p->token.offset;

    if (operator_here(word).len == 0 && n->kind == NODE_NAME) {
        word = n->text;
        offset = n->offset;
    }
    if (operator_here(word).len == 0)
        return fail_unexpected(p, wanted);
    return parse_fail(p, offset, "'%.*s' is no operator; did you mean '%.*s'?", STR_ARG(word),
                      STR_ARG(operator_here(word)));
}

struct node *parse_whole(struct parser *p)
{
    struct node *n;

    if (!advance(p))
        return NULL;
    n = parse_expr(p);
    if (n != NULL && p->token.kind != TOKEN_END)
        return fail_behind(p, n, "an operator or the end of the expression");
    return n;
}

struct node *parse_template_part(struct parser *p)
{
    struct node *n;

    if (!advance(p))
        return NULL;
    n = parse_expr(p);
    if (n == NULL)
        return NULL;
    if (!at_double(p, TOKEN_RBRACE))
        return fail_behind(p, n, "'}}'");
    p->lex.pos++;
    return n;
}
