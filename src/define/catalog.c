/* catalog.c - the tables behind catalog.h. */
#include "define/catalog.h"

static const struct command_spec commands[] = {
#define ARG(arg_field, arg_kind, arg_need)                                                         \
    {.field = FIELD_##arg_field, .kind = ARGUMENT_##arg_kind, .need = ARGUMENT_##arg_need},
#define WORD(arg_field, arg_words)                                                                 \
    {.field = FIELD_##arg_field,                                                                   \
     .kind = ARGUMENT_WORD,                                                                        \
     .need = ARGUMENT_OPTIONAL,                                                                    \
     .words = (arg_words)},
#define COMMAND(symbol, cmd_name, cmd_alias, cmd_place, cmd_ends, cmd_summary, cmd_arguments)      \
    {.type = COMMAND_##symbol,                                                                     \
     .name = (cmd_name),                                                                           \
     .alias = (cmd_alias),                                                                         \
     .place = PLACE_##cmd_place,                                                                   \
     .ends = ENDS_##cmd_ends,                                                                      \
     .summary = (cmd_summary),                                                                     \
     .arguments = {cmd_arguments}},
#define COMMAND_LATER(name)
#include "define/commands.def"
#undef COMMAND_LATER
#undef COMMAND
#undef WORD
#undef ARG
};

static const char *const later[] = {
#define COMMAND(symbol, name, alias, place, ends, summary, arguments)
#define COMMAND_LATER(name) name,
#include "define/commands.def"
#undef COMMAND_LATER
#undef COMMAND
};

static const char *const fields[] = {
#define COMMAND_FIELD(symbol, name) name,
#include "define/command_fields.def"
#undef COMMAND_FIELD
};

static const struct {
    const char *wanted, *types;
} kinds[] = {
#define ARGUMENT_KIND(symbol, name, kind_wanted, kind_types)                                       \
    {.wanted = (kind_wanted), .types = (kind_types)},
#include "define/argument_kinds.def"
#undef ARGUMENT_KIND
};

enum { LATER_COUNT = sizeof(later) / sizeof(later[0]) };

const struct command_spec *catalog_command(enum command_type type)
{
    return &commands[type];
}

const struct command_spec *catalog_find(struct str name)
{
    for (size_t i = 0; i < COMMAND_TYPE_COUNT; i++) {
        const struct command_spec *spec = &commands[i];
        if (str_eq(name, str_of(spec->name)) ||
            (spec->alias != NULL && str_eq(name, str_of(spec->alias))))
            return spec;
    }
    return NULL;
}

bool catalog_is_later(struct str name)
{
    for (size_t i = 0; i < LATER_COUNT; i++)
        if (str_eq(name, str_of(later[i])))
            return true;
    return false;
}

struct str catalog_nearest(struct str name)
{
    unsigned limit = catalog_hint_distance(name);
    struct str best = STR_NONE;

    for (size_t i = 0; i < COMMAND_TYPE_COUNT && limit > 0; i++) {
        unsigned distance = str_distance(name, str_of(commands[i].name), limit);
        if (distance <= limit) {
            best = str_of(commands[i].name);
            limit = distance - 1;
        }
    }
    return best;
}

struct str catalog_field_name(enum command_field field)
{
    return str_of(fields[field]);
}

const char *catalog_wanted(enum argument_kind kind)
{
    return kinds[kind].wanted;
}

struct str catalog_types(enum argument_kind kind)
{
    return str_of(kinds[kind].types);
}

bool catalog_has_word(struct str words, struct str word)
{
    while (words.len > 0) {
        int64_t space = str_find(words, STR(" "), 0);
        size_t end = space < 0 ? words.len : (size_t)space;
        if (str_eq(str_slice(words, 0, end), word))
            return true;
        words = str_slice(words, space < 0 ? end : end + 1, words.len);
    }
    return false;
}

unsigned catalog_hint_distance(struct str name)
{
    return name.len < 3 ? 0 : name.len < 5 ? 1 : 2;
}
