/*
 * env.h - what an expression may name: variables, types, functions.
 * Internal to src/cel; the public face is cel.h.
 */
#ifndef PAWL_CEL_ENV_H
#define PAWL_CEL_ENV_H

#include "base/map.h"
#include "base/vec.h"
#include "cel/type.h"

enum { FUNCTION_PARAMS_MAX = 10 };

struct variable {
    struct str name;
    const struct type *type; /* NULL: only the beginning of longer names */
    bool is_prefix;          /* longer names begin with this one and a dot */
    bool is_closed;          /* it has no other fields than those declared as longer names */
    bool is_listed;          /* the same, for fields that cel_env_field() has named */
    bool is_field;           /* one of those: it has no slot of its own */
    bool is_hidden;          /* no expression knows it */
    bool is_constant;        /* the name of a type: `value` */
    bool is_pending;         /* it is null for now */
    uint32_t slot;
    struct value value;
    const struct shape *shape; /* what it probably is, or NULL */
};

struct shape_member {
    struct str name;
    const struct type *type; /* or NULL */
};

/* struct cel_shape with its types read. */
struct shape {
    const struct type *type; /* or NULL */
    const struct shape_member *members;
    uint32_t count;
    bool is_closed;
};

struct overload {
    const struct type *params[FUNCTION_PARAMS_MAX];
    const struct type *result;
    uint8_t count;
    bool takes_numbers; /* any count of numbers, and answers their common type */
    struct overload *next;
};

struct cel_function {
    struct str name; /* zero-terminated */
    bool is_member;
    cel_fn *call; /* NULL: may only be checked */
    void *context;
    bool is_pure; /* of the library: constants may be folded */
    struct overload *overloads;
};

/* What a field of a variable can be: a type, or NULL; texts, or all of them. */
struct field_words {
    struct str path; /* "steps.pay.error.class" */
    enum cel_presence presence;
    const struct type *type;
    const struct str *words;
    uint32_t count;
};

struct slot_names {
    VEC_OF(struct str);
};

/* Names of variables and fields that are there: "input.coupon", "steps.pay". */
struct guards {
    VEC_OF(struct str);
};

struct cel_env {
    struct arena *mem;
    enum cel_mode mode;
    const struct cel_env *parent;
    struct map variables; /* of struct variable */
    struct map functions; /* of struct cel_function, called as f(x) */
    struct map members;   /* of struct cel_function, called as x.f() */
    struct map spaces;    /* first words of functions with dots in their names */
    struct map words;     /* of struct field_words */
    struct str container;
    struct slot_names slot_names; /* of the slots that the parent has not */
    uint32_t slot_count;
    struct cel_patterns *patterns; /* shared by its expressions; or NULL */
    bool open_root;
    struct guards guards; /* beside those of the parents */
};

/*
 * Call a function. The library is called with what one of its overloads takes:
 * the checker has seen most calls, but a dyn argument may be of any kind. A
 * function that may only be checked is an error.
 */
struct value function_call(struct cel_eval *ev, const struct cel_function *f,
                           const struct value *args, unsigned count);

/* What is declared under exactly this name, here or in a parent; or NULL. */
const struct variable *env_variable(const struct cel_env *env, struct str name);
const struct cel_function *env_function(const struct cel_env *env, struct str name, bool is_member);

/* The name of the variable that has this slot. */
struct str env_slot_name(const struct cel_env *env, uint32_t slot);

/* What the variable or field of this whole name can be, or NULL: anything. */
const struct field_words *env_words(const struct cel_env *env, struct str path);

/* The member of that name, or NULL. */
const struct shape_member *shape_member(const struct shape *shape, struct str name);

/* Whether functions exist whose names begin with `word` and a dot. */
bool env_has_space(const struct cel_env *env, struct str word);

/* The declared name nearest to a mistyped one, for a hint; empty when none is near. */
struct str env_nearest_variable(const struct cel_env *env, struct str name);
struct str env_nearest_function(const struct cel_env *env, struct str name, bool is_member);

#endif
