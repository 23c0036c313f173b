/* credential.c - see credential.h. */
#include "define/credential.h"

#include "base/names.h"
#include "base/text/ascii.h"
#include "define/compile/compile.h"

static const struct type_spec {
    const char *name, *needed, *optional, *secret;
} types[] = {
#define CREDENTIAL_TYPE(symbol, type_name, type_needed, type_optional, type_secret)                \
    {(type_name), (type_needed), (type_optional), (type_secret)},
#include "define/credential_types.def"
#undef CREDENTIAL_TYPE
};

NAMES_NAME(credential_type_name, enum credential_type, types)

const char *credential_secret_field(enum credential_type type)
{
    ASSERT(type < CREDENTIAL_TYPE_COUNT);
    return types[type].secret;
}

NAMES_READ(credential_type_read, enum credential_type, types)

/* --- texts --- */

static bool has_control_char(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < ' ' || text.ptr[i] == 0x7f)
            return true;
    return false;
}

/* What is wrong with a secret; NULL: nothing. */
static const char *secret_mistake(struct value v)
{
    if (v.kind != VALUE_STRING)
        return PHRASE("a secret is a text");
    if (value_text(v).len < SECRET_LEN_MIN)
        return PHRASE("a secret has 4 bytes at least: a shorter one could not be hidden in what "
                      "services answer");
    if (value_text(v).len > SECRET_LEN_MAX)
        return PHRASE("a secret has 8192 bytes at most");
    return has_control_char(value_text(v))
               ? PHRASE("a secret has no line feeds or other control characters")
               : NULL;
}

static bool is_url(struct str text)
{
    size_t start = str_starts_with(text, STR("https://"))  ? 8
                   : str_starts_with(text, STR("http://")) ? 7
                                                           : 0;

    if (start == 0 || text.len == start || text.len > 2048 || has_control_char(text))
        return false;
    for (size_t i = start; i < text.len; i++)
        if (strchr(" ?#@\\", text.ptr[i]) != NULL || (unsigned char)text.ptr[i] >= 0x80)
            return false;
    return str_find(text, STR("/.."), 0) < 0;
}

static bool is_header_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char ch = name.ptr[i];

        if (!ascii_is_letter_or_digit(ch) && ch != '-' && ch != '_')
            return false;
    }
    return name.len > 0 && name.len <= NAME_MAX_LEN;
}

/* --- fields --- */

static void check_shown(struct compiler *c, const char *name, struct value v)
{
    size_t outer = compile_enter(c, str_of(name));
    struct str text = value_text_or(v, STR_NONE);

    if (v.kind != VALUE_STRING || text.len == 0 || text.len > 2048 || has_control_char(text))
        compile_error(c, FINDING_BAD_VALUE, "'%s' is a text of 1 to 2048 bytes, on one line", name);
    else if (str_ends_with(str_of(name), STR("_url")) && !is_url(text))
        compile_error(c, FINDING_BAD_VALUE,
                      "'%s' is a URL that begins with https:// or http://, without user, query and "
                      "fragment",
                      name);
    else if (strcmp(name, "header_name") == 0 && !is_header_name(text))
        compile_error(c, FINDING_BAD_VALUE,
                      "the name of a header has letters, digits, '-' and '_' only");
    compile_leave(c, outer);
}

static void credential_check_secret(struct compiler *c, const char *name, struct value v)
{
    const char *wrong = secret_mistake(v);

    if (wrong != NULL)
        compile_error_at(c, name, FINDING_BAD_VALUE, "%s", wrong);
}

static void check_value_name(struct compiler *c, struct str name)
{
    if (!compile_is_name(name))
        compile_error(c, FINDING_BAD_NAME,
                      "the name of a value is a letter or '_', then letters, digits or '_'");
}

