/* expr.c - see expr.h. */
#include "cel/expr.h"

#include "cel/typed_value.h"
#include "value/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

void expr_init(struct expr *x, enum cel_mode mode)
{
    *x = (struct expr){.limits = cel_default_limits};
    arena_init(&x->mem);
    x->env = cel_env_new(&x->mem, mode);
    x->activation.slots = x->slots;
}

void expr_fini(struct expr *x)
{
    arena_fini(&x->mem);
}

void expr_bind(struct expr *x, const char *name, const char *type, const char *json)
{
    struct value v = value_absent();
    uint32_t slot;
    struct err err;

    if (json != NULL && !json_read(&x->mem, str_of(json), &v, &err))
        fail_msg("%s: %s", json, err.message);
    if (!cel_env_variable(x->env, str_of(name), str_of(type), &slot, &err))
        fail_msg("%s: %s", name, err.message);
    assert_true(slot < EXPR_SLOTS);
    x->slots[slot] = v;
}

static bool compile(struct expr *x, enum expr_form form, struct str source,
                    const struct cel_program **out, struct err *err)
{
    const struct cel_options options = {.facts = CEL_FACTS_CERTAIN};

    switch (form) {
    case AS_EXPRESSION:
        return cel_compile(&x->mem, x->env, source, &options, out, err);
    case AS_VALUE:
        return cel_compile_value(&x->mem, x->env, source, &options, out, err);
    case AS_URL:
        return cel_compile_url(&x->mem, x->env, source, &options, out, err);
    case AS_PATH:
        return cel_compile_path(&x->mem, x->env, source, &options, out, err);
    case AS_TEXT:
    case AS_HTML:
        return cel_compile_text(&x->mem, x->env, source, form == AS_HTML, out, err);
    }
    PANIC("unknown form");
}

const struct cel_program *expr_compile(struct expr *x, enum expr_form form, const char *source)
{
    const struct cel_program *program = NULL;
    struct err err;

    if (!compile(x, form, str_of(source), &program, &err))
        fail_msg("%s: %u:%u %s", source, err.line, err.column, err.message);
    return program;
}

const char *expr_outcome(struct expr *x, enum expr_form form, const char *source)
{
    const struct cel_program *program;
    struct value v;
    struct buf text;
    struct err err;

    if (!compile(x, form, str_of(source), &program, &err))
        return str_printf(&x->mem, "?%u:%u %s", err.line, err.column, err.message).ptr;
    v = cel_evaluate(&x->mem, program, &x->activation, &x->limits);
    cel_program_release(program);
    if (v.kind == VALUE_ERROR) {
        uint32_t line, column;
        cel_place(str_of(source), v.error->offset, &line, &column);
        return str_printf(&x->mem, "!%u:%u %s", line, column, v.error->message).ptr;
    }
    buf_init_arena(&text, &x->mem);
    typed_value_print(&text, v);
    buf_char(&text, '\0');
    return text.ptr;
}

const char *expr_complaint(struct arena *mem, const struct cel_env *env, const char *source)
{
    const struct cel_program *program;
    struct err err;

    if (cel_compile(mem, env, str_of(source), NULL, &program, &err)) {
        cel_program_release(program);
        return "";
    }
    return str_printf(mem, "%u: %s", err.column, err.message).ptr;
}

void expr_run(struct expr *x, enum expr_form form, const struct expr_case *cases, size_t count)
{
    unsigned different = 0;

    for (size_t i = 0; i < count; i++) {
        const char *got = expr_outcome(x, form, cases[i].source);
        if (strcmp(got, cases[i].outcome) == 0)
            continue;
        print_error("%s\n    wanted %s\n    got    %s\n", cases[i].source, cases[i].outcome, got);
        different++;
    }
    assert_int_equal(different, 0);
}
