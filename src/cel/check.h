/*
 * check.h - resolve every name of a syntax tree and find its type.
 *
 * Without checking, names are resolved all the same, but what is unknown or
 * does not fit becomes an error of the evaluation.
 *
 * why: decisions 0130, 0165
 */
#ifndef PAWL_CEL_CHECK_H
#define PAWL_CEL_CHECK_H

#include "cel/env.h"
#include "cel/infer.h"
#include "cel/syntax/ast.h"

struct notes {
    VEC_OF(struct cel_note);
};

struct checker {
    struct arena *mem;
    const struct cel_env *env;
    struct str source;
    struct infer infer;
    struct local *locals; /* innermost first */
    bool is_lenient;      /* types are not checked */
    enum cel_facts facts;
    struct guards guards; /* what is there where we stand */
    struct notes notes;
    struct err *err;
};

/* `options` may be NULL. */
void checker_init(struct checker *c, struct arena *mem, const struct cel_env *env,
                  struct str source, const struct cel_options *options, struct err *err);

/* The type of the tree, all of whose nodes are resolved; or NULL with c->err filled. */
const struct type *check_tree(struct checker *c, struct ast_node *n) MUST_USE;

/* A type error at `n`: NULL and c->err filled, or dyn when types are not checked. */
const struct type *check_fail(struct checker *c, const struct ast_node *n, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* The type of an operator whose operands have these types (b is NULL for one). check_operator.c */
const struct type *check_operator(struct checker *c, const struct ast_node *n, const struct type *a,
                                  const struct type *b) MUST_USE;

/*
 * Whether a comparison, whose operands are checked, is with what a field can
 * be. False with c->err filled. check_words.c
 */
bool check_words(struct checker *c, const struct ast_node *n) MUST_USE;

/* --- facts: check_facts.c --- */

/*
 * What a condition, which is not checked yet, asks for: whatever is there when
 * it gives `outcome` is added to `out`.
 */
void check_guards(const struct checker *c, const struct ast_node *n, bool outcome,
                  struct guards *out);

/* The type of a checked selection, if more is known of it than `t`. Adds notes about it. */
const struct type *check_known_field(struct checker *c, const struct ast_node *n,
                                     const struct type *t);

/* The type of a variable, if more is known of it than was declared. */
const struct type *check_known_variable(const struct checker *c, const struct variable *v);

/* A note about ${x} in a constant text, which may be one of a template. */
void check_dollar(struct checker *c, const struct ast_node *n, bool is_template);

/* The whole name of what a checked node reads, written to the end of `out`; empty for others. */
enum { DOTTED_MAX = 256 };
struct str check_path(const struct checker *c, const struct ast_node *n, char out[DOTTED_MAX]);

/* --- between the files of the checker; NULL from any of them means that c->err is filled --- */

/* The type of any node, which is resolved. */
const struct type *check_node(struct checker *c, struct ast_node *n) MUST_USE;

/* Names and fields: check_name.c */

/* steps["pay"] becomes steps.pay, where an unknown field is an error. */
void check_constant_index(const struct checker *c, struct ast_node *n);

const struct type *check_name(struct checker *c, struct ast_node *n) MUST_USE;
const struct type *check_select(struct checker *c, struct ast_node *n) MUST_USE;
const struct type *check_optional_select(struct checker *c, struct ast_node *n) MUST_USE;

/* The variable of a macro that has this name, or NULL. */
struct local *check_local(const struct checker *c, struct str name);

/*
 * The names of a chain of selections with dots between them, written to `out`
 * from its end on, and the node at its beginning. Empty when it is no such
 * chain or longer than any declared name.
 */
struct str check_dotted_name(const struct ast_node *n, char out[DOTTED_MAX],
                             const struct ast_node **first);

/* Calls: check_call.c */
const struct type *check_call(struct checker *c, struct ast_node *n) MUST_USE;

/* Something that does not exist: an error now or, unchecked, when it is evaluated. */
const struct type *check_fail_unknown(struct checker *c, struct ast_node *n, const struct err *err);

/* Add "did you mean" to the error when `nearest` is not empty. */
void check_hint(struct err *err, struct str nearest);

/* The text of a type, for messages. */
const char *check_text(struct checker *c, const struct type *t);

#endif
