/*
 * function.h - user functions: fn.NAME(...), an expression over parameters.
 *
 *     {"params": [{"name": "amount", "type": "number"}], "body": "amount * 0.9"}
 *
 * Functions may call each other, CEL_CALLS_MAX deep and never in a circle,
 * so they are compiled together.
 */
#ifndef PAWL_DEFINE_FUNCTION_H
#define PAWL_DEFINE_FUNCTION_H

#include "define/findings.h"
#include "define/param_type.h"

struct cel_env;
struct cel_program;

enum {
    FUNCTION_BODY_MAX = 4096, /* bytes */
    FUNCTION_ARGS_MAX = 10,
};

struct function {
    struct str name;
    struct value definition; /* {params, body} */
    int64_t version;         /* 0: of no registry */

    /* filled by functions_compile() */
    struct findings findings;       /* pointers into the definition */
    const struct cel_program *body; /* NULL: it does not compile */
    unsigned depth;                 /* of calls: 1 when it calls no other */
    struct str params[FUNCTION_ARGS_MAX];
    enum param_type types[FUNCTION_ARGS_MAX];
    uint32_t param_count;
};

/* Environments that know the functions which compile. */
struct function_envs {
    const struct cel_env *definitions; /* the roots of the context, too */
    const struct cel_env *plain;       /* nothing else */
};

struct function_list {
    VEC_OF(struct function);
};

struct name_list {
    VEC_OF(struct str);
};

/*
 * Compile functions of different names. Those named by `assumed`, which may be
 * NULL, take and give anything and cannot be called. What is wrong with each is in its
 * findings. Everything lives in `mem`, as `all` must: programs that were
 * compiled in these environments call into it. functions_release() gives back
 * what is outside.
 */
struct function_envs functions_compile(struct arena *mem, const struct cel_env *base,
                                       struct function *all, size_t count,
                                       const struct name_list *assumed);

void functions_release(const struct function *all, size_t count);

/*
 * Check one more function, of a name that none of `all` calls, against those
 * that functions_compile() has compiled; `plain` is theirs and only read. What is
 * wrong is in its findings. It lives in `mem`.
 */
void function_check(struct arena *mem, const struct cel_env *plain, const struct function *all,
                    size_t count, struct function *f);

#endif
