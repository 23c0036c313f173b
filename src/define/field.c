/* field.c - the fields of an object: which there may be, and reading one by its type. */
#include "base/nearest.h"
#include "define/calendar.h"
#include "define/compile.h"

static bool is_empty(struct value v)
{
    return v.kind == VALUE_NULL || ((v.kind == VALUE_LIST || v.kind == VALUE_MAP) && v.len == 0);
}

/* The fields that an object may have: those of a table, and perhaps a command's own. */
struct allowed {
    enum field_table table;
    const struct argument *arguments; /* or NULL */
};

static const struct field_spec *next_argument(const struct argument *a)
{
    return a->spec.name != NULL ? &a->spec : NULL;
}

/* The field behind `last`, or the first one. */
static const struct field_spec *next_allowed(const struct allowed *all,
                                             const struct field_spec *last)
{
    const struct argument *a = all->arguments;
    const struct field_spec *next = NULL;

    for (; a != NULL && a->spec.name != NULL; a++)
        if (&a->spec == last)
            return next_argument(a + 1);
    next = catalog_field_next(all->table, last);
    return next == NULL && all->arguments != NULL ? next_argument(all->arguments) : next;
}

static void check_name(struct compiler *c, const struct allowed *all, const struct value_entry *e)
{
    struct str name = value_text(e->key);
    struct nearest near = nearest_to(name);
    const struct field_spec *spec = NULL;

    while ((spec = next_allowed(all, spec)) != NULL) {
        if (str_eq(str_of(spec->name), name))
            break;
        if (spec->state == STATE_NOW)
            nearest_offer(&near, str_of(spec->name));
    }
    if (spec == NULL) {
        compile_error(c, FINDING_UNKNOWN_FIELD, "there is no field '%.*s' here", STR_ARG(name));
        compile_did_you_mean(c, near.best);
    } else if (spec->state == STATE_LATER && !is_empty(e->value)) {
        compile_error(c, FINDING_NOT_SUPPORTED_YET, "'%.*s' is not supported yet", STR_ARG(name));
    }
}

static bool check_fields(struct compiler *c, struct value v, const struct allowed *all)
{
    if (v.kind != VALUE_MAP) {
        compile_wrong_type(c, v, "an object");
        return false;
    }
    for (uint32_t i = 0; i < v.len; i++) {
        const struct value_entry *e = &v.map->entries[i];
        size_t outer = compile_enter(c, value_text(e->key));

        check_name(c, all, e);
        compile_leave(c, outer);
    }
    for (const struct field_spec *spec = next_allowed(all, NULL); spec != NULL;
         spec = next_allowed(all, spec))
        if (spec->need == FIELD_IS_NEEDED && compile_field(v, spec->name).kind == VALUE_ABSENT)
            compile_missing(c, spec->name);
    return true;
}

bool compile_fields(struct compiler *c, struct value v, enum field_table table)
{
    return check_fields(c, v, &(struct allowed){.table = table});
}

bool compile_command_fields(struct compiler *c, struct value v, const struct command_spec *spec)
{
    return check_fields(c, v,
                        &(struct allowed){.table = TABLE_COMMAND, .arguments = spec->arguments});
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

int compile_find_word(struct compiler *c, struct value v, const char *words)
{
    struct str rest = str_of(words), word;
    struct nearest near;
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
    near = nearest_to(value_text(v));
    nearest_offer_words(&near, str_of(words));
    compile_did_you_mean(c, near.best);
    return -1;
}

int compile_word(struct compiler *c, enum field_table table, struct value object, const char *name)
{
    const struct field_spec *spec = catalog_field(table, str_of(name));
    struct value v = compile_field(object, name);
    size_t outer;
    int place;

    ASSERT(spec != NULL && spec->words != NULL);
    if (v.kind == VALUE_ABSENT)
        return -1;
    outer = compile_enter(c, str_of(name));
    place = compile_find_word(c, v, spec->words);
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

static bool has_business_days(struct value v)
{
    return v.kind == VALUE_STRING && v.len > 2 &&
           str_eq(str_slice(value_text(v), v.len - 2, v.len), STR("bd"));
}

bool compile_span(struct compiler *c, struct value v)
{
    struct span span;
    int64_t us;

    if (define_span(v, &span))
        return true;
    if (has_business_days(v)) {
        compile_error(c, FINDING_BAD_DURATION,
                      "business days are a whole number from 1 to %d and stand alone: \"3bd\"",
                      BUSINESS_DAYS_MAX);
        return false;
    }
    return compile_duration(c, v, &us);
}

bool compile_duration(struct compiler *c, struct value v, int64_t *out_us)
{
    if (v.kind != VALUE_STRING && v.kind != VALUE_DURATION) {
        compile_wrong_type(c, v, catalog_wanted(ARGUMENT_DURATION));
        return false;
    }
    if (define_duration_us(v, out_us) && *out_us >= 0)
        return true;
    if (has_business_days(v)) {
        compile_error(c, FINDING_BAD_DURATION,
                      "business days stand in `timeout` and `duration` of a wait and in `at` of a "
                      "reminder; here write hours or days: \"72h\", \"3d\"");
        return false;
    }
    compile_error(c, FINDING_BAD_DURATION, "%.*s must be %s", STR_ARG(compile_here(c)),
                  catalog_wanted(ARGUMENT_DURATION));
    return false;
}
