/* field.c - the fields of an object: which there may be, and reading one by its type. */
#include "base/text/ascii.h"
#include "base/text/nearest.h"
#include "define/calendar.h"
#include "define/catalog/synonym.h"
#include "define/compile/compile.h"
#include "define/compile/mapping.h"

enum { EXAMPLE_SHOWN = 80 }; /* of what is missing, in bytes */

static bool is_empty(struct value v)
{
    return v.kind == VALUE_NULL || ((v.kind == VALUE_LIST || v.kind == VALUE_MAP) && v.len == 0);
}

/* The fields that an object may have: those of a table, and perhaps a command's own. */
struct allowed {
    enum field_table table;           /* or FIELD_TABLE_COUNT: none */
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

static bool is_allowed(const struct allowed *all, const char *name)
{
    const struct field_spec *spec = NULL;

    while ((spec = next_allowed(all, spec)) != NULL)
        if (strcmp(spec->name, name) == 0)
            return spec->state == STATE_NOW;
    return false;
}

/* The field that is meant by a word of other tools, or empty. */
static struct str find_synonym(const struct allowed *all, struct str name)
{
    const char *ours;
    size_t at = 0;

    while ((ours = synonym_next(SYNONYM_FIELD, name, &at)) != NULL)
        if (is_allowed(all, ours))
            return str_of(ours);
    return STR_NONE;
}

/* "the fields are 'code', 'name', 'steps'" */
static void hint_allowed(struct compiler *c, const struct allowed *all)
{
    const struct field_spec *spec = NULL;
    struct buf out;

    buf_init_arena(&out, c->mem);
    while ((spec = next_allowed(all, spec)) != NULL)
        if (spec->state == STATE_NOW)
            buf_printf(&out, "%s'%s'", out.len == 0 ? "" : ", ", spec->name);
    if (out.len > 0)
        compile_hint(c, "the fields are %.*s", STR_ARG(buf_view(&out)));
}

static void check_name(struct compiler *c, const struct allowed *all, struct value object,
                       const struct value_entry *e)
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
        if (near.best.len == 0)
            near.best = find_synonym(all, name);
        if (near.best.len > 0)
            compile_did_you_mean_field(c, object, name, near.best);
        else
            hint_allowed(c, all);
    } else if (spec->state == STATE_LATER && !is_empty(e->value)) {
        compile_error(c, FINDING_NOT_SUPPORTED_YET, "'%.*s' is not supported yet", STR_ARG(name));
    }
}

/* "write {...}": such an object as an example of a field that takes one. */
static void hint_table(struct compiler *c, enum field_table table)
{
    const char *kind = table < FIELD_TABLE_COUNT ? catalog_table(table)->name : "";

    for (unsigned i = 0; i < FIELD_TABLE_COUNT; i++)
        for (const struct field_spec *spec = catalog_field_next((enum field_table)i, NULL);
             spec != NULL; spec = catalog_field_next((enum field_table)i, spec))
            if (strcmp(spec->kind, kind) == 0 && spec->example[0] == '{' &&
                strlen(spec->example) <= EXAMPLE_SHOWN) {
                compile_hint(c, "write %s", spec->example);
                return;
            }
}

static bool check_fields(struct compiler *c, struct value v, const struct allowed *all)
{
    if (v.kind != VALUE_MAP) {
        compile_wrong_type(c, v, "an object");
        hint_table(c, all->table);
        return false;
    }
    for (uint32_t i = 0; i < v.len; i++) {
        const struct value_entry *e = &v.map->entries[i];
        size_t outer = compile_enter(c, value_text(e->key));

        check_name(c, all, v, e);
        compile_leave(c, outer);
    }
    for (const struct field_spec *spec = next_allowed(all, NULL); spec != NULL;
         spec = next_allowed(all, spec))
        if (spec->need == FIELD_IS_NEEDED && compile_field(v, spec->name).kind == VALUE_ABSENT) {
            compile_missing(c, spec->name);
            if (strlen(spec->example) <= EXAMPLE_SHOWN)
                compile_hint(c, "write \"%s\": %s", spec->name, spec->example);
        }
    return true;
}

bool compile_fields(struct compiler *c, struct value v, enum field_table table)
{
    return check_fields(c, v, &(struct allowed){.table = table});
}

bool compile_command_fields(struct compiler *c, struct value v, const struct command_spec *spec)
{
    enum field_table common = spec->place == PLACE_NODE ? FIELD_TABLE_COUNT : TABLE_COMMAND;

    return check_fields(c, v, &(struct allowed){.table = common, .arguments = spec->arguments});
}

