/* schema_json.c - see schema_json.h. */
#include "define/catalog/schema_json.h"

#include "define/catalog/test_fields.h"
#include "define/kind.h"
#include "value/object.h"

/* --- kinds: the grammar of field_kinds.def --- */

/* What each word of field_kinds.def is; "one of" takes the words of its row. */
static const struct {
    const char *word, *schema;
} words[] = {
    {"string", "{\"type\":\"string\"}"},
    {"integer", "{\"type\":\"integer\"}"},
    {"number", "{\"type\":\"number\"}"},
    {"boolean", "{\"type\":\"boolean\"}"},
    {"duration",
     "{\"type\":\"string\",\"pattern\":\"^([0-9]+(\\\\.[0-9]+)?(ns|us|\\u00b5s|ms|s|m|h|d|"
     "bd))+$\"}"},
    {"timestamp", "{\"type\":\"string\",\"pattern\":\"^[0-9]{4}-\"}"},
    {"code", "{\"type\":\"string\",\"pattern\":\"^[a-z][a-z0-9_]{0,99}$\"}"},
    {"nodeId", "{\"type\":\"string\",\"pattern\":\"^[A-Za-z][A-Za-z0-9_]{0,99}$\"}"},
    {"nodeType", "{\"type\":\"string\"}"},
    {"name", "{\"type\":\"string\",\"pattern\":\"^[A-Za-z_][A-Za-z0-9_]{0,99}$\"}"},
    {"expression", "{\"type\":\"string\"}"},
    {"condition", "{\"type\":\"string\"}"},
    {"value", "{}"},
    {"template", "{\"type\":\"string\"}"},
    {"computed", "{\"type\":\"string\",\"pattern\":\"^(\\\\$\\\\.|=)|\\\\{\\\\{\"}"},
    {"text", "{\"type\":\"string\"}"},
    {"any", "{}"},
    {"commands",
     "{\"anyOf\":[{\"$ref\":\"#/$defs/command\"},{\"type\":\"array\",\"items\":{\"$ref\":"
     "\"#/$defs/command\"}}]}"},
    {"transitions",
     "{\"anyOf\":[{\"$ref\":\"#/$defs/transition\"},{\"type\":\"array\",\"items\":{\"$ref\":"
     "\"#/$defs/transition\"}}]}"},
    {"run", "{\"anyOf\":[{\"type\":\"string\"},{\"$ref\":\"#/$defs/command\"},{\"type\":\"array\","
            "\"items\":{\"$ref\":\"#/$defs/command\"}}]}"},
    {"procedureName", "{\"type\":\"string\"}"},
    {"who", "{\"type\":\"string\"}"},
    {"error", "{\"type\":\"string\"}"},
    {"trigger", "{\"anyOf\":[{\"$ref\":\"#/$defs/scheduleTrigger\"},{\"$ref\":\"#/$defs/"
                "webhookTrigger\"},{\"$ref\":\"#/$defs/eventTrigger\"},{\"$ref\":\"#/$defs/"
                "actionTrigger\"}]}"},
};

/* A command has a name of its own beside the common fields. */
static bool is_command_table(struct str name)
{
    return str_eq(name, str_of(catalog_table(TABLE_COMMAND)->name));
}

static void write_enum(struct buf *out, struct str list)
{
    list = str_trim(list);
    buf_text(out, "{\"enum\":[");
    while (list.len > 0) {
        struct str word = str_cut(&list, ' ');

        object_next(out);
        buf_printf(out, "\"%.*s\"", STR_ARG(word));
        list = str_trim(list);
    }
    buf_text(out, "]}");
}

