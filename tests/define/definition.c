/* definition.c - see definition.h. */
#include "define/definition.h"

#include "base/buf.h"
#include "value/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

struct arena definition_mem;
struct findings definition_findings;
const char *definition_procedures;

static const struct cel_env *env;
static struct {
    VEC_OF(const struct program *);
} programs;

int definition_set_up(void **state)
{
    (void)state;
    arena_init(&definition_mem);
    memset(&programs, 0, sizeof(programs));
    definition_procedures = NULL;
    env = define_env(&definition_mem);
    return 0;
}

int definition_tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < programs.count; i++)
        program_release(programs.items[i]);
    arena_fini(&definition_mem);
    return 0;
}

const char *definition_quote(const char *text)
{
    char *copy = arena_copy(&definition_mem, text, strlen(text));

    for (char *p = copy; *p != '\0'; p++)
        *p = *p == '\'' ? '"' : *p == '`' ? '\'' : *p;
    return copy;
}

struct value definition_value(const char *text)
{
    struct value v = value_absent();
    struct err err = {.code = ERR_NONE};

    if (!json_read(&definition_mem, str_of(definition_quote(text)), &v, &err))
        fail_msg("%s: %u: %s", text, err.column, err.message);
    return v;
}

static bool find(const char *all, struct str name, struct registered *out)
{
    if (all == NULL)
        return false;
    *out = (struct registered){.definition = value_map_get_str(definition_value(all), name),
                               .version = 7};
    return out->definition.kind != VALUE_ABSENT;
}

static bool find_procedure(void *context, struct arena *mem, struct str code,
                           struct registered *out)
{
    (void)context;
    (void)mem;
    return find(definition_procedures, code, out);
}

static const struct program *compile(enum kind kind, struct value definition)
{
    static const struct registry registry = {.procedure = find_procedure};
    const struct program *p = NULL;

    definition_findings = (struct findings){0};
    define_compile(&definition_mem, env, &registry, kind, definition, 3, &definition_findings, &p);
    if (p != NULL)
        *VEC_ADD(&definition_mem, &programs) = p;
    return p;
}

const struct program *definition_compile(struct value definition)
{
    return compile(KIND_SCENARIO, definition);
}

const struct program *definition_schema(struct value definition)
{
    return compile(KIND_SCHEMA, definition);
}

const struct program *definition_procedure(struct value definition)
{
    return compile(KIND_PROCEDURE, definition);
}

const struct program *definition_program(const char *text)
{
    const struct program *p = definition_compile(definition_value(text));

    if (p == NULL || findings_have_errors(&definition_findings))
        fail_msg("%s does not compile: %s", text,
                 definition_json(findings_value(&definition_mem, &definition_findings)));
    return p;
}

const struct program *definition_steps(const char *steps)
{
    return definition_program(
        str_printf(&definition_mem, "{'code': 'test', 'steps': %s}", steps).ptr);
}

const char *definition_json(struct value v)
{
    struct buf text;
    struct err err = {.code = ERR_NONE};

    buf_init_arena(&text, &definition_mem);
    if (!json_write(&text, v, &err))
        fail_msg("%s", err.message);
    return str_copy(&definition_mem, buf_view(&text)).ptr;
}

/* What is not about this mistake alone: tests/newcomer/mistakes.table has these in full. */
static bool is_advice(struct str hint)
{
    static const char *const starts[] = {"write ",           "the fields are ",   "the units are ",
                                         "the steps are ",   "the commands are ", "each step has ",
                                         "months and years "};

    for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
        if (str_starts_with(hint, str_of(starts[i])))
            return true;
    return str_find(hint, STR("the units are"), 0) >= 0;
}

const char *definition_found(const char *definition)
{
    struct value v = definition_value(definition);
    const struct kind_spec *kind = kind_of(v);
    const struct program *p = compile(
        kind != NULL && (kind->kind == KIND_PROCEDURE || kind->kind == KIND_SCHEMA) ? kind->kind
                                                                                    : KIND_SCENARIO,
        v);
    struct buf text;

    buf_init_arena(&text, &definition_mem);
    for (size_t i = 0; i < definition_findings.count; i++) {
        const struct finding *f = &definition_findings.items[i];
        buf_printf(&text, "%s%.*s %.*s", i == 0 ? "" : "\n", STR_ARG(f->pointer), STR_ARG(f->code));
        if (f->column > 0)
            buf_printf(&text, ":%u", f->column);
        if (f->is_warning)
            buf_char(&text, '?');
        if (f->hint.text.len > 0 && !is_advice(f->hint.text))
            buf_printf(&text, " %.*s", STR_ARG(f->hint.text));
        assert_true(f->message.text.len > 0);
    }
    assert_true((p == NULL) == findings_have_errors(&definition_findings));
    return str_copy(&definition_mem, buf_view(&text)).ptr;
}

void definition_check_rows(const char *shape, const struct definition_row *rows, size_t count)
{
    int64_t at = str_find(str_of(shape), STR("%s"), 0);
    unsigned wrong = 0;

    for (size_t i = 0; i < count; i++) {
        const char *text =
            str_printf(&definition_mem, "%.*s%s%s", (int)at, shape, rows[i].part, shape + at + 2)
                .ptr;
        const char *actual = definition_found(text);
        if (strcmp(actual, rows[i].expected) != 0) {
            print_error("%s\nfound:\n%s\nexpected:\n%s\n", text, actual, rows[i].expected);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}
