/*
 * library_call.h - calling one function of the CEL library as the machine
 * does, for tests.
 */
#ifndef PAWL_TESTS_CEL_LIBRARY_CALL_H
#define PAWL_TESTS_CEL_LIBRARY_CALL_H

#include "cel/env.h"
#include "cel/eval.h"

/* The function of a table that `call` runs, or NULL. */
static inline const struct cel_function *library_find(const struct map *table, cel_fn *call)
{
    for (struct map_entry *e = map_next(table, NULL); e != NULL; e = map_next(table, e)) {
        const struct cel_function *f = e->ptr;
        if (f->call == call)
            return f;
    }
    return NULL;
}

static inline struct value library_call(struct cel_eval *ev, cel_fn *call, const struct value *args,
                                        unsigned count)
{
    const char *function = ev->function;
    const struct cel_function *f;
    const struct cel_env *env;
    struct arena mem;
    struct value v;

    arena_init(&mem);
    env = cel_env_new(&mem, ev->mode);
    f = library_find(&env->functions, call);
    if (f == NULL)
        f = library_find(&env->members, call);
    ASSERT(f != NULL);
    v = function_call(ev, f, args, count);
    ev->function = function;
    arena_fini(&mem);
    return v;
}

#endif
