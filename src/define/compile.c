/* compile.c - where we stand in a definition, and what is wrong there; see compile.h. */
#include "define/compile.h"

#include "base/utf8.h"
#include "value/json.h"
#include "value/path.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static const char *const codes[] = {
#define FINDING(symbol, code) code,
#include "define/findings.def"
#undef FINDING
};

void compiler_init(struct compiler *c, struct arena *mem, const struct cel_env *env,
                   struct findings *findings)
{
    *c = (struct compiler){.mem = mem, .env = env, .findings = findings, .retry = &retry_default};
    buf_init_arena(&c->path, mem);
}

void compiler_branch(struct compiler *c, const struct compiler *from, struct str path)
{
    compiler_init(c, from->mem, NULL, from->findings);
    c->library = from->library;
    c->retry = from->retry;
    c->is_stored = from->is_stored;
    buf_str(&c->path, path);
}

/* --- where we stand --- */

size_t compile_enter(struct compiler *c, struct str field)
{
    size_t outer = c->path.len;

    path_add(&c->path, field);
    return outer;
}

size_t compile_enter_index(struct compiler *c, size_t index)
{
    size_t outer = c->path.len;

    path_add_index(&c->path, index);
    return outer;
}

void compile_leave(struct compiler *c, size_t outer)
{
    c->path.len = outer;
}

struct str compile_pointer(const struct compiler *c)
{
    return str_copy(c->mem, buf_view(&c->path));
}

/* --- what is wrong there --- */

static struct finding *add(struct compiler *c, enum finding_code code, struct str message)
{
    struct findings *all = c->findings;
    struct finding *f;

    c->has_errors = true;
    c->errors++;
    /* The last place is kept for what was found last, so that no error is lost behind warnings. */
    f = all->count < FINDINGS_MAX ? VEC_ADD(c->mem, all) : &all->items[all->count - 1];
    *f = (struct finding){.pointer = compile_pointer(c),
                          .step = c->step,
                          .code = str_of(codes[code]),
                          .message = message};
    return f;
}

/* NULL when there are too many already. */
static struct finding *add_warning(struct compiler *c, enum finding_code code, struct str message)
{
    bool had_errors = c->has_errors;
    struct finding *f;

    if (c->findings->count == FINDINGS_MAX)
        return NULL;
    f = add(c, code, message);
    f->is_warning = true;
    c->has_errors = had_errors;
    c->errors--;
    return f;
}

static struct str format_text(struct arena *mem, const char *format, va_list args)
{
    char text[512];
    int len = vsnprintf(text, sizeof(text), format, args);

    ASSERT(len >= 0);
    if ((size_t)len >= sizeof(text))
        len = (int)utf8_valid_prefix(str_from(text, sizeof(text) - 1));
    return str_copy(mem, str_from(text, (size_t)len));
}

void compile_error(struct compiler *c, enum finding_code code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add(c, code, format_text(c->mem, format, args));
    va_end(args);
}

void compile_warning(struct compiler *c, enum finding_code code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)add_warning(c, code, format_text(c->mem, format, args));
    va_end(args);
}

void compile_stricter(struct compiler *c, enum finding_code code, const char *format, ...)
{
    va_list args;

    if (c->is_stored)
        return;
    va_start(args, format);
    add(c, code, format_text(c->mem, format, args));
    va_end(args);
}

void compile_column(struct compiler *c, uint32_t column)
{
    c->findings->items[c->findings->count - 1].column = column;
}

void compile_did_you_mean(struct compiler *c, struct str nearest)
{
    if (nearest.len > 0)
        c->findings->items[c->findings->count - 1].hint =
            str_printf(c->mem, "did you mean '%.*s'?", STR_ARG(nearest));
}

void compile_hint(struct compiler *c, struct str hint)
{
    if (c->findings->count > 0 && hint.len > 0)
        c->findings->items[c->findings->count - 1].hint = hint;
}

/* What a value is, for a person who writes JSON. */
static const char *json_kind(struct value v)
{
    switch ((enum value_kind)v.kind) {
    case VALUE_ABSENT:
        return "missing";
    case VALUE_NULL:
        return "null";
    case VALUE_BOOL:
        return v.b ? "true" : "false";
    case VALUE_INT:
        return v.i < 0 ? "a number below zero" : "a number";
    case VALUE_UINT:
        return "a number";
    case VALUE_DOUBLE:
        return v.d == floor(v.d) ? "a number" : "a number with a fraction";
    case VALUE_STRING:
        return "a text";
    case VALUE_LIST:
        return "a list";
    case VALUE_MAP:
        return "an object";
    case VALUE_BYTES:
    case VALUE_TIMESTAMP:
    case VALUE_DURATION:
    case VALUE_IP:
    case VALUE_CIDR:
    case VALUE_TYPE:
    case VALUE_OPTIONAL:
    case VALUE_ERROR:
    case VALUE_KIND_COUNT:
        break;
    }
    return value_kind_name((enum value_kind)v.kind);
}

