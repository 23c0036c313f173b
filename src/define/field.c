/* field.c - the fields of an object: which there may be, and reading one by its type. */
#include "define/compile.h"

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
    return object.kind == VALUE_MAP ? value_map_get_str(object, str_of(name)) : value_absent();
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

bool compile_has(struct value object, const char *name)
{
    struct value v = compile_field(object, name);

    return v.kind != VALUE_ABSENT && v.kind != VALUE_NULL;
}

void compile_timeout(struct compiler *c, struct value object, const char *name, int64_t *out_us)
{
    size_t outer = compile_enter(c, str_of(name));
    int64_t us;

    if (compile_has(object, name) && compile_duration(c, compile_field(object, name), &us)) {
        if (us == 0)
            compile_error(c, FINDING_BAD_DURATION, "a '%s' of no time would be over at once", name);
        *out_us = us;
    }
    compile_leave(c, outer);
}

void compile_count(struct compiler *c, struct value object, const char *name, uint32_t min,
                   uint32_t max, uint32_t *out)
{
    struct value v = compile_field(object, name);
    size_t outer = compile_enter(c, str_of(name));

    if (v.kind != VALUE_ABSENT && v.kind != VALUE_INT)
        compile_wrong_type(c, v, "a whole number");
    else if (v.kind == VALUE_INT && (v.i < min || v.i > max))
        compile_error(c, FINDING_BAD_VALUE, "%s lies between %u and %u", name, min, max);
    else if (v.kind == VALUE_INT)
        *out = (uint32_t)v.i;
    compile_leave(c, outer);
}

const struct mapping *compile_map(struct compiler *c, struct value object, const char *name)
{
    struct value v = compile_field(object, name);
    size_t outer = compile_enter(c, str_of(name));
    const struct mapping *m = NULL;

    if (v.kind == VALUE_MAP)
        m = compile_mapping(c, v);
    else if (v.kind != VALUE_ABSENT)
        compile_wrong_type(c, v, "an object");
    compile_leave(c, outer);
    return m;
}

const struct cel_program *compile_when(struct compiler *c, struct value object, const char *name)
{
    struct value v = compile_field(object, name);
    const struct cel_program *when = NULL;
    size_t outer = compile_enter(c, str_of(name));

    if (v.kind != VALUE_ABSENT)
        when = compile_condition(c, v);
    compile_leave(c, outer);
    return when;
}

/* --- names --- */

struct str compile_own_code(struct compiler *c, struct value definition)
{
    struct value v = compile_field(definition, "code");
    struct str code = compile_text(c, definition, "code");
    size_t outer;

    if (v.kind == VALUE_ABSENT)
        compile_missing(c, "code");
    if (v.kind == VALUE_STRING) {
        outer = compile_enter(c, STR("code"));
        (void)compile_check_code(c, code);
        compile_leave(c, outer);
    }
    return code;
}

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