static void write_term(struct buf *out, struct str term, const char *list)
{
    struct str lists = STR("list of "), maps = STR("map of ");

    if (str_starts_with(term, lists)) {
        buf_text(out, "{\"type\":\"array\",\"items\":");
        write_term(out, str_slice(term, lists.len, term.len), list);
        buf_char(out, '}');
    } else if (str_starts_with(term, maps)) {
        buf_text(out, "{\"type\":\"object\",\"additionalProperties\":");
        write_term(out, str_slice(term, maps.len, term.len), list);
        buf_char(out, '}');
    } else if (str_eq(term, STR("one of"))) {
        write_enum(out, str_of(list));
    } else {
        for (size_t i = 0; i < ARRAY_SIZE(words); i++)
            if (str_eq(term, str_of(words[i].word))) {
                buf_text(out, words[i].schema);
                return;
            }
        buf_printf(out, "{\"$ref\":\"#/$defs/%.*s\"}", STR_ARG(term));
    }
}

/* "a or b" as what a field may be, null included when that is the same as leaving it out. */
static void write_kind(struct buf *out, const struct field_spec *spec)
{
    static const char nullable[] = "goto rollback retry reconcile timeout reminder form";
    struct str kind = str_of(spec->kind), between = STR(" or ");

    object_list(out, "anyOf");
    while (kind.len > 0) {
        int64_t at = str_find(kind, between, 0);
        size_t end = at < 0 ? kind.len : (size_t)at;

        object_next(out);
        write_term(out, str_slice(kind, 0, end), spec->words);
        kind = str_slice(kind, at < 0 ? kind.len : end + between.len, kind.len);
    }
    if (catalog_has_word(str_of(nullable), str_of(spec->name)))
        buf_text(out, ",{\"type\":\"null\"}");
    buf_char(out, ']');
}

/* --- objects --- */

static void write_property(struct buf *out, const struct field_spec *spec, enum language language)
{
    object_nested(out, spec->name);
    object_text(out, "title", str_of(spec->label.in[language]));
    object_text(out, "description", str_of(spec->help.in[language]));
    object_name(out, "examples");
    buf_printf(out, "[%s]", spec->example);
    if (spec->state == STATE_NOW)
        write_kind(out, spec);
    else if (spec->state == STATE_LATER) /* not built yet: does no harm while it is empty */
        buf_text(out,
                 ",\"type\":[\"null\",\"array\",\"object\"],\"maxItems\":0,\"maxProperties\":0");
    buf_char(out, '}');
}

static void write_properties(struct buf *out, enum field_table table, enum language language)
{
    const struct field_spec *spec = NULL;

    while ((spec = catalog_field_next(table, spec)) != NULL)
        write_property(out, spec, language);
}

static void write_required(struct buf *out, enum field_table table)
{
    const struct field_spec *spec = NULL;

    while ((spec = catalog_field_next(table, spec)) != NULL)
        if (spec->need == FIELD_IS_NEEDED) {
            object_next(out);
            buf_printf(out, "\"%s\"", spec->name);
        }
}

/* Fields of which exactly one is there: the same rules as FINDING_ONE_OF. */
static const struct {
    enum field_table table;
    const char *fields;
} one_of[] = {
    {TABLE_STEP, "procedure branch loop parallel"},
    {TABLE_LOOP, "while for"},
};

static void write_one_of(struct buf *out, enum field_table table)
{
    for (size_t i = 0; i < ARRAY_SIZE(one_of); i++) {
        struct str rest = str_of(one_of[i].fields);

        if (one_of[i].table != table)
            continue;
        object_list(out, "oneOf");
        while (rest.len > 0) {
            struct str field = str_cut(&rest, ' ');

            object_next(out);
            buf_printf(out,
                       "{\"required\":[\"%.*s\"],\"properties\":{\"%.*s\":{\"not\":{\"type\":"
                       "\"null\"}}}}",
                       STR_ARG(field), STR_ARG(field));
        }
        buf_char(out, ']');
    }
}

static void begin_object(struct buf *out, struct text label, struct text help,
                         enum language language)
{
    buf_char(out, '{');
    object_text(out, "title", str_of(label.in[language]));
    object_text(out, "description", str_of(help.in[language]));
    object_text(out, "type", STR("object"));
    buf_text(out, ",\"additionalProperties\":false");
}

