/*
 * function.c - compiling user functions; see function.h.
 *
 * They are compiled in rounds. A function that calls one which is not compiled
 * yet fails and waits for the next round, so the round in which it succeeds is
 * how deep its calls go. What is left when a round brings nothing new is
 * wrong, calls something that is, or calls itself.
 */
#include "define/function.h"

#include "cel/eval.h"
#include "define/compile/compile.h"
#include "define/compile/param.h"

/* What the checker knows of an argument; what a JSON text can hold in two ways is dyn. */
static const char *const cel_types[] = {
    [PARAM_STRING] = "string",   [PARAM_NUMBER] = "dyn",
    [PARAM_INTEGER] = "int",     [PARAM_BOOLEAN] = "bool",
    [PARAM_UUID] = "string",     [PARAM_DATE] = "dyn",
    [PARAM_DATETIME] = "dyn",    [PARAM_OBJECT] = "map(string, dyn)",
    [PARAM_ARRAY] = "list(dyn)", [PARAM_ANY] = "dyn",
};

enum progress { WAITING, COMPILED, FAILED };

struct attempt {
    enum progress progress;
    struct str source;
    struct str missing; /* the function that it waits for, without "fn." */
    struct err err;
};

struct function_round {
    struct arena *mem;
    struct function *all;
    struct attempt *attempts;
    size_t count;
    struct cel_env *definitions, *plain;
    unsigned depth; /* how many rounds there were */
};

/* --- calling --- */

static bool takes(enum param_type type, struct value *v)
{
    /* An expression may have read the date already. */
    if ((type == PARAM_DATE || type == PARAM_DATETIME) && v->kind == VALUE_TIMESTAMP)
        return true;
    return compile_fits(type, v);
}

static struct value call_function(struct cel_eval *ev, const struct value *args)
{
    const struct function *f = ev->context;
    struct value own[FUNCTION_ARGS_MAX];

    ASSERT(ev->arg_count == f->param_count);
    for (unsigned i = 0; i < f->param_count; i++) {
        own[i] = args[i];
        if (!takes(f->types[i], &own[i]))
            return cel_fail(ev, "%s(): %.*s must be %s", ev->function, STR_ARG(f->params[i]),
                            compile_param_wanted(f->types[i]));
    }
    return cel_call(ev, f->body, own);
}

/* --- the fields --- */

static void read_param(struct compiler *c, struct value v, struct function *f)
{
    struct str name;
    int type;

    if (!compile_fields(c, v, TABLE_FUNCTION_PARAM))
        return;
    name = compile_name(c, v, "name");
    for (uint32_t i = 0; i < f->param_count; i++)
        if (str_eq(f->params[i], name))
            compile_error_at(c, "name", FINDING_DUPLICATE_NAME, "there are two parameters '%.*s'",
                             STR_ARG(name));
    type = compile_param_type(c, TABLE_FUNCTION_PARAM, v);
    f->params[f->param_count] = name;
    f->types[f->param_count++] = type >= 0 ? (enum param_type)type : PARAM_ANY;
}

static void read_params(struct compiler *c, struct function *f)
{
    struct value list =
        compile_of_kind(c, f->definition, "params", VALUE_LIST, "a list of parameters");
    size_t outer = compile_enter(c, STR("params"));

    if (list.kind == VALUE_LIST && list.len > FUNCTION_ARGS_MAX)
        compile_error(c, FINDING_LIMIT_PARAMS, "there are %u parameters; at most %d are allowed",
                      list.len, FUNCTION_ARGS_MAX);
    else
        for (uint32_t i = 0; list.kind == VALUE_LIST && i < list.len; i++) {
            size_t inner = compile_enter_index(c, i);
            read_param(c, list.items[i], f);
            compile_leave(c, inner);
        }
    compile_leave(c, outer);
}

/* The fields of a function; true when its body can be compiled. */
static bool read_function(struct compiler *c, struct function *f, struct str *body)
{
    if (!compile_fields(c, f->definition, TABLE_FUNCTION))
        return false;
    read_params(c, f);
    *body = compile_text(c, f->definition, "body");
    if (body->len > FUNCTION_BODY_MAX)
        compile_error_at(c, "body", FINDING_LIMIT_SIZE,
                         "the body has %zu bytes; at most %d are allowed", body->len,
                         FUNCTION_BODY_MAX);
    return !c->has_errors;
}