struct value compile_field(struct value object, const char *name)
{
    return value_map_member(object, str_of(name));
}

struct value compile_of_kind(struct compiler *c, struct value object, const char *name,
                             enum value_kind kind, const char *wanted)
{
    struct value v = compile_field(object, name);
    size_t outer;

    if (v.kind == kind || v.kind == VALUE_ABSENT)
        return v;
    outer = compile_enter(c, str_of(name));
    compile_wrong_type(c, v, wanted);
    compile_leave(c, outer);
    return value_absent();
}

struct str compile_text(struct compiler *c, struct value object, const char *name)
{
    return value_text_or(compile_of_kind(c, object, name, VALUE_STRING, "a text"), STR_NONE);
}

bool compile_flag(struct compiler *c, struct value object, const char *name)
{
    return value_is_true(compile_of_kind(c, object, name, VALUE_BOOL, "true or false"));
}

/* "compensate", "retry" or "hold" */
static struct sentence list_words(struct arena *mem, struct str words)
{
    size_t last;
    struct buf first;

    words = str_trim(words);
    for (last = words.len; last > 0 && words.ptr[last - 1] != ' ';)
        last--;
    if (last == 0)
        return sentence_make(mem, "\"%.*s\"", STR_ARG(words));
    buf_init_arena(&first, mem);
    for (size_t i = 0; i + 1 < last; i++)
        if (words.ptr[i] == ' ')
            buf_text(&first, "\", \"");
        else
            buf_char(&first, words.ptr[i]);
    return sentence_make(mem, "\"%.*s\" or \"%.*s\"", STR_ARG(buf_view(&first)),
                         STR_ARG(str_slice(words, last, words.len)));
}

int compile_find_word(struct compiler *c, struct value v, const char *words)
{
    struct str rest = str_of(words);
    struct nearest near;
    int place = 0;

    if (v.kind != VALUE_STRING) {
        compile_wrong_kind(c, v, list_words(c->mem, rest));
        return -1;
    }
    for (; rest.len > 0; place++)
        if (str_eq(str_cut(&rest, ' '), value_text(v)))
            return place;
    compile_error(c, FINDING_BAD_VALUE, "%.*s must be %pS", STR_ARG(compile_here(c)),
                  SENTENCE_ARG(list_words(c->mem, str_of(words))));
    near = nearest_to(value_text(v));
    nearest_offer_words(&near, str_of(words));
    for (size_t at = 0; near.best.len == 0;) {
        const char *ours = synonym_next(SYNONYM_WORD, value_text(v), &at);

        if (ours == NULL)
            break;
        if (catalog_has_word(str_of(words), str_of(ours)))
            near.best = str_of(ours);
    }
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
    struct value meta = compile_of_kind(c, object, "meta", VALUE_MAP, "an object");

    return meta.kind == VALUE_MAP ? meta : value_map_empty();
}

