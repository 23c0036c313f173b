/* compile.c - where we stand in a definition, and what is wrong there; see compile.h. */
#include "define/compile/compile.h"
#include "define/compile/context.h"
#include "define/compile/library.h"
#include "define/compile/scenario.h"

#include "base/text/ascii.h"
#include "value/json.h"
#include "value/path.h"

#include <math.h>
#include <stdarg.h>

static const char *const codes[] = {
#define FINDING(symbol, code, fix) code,
#include "define/catalog/findings.def"
#undef FINDING
};

const struct cel_limits compile_check_limits = {.cost = 10000000, .memory_bytes = 64u << 20};

void compiler_init(struct compiler *c, struct arena *mem, const struct cel_env *env,
                   struct findings *findings)
{
    *c = (struct compiler){.mem = mem,
                           .env = env,
                           .findings = findings,
                           .left = compile_check_limits,
                           .retry = &retry_default};
    buf_init_arena(&c->path, mem);
}

void compiler_branch(struct compiler *c, const struct compiler *from, struct str path)
{
    compiler_init(c, from->mem, NULL, from->findings);
    c->library = from->library;
    c->retry = from->retry;
    c->is_stored = from->is_stored;
    c->rules = from->rules;
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

static struct finding *add(struct compiler *c, enum finding_code code, struct sentence message)
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
static struct finding *add_warning(struct compiler *c, enum finding_code code,
                                   struct sentence message)
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

void compile_error(struct compiler *c, enum finding_code code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add(c, code, sentence_vmake(c->mem, FINDING_TEXT_MAX, format, args));
    va_end(args);
}

void compile_warning(struct compiler *c, enum finding_code code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)add_warning(c, code, sentence_vmake(c->mem, FINDING_TEXT_MAX, format, args));
    va_end(args);
}

void compile_error_at(struct compiler *c, const char *field, enum finding_code code,
                      const char *format, ...)
{
    size_t outer = compile_enter(c, str_of(field));
    va_list args;

    va_start(args, format);
    add(c, code, sentence_vmake(c->mem, FINDING_TEXT_MAX, format, args));
    va_end(args);
    compile_leave(c, outer);
}

void compile_warning_at(struct compiler *c, const char *field, enum finding_code code,
                        const char *format, ...)
{
    size_t outer = compile_enter(c, str_of(field));
    va_list args;

    va_start(args, format);
    (void)add_warning(c, code, sentence_vmake(c->mem, FINDING_TEXT_MAX, format, args));
    va_end(args);
    compile_leave(c, outer);
}

void compile_stricter(struct compiler *c, enum finding_code code, const char *format, ...)
{
    va_list args;

    if (c->is_stored)
        return;
    va_start(args, format);
    add(c, code, sentence_vmake(c->mem, FINDING_TEXT_MAX, format, args));
    va_end(args);
}

void compile_column(struct compiler *c, uint32_t column)
{
    c->findings->items[c->findings->count - 1].column = column;
}

void compile_did_you_mean(struct compiler *c, struct str nearest)
{
    if (nearest.len == 0)
        return;
    compile_hint(c, "did you mean '%.*s'?", STR_ARG(nearest));
    compile_fix_text(c, nearest);
}

void compile_hint(struct compiler *c, const char *format, ...)
{
    va_list args;

    if (c->findings->count == 0)
        return;
    va_start(args, format);
    c->findings->items[c->findings->count - 1].hint =
        sentence_vmake(c->mem, SENTENCE_MAX, format, args);
    va_end(args);
}

