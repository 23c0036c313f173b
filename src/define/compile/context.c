/*
 * context.c - what expressions see: the roots of `$`, where each is known, and
 * what is known of their fields.
 */
#include "define/compile/context.h"
#include "base/names.h"
#include "define/compile/compile.h"
#include "define/compile/library.h"

static const struct root {
    const char *name, *type, *place;
} roots[] = {
#define ROOT(symbol, root_name, root_type, root_place)                                             \
    {.name = (root_name), .type = (root_type), .place = (root_place)},
#include "define/catalog/roots.def"
#undef ROOT
};

static const struct root_field {
    const char *root, *field, *type;
    bool is_listed;
} root_fields[] = {
#define ROOT_FIELD(root, field, type) {(root), (field), (type), true},
#define ROOT_TYPE(root, field, type) {(root), (field), (type), false},
#include "define/catalog/root_fields.def"
#undef ROOT_FIELD
#undef ROOT_TYPE
};

static void say_type(struct cel_env *env, struct str name, const char *field, const char *type)
{
    struct err err;

    if (!cel_env_type(env, name, str_of(field), str_of(type), &err))
        PANIC(err.message);
}

/* --- errors, steps --- */

static void say_error(struct arena *mem, struct cel_env *env, struct str name, const char *prefix)
{
    enum { FIRST = ERR_CLASS_NONE + 1, COUNT = ERR_CLASS_COUNT - FIRST };
    struct str *words = ARENA_ARRAY(mem, COUNT, struct str);
    const char *class = str_printf(mem, "%sclass", prefix).ptr;

    for (int i = 0; i < COUNT; i++)
        words[i] = str_of(err_class_name((enum err_class)(FIRST + i)));
    cel_env_words(env, name, str_of(class), words, COUNT);
    say_type(env, name, class, "string");
    say_type(env, name, str_printf(mem, "%scode", prefix).ptr, "string");
    say_type(env, name, str_printf(mem, "%smessage", prefix).ptr, "string");
    say_type(env, name, str_printf(mem, "%sretryable", prefix).ptr, "bool");
}

void context_say_step(struct arena *mem, struct cel_env *env, struct str name)
{
    say_error(mem, env, name, "error.");
    say_type(env, name, "success", "bool");
}

/* --- the roots --- */

static void say_roles(struct arena *mem, struct cel_env *env)
{
    static const char *const names[] = {
#define ROLE(symbol, name, what) name,
#include "define/roles.def"
#undef ROLE
    };
    enum { COUNT = ARRAY_SIZE(names) };
    struct str *words = ARENA_ARRAY(mem, COUNT, struct str);

    for (size_t i = 0; i < COUNT; i++)
        words[i] = str_of(names[i]);
    cel_env_words(env, STR("user"), STR("role"), words, COUNT);
}

const struct cel_env *define_env(struct arena *mem)
{
    struct cel_env *library = cel_env_new(mem, CEL_DEFINITION), *env;
    struct err err;

    /* Apart, so that functions, which see no root, share the library: see cel_env_library(). */
    cel_env_space(library, STR("fn"));
    env = cel_env_extend(mem, library);
    for (uint32_t i = 0; i < ROOT_COUNT; i++) {
        uint32_t slot;
        if (!cel_env_variable(env, str_of(roots[i].name), str_of(roots[i].type), &slot, &err))
            PANIC(err.message);
        ASSERT(slot == i);
    }
    if (!cel_env_close(env, STR("steps"), &err))
        PANIC(err.message);
    say_roles(mem, env);
    for (size_t i = 0; i < ARRAY_SIZE(root_fields); i++) {
        const struct root_field *f = &root_fields[i];
        say_type(env, str_of(f->root), f->field, f->type);
        if (f->is_listed && !cel_env_field(env, str_of(f->root), str_of(f->field), &err))
            PANIC(err.message);
    }
    say_error(mem, env, STR("error"), "");
    for (size_t i = 0; i < ROOT_COUNT; i++)
        if (roots[i].place[0] != '\0')
            cel_env_hide(env, str_of(roots[i].name));
    return env;
}

struct cel_env *compile_showing(const struct compiler *c, enum context_root root)
{
    struct cel_env *env = cel_env_extend(c->mem, c->env);

    (void)cel_env_show(env, str_of(roots[root].name));
    return env;
}

NAMES_NAME(context_root_name, enum context_root, roots)
NAMES_READ(context_root_of, enum context_root, roots)

const char *context_place(enum context_root root)
{
    return roots[root].place;
}
