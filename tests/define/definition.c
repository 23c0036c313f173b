/* definition.c - see definition.h. */
#include "define/definition.h"

#include "value/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

struct arena definition_mem;
struct findings definition_findings;

static const struct cel_env *env;
static struct {
    VEC_OF(const struct program *);
} programs;

int definition_set_up(void **state)
{
    (void)state;
    arena_init(&definition_mem);
    memset(&programs, 0, sizeof(programs));
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

const struct program *definition_compile(struct value definition)
{
    const struct program *p = NULL;

    definition_findings = (struct findings){0};
    define_compile_scenario(&definition_mem, env, definition, 3, &definition_findings, &p);
    if (p != NULL)
        *VEC_ADD(&definition_mem, &programs) = p;
    return p;
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
