/* catalog_json.c - see catalog_json.h. */
#include "define/catalog/catalog_json.h"

#include "define/catalog/catalog.h"
#include "define/catalog/catalog_form.h"
#include "define/kind.h"
#include "value/object.h"

/* --- fields --- */

/* ["fail", "keep"] of "fail keep" */
static void write_words(struct buf *out, const char *name, struct str words)
{
    object_list(out, name);
    for (words = str_trim(words); words.len > 0;) {
        struct str word = str_cut(&words, ' ');

        object_next(out);
        buf_printf(out, "\"%.*s\"", STR_ARG(word));
    }
    buf_char(out, ']');
}

/* {"fail": "fails"}: the options that people have words for. */
static void write_option_labels(struct buf *out, const struct field_spec *spec,
                                enum language language)
{
    struct str words = str_trim(str_of(spec->words));

    object_nested(out, "optionLabels");
    while (words.len > 0) {
        struct str word = str_cut(&words, ' ');
        const struct text *label = catalog_option_label(spec->name, word);

        if (label != NULL) {
            object_next(out);
            buf_printf(out, "\"%.*s\":\"%s\"", STR_ARG(word), label->in[language]);
        }
    }
    buf_char(out, '}');
}

/* The members of a field of a command or a table, without the braces. */
static void write_field(struct buf *out, const char *owner, const struct field_spec *spec,
                        enum language language)
{
    const struct form_field *form = catalog_form_field(owner, spec->name);
    static const char *const states[] = {
        [STATE_NOW] = "now", [STATE_LATER] = "later", [STATE_IGNORED] = "ignored"};

    object_text(out, "name", str_of(spec->name));
    object_text(out, "label", str_of(spec->label.in[language]));
    object_text(out, "kind", str_of(spec->kind));
    object_bool(out, "required", spec->need == FIELD_IS_NEEDED);
    object_text(out, "state", str_of(states[spec->state]));
    if (spec->words != NULL) {
        write_words(out, "options", str_of(spec->words));
        write_option_labels(out, spec, language);
    }
    object_bool(out, "shownFirst", form->shown == SHOWN_FIRST);
    object_text(out, "section", form->section == SECTION_ANSWER ? STR("answer") : STR("request"));
    if (form->picks != NULL)
        object_text(out, "picks", str_of(form->picks));
    object_text(out, "help", str_of(spec->help.in[language]));
    object_json(out, "example", str_of(spec->example));
}

