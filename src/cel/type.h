/*
 * type.h - the types that the checker reasons with.
 *
 * Basic types are constants of the process; others live in an arena and never
 * change. What is not known yet is a variable: a number under which the
 * checker keeps its present binding (infer.h).
 */
#ifndef PAWL_CEL_TYPE_H
#define PAWL_CEL_TYPE_H

#include "base/buf.h"
#include "cel/cel.h"

enum type_kind {
    TYPE_DYN,
    TYPE_NULL,
    TYPE_BOOL,
    TYPE_INT,
    TYPE_UINT,
    TYPE_DOUBLE,
    TYPE_NUMBER, /* int or double: which one is known when it is evaluated */
    TYPE_STRING,
    TYPE_BYTES,
    TYPE_TIMESTAMP,
    TYPE_DURATION,
    TYPE_IP,
    TYPE_CIDR,
    TYPE_LIST,     /* of params[0] */
    TYPE_MAP,      /* params[0] to params[1] */
    TYPE_TYPE,     /* the type of a type, params[0] if known */
    TYPE_OPTIONAL, /* params[0] or nothing */
    TYPE_OPAQUE,   /* name(params...), declared by the environment */
    TYPE_PARAM,    /* a parameter in the signature of a function: `index` */
    TYPE_VARIABLE, /* not known yet: `index` */
};

enum { TYPE_PARAMS_MAX = 3 };

struct type {
    uint8_t kind;
    uint8_t count;   /* of params */
    bool is_generic; /* contains a TYPE_PARAM */
    uint32_t index;
    struct str name; /* OPAQUE */
    const struct type *params[TYPE_PARAMS_MAX];
};

/* A basic type, or a list, map, type or optional of dyn. */
const struct type *type_basic(enum type_kind kind);

const struct type *type_list(struct arena *mem, const struct type *item);
const struct type *type_map(struct arena *mem, const struct type *key, const struct type *value);
const struct type *type_optional(struct arena *mem, const struct type *inner);
const struct type *type_variable(struct arena *mem, uint32_t index);

/* Whether it is a number of some kind. */
static inline bool type_is_number(const struct type *t)
{
    return t->kind == TYPE_INT || t->kind == TYPE_UINT || t->kind == TYPE_DOUBLE ||
           t->kind == TYPE_NUMBER;
}

/* The same kind of type with other parameters. */
const struct type *type_with(struct arena *mem, const struct type *like,
                             const struct type *const params[TYPE_PARAMS_MAX]);

/* The type of a constant of a basic kind. */
const struct type *type_of_value(struct value v);

/* How many of the parameters A, B, C a signature may use. */
enum { TYPE_SIGNATURE_PARAMS = 26 };

/*
 * Read "map(string, list(A))" from *text up to what does not belong to it.
 * False: ERR_INVALID.
 */
bool type_parse(struct arena *mem, struct str *text, const struct type **out,
                struct err *err) MUST_USE;

/* Write it as type_parse() reads it; parameters and variables as dyn. */
void type_write(struct buf *out, const struct type *t);

#endif
