/* compile.c - findings, pointers and fields; see compile.h. */
#include "define/compile.h"

#include "base/utf8.h"
#include "value/path.h"

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
    *c = (struct compiler){.mem = mem, .env = env, .findings = findings};
    buf_init_arena(&c->path, mem);
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
    /* The last place is kept for what was found last, so that no error is lost behind warnings. */
    f = all->count < FINDINGS_MAX ? VEC_ADD(c->mem, all) : &all->items[all->count - 1];
    *f = (struct finding){.pointer = compile_pointer(c),
                          .step = c->step,
                          .code = str_of(codes[code]),
                          .message = message};
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
    bool had_errors = c->has_errors;
    va_list args;

    if (c->findings->count == FINDINGS_MAX)
        return;
    va_start(args, format);
    add(c, code, format_text(c->mem, format, args))->is_warning = true;
    va_end(args);
    c->has_errors = had_errors;
}

void compile_did_you_mean(struct compiler *c, struct str nearest)
{
    if (nearest.len > 0)
        c->findings->items[c->findings->count - 1].hint =
            str_printf(c->mem, "did you mean '%.*s'?", STR_ARG(nearest));
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
    case VALUE_UINT:
    case VALUE_DOUBLE:
        return "a number";
    case VALUE_STRING:
        return "a text";
    case VALUE_LIST:
        return "a list";
    case VALUE_MAP:
        return "an object";
    case VALUE_BYTES:
    case VALUE_TIMESTAMP:
    case VALUE_DURATION:
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

void compile_wrong_type(struct compiler *c, struct value v, const char *wanted)
{
    compile_error(c, FINDING_WRONG_TYPE, "%.*s must be %s, not %s", STR_ARG(compile_here(c)),
                  wanted, json_kind(v));
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

void compile_expression_error(struct compiler *c, struct str source, const struct err *err)
{
    struct str message = str_of(err->message);
    int64_t hint = str_find(message, STR("; did you mean"), 0);
    enum finding_code code = err->code == ERR_EXPRESSION_SYNTAX ? FINDING_EXPRESSION_SYNTAX
                             : err->code == ERR_EXPRESSION_TYPE ? FINDING_EXPRESSION_TYPE
                                                                : FINDING_LIMIT_EXPRESSION_SIZE;
    struct finding *f = add(c, code, STR_NONE);

    f->message = str_copy(c->mem, str_slice(message, 0, hint < 0 ? message.len : (size_t)hint));
    if (hint >= 0)
        f->hint = str_copy(c->mem, str_slice(message, (size_t)hint + 2, message.len));
    if (err->column > 0)
        f->column = flat_column(source, err->line, err->column);
}

/* --- fields --- */

static struct str nearest_field(const struct field_spec *specs, size_t count, struct str name)
{
    unsigned limit = catalog_hint_distance(name);
    struct str best = STR_NONE;

    for (size_t i = 0; i < count && limit > 0; i++) {
        unsigned distance = str_distance(name, str_of(specs[i].name), limit);
        if (distance <= limit && specs[i].state == STATE_NOW) {
            best = str_of(specs[i].name);
            limit = distance - 1;
        }
    }
    return best;
}

static const struct field_spec *find_field(const struct field_spec *specs, size_t count,
                                           struct str name)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(name, str_of(specs[i].name)))
            return &specs[i];
    return NULL;
}

static bool is_empty(struct value v)
{
    return v.kind == VALUE_NULL || ((v.kind == VALUE_LIST || v.kind == VALUE_MAP) && v.len == 0);
}

bool compile_fields(struct compiler *c, struct value v, const struct field_spec *specs,
                    size_t count)
{
    if (v.kind != VALUE_MAP) {
        compile_wrong_type(c, v, "an object");
        return false;
    }
    for (uint32_t i = 0; i < v.len; i++) {
        const struct value_entry *e = &v.map->entries[i];
        struct str name = value_text(e->key);
        const struct field_spec *spec = find_field(specs, count, name);
        size_t outer = compile_enter(c, name);

        if (spec == NULL) {
            compile_error(c, FINDING_UNKNOWN_FIELD, "there is no field '%.*s' here", STR_ARG(name));
            compile_did_you_mean(c, nearest_field(specs, count, name));
        } else if (spec->state == STATE_LATER && !is_empty(e->value)) {
            compile_error(c, FINDING_NOT_SUPPORTED_YET, "'%.*s' is not supported yet",
                          STR_ARG(name));
        }
        compile_leave(c, outer);
    }
    return true;
}

struct value compile_field(struct value object, const char *name)
{
    return value_map_get_str(object, str_of(name));
}

struct str compile_text(struct compiler *c, struct value object, const char *name)
{
    struct value v = compile_field(object, name);
    size_t outer;

    if (v.kind == VALUE_STRING)
        return value_text(v);
    if (v.kind != VALUE_ABSENT) {
        outer = compile_enter(c, str_of(name));
        compile_wrong_type(c, v, "a text");
        compile_leave(c, outer);
    }
    return STR_NONE;
}

