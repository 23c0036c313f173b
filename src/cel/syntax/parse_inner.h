/*
 * parse_inner.h - what the files of the parser share; what others see of it is parse.h.
 *
 * Whatever fails has told p->err, and answers NULL or false.
 */
#ifndef PAWL_CEL_PARSE_INNER_H
#define PAWL_CEL_PARSE_INNER_H

#include "cel/syntax/parse.h"

/* --- tokens: parse.c --- */

/* Look at the next token. */
static inline MUST_USE bool parse_advance(struct parser *p)
{
    return lex_next(&p->lex, &p->token, p->err);
}

static inline struct str parse_token_text(const struct parser *p, struct lex_token t)
{
    return str_slice(p->lex.source, t.offset, t.offset + t.len);
}

/* Step over a token of this kind. */
bool parse_expect(struct parser *p, enum token_kind kind) MUST_USE;

/* Two of these tokens with nothing between: the braces of a template. */
bool parse_at_double(const struct parser *p, enum token_kind kind);

/* Say what was wanted in place of the token. Answers NULL. */
struct ast_node *parse_unexpected(struct parser *p, const char *wanted);

/* The same; an expression that ends here lacks the token that would close a bracket. */
struct ast_node *parse_unclosed(struct parser *p, const char *wanted, enum token_kind closing);

/* --- expressions: parse.c --- */

struct ast_node *parse_expr(struct parser *p) MUST_USE;

/* `b` is NULL when it takes one operand. */
struct ast_node *parse_operator(struct parser *p, enum operator op, uint32_t offset,
                                struct ast_node *a, struct ast_node *b);

/* The node itself, unless the tree has become too deep; NULL stays NULL. */
struct ast_node *parse_bounded(struct parser *p, struct ast_node *n) MUST_USE;

/* --- operands: parse_operand.c --- */

/* A value with all that follows it: fields, indexes, calls. */
struct ast_node *parse_operand(struct parser *p) MUST_USE;

/* The same for a number behind its minus sign. */
struct ast_node *parse_negative(struct parser *p) MUST_USE;

/* --- items: parse_items.c --- */

enum { ITEMS_INLINE = 16 };

/* Items of a list, map or call while their number is not yet known. */
struct expr_items {
    struct ast_node *inline_items[ITEMS_INLINE];
    bool inline_optional[ITEMS_INLINE];
    struct ast_node **items;
    bool *optional;
    uint32_t count, capacity;
    bool any_optional;
};

void parse_items_init(struct expr_items *list);
void parse_items_add(struct parser *p, struct expr_items *list, struct ast_node *n, bool optional);
struct ast_node *parse_items_node(struct parser *p, struct expr_items *list, enum node_kind kind,
                                  uint32_t offset);

/* Comma-separated expressions up to `close`, which is consumed. */
bool parse_items(struct parser *p, struct expr_items *list, enum token_kind close,
                 bool may_be_optional, bool may_end_with_comma) MUST_USE;

/* Entries up to '}', which is consumed; `offset` is that of the map. */
struct ast_node *parse_map(struct parser *p, uint32_t offset) MUST_USE;

#endif
