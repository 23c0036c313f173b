/*
 * parse.c - recursive descent over the grammar of CEL; see parse.h.
 *
 * Real nesting is bounded by CEL_NESTING_MAX before the parser recurses. What
 * only chains to the left (a + b + c, a.b.c) needs no recursion here, but the
 * later passes walk the tree, so the depth of the tree is bounded too.
 */
#include "cel/syntax/parse_inner.h"

#include "base/text/utf8.h"
#include "cel/syntax/synonym.h"

#include <stdarg.h>

enum { TREE_DEPTH_MAX = 2000 };

/* --- tokens --- */

struct ast_node *parse_fail(struct parser *p, uint32_t offset, const char *format, ...)
{
    uint32_t line, column;
    va_list args;

    cel_place(p->lex.source, offset, &line, &column);
    va_start(args, format);
    (void)err_vset(p->err, ERR_EXPRESSION_SYNTAX, line, column, format, args);
    va_end(args);
    return NULL;
}

/* Of an expression that ends too early: the bracket that is not closed. */
static const char *what_is_open(enum token_kind closing)
{
    return closing == TOKEN_RPAREN     ? PHRASE(": a '(' is not closed")
           : closing == TOKEN_RBRACKET ? PHRASE(": a '[' is not closed")
           : closing == TOKEN_RBRACE   ? PHRASE(": a '{' is not closed")
                                       : "";
}

static struct ast_node *fail_expected(struct parser *p, const char *wanted, const char *open)
{
    struct lex_token t = p->token;

    if (t.kind == TOKEN_RESERVED)
        return parse_fail(p, t.offset, "'%.*s' is a reserved word, not a name", (int)t.len,
                          p->lex.source.ptr + t.offset);
    return parse_fail(p, t.offset, "expected %s, but found %s%s", wanted, token_name(t.kind),
                      t.kind == TOKEN_END ? open : "");
}

struct ast_node *parse_unexpected(struct parser *p, const char *wanted)
{
    return fail_expected(p, wanted, "");
}

struct ast_node *parse_unclosed(struct parser *p, const char *wanted, enum token_kind closing)
{
    return fail_expected(p, wanted, what_is_open(closing));
}

bool parse_expect(struct parser *p, enum token_kind kind)
{
    if (p->token.kind != kind) {
        parse_unclosed(p, token_name(kind), kind);
        return false;
    }
    return parse_advance(p);
}

bool parse_at_double(const struct parser *p, enum token_kind kind)
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

struct ast_node *parse_bounded(struct parser *p, struct ast_node *n)
{
    if (n == NULL || n->depth <= TREE_DEPTH_MAX)
        return n;
    parse_fail(p, n->offset, "this chain of operators is longer than %d", TREE_DEPTH_MAX);
    p->err->code = ERR_LIMIT_EXPRESSION_SIZE;
    return NULL;
}

/* --- operators, from the strongest to the weakest --- */

struct ast_node *parse_operator(struct parser *p, enum operator op, uint32_t offset,
                                struct ast_node *a, struct ast_node *b)
{
    struct ast_node *items[2] = {a, b};
    struct ast_node *n = node_items(p->mem, NODE_OPERATOR, offset, items, b == NULL ? 1 : 2);

    n->op = (uint8_t)op;
    return n;
}

static struct ast_node *parse_unary(struct parser *p)
{
    struct lex_token t = p->token;
    struct ast_node *n;

    if (t.kind != TOKEN_NOT && t.kind != TOKEN_MINUS)
        return parse_operand(p);
    if (!parse_advance(p))
        return NULL;
    /* The minus belongs to the literal, so that the smallest int can be written. */
    if (t.kind == TOKEN_MINUS && (p->token.kind == TOKEN_INT || p->token.kind == TOKEN_DOUBLE))
        return parse_negative(p);
    /* The specification has rows of one operator, never one behind the other: !-a is none. */
    if ((p->token.kind == TOKEN_NOT || p->token.kind == TOKEN_MINUS) && p->token.kind != t.kind)
        return parse_unexpected(p, "a value");
    if (!enter(p))
        return NULL;
    n = parse_unary(p);
    p->nesting--;
    if (n == NULL)
        return NULL;
    return parse_operator(p, t.kind == TOKEN_NOT ? OPERATOR_NOT : OPERATOR_NEGATE, t.offset, n,
                          NULL);
}

