/* catalog_json.c - see catalog_json.h. */
#include "define/catalog_json.h"

#include "define/catalog.h"
#include "define/kind.h"
#include "value/object.h"

/* --- commands --- */

static const char *const kind_names[] = {
#define ARGUMENT_KIND(symbol, name, wanted, types) name,
#include "define/argument_kinds.def"
#undef ARGUMENT_KIND
};

/* ["fail", "keep"] of "fail keep" */
static void write_words(struct buf *out, const char *name, struct str words)
{
    object_name(out, name);
    buf_char(out, '[');
    while (words.len > 0) {
        int64_t space = str_find(words, STR(" "), 0);
        size_t end = space < 0 ? words.len : (size_t)space;

        object_next(out);
        buf_printf(out, "\"%.*s\"", STR_ARG(str_slice(words, 0, end)));
        words = str_slice(words, space < 0 ? end : end + 1, words.len);
    }
    buf_char(out, ']');
}

static void write_argument(struct buf *out, const struct argument *a)
{
    object_next(out);
    buf_char(out, '{');
    object_text(out, "name", catalog_field_name(a->field));
    object_text(out, "kind", str_of(kind_names[a->kind]));
    object_text(out, "wants", str_of(catalog_wanted(a->kind)));
    object_bool(out, "required", a->need == ARGUMENT_NEEDED);
    if (a->words != NULL) {
        struct str words = str_of(a->words);
        int64_t space = str_find(words, STR(" "), 0);

        write_words(out, "enum", words);
        object_text(out, "default", str_slice(words, 0, space < 0 ? words.len : (size_t)space));
    }
    buf_char(out, '}');
}

static void write_command(struct buf *out, const struct command_spec *spec)
{
    object_next(out);
    buf_char(out, '{');
    object_text(out, "name", str_of(spec->name));
    object_text(out, "alias", spec->alias == NULL ? STR_NONE : str_of(spec->alias));
    object_text(out, "summary", str_of(spec->summary));
    object_bool(out, "standsAlone", spec->place == PLACE_ALONE);
    object_name(out, "fields");
    buf_char(out, '[');
    for (const struct argument *a = spec->arguments; a->need != ARGUMENT_END; a++)
        write_argument(out, a);
    buf_text(out, "]}");
}

static void write_commands(struct buf *out)
{
    object_name(out, "commands");
    buf_char(out, '[');
    for (unsigned i = 0; i < COMMAND_TYPE_COUNT; i++)
        write_command(out, catalog_command((enum command_type)i));
    buf_char(out, ']');
}

/* --- the fields of everything else --- */

enum field_table {
#define FIELD_TABLE(symbol, name) TABLE_##symbol,
#include "define/field_tables.def"
#undef FIELD_TABLE
    FIELD_TABLE_COUNT
};

enum field_life { FIELD_NOW, FIELD_LATER, FIELD_IGNORED };

static const char *const table_names[] = {
#define FIELD_TABLE(symbol, name) name,
#include "define/field_tables.def"
#undef FIELD_TABLE
};

static const struct {
    enum field_table table;
    enum field_life life;
    const char *name, *kind, *summary;
} fields[] = {
#define FIELD(field_table, field_name, field_state, field_kind, field_summary)                     \
    {.table = TABLE_##field_table,                                                                 \
     .life = FIELD_##field_state,                                                                  \
     .name = (field_name),                                                                         \
     .kind = (field_kind),                                                                         \
     .summary = (field_summary)},
#include "define/fields.def"
#undef FIELD
};

static const char *const lives[] = {
    [FIELD_NOW] = "now", [FIELD_LATER] = "later", [FIELD_IGNORED] = "ignored"};

static void write_fields(struct buf *out)
{
    object_name(out, "fields");
    buf_char(out, '{');
    for (unsigned t = 0; t < FIELD_TABLE_COUNT; t++) {
        object_name(out, table_names[t]);
        buf_char(out, '[');
        for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
            if (fields[i].table != (enum field_table)t)
                continue;
            object_next(out);
            buf_char(out, '{');
            object_text(out, "name", str_of(fields[i].name));
            object_text(out, "state", str_of(lives[fields[i].life]));
            object_text(out, "kind", str_of(fields[i].kind));
            object_text(out, "summary", str_of(fields[i].summary));
            buf_char(out, '}');
        }
        buf_char(out, ']');
    }
    buf_char(out, '}');
}

/* --- small tables --- */

struct pair {
    const char *name, *text;
};

static void write_pairs(struct buf *out, const char *name, const char *what,
                        const struct pair *pairs, size_t count)
{
    object_name(out, name);
    buf_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        object_next(out);
        buf_char(out, '{');
        object_text(out, "name", str_of(pairs[i].name));
        object_text(out, what, str_of(pairs[i].text));
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

#define WRITE_PAIRS(out, name, what, pairs)                                                        \
    write_pairs((out), (name), (what), (pairs), sizeof(pairs) / sizeof((pairs)[0]))

static void write_words_of_the_language(struct buf *out)
{
    static const struct pair types[] = {
#define PARAM(symbol, name, cel_type, wanted) {name, wanted},
#include "define/param_types.def"
#undef PARAM
    };
    static const struct pair kinds[] = {
#define ARGUMENT_KIND(symbol, name, wanted, cel_types) {name, wanted},
#include "define/argument_kinds.def"
#undef ARGUMENT_KIND
    };
    static const struct pair roots[] = {
#define ROOT(symbol, name, type, place) {name, type},
#include "define/roots.def"
#undef ROOT
    };
    static const struct pair prefixes[] = {
#define ERROR_PREFIX(prefix, meaning) {prefix, meaning},
#include "define/error_prefixes.def"
#undef ERROR_PREFIX
    };

    WRITE_PAIRS(out, "inputTypes", "wants", types);
    WRITE_PAIRS(out, "argumentKinds", "wants", kinds);
    WRITE_PAIRS(out, "context", "type", roots);
    WRITE_PAIRS(out, "errorPrefixes", "summary", prefixes);
}

static void write_kinds(struct buf *out)
{
    object_name(out, "kinds");
    buf_char(out, '[');
    for (unsigned i = 0; i < KIND_COUNT; i++) {
        const struct kind_spec *spec = kind_spec((enum kind)i);

        object_next(out);
        buf_char(out, '{');
        object_text(out, "name", str_of(spec->name));
        object_text(out, "path", str_of(spec->path));
        object_text(out, "tellingField", spec->shape == NULL ? STR_NONE : str_of(spec->shape));
        object_bool(out, "hasDrafts", spec->life == KIND_STAGED);
        object_text(out, "state", spec->state == KIND_NOW ? STR("now") : STR("later"));
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

static void write_findings(struct buf *out)
{
    static const char *const codes[] = {
#define FINDING(symbol, code) code,
#include "define/findings.def"
#undef FINDING
    };

    object_name(out, "findings");
    buf_char(out, '[');
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        object_next(out);
        buf_printf(out, "\"%s\"", codes[i]);
    }
    buf_char(out, ']');
}

void catalog_write(struct buf *out)
{
    buf_char(out, '{');
    write_commands(out);
    object_name(out, "nodes");
    buf_text(out, "[]");
    write_fields(out);
    write_words_of_the_language(out);
    write_kinds(out);
    write_findings(out);
    buf_char(out, '}');
}