static void write_tables(struct buf *out, enum language language)
{
    object_list(out, "tables");
    for (unsigned t = 0; t < FIELD_TABLE_COUNT; t++) {
        const struct table_spec *table = catalog_table((enum field_table)t);

        object_item(out);
        object_text(out, "name", str_of(table->name));
        object_text(out, "label", str_of(table->label.in[language]));
        object_text(out, "help", str_of(table->help.in[language]));
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

static void write_fields(struct buf *out, enum language language)
{
    object_nested(out, "fields");
    for (unsigned t = 0; t < FIELD_TABLE_COUNT; t++) {
        const struct field_spec *spec = NULL;

        object_list(out, catalog_table((enum field_table)t)->name);
        while ((spec = catalog_field_next((enum field_table)t, spec)) != NULL) {
            object_item(out);
            write_field(out, catalog_table((enum field_table)t)->name, spec, language);
            buf_char(out, '}');
        }
        buf_char(out, ']');
    }
    buf_char(out, '}');
}

/* --- commands --- */

static void write_argument(struct buf *out, const char *command, const struct argument *a,
                           enum language language)
{
    object_item(out);
    write_field(out, command, &a->spec, language);
    if (a->has_default) {
        struct str words = str_of(a->spec.words);

        object_text(out, "default", str_cut(&words, ' '));
    }
    buf_char(out, '}');
}

static void write_result(struct buf *out, const struct command_result *result,
                         enum language language)
{
    object_nested(out, "result");
    object_text(out, "kind", str_of(result->kind));
    object_text(out, "help", str_of(result->help.in[language]));
    object_list(out, "fields");
    for (const struct result_member *m = result->members; m->name != NULL; m++) {
        object_item(out);
        object_text(out, "name", str_of(m->name));
        object_text(out, "kind", str_of(m->kind));
        object_text(out, "help", str_of(m->help.in[language]));
        buf_char(out, '}');
    }
    buf_text(out, "]}");
}

static const char *const leaves_names[] = {
    [LEAVES_NOTHING] = "nothing",
    [LEAVES_SOMETHING] = "something",
    [LEAVES_QUESTION] = "question",
};

static void catalog_write_command(struct buf *out, const struct command_spec *spec,
                                  enum language language)
{
    object_item(out);
    object_text(out, "name", str_of(spec->name));
    object_text(out, "alias", spec->alias == NULL ? STR_NONE : str_of(spec->alias));
    object_text(out, "label", str_of(spec->label.in[language]));
    object_text(out, "group", str_of(catalog_group(spec->group)->name));
    object_text(out, "help", str_of(spec->help.in[language]));
    object_bool(out, "standsAlone", spec->place == PLACE_ALONE);
    object_text(out, "leaves", str_of(leaves_names[spec->leaves]));
    object_list(out, "fields");
    for (const struct argument *a = spec->arguments; a->spec.name != NULL; a++)
        write_argument(out, spec->name, a, language);
    buf_char(out, ']');
    write_result(out, &spec->result, language);
    buf_char(out, '}');
}

static void write_presets(struct buf *out, enum language language)
{
    object_list(out, "presets");
    for (const struct preset *p = catalog_presets(); p->name != NULL; p++) {
        object_item(out);
        object_text(out, "name", str_of(p->name));
        object_text(out, "label", str_of(p->label.in[language]));
        object_text(out, "group", str_of(catalog_group(p->group)->name));
        object_text(out, "help", str_of(p->help.in[language]));
        object_json(out, "step", str_of(p->step.in[language]));
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

static void write_commands(struct buf *out, enum language language)
{
    object_list(out, "commands");
    for (unsigned i = 0; i < COMMAND_TYPE_COUNT; i++)
        if (catalog_command((enum command_type)i)->place != PLACE_NODE)
            catalog_write_command(out, catalog_command((enum command_type)i), language);
    buf_char(out, ']');
}

/* The types of nodes beside the commands, each with the fields of its `config`. */
static void write_nodes(struct buf *out, enum language language)
{
    object_list(out, "nodes");
    for (unsigned i = 0; i < NODE_TYPE_COUNT; i++) {
        const struct node_type_spec *type = catalog_node_type((enum node_type)i);
        struct command_spec spec = *catalog_command(type->command);
        const char *command = spec.place == PLACE_NODE ? NULL : spec.name;

        spec.name = type->name;
        catalog_write_command(out, &spec, language);
        out->len--; /* its brace */
        object_text(out, "command", command == NULL ? STR_NONE : str_of(command));
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

/* --- groups of commands, words of kinds --- */

static void write_word(struct buf *out, const struct word_spec *word, const char *what,
                       enum language language)
{
    object_item(out);
    object_text(out, "name", str_of(word->name));
    object_text(out, what, str_of(word->label.in[language]));
    buf_char(out, '}');
}

static void write_vocabulary(struct buf *out, enum language language)
{
    struct word_list words = catalog_kind_words();

    object_list(out, "groups");
    for (unsigned i = 0; i < COMMAND_GROUP_COUNT; i++)
        write_word(out, catalog_group((enum command_group)i), "label", language);
    buf_char(out, ']');
    object_list(out, "fieldKinds");
    for (size_t i = 0; i < words.count; i++)
        write_word(out, &words.items[i], "help", language);
    buf_char(out, ']');
}

/* --- small tables --- */

struct pair {
    const char *name, *text;
};

static void write_pairs(struct buf *out, const char *name, const char *what,
                        const struct pair *pairs, size_t count)
{
    object_list(out, name);
    for (size_t i = 0; i < count; i++) {
        object_item(out);
        object_text(out, "name", str_of(pairs[i].name));
        object_text(out, what, str_of(pairs[i].text));
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

#define WRITE_PAIRS(out, name, what, pairs)                                                        \
    write_pairs((out), (name), (what), (pairs), ARRAY_SIZE(pairs))

static void write_words_of_the_language(struct buf *out)
{
    static const struct pair types[] = {
#define PARAM(symbol, name, cel_type, wanted) {name, wanted},
#include "define/catalog/param_types.def"
#undef PARAM
    };
    static const struct pair roots[] = {
#define ROOT(symbol, name, type, place) {name, type},
#include "define/catalog/roots.def"
#undef ROOT
    };
    static const struct pair prefixes[] = {
#define ERROR_PREFIX(prefix, meaning) {prefix, meaning},
#include "define/catalog/error_prefixes.def"
#undef ERROR_PREFIX
    };

    WRITE_PAIRS(out, "inputTypes", "wants", types);
    WRITE_PAIRS(out, "context", "type", roots);
    WRITE_PAIRS(out, "errorPrefixes", "help", prefixes);
}

static void write_kinds(struct buf *out)
{
    object_list(out, "kinds");
    for (unsigned i = 0; i < KIND_COUNT; i++) {
        const struct kind_spec *spec = kind_spec((enum kind)i);

        object_item(out);
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
#define FINDING(symbol, code, fix) code,
#include "define/catalog/findings.def"
#undef FINDING
    };

    object_list(out, "findings");
    for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
        object_next(out);
        buf_printf(out, "\"%s\"", codes[i]);
    }
    buf_char(out, ']');
}

void catalog_write(struct buf *out, enum language language)
{
    buf_char(out, '{');
    write_commands(out, language);
    write_presets(out, language);
    write_nodes(out, language);
    write_tables(out, language);
    write_fields(out, language);
    write_vocabulary(out, language);
    catalog_write_functions(out, language);
    write_words_of_the_language(out);
    write_kinds(out);
    write_findings(out);
    buf_char(out, '}');
}