/* How tightly binary operators bind: larger is tighter, 0 is none. */
static const struct {
    uint8_t strength, op;
} binary[TOKEN_COUNT] = {
    [TOKEN_STAR] = {3, OPERATOR_MULTIPLY},  [TOKEN_SLASH] = {3, OPERATOR_DIVIDE},
    [TOKEN_PERCENT] = {3, OPERATOR_MODULO}, [TOKEN_PLUS] = {2, OPERATOR_ADD},
    [TOKEN_MINUS] = {2, OPERATOR_SUBTRACT}, [TOKEN_EQ] = {1, OPERATOR_EQ},
    [TOKEN_NE] = {1, OPERATOR_NE},          [TOKEN_LT] = {1, OPERATOR_LT},
    [TOKEN_LE] = {1, OPERATOR_LE},          [TOKEN_GT] = {1, OPERATOR_GT},
    [TOKEN_GE] = {1, OPERATOR_GE},          [TOKEN_IN] = {1, OPERATOR_IN},
};

/* Operators of at least this strength; all of them chain to the left. */
static struct ast_node *parse_binary(struct parser *p, int weakest)
{
    struct ast_node *left = parse_unary(p);

    while (left != NULL) {
        struct lex_token t = p->token;
        int strength = binary[t.kind].strength;
        struct ast_node *right;

        if (strength == 0 || strength < weakest)
            break;
        if (!parse_advance(p))
            return NULL;
        right = parse_binary(p, strength + 1);
        if (right == NULL)
            return NULL;
        left = parse_bounded(
            p, parse_operator(p, (enum operator)binary[t.kind].op, t.offset, left, right));
    }
    return left;
}

/* a && b && c is one node of three items: long chains stay flat. */
static struct ast_node *parse_logic(struct parser *p, enum token_kind kind)
{
    struct ast_node *first = kind == TOKEN_OR ? parse_logic(p, TOKEN_AND) : parse_binary(p, 1);
    uint32_t offset = p->token.offset;
    struct expr_items list;

    if (first == NULL || p->token.kind != kind)
        return first;
    parse_items_init(&list);
    parse_items_add(p, &list, first, false);
    while (p->token.kind == kind) {
        struct ast_node *next;
        if (!parse_advance(p))
            return NULL;
        next = kind == TOKEN_OR ? parse_logic(p, TOKEN_AND) : parse_binary(p, 1);
        if (next == NULL)
            return NULL;
        parse_items_add(p, &list, next, false);
    }
    return parse_items_node(p, &list, kind == TOKEN_OR ? NODE_OR : NODE_AND, offset);
}

static struct ast_node *parse_ternary(struct parser *p)
{
    struct ast_node *items[3];
    uint32_t offset;

    items[0] = parse_logic(p, TOKEN_OR);
    if (items[0] == NULL || p->token.kind != TOKEN_QUESTION)
        return items[0];
    offset = p->token.offset;
    if (!parse_advance(p))
        return NULL;
    items[1] = parse_logic(p, TOKEN_OR);
    if (items[1] == NULL || !parse_expect(p, TOKEN_COLON))
        return NULL;
    items[2] = parse_expr(p);
    if (items[2] == NULL)
        return NULL;
    return node_items(p->mem, NODE_TERNARY, offset, items, 3);
}

struct ast_node *parse_expr(struct parser *p)
{
    struct ast_node *n;

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
static struct ast_node *fail_behind(struct parser *p, const struct ast_node *n, const char *wanted,
                                    const char *open)
{
    struct str word = p->token.kind == TOKEN_IDENT ? parse_token_text(p, p->token) : STR_NONE;
    uint32_t offset = p->token.offset;

    if (operator_here(word).len == 0 && n->kind == NODE_NAME) {
        word = n->text;
        offset = n->offset;
    }
    if (operator_here(word).len == 0)
        return fail_expected(p, wanted, open);
    (void)parse_fail(p, offset, "'%.*s' is no operator", STR_ARG(word));
    err_set_hint(p->err, "did you mean '%.*s'?", STR_ARG(operator_here(word)));
    return NULL;
}

struct ast_node *parse_whole(struct parser *p)
{
    struct ast_node *n;

    if (!parse_advance(p))
        return NULL;
    n = parse_expr(p);
    if (n != NULL && p->token.kind != TOKEN_END)
        return fail_behind(p, n, "an operator or the end of the expression", "");
    return n;
}

struct ast_node *parse_template_part(struct parser *p)
{
    struct ast_node *n;

    if (!parse_advance(p))
        return NULL;
    n = parse_expr(p);
    if (n == NULL)
        return NULL;
    if (!parse_at_double(p, TOKEN_RBRACE))
        return fail_behind(p, n, "'}}'", ": a '{{' is not closed");
    p->lex.pos++;
    return n;
}
