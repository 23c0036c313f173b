/*
 * expr.h - for tests: an environment with variables, and tables of expressions
 * with what each of them gives.
 *
 * An outcome is text: the value as typed_value_print() writes it; "?1:5 text"
 * when it does not compile, with line and column; "!1:5 text" when it fails.
 */
#ifndef PAWL_TESTS_CEL_EXPR_H
#define PAWL_TESTS_CEL_EXPR_H

#include "cel/cel.h"

enum { EXPR_SLOTS = 32 };

struct expr {
    struct arena mem;
    struct cel_env *env;
    struct value slots[EXPR_SLOTS];
    struct cel_activation activation;
    struct cel_limits limits;
};

/* How a text is compiled. */
enum expr_form { AS_EXPRESSION, AS_VALUE, AS_TEXT, AS_HTML, AS_URL, AS_PATH };

struct expr_case {
    const char *source;
    const char *outcome;
};

void expr_init(struct expr *x, enum cel_mode mode);
void expr_fini(struct expr *x);

/* Declare a variable; its value is read from JSON, or not bound when that is NULL. */
void expr_bind(struct expr *x, const char *name, const char *type, const char *json);

/* What becomes of a text; lives as long as `x`. */
const char *expr_outcome(struct expr *x, enum expr_form form, const char *source);

/* Compile what must compile. */
const struct cel_program *expr_compile(struct expr *x, enum expr_form form, const char *source);

/* What the compiler says of an expression in any environment: "" or "column: message". */
const char *expr_complaint(struct arena *mem, const struct cel_env *env, const char *source);

/* Check all rows and fail after the last if any differs, having said which. */
void expr_run(struct expr *x, enum expr_form form, const struct expr_case *cases, size_t count);

#define EXPR_RUN(x, form, cases) expr_run((x), (form), (cases), sizeof(cases) / sizeof((cases)[0]))

#endif
