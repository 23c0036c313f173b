/* parse.h - CEL source to syntax tree, macros expanded. */
#ifndef PAWL_CEL_PARSE_H
#define PAWL_CEL_PARSE_H

#include "cel/syntax/ast.h"
#include "cel/syntax/lex.h"

struct parser {
    struct arena *mem;  /* of the tree */
    struct arena *keep; /* of the constants, which outlive the tree */
    struct lexer lex;
    struct lex_token token; /* the one being looked at */
    struct err *err;
    uint32_t nesting;
    uint32_t next_name; /* for names that macros invent */
    bool with_macros;
    bool with_templates; /* {{ expr }} is a parenthesised expression */
};

/*
 * Prepare to parse `source`, whose size and encoding are checked here:
 * ERR_LIMIT_EXPRESSION_SIZE or ERR_EXPRESSION_SYNTAX.
 */
bool parser_init(struct parser *p, struct arena *mem, struct arena *keep, struct str source,
                 enum cel_mode mode, bool with_macros, struct err *err) MUST_USE;

/* A whole expression, up to the end of the source. NULL: p->err is filled. */
struct ast_node *parse_whole(struct parser *p) MUST_USE;

/*
 * The expression of a template: the lexer stands behind "{{"; parses up to
 * and over the "}}" and leaves p->lex.pos behind it.
 */
struct ast_node *parse_template_part(struct parser *p) MUST_USE;

/* A whole template: text with {{ expr }} in it. template.c */
struct ast_node *parse_template(struct parser *p) MUST_USE;

/* The same, and always a text; with the parts escaped for HTML. template.c */
struct ast_node *parse_text(struct parser *p) MUST_USE;
struct ast_node *parse_html(struct parser *p) MUST_USE;

/*
 * A value of a URL, or of a path behind one: a template whose values are
 * percent-encoded. The source of a whole path is one expression. template.c
 */
struct ast_node *parse_url(struct parser *p) MUST_USE;
struct ast_node *parse_path(struct parser *p) MUST_USE;
struct ast_node *parse_whole_path(struct parser *p) MUST_USE;

/* Report a syntax error. Answers NULL, so that it can be returned. */
struct ast_node *parse_fail(struct parser *p, uint32_t offset, const char *format, ...)
    PRINTF_LIKE(3, 4);

/*
 * If the call is that of a macro, replace it: *node becomes the expansion, or
 * NULL when the macro was used wrongly. Otherwise *node is left alone.
 * macro.c.
 */
void macro_expand(struct parser *p, struct ast_node **node);

/* How a macro of this call's name is written, "list.map(x, ...)"; NULL when there is none. */
const char *macro_usage(const struct ast_node *call);

#endif