bool compile_flag(struct compiler *c, struct value object, const char *name)
{
    struct value v = compile_field(object, name);
    size_t outer;

    if (v.kind != VALUE_BOOL && v.kind != VALUE_ABSENT) {
        outer = compile_enter(c, str_of(name));
        compile_wrong_type(c, v, "true or false");
        compile_leave(c, outer);
    }
    return value_is_true(v);
}

/* "compensate", "retry" or "hold", with a zero byte behind it. */
static struct str list_words(struct arena *mem, struct str words)
{
    struct buf text;

    words = str_trim(words);
    buf_init_arena(&text, mem);
    buf_char(&text, '"');
    for (size_t i = 0; i < words.len; i++) {
        if (words.ptr[i] != ' ')
            buf_char(&text, words.ptr[i]);
        else if (str_find(words, STR(" "), i + 1) < 0)
            buf_text(&text, "\" or \"");
        else
            buf_text(&text, "\", \"");
    }
    buf_char(&text, '"');
    return str_copy(mem, buf_view(&text));
}

/* The word nearest to a mistyped one, or empty. */
static struct str nearest_word(struct str words, struct str name)
{
    unsigned limit = catalog_hint_distance(name);
    struct str best = STR_NONE;

    while (words.len > 0 && limit > 0) {
        int64_t space = str_find(words, STR(" "), 0);
        struct str word = str_slice(words, 0, space < 0 ? words.len : (size_t)space);
        unsigned distance = str_distance(name, word, limit);

        if (distance <= limit && word.len > 0) {
            best = word;
            limit = distance - 1;
        }
        words = str_slice(words, space < 0 ? words.len : (size_t)space + 1, words.len);
    }
    return best;
}

int compile_find_word(struct compiler *c, struct value v, const char *words)
{
    struct str rest = str_of(words), word;
    int place = 0;

    if (v.kind != VALUE_STRING) {
        compile_wrong_type(c, v, list_words(c->mem, rest).ptr);
        return -1;
    }
    for (; rest.len > 0; place++) {
        int64_t space = str_find(rest, STR(" "), 0);
        word = str_slice(rest, 0, space < 0 ? rest.len : (size_t)space);
        if (str_eq(word, value_text(v)))
            return place;
        rest = str_slice(rest, space < 0 ? rest.len : (size_t)space + 1, rest.len);
    }
    compile_error(c, FINDING_BAD_VALUE, "%.*s must be %s", STR_ARG(compile_here(c)),
                  list_words(c->mem, str_of(words)).ptr);
    compile_did_you_mean(c, nearest_word(str_of(words), value_text(v)));
    return -1;
}

int compile_word(struct compiler *c, struct value object, const char *name, const char *words)
{
    struct value v = compile_field(object, name);
    size_t outer;
    int place;

    if (v.kind == VALUE_ABSENT)
        return -1;
    outer = compile_enter(c, str_of(name));
    place = compile_find_word(c, v, words);
    compile_leave(c, outer);
    return place;
}

struct value compile_meta(struct compiler *c, struct value object)
{
    struct value meta = compile_field(object, "meta");
    size_t outer = compile_enter(c, STR("meta"));

    if (meta.kind != VALUE_MAP && meta.kind != VALUE_ABSENT)
        compile_wrong_type(c, meta, "an object");
    compile_leave(c, outer);
    return meta.kind == VALUE_MAP ? meta : value_map_empty();
}

void compile_missing(struct compiler *c, const char *name)
{
    size_t outer = compile_enter(c, str_of(name));

    compile_error(c, FINDING_MISSING_FIELD, "'%s' is missing", name);
    compile_leave(c, outer);
}

/* --- names --- */

bool compile_is_code(struct str code)
{
    bool ok = code.len >= 1 && code.len <= NAME_MAX_LEN && code.ptr[0] >= 'a' && code.ptr[0] <= 'z';

    for (size_t i = 0; i < code.len && ok; i++) {
        char x = code.ptr[i];
        ok = (x >= 'a' && x <= 'z') || (x >= '0' && x <= '9') || x == '_';
    }
    return ok;
}

bool compile_check_code(struct compiler *c, struct str code)
{
    bool ok = compile_is_code(code);

    if (!ok)
        compile_error(c, FINDING_BAD_CODE,
                      "a code is a small letter, then up to 99 small letters, digits or '_'");
    return ok;
}

bool compile_is_name(struct str name)
{
    if (name.len == 0 || name.len > NAME_MAX_LEN || (name.ptr[0] >= '0' && name.ptr[0] <= '9'))
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char x = name.ptr[i];
        if (!((x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || (x >= '0' && x <= '9') ||
              x == '_'))
            return false;
    }
    return true;
}

bool compile_duration(struct compiler *c, struct value v, int64_t *out_us)
{
    if (v.kind != VALUE_STRING && v.kind != VALUE_DURATION) {
        compile_wrong_type(c, v, catalog_wanted(ARGUMENT_DURATION));
        return false;
    }
    if (define_duration_us(v, out_us) && *out_us >= 0)
        return true;
    compile_error(c, FINDING_BAD_DURATION, "%.*s must be %s", STR_ARG(compile_here(c)),
                  catalog_wanted(ARGUMENT_DURATION));
    return false;
}
