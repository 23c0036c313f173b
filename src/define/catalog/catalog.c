/* catalog.c - the tables behind catalog.h. */
#include "define/catalog/catalog.h"

#include "base/text/nearest.h"

#define TEXT(en, ru)                                                                               \
    {                                                                                              \
        {                                                                                          \
            (en), (ru)                                                                             \
        }                                                                                          \
    }
#define EXAMPLE(...) #__VA_ARGS__

/* --- fields --- */

#define PARAM(symbol, name, cel_type, wanted) name " "
static const char param_type_words[] =
#include "define/catalog/param_types.def"
    ;
#undef PARAM

#define AGGREGATE(symbol, name) name " "
static const char aggregate_words[] =
#include "define/catalog/aggregates.def"
    ;
#undef AGGREGATE

#define CREDENTIAL_TYPE(symbol, name, needed, optional, secret) name " "
static const char credential_type_words[] =
#include "define/credential_types.def"
    ;
#undef CREDENTIAL_TYPE

#define MATH_OPERATION(symbol, name, operands) name " "
static const char math_words[] =
#include "define/catalog/math_operations.def"
    ;
#undef MATH_OPERATION

/* The rows of one table stand together, the tables in any order. */
static const struct {
    enum field_table table;
    struct field_spec spec;
} rows[] = {
#define FIELD(field_table, field_name, field_state, field_need, field_kind, field_words,           \
              field_label, field_help, field_example)                                              \
    {.table = TABLE_##field_table,                                                                 \
     .spec = {.name = (field_name),                                                                \
              .state = STATE_##field_state,                                                        \
              .need = FIELD_IS_##field_need,                                                       \
              .kind = (field_kind),                                                                \
              .words = (field_words),                                                              \
              .label = field_label,                                                                \
              .help = field_help,                                                                  \
              .example = (field_example)}},
#include "define/catalog/fields.def"
#undef FIELD
};

static const struct table_spec tables[] = {
#define FIELD_TABLE(symbol, table_name, table_label, table_help)                                   \
    {.name = (table_name), .label = table_label, .help = table_help},
#include "define/catalog/field_tables.def"
#undef FIELD_TABLE
};

static const struct word_spec kind_words[] = {
#define FIELD_KIND(word, meaning) {.name = (word), .label = meaning},
#include "define/catalog/field_kinds.def"
#undef FIELD_KIND
};

const struct field_spec *catalog_field_next(enum field_table table, const struct field_spec *last)
{
    size_t i = 0;

    if (last != NULL)
        while (&rows[i++].spec != last)
            ;
    while (i < ARRAY_SIZE(rows) && rows[i].table != table)
        i++;
    return i < ARRAY_SIZE(rows) ? &rows[i].spec : NULL;
}

const struct field_spec *catalog_field(enum field_table table, struct str name)
{
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (rows[i].table == table && str_eq(str_of(rows[i].spec.name), name))
            return &rows[i].spec;
    return NULL;
}

const struct table_spec *catalog_table(enum field_table table)
{
    return &tables[table];
}

struct word_list catalog_kind_words(void)
{
    return (struct word_list){.items = kind_words, .count = ARRAY_SIZE(kind_words)};
}

/* --- commands --- */

static const char *const field_names[] = {
#define COMMAND_FIELD(symbol, name) [FIELD_##symbol] = (name),
#include "define/catalog/command_fields.def"
#undef COMMAND_FIELD
};

/* What the rows of commands.def call the fields: constants, so that they can stand in a table. */
#define COMMAND_FIELD(symbol, name) static const char field_name_##symbol[] = name;
#include "define/catalog/command_fields.def"
#undef COMMAND_FIELD

static const struct {
    const char *kind, *wanted, *types;
} argument_kinds[] = {
#define ARGUMENT_KIND(symbol, kind_written, kind_wanted, kind_types)                               \
    {.kind = (kind_written), .wanted = (kind_wanted), .types = (kind_types)},
#include "define/catalog/argument_kinds.def"
#undef ARGUMENT_KIND
};

#define ARGUMENT_KIND(symbol, kind_written, wanted, types)                                         \
    static const char kind_of_##symbol[] = kind_written;
#include "define/catalog/argument_kinds.def"
#undef ARGUMENT_KIND