static void write_names(struct buf *out, const struct command_spec *spec);

/* The type of a node decides what its `config` may be. */
static void write_node_choice(struct buf *out)
{
    object_list(out, "allOf");
    for (unsigned i = 0; i < NODE_TYPE_COUNT; i++) {
        const char *name = catalog_node_type((enum node_type)i)->name;

        object_next(out);
        buf_printf(out,
                   "{\"if\":{\"properties\":{\"type\":{\"const\":\"%s\"}}},\"then\":{"
                   "\"properties\":{\"config\":{\"$ref\":\"#/$defs/config.%s\"}}}}",
                   name, name);
    }
    for (unsigned i = 0; i < COMMAND_TYPE_COUNT; i++) {
        const struct command_spec *spec = catalog_command((enum command_type)i);

        if (spec->place == PLACE_NODE || catalog_find_node_type(str_of(spec->name)) != NULL)
            continue;
        object_next(out);
        buf_text(out, "{\"if\":{\"properties\":{\"type\":{\"enum\":[");
        write_names(out, spec);
        buf_printf(out,
                   "]}}},\"then\":{\"properties\":{\"config\":{\"$ref\":\"#/$defs/"
                   "config.%s\"}}}}",
                   spec->name);
    }
    buf_char(out, ']');
}

static void write_table(struct buf *out, enum field_table table, enum language language)
{
    const struct table_spec *spec = catalog_table(table);

    if (is_command_table(str_of(spec->name)))
        return;
    object_name(out, spec->name);
    begin_object(out, spec->label, spec->help, language);
    object_nested(out, "properties");
    write_properties(out, table, language);
    buf_char(out, '}');
    object_list(out, "required");
    write_required(out, table);
    buf_char(out, ']');
    write_one_of(out, table);
    if (table == TABLE_NODE)
        write_node_choice(out);
    buf_char(out, '}');
}

/* --- commands --- */

static void schema_write_command(struct buf *out, const struct command_spec *spec,
                                 enum language language)
{
    object_next(out);
    buf_printf(out, "\"command.%s\":", spec->name);
    begin_object(out, spec->label, spec->help, language);
    object_nested(out, "properties");
    write_properties(out, TABLE_COMMAND, language);
    for (const struct argument *a = spec->arguments; a->spec.name != NULL; a++)
        write_property(out, &a->spec, language);
    buf_char(out, '}');
    object_list(out, "required");
    write_required(out, TABLE_COMMAND);
    for (const struct argument *a = spec->arguments; a->spec.name != NULL; a++)
        if (a->spec.need == FIELD_IS_NEEDED)
            buf_printf(out, ",\"%s\"", a->spec.name);
    buf_text(out, "]}");
}

/* The same as `config` of a node: without the type, and with common fields unless it is a node's own. */
static void write_config(struct buf *out, const char *name, const struct command_spec *spec,
                         enum language language)
{
    const struct field_spec *common = NULL;

    object_next(out);
    buf_printf(out, "\"config.%s\":", name);
    begin_object(out, spec->label, spec->help, language);
    object_nested(out, "properties");
    while (spec->place != PLACE_NODE &&
           (common = catalog_field_next(TABLE_COMMAND, common)) != NULL)
        if (strcmp(common->name, "type") != 0)
            write_property(out, common, language);
    for (const struct argument *a = spec->arguments; a->spec.name != NULL; a++)
        write_property(out, &a->spec, language);
    buf_char(out, '}');
    object_list(out, "required");
    for (const struct argument *a = spec->arguments; a->spec.name != NULL; a++)
        if (a->spec.need == FIELD_IS_NEEDED) {
            object_next(out);
            buf_printf(out, "\"%s\"", a->spec.name);
        }
    buf_text(out, "]}");
}

/* {"enum": [...]} of a command's name and its alias. */
static void write_names(struct buf *out, const struct command_spec *spec)
{
    object_next(out);
    buf_printf(out, "\"%s\"", spec->name);
    if (spec->alias != NULL)
        buf_printf(out, ",\"%s\"", spec->alias);
}

