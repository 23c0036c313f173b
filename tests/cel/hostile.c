/* hostile.c - see hostile.h. */
#include "cel/hostile.h"

#include "base/text/utf8.h"

#include <stdio.h>

/* What a program of the largest source may hold. */
enum { COMPILE_BYTES_MAX = 64 * MIB };

int hostile_set_up(void **state)
{
    static struct hostile h;

    arena_init(&h.source);
    arena_init(&h.program);
    arena_init(&h.eval);
    *state = &h;
    return 0;
}

int hostile_tear_down(void **state)
{
    struct hostile *h = *state;

    arena_fini(&h->source);
    arena_fini(&h->program);
    arena_fini(&h->eval);
    return 0;
}

/* Blocks have room to spare, and the gaps of a sanitizer count too. */
static size_t eval_bytes_max(void)
{
    return 2 * cel_default_limits.memory_bytes + 4 * MIB;
}

static void note_error(struct outcome *out, enum err_code code, const char *message)
{
    out->code = code;
    snprintf(out->message, sizeof out->message, "%s", message);
    if (message[0] == '\0')
        out->broken = "an error without a message";
    else if (!utf8_is_valid(str_of(message)))
        out->broken = "a message that is not UTF-8";
}

struct outcome hostile_run(struct hostile *h, struct str source, struct value s)
{
    const struct cel_program *program = NULL;
    struct outcome out = {.code = ERR_NONE, .value = value_absent()};
    struct cel_activation activation = {.slots = &s, .root = value_absent()};
    uint32_t slot = 0;
    struct err err;

    arena_fini(&h->program);
    arena_fini(&h->eval);
    struct cel_env *env = cel_env_new(&h->program, CEL_DEFINITION);

    if (!cel_env_variable(env, STR("s"), STR("dyn"), &slot, &err)) {
        out.broken = "the variable cannot be declared";
        return out;
    }
    out.compiled = cel_compile(&h->program, env, source, NULL, &program, &err);
    if (out.compiled) {
        out.value = cel_evaluate(&h->eval, program, &activation, NULL);
        if (out.value.kind == VALUE_ERROR)
            note_error(&out, out.value.error->code, out.value.error->message);
        cel_program_release(program);
    } else {
        note_error(&out, err.code, err.message);
    }
    if (h->program.held_bytes > COMPILE_BYTES_MAX)
        out.broken = "compilation held too much memory";
    if (h->eval.held_bytes > eval_bytes_max())
        out.broken = "evaluation held too much memory";
    return out;
}

bool outcome_is_over_limit(const struct outcome *o)
{
    return o->code == ERR_LIMIT_EXPRESSION_COST || o->code == ERR_LIMIT_EXPRESSION_MEMORY;
}

bool outcome_is_int(const struct outcome *o, int64_t want)
{
    return o->code == ERR_NONE && o->value.kind == VALUE_INT && o->value.i == want;
}

bool outcome_is_true(const struct outcome *o)
{
    return o->code == ERR_NONE && value_is_true(o->value);
}

/* --- sources --- */

static void repeat(struct buf *out, const char *text, size_t count)
{
    struct str s = str_of(text);

    for (size_t i = 0; i < count; i++)
        buf_str(out, s);
}

struct str hostile_nested(struct hostile *h, const char *open, const char *core, const char *close,
                          size_t count)
{
    struct buf b;

    buf_init_arena(&b, &h->source);
    repeat(&b, open, count);
    buf_text(&b, core);
    repeat(&b, close, count);
    return buf_view(&b);
}

struct str hostile_chain(struct hostile *h, const char *first, const char *more)
{
    size_t count = (CEL_SOURCE_MAX - strlen(first)) / strlen(more);
    return hostile_nested(h, "", first, more, count);
}

/* `pattern` with the name of a variable for every "@". */
static void add_pattern(struct buf *out, const char *pattern, unsigned variable)
{
    for (; *pattern != '\0'; pattern++) {
        if (*pattern == '@')
            buf_printf(out, "v%u", variable);
        else
            buf_char(out, *pattern);
    }
}

struct str hostile_binds(struct hostile *h, unsigned levels, const char *first, const char *next,
                         const char *body)
{
    struct buf b;

    buf_init_arena(&b, &h->source);
    buf_printf(&b, "cel.bind(v0, %s, ", first);
    for (unsigned i = 1; i < levels; i++) {
        buf_printf(&b, "cel.bind(v%u, ", i);
        add_pattern(&b, next, i - 1);
        buf_text(&b, ", ");
    }
    add_pattern(&b, body, levels - 1);
    repeat(&b, ")", levels);
    return buf_view(&b);
}

struct value hostile_text(struct hostile *h, char c)
{
    char *text = arena_alloc(&h->source, LONG_TEXT);

    memset(text, c, LONG_TEXT);
    return value_string(str_from(text, LONG_TEXT));
}
