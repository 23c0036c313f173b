/*
 * bounds.h - what a parameter says of its value beside the type: min, max, minLength, maxLength,
 * pattern. Internal to src/define.
 *
 * why: decision 0540
 */
#ifndef PAWL_DEFINE_COMPILE_BOUNDS_H
#define PAWL_DEFINE_COMPILE_BOUNDS_H

#include "define/compile/compile.h"

/* What the patterns of one list of parameters share. */
struct pattern_env {
    const struct cel_env *env; /* NULL until the first one */
    uint32_t slot;
};

/*
 * Pay for work with a value: lists multiply what enums, patterns and conditions cost, and whoever
 * gives a value chooses how long it is. False: nothing more is looked at, for it was too much, which
 * a finding says, or because more is wrong than is told.
 */
enum { BOUNDS_BYTES_PAID = 64 }; /* so many are looked at for one unit */
bool bounds_pay(struct compiler *c, int64_t units);

/* Evaluate at the cost of what is left. False: that was not enough; *out says nothing. */
bool bounds_evaluate(struct compiler *c, const struct cel_program *program,
                     const struct cel_activation *activation, struct value *out) MUST_USE;

/* No bounds at all. */
extern const struct bounds bounds_none;

/* The bounds of a parameter whose type is known: `v` is the parameter as it is written. */
void bounds_compile(struct compiler *c, struct value v, enum param_type type,
                    struct pattern_env *patterns, struct bounds *out);

/* Findings about a value that is of its type and breaks bounds; `name` is what it is called. */
void bounds_check(struct compiler *c, const struct bounds *b, struct str name, struct value v);

#endif