/* --- rounds --- */

/* The user function that is not declared, without "fn.", or empty. */
static struct str missing_function(struct arena *mem, const struct err *err)
{
    struct str name = err_name(err, ERR_ABOUT_FUNCTION);

    return str_starts_with(name, STR("fn.")) ? str_copy(mem, str_slice(name, 3, name.len))
                                             : STR_NONE;
}

static void try_compile(struct function_round *r, size_t i)
{
    struct function *f = &r->all[i];
    struct attempt *a = &r->attempts[i];
    struct cel_env *env = cel_env_extend(r->mem, r->plain);

    for (uint32_t k = 0; k < f->param_count; k++) {
        uint32_t slot;
        if (!cel_env_variable(env, f->params[k], str_of(cel_types[f->types[k]]), &slot, &a->err))
            PANIC(a->err.message);
    }
    if (!cel_compile(r->mem, env, a->source, NULL, &f->body, &a->err)) {
        f->body = NULL;
        a->missing = missing_function(r->mem, &a->err);
    }
}

static void declare(struct function_round *r, struct function *f)
{
    struct str name = str_printf(r->mem, "fn.%.*s", STR_ARG(f->name));
    struct buf signature;
    struct err err;

    buf_init_arena(&signature, r->mem);
    for (uint32_t i = 0; i < f->param_count; i++)
        buf_printf(&signature, "%s%s", i > 0 ? ", " : "", cel_types[f->types[i]]);
    buf_printf(&signature, " -> %.*s", STR_ARG(cel_program_type(f->body)));
    if (!cel_env_function(r->plain, name, false, buf_view(&signature), call_function, f, &err) ||
        !cel_env_function(r->definitions, name, false, buf_view(&signature), call_function, f,
                          &err))
        PANIC(err.message);
}

/* Something of that name exists, with any number of arguments. */
static void assume(struct function_round *r, struct str function)
{
    struct str name = str_printf(r->mem, "fn.%.*s", STR_ARG(function));
    struct err err;

    for (unsigned args = 0; args <= FUNCTION_ARGS_MAX; args++) {
        struct buf signature;

        buf_init_arena(&signature, r->mem);
        for (unsigned i = 0; i < args; i++)
            buf_text(&signature, i > 0 ? ", dyn" : "dyn");
        buf_text(&signature, " -> dyn");
        if (!cel_env_function(r->plain, name, false, buf_view(&signature), NULL, NULL, &err) ||
            !cel_env_function(r->definitions, name, false, buf_view(&signature), NULL, NULL, &err))
            PANIC(err.message);
    }
}

/* One round; whether it brought anything. Those of a round do not see each other. */
static bool run_round(struct function_round *r)
{
    bool any = false;

    r->depth++;
    for (size_t i = 0; i < r->count; i++)
        if (r->attempts[i].progress == WAITING)
            try_compile(r, i);
    r->plain = cel_env_extend(r->mem, r->plain);
    for (size_t i = 0; i < r->count; i++)
        if (r->attempts[i].progress == WAITING && r->all[i].body != NULL) {
            r->attempts[i].progress = COMPILED;
            r->all[i].depth = r->depth;
            declare(r, &r->all[i]);
            any = true;
        }
    return any;
}

/* --- what is wrong --- */

static struct attempt *attempt_find(const struct function_round *r, struct str name)
{
    for (size_t i = 0; i < r->count; i++)
        if (str_eq(r->all[i].name, name))
            return &r->attempts[i];
    return NULL;
}

/* Whether following what each of them waits for leads back to `a`. */
static bool is_circle(const struct function_round *r, const struct attempt *a)
{
    const struct attempt *next = attempt_find(r, a->missing);

    for (size_t steps = 0; next != NULL && next != a && steps < r->count; steps++)
        next = attempt_find(r, next->missing);
    return next == a;
}