void compile_missing(struct compiler *c, const char *name)
{
    compile_error_at(c, name, FINDING_MISSING_FIELD, "'%s' is missing", name);
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

const struct mapping *compile_mapping_of(struct compiler *c, struct value object, const char *name)
{
    struct value v = compile_field(object, name);
    size_t outer = compile_enter(c, str_of(name));
    const struct mapping *m = v.kind != VALUE_ABSENT ? compile_mapping(c, v) : NULL;

    compile_leave(c, outer);
    return m;
}

const struct mapping *compile_map(struct compiler *c, struct value object, const char *name)
{
    struct value v = compile_of_kind(c, object, name, VALUE_MAP, "an object");

    return v.kind == VALUE_ABSENT ? NULL : compile_mapping_of(c, object, name);
}

const struct mapping *compile_computed(struct compiler *c, struct value object, const char *name)
{
    struct value v = compile_of_kind(c, object, name, VALUE_STRING, "a text");

    return v.kind == VALUE_ABSENT ? NULL : compile_mapping_of(c, object, name);
}

const struct mapping *compile_value_of(struct compiler *c, struct value object, const char *name,
                                       enum argument_kind kind)
{
    struct value v = compile_field(object, name);
    size_t outer = compile_enter(c, str_of(name));
    const struct mapping *m = v.kind != VALUE_ABSENT ? compile_value(c, v, kind) : NULL;

    compile_leave(c, outer);
    return m;
}

const struct cel_program *compile_expression_of(struct compiler *c, struct value object,
                                                const char *name)
{
    struct value v = compile_field(object, name);
    size_t outer = compile_enter(c, str_of(name));
    const struct cel_program *program = v.kind != VALUE_ABSENT ? compile_expression(c, v) : NULL;

    compile_leave(c, outer);
    return program;
}

const struct cel_program *compile_when(struct compiler *c, struct value object, const char *name)
{
    struct value v = compile_field(object, name);
    size_t outer = compile_enter(c, str_of(name));
    const struct cel_program *when = v.kind != VALUE_ABSENT ? compile_condition(c, v) : NULL;

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
    bool ok = code.len >= 1 && code.len <= NAME_MAX_LEN && ascii_is_lower(code.ptr[0]);

    for (size_t i = 0; i < code.len && ok; i++) {
        char x = code.ptr[i];
        ok = ascii_is_lower(x) || ascii_is_digit(x) || x == '_';
    }
    return ok;
}

/* "Pay-Now" as "pay_now"; empty when that is no code either. */
static struct str as_code(struct arena *mem, struct str text)
{
    char *out = arena_alloc(mem, text.len + 1);

    for (size_t i = 0; i < text.len; i++) {
        char x = text.ptr[i];

        out[i] = x == '-' || x == ' ' || x == '.' ? '_' : ascii_lower(x);
    }
    return compile_is_code(str_from(out, text.len)) ? str_from(out, text.len) : STR_NONE;
}

bool compile_check_code(struct compiler *c, struct str code)
{
    bool ok = compile_is_code(code);

    if (!ok) {
        compile_error(c, FINDING_BAD_CODE,
                      "a code is a small letter, then up to 99 small letters, digits or '_'");
        compile_did_you_mean(c, as_code(c->mem, code));
    }
    return ok;
}

bool compile_is_name(struct str name)
{
    if (name.len == 0 || name.len > NAME_MAX_LEN || ascii_is_digit(name.ptr[0]))
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (!ascii_is_word(name.ptr[i]))
            return false;
    return true;
}

struct str compile_name(struct compiler *c, struct value object, const char *field)
{
    struct str name = compile_text(c, object, field);

    if (compile_field(object, field).kind == VALUE_STRING && !compile_is_name(name))
        compile_error_at(c, field, FINDING_BAD_NAME,
                         "a name is a letter or '_', then letters, digits or '_'");
    return name;
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

/* What the word behind a number of a duration means, by how it begins; empty: nothing. */
static struct str duration_meant(struct compiler *c, int64_t n, struct str word)
{
    const char *unit = word.len == 0                       ? "s"
                       : str_starts_with(word, STR("mil")) ? "ms"
                       : word.ptr[0] == 's'                ? "s"
                       : word.ptr[0] == 'm'                ? "m"
                       : word.ptr[0] == 'h'                ? "h"
                                                           : "d";

    if (word.len > 0 && strchr("smhdw", word.ptr[0]) == NULL)
        return STR_NONE;
    if (word.len > 0 && word.ptr[0] == 'w' && n > INT64_MAX / 7)
        return STR_NONE;
    return str_printf(c->mem, "%lld%s", (long long)(word.len > 0 && word.ptr[0] == 'w' ? n * 7 : n),
                      unit);
}

/* "2 days" is "2d": the number, and the unit that the word behind it begins with. */
static void hint_duration(struct compiler *c, struct value v)
{
    static const char units[] = PHRASE("the units are ms, s, m, h and d; a week is \"7d\"");
    struct str text = v.kind == VALUE_STRING ? str_trim(value_text(v)) : STR_NONE, word, meant;
    size_t digits = 0;
    int64_t n;

    while (digits < text.len && ascii_is_digit(text.ptr[digits]))
        digits++;
    word = str_trim(str_slice(text, digits, text.len));
    if (digits == 0 || !str_to_int64(str_slice(text, 0, digits), &n)) {
        compile_hint(c, "%s", units);
        return;
    }
    if (str_starts_with(word, STR("mo")) || str_starts_with(word, STR("y"))) {
        compile_hint(c, "months and years are counted in days: %s", units);
        return;
    }
    meant = duration_meant(c, n, word);
    if (meant.len == 0) {
        compile_hint(c, "%s", units);
        return;
    }
    compile_hint(c, "did you mean \"%.*s\"? %s", STR_ARG(meant), units);
    compile_fix_text(c, meant);
}

bool compile_duration(struct compiler *c, struct value v, int64_t *out_us)
{
    if (v.kind != VALUE_STRING && v.kind != VALUE_DURATION) {
        compile_wrong_type(c, v, catalog_wanted(ARGUMENT_DURATION));
        if (v.kind == VALUE_INT)
            hint_duration(c, value_string(str_printf(c->mem, "%lld", (long long)v.i)));
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
    hint_duration(c, v);
    return false;
}
