/* template.c - see template.h. */
#include "define/template.h"

#include "define/compile/compile.h"

static const struct {
    const char *name;
    const char *type;
} roots_of_templates[] = {
    [TEMPLATE_DATA] = {"data", "dyn"},
    [TEMPLATE_USER] = {"user", "map(string, dyn)"},
    [TEMPLATE_EXECUTION] = {"execution", "map(string, dyn)"},
    [TEMPLATE_CONFIG] = {"config", "map(string, dyn)"},
};

static const char *const parts[] = {
    [TEMPLATE_SUBJECT] = "subject",
    [TEMPLATE_BODY] = "body",
    [TEMPLATE_HTML] = "html",
};

struct cel_env *template_env(struct arena *mem, const struct cel_env *plain)
{
    struct cel_env *env = cel_env_extend(mem, plain);
    struct err err;

    for (uint32_t i = 0; i < TEMPLATE_ROOT_COUNT; i++) {
        uint32_t slot;
        if (!cel_env_variable(env, str_of(roots_of_templates[i].name),
                              str_of(roots_of_templates[i].type), &slot, &err))
            PANIC(err.message);
        ASSERT(slot == i);
    }
    return env;
}

static void compile_part(struct compiler *c, struct value definition, enum template_part part,
                         struct template *out)
{
    const char *name = parts[part];
    struct value v = compile_field(definition, name);
    struct str text = compile_text(c, definition, name);
    size_t outer;
    struct err err;

    if (v.kind != VALUE_STRING)
        return;
    outer = compile_enter(c, str_of(name));
    out->sources[part] = text;
    if (text.len > TEMPLATE_TEXT_MAX)
        compile_error(c, FINDING_LIMIT_SIZE, "%s has %zu bytes; at most %d are allowed", name,
                      text.len, TEMPLATE_TEXT_MAX);
    else if (!cel_compile_text(c->mem, c->env, text, part == TEMPLATE_HTML, &out->parts[part],
                               &err)) {
        out->parts[part] = NULL;
        compile_expression_error(c, text, &err);
    }
    compile_leave(c, outer);
}

void template_compile(struct arena *mem, const struct cel_env *env, struct value definition,
                      struct findings *findings, struct template *out)
{
    struct compiler c;

    *out = (struct template){0};
    compiler_init(&c, mem, env, findings);
    if (!compile_fields(&c, definition, TABLE_TEMPLATE))
        return;
    for (unsigned i = 0; i < TEMPLATE_PART_COUNT; i++)
        compile_part(&c, definition, (enum template_part)i, out);
}

void template_release(const struct template *t)
{
    for (unsigned i = 0; i < TEMPLATE_PART_COUNT; i++)
        if (t->parts[i] != NULL)
            cel_program_release(t->parts[i]);
}

/* A subject is one line. */
static struct str one_line(struct arena *mem, struct str text)
{
    char *line = arena_copy(mem, text.ptr, text.len);

    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)line[i] < ' ')
            line[i] = ' ';
    return str_from(line, text.len);
}

static void report_failure(struct arena *mem, struct str source, enum template_part part,
                           struct value v, struct findings *findings)
{
    struct compiler c;
    struct err err = {.code = v.error->code};

    compiler_init(&c, mem, NULL, findings);
    (void)compile_enter(&c, str_of(parts[part]));
    cel_place(source, v.error->offset, &err.line, &err.column);
    (void)err_set_at(&err, v.error->code, err.line, err.column, "%pS",
                     SENTENCE_ARG(value_sentence(v)));
    compile_expression_error(&c, source, &err);
    findings->items[findings->count - 1].code = str_of(err_code_name(v.error->code));
}

bool template_render(struct arena *mem, const struct template *t,
                     const struct value roots[TEMPLATE_ROOT_COUNT], int64_t now_us,
                     struct str out[TEMPLATE_PART_COUNT], struct findings *findings)
{
    struct cel_activation activation = {.slots = roots, .now_us = now_us};
    bool ok = true;

    for (unsigned i = 0; i < TEMPLATE_PART_COUNT; i++) {
        struct value v;

        out[i] = STR_NONE;
        if (t->parts[i] == NULL)
            continue;
        v = cel_evaluate(mem, t->parts[i], &activation, NULL);
        if (v.kind == VALUE_STRING) {
            out[i] = i == TEMPLATE_SUBJECT ? one_line(mem, value_text(v)) : value_text(v);
            continue;
        }
        report_failure(mem, t->sources[i], (enum template_part)i, v, findings);
        ok = false;
    }
    return ok;
}