/* {name: secret}, or a list of the names alone. */
static void check_values(struct compiler *c, struct value v)
{
    size_t outer = compile_enter(c, STR("values"));
    bool is_list = v.kind == VALUE_LIST;

    if ((!is_list && v.kind != VALUE_MAP) || v.len == 0 || v.len > SECRET_VALUES_MAX)
        compile_error(c, FINDING_BAD_VALUE,
                      "'values' is an object of 1 to %d texts; in a file without secrets the list "
                      "of their names",
                      SECRET_VALUES_MAX);
    for (uint32_t i = 0; is_list && i < v.len; i++)
        check_value_name(c, value_text_or(v.items[i], STR_NONE));
    for (uint32_t i = 0; v.kind == VALUE_MAP && i < v.len; i++) {
        struct str name = value_text(v.map->entries[i].key);
        size_t inner = compile_enter(c, name);
        const char *wrong = secret_mistake(v.map->entries[i].value);

        check_value_name(c, name);
        if (wrong != NULL)
            compile_error(c, FINDING_BAD_VALUE, "%s", wrong);
        compile_leave(c, inner);
    }
    compile_leave(c, outer);
}

static void check_type_fields(struct compiler *c, const struct type_spec *spec, struct value body)
{
    for (uint32_t i = 0; i < body.len; i++) {
        struct str name = value_text(body.map->entries[i].key);
        struct value v = body.map->entries[i].value;
        const char *text = str_printf(c->mem, "%.*s", STR_ARG(name)).ptr;

        if (str_eq(name, STR("type")))
            continue;
        if (str_eq(name, str_of(spec->secret))) {
            if (strcmp(spec->secret, "values") == 0)
                check_values(c, v);
            else
                credential_check_secret(c, text, v);
        } else if (catalog_has_word(str_of(spec->needed), name) ||
                   catalog_has_word(str_of(spec->optional), name)) {
            check_shown(c, text, v);
        } else {
            compile_error_at(c, text, FINDING_MISPLACED, "a credential of type %s has no '%s'",
                             spec->name, text);
        }
    }
}

static void check_needed(struct compiler *c, const struct type_spec *spec, struct value body)
{
    struct str rest = str_of(spec->needed);

    while (rest.len > 0) {
        struct str name = str_cut(&rest, ' ');

        if (value_map_get_str(body, name).kind == VALUE_ABSENT)
            compile_error(c, FINDING_MISSING_FIELD, "a credential of type %s needs '%.*s'",
                          spec->name, STR_ARG(name));
    }
}

/* --- taking it apart --- */

static struct value names_of(struct arena *mem, struct value values)
{
    struct value *names;

    if (values.kind != VALUE_MAP)
        return values;
    names = ARENA_ARRAY(mem, values.len + 1, struct value);
    for (uint32_t i = 0; i < values.len; i++)
        names[i] = values.map->entries[i].key;
    return value_list(names, values.len);
}

static void split_body(struct arena *mem, const struct type_spec *spec, struct value body,
                       struct value *shown, struct value *secret)
{
    struct value_entry *entries = ARENA_ARRAY(mem, body.len + 1, struct value_entry);
    size_t count = 0;

    *secret = value_absent();
    for (uint32_t i = 0; i < body.len; i++) {
        struct value_entry e = body.map->entries[i];

        if (str_eq(value_text(e.key), str_of(spec->secret))) {
            bool is_names = e.value.kind == VALUE_LIST;

            if (!is_names)
                *secret = e.value;
            if (strcmp(spec->secret, "values") != 0)
                continue;
            e.value = names_of(mem, e.value);
        }
        entries[count++] = e;
    }
    *shown = value_map_take(mem, entries, count);
}

bool credential_read(struct arena *mem, struct value body, struct findings *findings,
                     enum credential_type *type, struct value *shown, struct value *secret)
{
    struct compiler c;
    int word;

    compiler_init(&c, mem, NULL, findings);
    *shown = *secret = value_absent();
    if (!compile_fields(&c, body, TABLE_CREDENTIAL) || c.has_errors)
        return false;
    word = compile_word(&c, TABLE_CREDENTIAL, body, "type");
    if (word < 0)
        return false;
    *type = (enum credential_type)word;
    check_needed(&c, &types[*type], body);
    check_type_fields(&c, &types[*type], body);
    split_body(mem, &types[*type], body, shown, secret);
    return !c.has_errors;
}