/* What a value is, for a person who writes JSON. */
static const char *json_kind(struct value v)
{
    switch ((enum value_kind)v.kind) {
    case VALUE_NULL:
        return "null";
    case VALUE_BOOL:
        return v.b ? "true" : "false";
    case VALUE_INT:
        return v.i < 0 ? PHRASE("a number below zero") : PHRASE("a number");
    case VALUE_UINT:
        return PHRASE("a number");
    case VALUE_DOUBLE:
        return v.d == floor(v.d) ? PHRASE("a number") : PHRASE("a number with a fraction");
    case VALUE_STRING:
        return PHRASE("a text");
    case VALUE_LIST:
        return PHRASE("a list");
    case VALUE_MAP:
        return PHRASE("an object");
    case VALUE_ABSENT:
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
        return STR(PHRASE("the definition"));
    if (start < c->path.len && ascii_is_digit(c->path.ptr[start]))
        return STR(PHRASE("each item"));
    return str_from(c->path.ptr + start, c->path.len - start);
}

/* What to write in place of it, when that is plain. */
static void hint_requoted(struct compiler *c, struct value v, struct str wanted)
{
    static const char *const words[] = {"false", "no", "off", "true", "yes", "on"};
    struct buf out;
    struct err err;

    for (size_t i = 0; str_eq(wanted, STR("true or false")) && i < ARRAY_SIZE(words); i++)
        if (v.kind == VALUE_STRING && str_eq(value_text(v), str_of(words[i]))) {
            compile_hint(c, "write %s", i < 3 ? "false" : "true");
            compile_fix_value(c, value_bool(i >= 3));
            return;
        }
    if (!str_starts_with(wanted, STR("a text")) && !str_eq(wanted, STR("an expression in a text")))
        return;
    if (v.kind != VALUE_BOOL && v.kind != VALUE_INT && v.kind != VALUE_DOUBLE)
        return;
    buf_init_arena(&out, c->mem);
    if (!json_write(&out, v, &err))
        return;
    compile_hint(c, "write \"%.*s\"", STR_ARG(buf_view(&out)));
    compile_fix_text(c, buf_view(&out));
}

void compile_wrong_kind(struct compiler *c, struct value v, struct sentence wanted)
{
    if (v.kind == VALUE_ABSENT)
        compile_error(c, FINDING_WRONG_TYPE, "%.*s must be %pS, not missing",
                      STR_ARG(compile_here(c)), SENTENCE_ARG(wanted));
    else
        compile_error(c, FINDING_WRONG_TYPE, "%.*s must be %pS, not %s", STR_ARG(compile_here(c)),
                      SENTENCE_ARG(wanted), json_kind(v));
    hint_requoted(c, v, wanted.text);
}

void compile_wrong_type(struct compiler *c, struct value v, const char *wanted)
{
    compile_wrong_kind(c, v, sentence_of(str_of(wanted)));
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

/* The name that is not declared, if it is no field of another. */
static struct str undeclared_name(const struct err *err)
{
    struct str name = err_name(err, ERR_ABOUT_VARIABLE);

    return str_find(name, STR("."), 0) < 0 ? name : STR_NONE;
}

/* Where it would be known, or why it is not. */
static struct sentence place_hint(const struct compiler *c, const struct err *err)
{
    enum context_root root;

    if (!context_root_of(undeclared_name(err), &root))
        return SENTENCE_NONE;
    if (c->sees != NULL)
        return sentence_of(str_of(c->sees));
    if (c->sees_only_about)
        return sentence_make(c->mem, "this condition sees `%s` and nothing else", c->about);
    if (c->unit != NULL && root != ROOT_RESPONSE && root != ROOT_RECORD)
        return SENTENCE("a procedure sees its own input, config, user, execution and now: hand "
                        "over the rest in 'input'");
    if (context_place(root)[0] == '\0')
        return SENTENCE_NONE;
    return sentence_make(c->mem, "$.%s is known %s", context_root_name(root), context_place(root));
}

/* What an error of the checker says goes into a finding: its message, hint, name and column. */
static void describe(struct compiler *c, struct str source, const struct err *err,
                     struct finding *f)
{
    struct sentence all = sentence_copy(c->mem, err_sentence(err));

    f->message = sentence_plain(all);
    f->hint = place_hint(c, err);
    if (f->hint.text.len == 0)
        f->hint = sentence_hint(all);
    if (f->hint.text.len == 0 && c->about != NULL && undeclared_name(err).len > 0)
        f->hint = sentence_make(c->mem, "did you mean '%s.%.*s'?", c->about,
                                STR_ARG(undeclared_name(err)));
    f->about = err->about;
    f->name = str_copy(c->mem, err_name(err, (enum err_about)err->about));
    if (err->column > 0)
        f->column = flat_column(source, err->line, err->column);
}

void compile_expression_error(struct compiler *c, struct str source, const struct err *err)
{
    enum finding_code code = err->code == ERR_EXPRESSION_SYNTAX ? FINDING_EXPRESSION_SYNTAX
                             : err->code == ERR_EXPRESSION_TYPE ? FINDING_EXPRESSION_TYPE
                                                                : FINDING_LIMIT_EXPRESSION_SIZE;

    describe(c, source, err, add(c, code, SENTENCE_NONE));
    compile_fix_expression(c, source, err);
}

void compile_expression_warning(struct compiler *c, enum finding_code code, struct str source,
                                const struct err *err)
{
    struct finding *f = add_warning(c, code, SENTENCE_NONE);

    if (f == NULL)
        return;
    describe(c, source, err, f);
    compile_fix_expression(c, source, err);
}