/* Any command: its type decides which of the others it is. */
static void write_any_command(struct buf *out, enum language language)
{
    const struct table_spec *spec = catalog_table(TABLE_COMMAND);

    object_nested(out, spec->name);
    object_text(out, "title", str_of(spec->label.in[language]));
    object_text(out, "description", str_of(spec->help.in[language]));
    buf_text(out,
             ",\"type\":\"object\",\"required\":[\"type\"],\"properties\":{\"type\":{\"enum\":[");
    for (unsigned i = 0; i < COMMAND_TYPE_COUNT; i++)
        if (catalog_command((enum command_type)i)->place != PLACE_NODE)
            write_names(out, catalog_command((enum command_type)i));
    buf_text(out, "]}},\"allOf\":[");
    for (unsigned i = 0; i < COMMAND_TYPE_COUNT; i++) {
        const struct command_spec *command = catalog_command((enum command_type)i);

        if (command->place == PLACE_NODE)
            continue;
        object_next(out);
        buf_text(out, "{\"if\":{\"properties\":{\"type\":{\"enum\":[");
        write_names(out, command);
        buf_printf(out, "]}}},\"then\":{\"$ref\":\"#/$defs/command.%s\"}}", command->name);
    }
    buf_text(out, "]}");
}

/* --- files --- */

static bool has_table(const struct kind_spec *spec, enum field_table *out)
{
    for (unsigned t = 0; t < FIELD_TABLE_COUNT; t++)
        if (strcmp(catalog_table((enum field_table)t)->name, spec->name) == 0) {
            *out = (enum field_table)t;
            return true;
        }
    return false;
}

/* A live definition in a file: its kind and its name beside its fields. */
static void write_live_file(struct buf *out, const struct kind_spec *spec, enum field_table table,
                            enum language language)
{
    const struct table_spec *texts = catalog_table(table);

    object_next(out);
    buf_printf(out, "\"file.%s\":", spec->name);
    begin_object(out, texts->label, texts->help, language);
    object_name(out, "properties");
    buf_printf(out,
               "{\"$schema\":{\"type\":\"string\"},\"kind\":{\"const\":\"%s\"},\"%s\":", spec->name,
               spec->key);
    write_term(out, strcmp(spec->key, "name") == 0 ? STR("name") : STR("code"), NULL);
    write_properties(out, table, language);
    buf_char(out, '}');
    object_name(out, "required");
    buf_printf(out, "[\"kind\",\"%s\"", spec->key);
    write_required(out, table);
    buf_text(out, "]}");
}

/* "a":{},"b":{}: the names with blanks between, whatever they hold; but `expect`, which follows. */
static void write_test_names(struct buf *out, struct str names)
{
    for (bool is_first = true; names.len > 0;) {
        struct str name = str_cut(&names, ' ');

        if (str_eq(name, STR("expect")))
            continue;
        buf_printf(out, "%s\"%.*s\":{}", is_first ? "" : ",", STR_ARG(name));
        is_first = false;
    }
}

/* A file of tests: one case, a list of cases, or {"tests": [...]}. */
static void write_tests(struct buf *out)
{
    buf_text(out, "\"case\":{\"type\":\"object\",\"required\":[\"expect\"],"
                  "\"additionalProperties\":false,\"properties\":{\"$schema\":{},");
    write_test_names(out, STR(CASE_FIELDS));
    buf_text(out, ",\"expect\":{\"type\":\"object\",\"minProperties\":1,"
                  "\"additionalProperties\":false,\"properties\":{");
    write_test_names(out, STR(EXPECT_FIELDS));
    buf_text(out, "}}}},\"file.tests\":{\"if\":{\"type\":\"array\"},\"then\":{\"items\":"
                  "{\"$ref\":\"#/$defs/case\"}},\"else\":{\"if\":{\"required\":[\"tests\"]},"
                  "\"then\":{\"properties\":{\"tests\":{\"type\":\"array\",\"items\":{\"$ref\":"
                  "\"#/$defs/case\"}}}},\"else\":{\"$ref\":\"#/$defs/case\"}}}");
}

