/*
 * mapping.h - values that are written in a definition: constants, expressions, templates.
 * Internal to src/define.
 */
#ifndef PAWL_DEFINE_COMPILE_MAPPING_H
#define PAWL_DEFINE_COMPILE_MAPPING_H

#include "define/compile/compile.h"

/* Whether a text in a value position is itself, and no expression or template. */
bool compile_is_plain(struct str text);

/* The mapping of a value where we stand. Never NULL. */
const struct mapping *compile_mapping(struct compiler *c, struct value v);

/* The same for a URL, or for a path behind one: values in it are percent-encoded. */
const struct mapping *compile_url(struct compiler *c, struct value v, bool is_path);

/* The program of an expression that must be true or false, or NULL after a finding. */
const struct cel_program *compile_condition(struct compiler *c, struct value v);

/* The program of an expression of any type, or NULL after a finding. */
const struct cel_program *compile_expression(struct compiler *c, struct value v);

/*
 * Whether an expression may be of one of the types, which are written without
 * what stands in parentheses and with spaces between them; "" is any.
 */
bool compile_has_type(const struct cel_program *program, struct str types);

/* Whether one that is not is so for certain, or only if results are what they should be. */
bool compile_is_certain(struct compiler *c, const struct cel_program *program, bool is_value,
                        struct str types);

/* A finding when a value that is computed cannot be of the types: "this must be a text, ...". */
void compile_check_type(struct compiler *c, const struct cel_program *program, struct str types,
                        const char *wanted);

/* A value where one of that kind is wanted. Never NULL. */
const struct mapping *compile_value(struct compiler *c, struct value v, enum argument_kind kind);

/* What stands under a name in a map that is written; NULL: nothing. `constant` has room for it. */
const struct mapping *mapping_member(const struct mapping *m, struct str name,
                                     struct mapping *constant);

/* The type of an expression without what is only likely; "dyn" when nothing certain is known. */
struct str compile_certain_type(struct compiler *c, const struct cel_program *program);

/* --- fields of an object --- */

/* The field as a mapping; NULL when it is not there. */
const struct mapping *compile_mapping_of(struct compiler *c, struct value object, const char *name);

/* The same of an object, or of a text; NULL after a finding too. */
const struct mapping *compile_map(struct compiler *c, struct value object, const char *name);
const struct mapping *compile_computed(struct compiler *c, struct value object, const char *name);

/* The field as a value of that kind; NULL when it is not there. */
const struct mapping *compile_value_of(struct compiler *c, struct value object, const char *name,
                                       enum argument_kind kind);

/* The field as an expression; NULL when it is not there, or after a finding. */
const struct cel_program *compile_expression_of(struct compiler *c, struct value object,
                                                const char *name);

/* The field as a condition; NULL when it is not there, or after a finding. */
const struct cel_program *compile_when(struct compiler *c, struct value object, const char *name);

#endif
