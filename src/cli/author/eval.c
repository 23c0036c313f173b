/* eval.c - pawl eval: evaluate an expression, and point at what is wrong with it. */
#include "base/text/utf8.h"
#include "base/time/clock.h"
#include "cel/cel.h"
#include "cli/command.h"
#include "cli/file.h"
#include "cli/options.h"
#include "value/json.h"

#include <stdio.h>

/* Larger than any value that an expression can make. */
enum { VALUE_JSON_MAX = 64 << 20 };

struct request {
    const char *expression;
    const char *context_path;
    bool as_json;
    bool is_value; /* the expression stands where a definition wants a value */
};

static bool read_context(struct arena *mem, const char *path, struct value *out)
{
    struct str text;

    *out = value_map_empty();
    if (path == NULL)
        return true;
    if (!file_given_json(mem, "--context", path, &text, out))
        return false;
    if (out->kind == VALUE_MAP)
        return true;
    fprintf(stderr, "pawl: %s: the context must be a JSON object\n", path);
    return false;
}

/* Where to begin with a long line so that byte `at` is seen; always between two characters. */
static size_t shown_from(struct str source, size_t start, size_t at)
{
    enum { SHOWN_BEFORE = 60 };
    size_t from = at - start <= SHOWN_BEFORE ? start : at - SHOWN_BEFORE;

    while (from > start && ((unsigned char)source.ptr[from] & 0xC0) == 0x80)
        from--;
    return from;
}

/* The message, the line it is about or the part of it around the column, and a caret under that. */
static void eval_print_error(struct str source, const char *message, uint32_t line, uint32_t column)
{
    enum { SHOWN_BEHIND = 60 };
    size_t start = 0, end, at, place, shown_end;

    fprintf(stderr, "error: %s\n", message);
    if (line == 0)
        return;
    for (uint32_t i = 1; i < line; i++)
        start = (size_t)str_find(source, STR("\n"), start) + 1;
    end = start;
    while (end < source.len && source.ptr[end] != '\n')
        end++;
    place = start;
    for (uint32_t i = 1; i < column && place < end; i++)
        (void)utf8_next(source, &place);
    at = shown_from(source, start, place);
    shown_end = place;
    while (shown_end < end && shown_end - place < SHOWN_BEHIND)
        (void)utf8_next(source, &shown_end);
    fprintf(stderr, "  %s%.*s%s\n  %s", at > start ? "..." : "", (int)(shown_end - at),
            source.ptr + at, shown_end < end ? "..." : "", at > start ? "   " : "");
    while (at < place) {
        /* A tab moves the caret as far as it moves the text. */
        fputc(source.ptr[at] == '\t' ? '\t' : ' ', stderr);
        (void)utf8_next(source, &at);
    }
    fputs("^\n", stderr);
}

static void print_error_json(struct str code, const char *message, uint32_t line, uint32_t column)
{
    struct buf text;

    buf_init(&text);
    buf_text(&text, "{\"error\":{\"code\":");
    json_write_string(&text, code);
    buf_text(&text, ",\"message\":");
    json_write_string(&text, str_of(message));
    if (line > 0)
        buf_printf(&text, ",\"line\":%u,\"column\":%u", line, column);
    printf("%.*s}}\n", STR_ARG(buf_view(&text)));
    buf_fini(&text);
}

static int eval_refuse(const struct request *request, enum err_code code, const char *message,
                       uint32_t line, uint32_t column)
{
    if (request->as_json)
        print_error_json(str_of(err_code_name(code)), message, line, column);
    else
        eval_print_error(str_of(request->expression), message, line, column);
    return EXIT_FAILED;
}

static int print_value(const struct request *request, const struct cel_program *program,
                       struct value v)
{
    struct str type = cel_program_type(program);
    struct buf text;
    struct err err;
    bool written;
    int status = EXIT_OK;

    buf_init(&text);
    text.limit = VALUE_JSON_MAX;
    if (request->as_json) {
        buf_text(&text, "{\"value\":");
        written = json_write(&text, v, &err);
    } else {
        written = json_write_pretty(&text, v, &err);
    }
    if (!written) {
        status = eval_refuse(request, err.code, err.message, 0, 0);
    } else if (request->as_json) {
        buf_text(&text, ",\"type\":");
        /* What the checker could not know, the value says. */
        json_write_string(&text, str_eq(type, STR("dyn"))
                                     ? str_of(value_kind_name((enum value_kind)v.kind))
                                     : type);
        buf_char(&text, '}');
    }
    if (status == EXIT_OK)
        printf("%.*s\n", STR_ARG(buf_view(&text)));
    buf_fini(&text);
    return status;
}

static bool eval_compile(struct arena *mem, const struct request *request,
                         const struct cel_env *env, const struct cel_program **out, struct err *err)
{
    const struct cel_options options = {.facts = CEL_FACTS_CERTAIN};
    struct str source = str_of(request->expression);

    if (request->is_value)
        return cel_compile_value(mem, env, source, &options, out, err);
    return cel_compile(mem, env, source, &options, out, err);
}

/* ${x}, as other languages put texts together, is nothing but that text here. */
static void note_dollar(const struct request *request, struct str source)
{
    struct str inner;

    if (!cel_find_dollar(source, &inner))
        return;
    if (request->is_value)
        fprintf(stderr, "note: ${%.*s} in a text is nothing but that text: write {{ %.*s }}\n",
                STR_ARG(inner), STR_ARG(inner));
    else
        fprintf(stderr,
                "note: ${%.*s} in a text is nothing but that text: write \"...\" + string(%.*s)\n",
                STR_ARG(inner), STR_ARG(inner));
}

static int evaluate(struct arena *mem, const struct request *request, struct value context)
{
    struct cel_env *env = cel_env_new(mem, CEL_DEFINITION);
    struct str source = str_of(request->expression);
    struct value *slots = ARENA_ARRAY(mem, context.len + 1, struct value);
    struct cel_activation activation = {
        .slots = slots, .root = context, .now_us = clock_wall_us(&clock_system)};
    const struct cel_program *program;
    struct value v;
    struct err err;
    int status;

    cel_env_members(env, context, slots);
    if (!eval_compile(mem, request, env, &program, &err))
        return eval_refuse(request, err.code, err.message, err.line, err.column);
    v = cel_evaluate(mem, program, &activation, NULL);
    if (v.kind == VALUE_ERROR) {
        uint32_t line, column;
        cel_place(source, v.error->offset, &line, &column);
        status = eval_refuse(request, v.error->code, v.error->message, line, column);
    } else {
        note_dollar(request, source);
        status = print_value(request, program, v);
    }
    cel_program_release(program);
    return status;
}

int command_eval(const struct options *o)
{
    struct request request = {.expression = o->argv[1],
                              .context_path = options_get(o, "context"),
                              .is_value = options_has(o, "value"),
                              .as_json = options_has(o, "json")};
    struct value context;
    struct arena mem;
    int status = EXIT_FAILED;

    if (o->argc != 2)
        return options_usage(o);
    arena_init(&mem);
    if (read_context(&mem, request.context_path, &context))
        status = evaluate(&mem, &request, context);
    arena_fini(&mem);
    return status;
}