static const struct command_spec commands[] = {
#define ARG(arg_field, arg_kind, arg_need, arg_label, arg_help, arg_example)                       \
    {.field = FIELD_##arg_field,                                                                   \
     .kind = ARGUMENT_##arg_kind,                                                                  \
     .spec = {.name = field_name_##arg_field,                                                      \
              .need = FIELD_IS_##arg_need,                                                         \
              .kind = kind_of_##arg_kind,                                                          \
              .label = arg_label,                                                                  \
              .help = arg_help,                                                                    \
              .example = (arg_example)}},
#define WORD(arg_field, arg_words, arg_label, arg_help, arg_example)                               \
    {.field = FIELD_##arg_field,                                                                   \
     .kind = ARGUMENT_WORD,                                                                        \
     .has_default = true,                                                                          \
     .spec = {.name = field_name_##arg_field,                                                      \
              .kind = ("one of"),                                                                  \
              .words = (arg_words),                                                                \
              .label = arg_label,                                                                  \
              .help = arg_help,                                                                    \
              .example = (arg_example)}},
#define WORD_OR(arg_field, arg_words, arg_other, arg_label, arg_help, arg_example)                 \
    {.field = FIELD_##arg_field,                                                                   \
     .kind = ARGUMENT_WORD,                                                                        \
     .has_default = true,                                                                          \
     .spec = {.name = field_name_##arg_field,                                                      \
              .kind = ("one of or " arg_other),                                                    \
              .words = (arg_words),                                                                \
              .label = arg_label,                                                                  \
              .help = arg_help,                                                                    \
              .example = (arg_example)}},
#define CHOICE(arg_field, arg_words, arg_label, arg_help, arg_example)                             \
    {.field = FIELD_##arg_field,                                                                   \
     .kind = ARGUMENT_WORD,                                                                        \
     .spec = {.name = field_name_##arg_field,                                                      \
              .kind = ("one of"),                                                                  \
              .words = (arg_words),                                                                \
              .label = arg_label,                                                                  \
              .help = arg_help,                                                                    \
              .example = (arg_example)}},
#define MEMBER(member_name, field_kind, member_help)                                               \
    {.name = (member_name), .kind = (field_kind), .help = member_help},
#define NO_MEMBERS                                                                                 \
    {                                                                                              \
        0                                                                                          \
    }
#define RESULT(result_kind, result_help, result_members)                                           \
    {                                                                                              \
        .kind = (result_kind), .help = result_help, .members = { result_members }                  \
    }
#define COMMAND(symbol, cmd_name, cmd_alias, cmd_place, cmd_ends, cmd_leaves, cmd_group,           \
                cmd_label, cmd_help, cmd_result, cmd_arguments)                                    \
    {.type = COMMAND_##symbol,                                                                     \
     .name = (cmd_name),                                                                           \
     .alias = (cmd_alias),                                                                         \
     .place = PLACE_##cmd_place,                                                                   \
     .ends = ENDS_##cmd_ends,                                                                      \
     .leaves = LEAVES_##cmd_leaves,                                                                \
     .group = GROUP_##cmd_group,                                                                   \
     .label = cmd_label,                                                                           \
     .help = cmd_help,                                                                             \
     .result = cmd_result,                                                                         \
     .arguments = {cmd_arguments}},
#include "define/catalog/commands.def"
#undef COMMAND
#undef RESULT
#undef NO_MEMBERS
#undef MEMBER
#undef CHOICE
#undef WORD_OR
#undef WORD
#undef ARG
};

static const struct node_type_spec node_types[] = {
#define NODE_TYPE(symbol, node_name, node_command)                                                 \
    {.name = (node_name), .command = COMMAND_##node_command},
#include "define/catalog/node_types.def"
#undef NODE_TYPE
};

static const struct word_spec groups[] = {
#define COMMAND_GROUP(symbol, group_name, group_label) {.name = (group_name), .label = group_label},
#include "define/catalog/command_groups.def"
#undef COMMAND_GROUP
};

const struct command_spec *catalog_command(enum command_type type)
{
    return &commands[type];
}

const struct word_spec *catalog_group(enum command_group group)
{
    return &groups[group];
}

const struct command_spec *catalog_find(struct str name)
{
    for (size_t i = 0; i < COMMAND_TYPE_COUNT; i++) {
        const struct command_spec *spec = &commands[i];

        if (spec->place == PLACE_NODE)
            continue;
        if (str_eq(name, str_of(spec->name)) ||
            (spec->alias != NULL && str_eq(name, str_of(spec->alias))))
            return spec;
    }
    return NULL;
}

struct str catalog_nearest(struct str name)
{
    struct nearest n = nearest_to(name);

    for (size_t i = 0; i < COMMAND_TYPE_COUNT; i++)
        if (commands[i].place != PLACE_NODE)
            nearest_offer(&n, str_of(commands[i].name));
    return n.best;
}

/* --- nodes --- */

const struct node_type_spec *catalog_node_type(enum node_type type)
{
    return &node_types[type];
}

const struct node_type_spec *catalog_find_node_type(struct str name)
{
    for (size_t i = 0; i < NODE_TYPE_COUNT; i++)
        if (str_eq(name, str_of(node_types[i].name)))
            return &node_types[i];
    return NULL;
}

struct str catalog_nearest_node_type(struct str name)
{
    struct nearest n = nearest_to(name);

    for (size_t i = 0; i < NODE_TYPE_COUNT; i++)
        nearest_offer(&n, str_of(node_types[i].name));
    for (size_t i = 0; i < COMMAND_TYPE_COUNT; i++)
        if (commands[i].place != PLACE_NODE)
            nearest_offer(&n, str_of(commands[i].name));
    return n.best;
}

struct str catalog_field_name(enum command_field field)
{
    return str_of(field_names[field]);
}

const char *catalog_wanted(enum argument_kind kind)
{
    return argument_kinds[kind].wanted;
}

struct str catalog_types(enum argument_kind kind)
{
    return str_of(argument_kinds[kind].types);
}

bool catalog_has_word(struct str words, struct str word)
{
    while (words.len > 0)
        if (str_eq(str_cut(&words, ' '), word))
            return true;
    return false;
}