struct str compile_here(const struct compiler *c)
{
    size_t start = c->path.len;

    while (start > 0 && c->path.ptr[start - 1] != '/')
        start--;
    if (c->path.len == 0)
        return STR("the definition");
    if (start < c->path.len && c->path.ptr[start] >= '0' && c->path.ptr[start] <= '9')
        return STR("each item");
    return str_from(c->path.ptr + start, c->path.len - start);
}

/* What to write in place of it, when that is plain; or nothing. */
static struct str requoted(struct arena *mem, struct value v, struct str wanted)
{
    static const char *const words[] = {"false", "no", "off", "true", "yes", "on"};
    struct buf out;
    struct err err;

    for (size_t i = 0; str_eq(wanted, STR("true or false")) && i < ARRAY_SIZE(words); i++)
        if (v.kind == VALUE_STRING && str_eq(value_text(v), str_of(words[i])))
            return i < 3 ? STR("write false") : STR("write true");
    if (!str_starts_with(wanted, STR("a text")) && !str_eq(wanted, STR("an expression in a text")))
        return STR_NONE;
    if (v.kind != VALUE_BOOL && v.kind != VALUE_INT && v.kind != VALUE_DOUBLE)
        return STR_NONE;
    buf_init_arena(&out, mem);
    buf_text(&out, "write \"");
    if (!json_write(&out, v, &err))
        return STR_NONE;
    buf_char(&out, '"');
    return buf_view(&out);
}

void compile_wrong_type(struct compiler *c, struct value v, const char *wanted)
{
    compile_error(c, FINDING_WRONG_TYPE, "%.*s must be %s, not %s", STR_ARG(compile_here(c)),
                  wanted, json_kind(v));
    compile_hint(c, requoted(c->mem, v, str_of(wanted)));
}

/* Code points before `column` of `line`, all lines counted, plus one. */
static uint32_t flat_column(struct str source, uint32_t line, uint32_t column)
{
    for (size_t i = 0; i < source.len && line > 1; i++) {
        line -= source.ptr[i] == '\n';
        column += ((unsigned char)source.ptr[i] & 0xc0) != 0x80;
    }
    return column;
}

/* "undeclared reference to 'n'": that name, if it is no field of another. */
static struct str undeclared_name(struct str message)
{
    static const struct str start = {.ptr = "undeclared reference to '", .len = 25};
    int64_t end;

    if (!str_starts_with(message, start))
        return STR_NONE;
    message = str_slice(message, start.len, message.len);
    end = str_find(message, STR("'"), 0);
    message = str_slice(message, 0, end < 0 ? 0 : (size_t)end);
    return str_find(message, STR("."), 0) < 0 ? message : STR_NONE;
}

/* Where it would be known, or why it is not. */
static struct str place_hint(const struct compiler *c, struct str message)
{
    enum context_root root;

    if (!context_root_of(undeclared_name(message), &root))
        return STR_NONE;
    if (c->sees != NULL)
        return str_of(c->sees);
    if (c->sees_only_about)
        return str_printf(c->mem, "this condition sees `%s` and nothing else", c->about);
    if (c->unit != NULL && root != ROOT_RESPONSE && root != ROOT_RECORD)
        return STR("a procedure sees its own input, config, user, execution and now: hand over "
                   "the rest in 'input'");
    if (context_place(root)[0] == '\0')
        return STR_NONE;
    return str_printf(c->mem, "$.%s is known %s", context_root_name(root), context_place(root));
}

/* What an error of the checker says goes into a finding: its message, hint and column. */
static void describe(struct compiler *c, struct str source, const struct err *err,
                     struct finding *f)
{
    struct str message = str_of(err->message);
    int64_t hint = str_find(message, STR("; did you mean"), 0);

    f->message = str_copy(c->mem, str_slice(message, 0, hint < 0 ? message.len : (size_t)hint));
    f->hint = place_hint(c, message);
    if (hint >= 0 && f->hint.len == 0)
        f->hint = str_copy(c->mem, str_slice(message, (size_t)hint + 2, message.len));
    if (f->hint.len == 0 && c->about != NULL && undeclared_name(message).len > 0)
        f->hint = str_printf(c->mem, "did you mean '%s.%.*s'?", c->about,
                             STR_ARG(undeclared_name(message)));
    if (err->column > 0)
        f->column = flat_column(source, err->line, err->column);
}

void compile_expression_error(struct compiler *c, struct str source, const struct err *err)
{
    enum finding_code code = err->code == ERR_EXPRESSION_SYNTAX ? FINDING_EXPRESSION_SYNTAX
                             : err->code == ERR_EXPRESSION_TYPE ? FINDING_EXPRESSION_TYPE
                                                                : FINDING_LIMIT_EXPRESSION_SIZE;

    describe(c, source, err, add(c, code, STR_NONE));
}

void compile_expression_warning(struct compiler *c, enum finding_code code, struct str source,
                                const struct err *err)
{
    struct finding *f = add_warning(c, code, STR_NONE);

    if (f != NULL)
        describe(c, source, err, f);
}