static void function_report(struct function_round *r, size_t i, bool is_deep)
{
    struct attempt *a = &r->attempts[i];
    struct compiler c;

    compiler_init(&c, r->mem, NULL, &r->all[i].findings);
    (void)compile_enter(&c, STR("body"));
    if (is_deep)
        compile_error(&c, FINDING_LIMIT_DEPTH, "functions call each other more than %d deep",
                      CEL_CALLS_MAX);
    else if (is_circle(r, a))
        compile_error(&c, FINDING_RECURSION, "the function calls itself through fn.%.*s",
                      STR_ARG(a->missing));
    else if (attempt_find(r, a->missing) != NULL)
        compile_error(&c, FINDING_EXPRESSION_TYPE, "fn.%.*s, which it calls, has mistakes",
                      STR_ARG(a->missing));
    else
        compile_expression_error(&c, a->source, &a->err);
    a->progress = FAILED;
}

static void drop(struct function *f)
{
    cel_program_release(f->body);
    f->body = NULL;
}

struct function_envs functions_compile(struct arena *mem, const struct cel_env *base,
                                       struct function *all, size_t count,
                                       const struct name_list *assumed)
{
    struct function_round r = {.mem = mem,
                               .all = all,
                               .attempts = ARENA_ARRAY(mem, count, struct attempt),
                               .count = count,
                               .definitions = cel_env_extend(mem, base),
                               .plain = cel_env_extend(mem, cel_env_library(base))};
    struct function_envs envs;

    for (size_t i = 0; assumed != NULL && i < assumed->count; i++)
        assume(&r, assumed->items[i]);
    for (size_t i = 0; i < count; i++) {
        struct compiler c;
        compiler_init(&c, mem, NULL, &all[i].findings);
        r.attempts[i] = (struct attempt){0};
        if (!read_function(&c, &all[i], &r.attempts[i].source))
            r.attempts[i].progress = FAILED;
    }
    for (int i = 0; i < CEL_CALLS_MAX && run_round(&r); i++)
        ;
    envs = (struct function_envs){.definitions = r.definitions, .plain = r.plain};
    /* Further rounds only tell what calls too deep from what is wrong. */
    r.definitions = cel_env_extend(mem, r.definitions);
    for (size_t i = 0; i < count; i++)
        if (r.attempts[i].progress == COMPILED)
            r.attempts[i].missing = STR_NONE;
    while (run_round(&r))
        for (size_t i = 0; i < count; i++)
            if (r.attempts[i].progress == COMPILED && r.attempts[i].missing.len > 0) {
                drop(&all[i]);
                function_report(&r, i, true);
            }
    for (size_t i = 0; i < count; i++)
        if (r.attempts[i].progress == WAITING)
            function_report(&r, i, false);
    return envs;
}

void functions_release(const struct function *all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (all[i].body != NULL)
            cel_program_release(all[i].body);
}

/* How deep the calls of a function go, itself included. */
static unsigned call_depth(const struct function *f, const struct function *all, size_t count)
{
    unsigned depth = 1;
    struct str name;

    for (uint32_t k = 0; (name = cel_program_call(f->body, k)).len > 0; k++)
        for (size_t i = 0; str_starts_with(name, STR("fn.")) && i < count; i++)
            if (str_eq(all[i].name, str_slice(name, 3, name.len)) && depth <= all[i].depth)
                depth = all[i].depth + 1;
    return depth;
}

void function_check(struct arena *mem, const struct cel_env *plain, const struct function *all,
                    size_t count, struct function *f)
{
    struct attempt attempt = {0};
    struct function_round r = {.mem = mem,
                               .all = f,
                               .attempts = &attempt,
                               .count = 1,
                               .plain = cel_env_extend(mem, plain)};
    struct compiler c;

    compiler_init(&c, mem, NULL, &f->findings);
    if (!read_function(&c, f, &attempt.source))
        return;
    try_compile(&r, 0);
    (void)compile_enter(&c, STR("body"));
    if (f->body != NULL && call_depth(f, all, count) > CEL_CALLS_MAX)
        compile_error(&c, FINDING_LIMIT_DEPTH, "functions call each other more than %d deep",
                      CEL_CALLS_MAX);
    else if (f->body == NULL) {
        size_t i = 0;

        while (i < count && !str_eq(all[i].name, attempt.missing))
            i++;
        if (i < count)
            compile_error(&c, FINDING_EXPRESSION_TYPE, "fn.%.*s, which it calls, has mistakes",
                          STR_ARG(attempt.missing));
        else
            compile_expression_error(&c, attempt.source, &attempt.err);
    }
    if (f->body != NULL)
        drop(f);
}