/* Each command, and what `config` of a node of that type is. */
static void write_all_commands(struct buf *out, enum language language)
{
    for (unsigned i = 0; i < COMMAND_TYPE_COUNT; i++) {
        const struct command_spec *spec = catalog_command((enum command_type)i);

        if (spec->place == PLACE_NODE)
            continue;
        schema_write_command(out, spec, language);
        if (catalog_find_node_type(str_of(spec->name)) == NULL)
            write_config(out, spec->name, spec, language);
    }
    for (unsigned i = 0; i < NODE_TYPE_COUNT; i++) {
        const struct node_type_spec *type = catalog_node_type((enum node_type)i);

        write_config(out, type->name, catalog_command(type->command), language);
    }
}

static void write_definitions(struct buf *out, enum language language)
{
    enum field_table table;

    object_nested(out, "$defs");
    for (unsigned t = 0; t < FIELD_TABLE_COUNT; t++)
        write_table(out, (enum field_table)t, language);
    write_any_command(out, language);
    write_all_commands(out, language);
    for (unsigned i = 0; i < KIND_COUNT; i++)
        if (kind_spec((enum kind)i)->life == KIND_LIVE &&
            has_table(kind_spec((enum kind)i), &table))
            write_live_file(out, kind_spec((enum kind)i), table, language);
    buf_text(out, ",\"exported\":{\"type\":\"object\",\"required\":[\"kind\",\"code\","
                  "\"text\"],\"additionalProperties\":false,\"properties\":{\"kind\":{},"
                  "\"code\":{},\"text\":{\"type\":\"string\"}}},");
    write_tests(out);
    buf_char(out, '}');
}

/* What a file is: by its field kind, else by the field that tells its kind. */
static void write_choice(struct buf *out)
{
    unsigned open = 1;

    buf_text(out, "\"if\":{\"anyOf\":[{\"type\":\"array\"},{\"anyOf\":[{\"required\":"
                  "[\"tests\"]},{\"required\":[\"expect\"]}],\"not\":{\"required\":"
                  "[\"kind\"]}}]},\"then\":{\"$ref\":\"#/$defs/file.tests\"},\"else\":{");
    for (unsigned i = 0; i < KIND_COUNT; i++) {
        const struct kind_spec *spec = kind_spec((enum kind)i);
        bool is_live = spec->life == KIND_LIVE;

        if (spec->state != KIND_NOW)
            continue;
        buf_printf(
            out,
            "\"if\":{\"anyOf\":[{\"required\":[\"kind\"],\"properties\":{\"kind\":{\"const\":"
            "\"%s\"}}}",
            spec->name);
        if (spec->shape != NULL)
            buf_printf(out, ",{\"required\":[\"%s\"],\"not\":{\"required\":[\"kind\"]}}",
                       spec->shape);
        buf_printf(out, "]},\"then\":{\"$ref\":\"#/$defs/%s%s\"},\"else\":{",
                   is_live ? "file." : "", spec->name);
        open++;
    }
    buf_text(out, "\"type\":\"object\",\"required\":[\"items\"],\"properties\":{\"items\":{"
                  "\"type\":\"array\","
                  "\"items\":{\"anyOf\":[{\"$ref\":\"#/$defs/exported\"},{\"$ref\":\"#\"}]}}}");
    while (open-- > 0)
        buf_char(out, '}');
}

void schema_write(struct buf *out, enum language language)
{
    buf_text(out, "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":\"Pawl "
                  "definition\",\"description\":\"A scenario (steps), a schema (nodes), a machine "
                  "(states), a "
                  "procedure (commands), a function, "
                  "a template or a value of config (kind), a bundle of them (items), or tests "
                  "(expect).\",\"type\":[\"object\",\"array\"],");
    write_choice(out);
    write_definitions(out, language);
    buf_char(out, '}');
}
