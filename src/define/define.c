/* define.c - what all definitions share: the context, durations, the face of programs. */
#include "define/compile.h"
#include "value/timefmt.h"

void define_class_words(struct arena *mem, struct cel_env *env, struct str name, struct str field)
{
    struct str *words = ARENA_ARRAY(mem, ERR_CLASS_INDETERMINATE, struct str);

    for (int i = 0; i < ERR_CLASS_INDETERMINATE; i++)
        words[i] = str_of(err_class_name((enum err_class)(ERR_CLASS_TRANSIENT + i)));
    cel_env_words(env, name, field, words, ERR_CLASS_INDETERMINATE);
}

const struct cel_env *define_env(struct arena *mem)
{
    static const struct {
        const char *name, *type;
    } roots[] = {
#define ROOT(symbol, root_name, root_type) {.name = (root_name), .type = (root_type)},
#include "define/roots.def"
#undef ROOT
    };
    struct cel_env *env = cel_env_new(mem, CEL_DEFINITION);
    struct err err;

    for (uint32_t i = 0; i < ROOT_COUNT; i++) {
        uint32_t slot;
        if (!cel_env_variable(env, str_of(roots[i].name), str_of(roots[i].type), &slot, &err))
            PANIC(err.message);
        ASSERT(slot == i);
    }
    if (!cel_env_close(env, STR("steps"), &err))
        PANIC(err.message);
    define_class_words(mem, env, STR("error"), STR("class"));
    cel_env_space(env, STR("fn"));
    return env;
}

bool define_duration_us(struct value v, int64_t *out_us)
{
    if (v.kind == VALUE_STRING && !duration_read(value_text(v), &v))
        return false;
    if (v.kind != VALUE_DURATION)
        return false;
    *out_us = v.seconds * 1000000 + v.nanos / 1000;
    return true;
}

bool define_correlation(struct arena *mem, struct value v, struct str *out)
{
    if (v.kind == VALUE_INT)
        *out = str_printf(mem, "%lld", (long long)v.i);
    else if (v.kind == VALUE_STRING && v.len > 0 && v.len <= CORRELATION_LEN_MAX)
        *out = str_copy(mem, value_text(v));
    else
        return false;
    return true;
}

const struct step *program_step(const struct program *p, struct str code)
{
    for (uint32_t i = 0; i < p->step_count; i++)
        if (str_eq(p->steps[i].code, code))
            return &p->steps[i];
    return NULL;
}

void program_release(const struct program *p)
{
    for (uint32_t i = 0; i < p->expression_count; i++)
        cel_program_release(p->expressions[i]);
}
