/* param.h - parameters, and what is given for them: param.c, input.c. Internal to src/define. */
#ifndef PAWL_DEFINE_COMPILE_PARAM_H
#define PAWL_DEFINE_COMPILE_PARAM_H

#include "define/compile/compile.h"

struct params {
    const struct param *items;
    uint32_t count;
};

/* The field `type` of a parameter, by the table: an enum param_type, or -1 when there is none. */
int compile_param_type(struct compiler *c, enum field_table table, struct value object);

/*
 * Whether *v is of that type. A double that is a whole number becomes an int
 * where an integer is wanted.
 */
bool compile_fits(enum param_type type, struct value *v);

/* A finding that `v` is not of that type; and "a whole number", for messages. */
void compile_misfit(struct compiler *c, struct value v, enum param_type type);
const char *compile_param_wanted(enum param_type type);

/*
 * Hold what is given against one parameter, what is within it included: findings where it does
 * not fit. *v gets the defaults of its fields.
 */
void compile_check_value(struct compiler *c, const struct param *param, struct value *v);

/* Whether a value is in the list that a parameter allows; true once it is too much work to tell. */
bool compile_is_allowed(struct compiler *c, const struct param *param, struct value v);

/* What the values of parameters are called in their conditions: "input" or "payload". */
enum params_root { PARAMS_INPUT, PARAMS_PAYLOAD };

/*
 * An environment in which these names are laid over $.input: of the types that the mapping shows
 * for certain, or whatever they hold. `m` may be NULL.
 */
const struct cel_env *compile_overlay_env(struct compiler *c, struct value names,
                                          const struct mapping *m);

/* The types that an expression for a parameter may have, as compile_has_type() takes them. */
struct str compile_param_types(enum param_type type);

/* `input` of a definition, or `form` of a wait: a list of parameters where we stand. */
bool compile_params(struct compiler *c, struct value list, enum params_root root,
                    struct params *out);

/*
 * `input` of a definition; from now on expressions know by it which fields $.input has, and the
 * texts that their enums allow. False, and no parameters, when it is not there or not usable.
 */
bool compile_own_input(struct compiler *c, struct value definition, struct params *out);

/*
 * Whether what is written as the input of a procedure can be what its
 * parameters say: the names, and constants. `input` may be NULL.
 */
void compile_check_given(struct compiler *c, const struct procedure *p,
                         const struct mapping *input);

#endif
