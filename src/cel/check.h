/*
 * check.h - resolve every name of a syntax tree and find its type.
 *
 * Without checking, names are resolved all the same, but what is unknown or
 * does not fit becomes an error of the evaluation.
 */
#ifndef PAWL_CEL_CHECK_H
#define PAWL_CEL_CHECK_H

#include "cel/ast.h"
#include "cel/env.h"
#include "cel/infer.h"

struct checker {
    struct arena *mem;
    const struct cel_env *env;
    struct str source;
    struct infer infer;
    struct local *locals; /* innermost first */
    bool is_lenient;      /* types are not checked */
    struct err *err;
};

void checker_init(struct checker *c, struct arena *mem, const struct cel_env *env,
                  struct str source, bool is_lenient, struct err *err);

/* The type of the tree, all of whose nodes are resolved; or NULL with c->err filled. */
const struct type *check_tree(struct checker *c, struct node *n) MUST_USE;

/* A type error at `n`: NULL and c->err filled, or dyn when types are not checked. */
const struct type *check_fail(struct checker *c, const struct node *n, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* The type of an operator whose operands have these types (b is NULL for one). check_operator.c */
const struct type *check_operator(struct checker *c, const struct node *n, const struct type *a,
                                  const struct type *b) MUST_USE;

/* The text of a type, for messages. */
const char *check_text(struct checker *c, const struct type *t);

#endif
