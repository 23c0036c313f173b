/*
 * infer.h - when one type will do for another, and what two have in common.
 *
 * Types may contain variables, whose bindings are kept here and can be taken
 * back to an earlier point: trying an overload that does not fit leaves no
 * trace.
 *
 * why: decision 0081
 */
#ifndef PAWL_CEL_INFER_H
#define PAWL_CEL_INFER_H

#include "base/vec.h"
#include "cel/type.h"

struct binding_change {
    uint32_t index;
    const struct type *before;
};

struct bindings {
    VEC_OF(const struct type *);
};

struct trail {
    VEC_OF(struct binding_change);
};

struct infer {
    struct arena *mem;
    struct bindings bindings; /* by the index of the variable; NULL = none */
    struct trail trail;
};

void infer_init(struct infer *in, struct arena *mem);

/* A variable that stands for nothing yet. */
const struct type *infer_variable(struct infer *in);

/* Make a copy of a signature's type in which the parameters are fresh variables. */
const struct type *infer_instance(struct infer *in, const struct type *t,
                                  const struct type *fresh[TYPE_SIGNATURE_PARAMS]);

/* Follow the bindings of a variable; anything else is itself. */
const struct type *infer_resolve(const struct infer *in, const struct type *t);

/*
 * Whether a value of type `from` may stand where `to` is wanted; binds
 * variables. When it may not, what was bound on the way is taken back.
 */
bool infer_assignable(struct infer *in, const struct type *from, const struct type *to);

/* The type that both fit, or NULL. */
const struct type *infer_join(struct infer *in, const struct type *a, const struct type *b);

/* A point to go back to. */
uint32_t infer_mark(const struct infer *in);
void infer_undo(struct infer *in, uint32_t mark);

/* The type with all variables replaced by what they are bound to, or dyn. */
const struct type *infer_final(struct infer *in, const struct type *t);

/* The same type exactly, variables being equal to themselves only. */
bool infer_same(const struct infer *in, const struct type *a, const struct type *b);

#endif
