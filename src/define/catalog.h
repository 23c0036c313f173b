/*
 * catalog.h - the commands and their fields, as data: commands.def for C code.
 */
#ifndef PAWL_DEFINE_CATALOG_H
#define PAWL_DEFINE_CATALOG_H

#include "define/program.h"

enum argument_kind {
#define ARGUMENT_KIND(symbol, name, wanted, types) ARGUMENT_##symbol,
#include "define/argument_kinds.def"
#undef ARGUMENT_KIND
    ARGUMENT_KIND_COUNT
};

/* END closes the list of arguments. */
enum argument_need { ARGUMENT_END, ARGUMENT_NEEDED, ARGUMENT_OPTIONAL };

enum command_place { PLACE_ANYWHERE, PLACE_ALONE };

/* When a command has its result: see commands.def. */
enum command_ends { ENDS_AT_ONCE, ENDS_WAITS, ENDS_ASKS };

struct argument {
    enum command_field field;
    enum argument_kind kind;
    enum argument_need need;
    const char *words; /* WORD: with spaces between them, the default first */
};

enum { COMMAND_ARGUMENTS_MAX = 12 };

struct command_spec {
    const char *name;
    const char *alias; /* or NULL */
    const char *summary;
    enum command_type type;
    enum command_place place;
    enum command_ends ends;
    struct argument arguments[COMMAND_ARGUMENTS_MAX + 1];
};

const struct command_spec *catalog_command(enum command_type type);

/* The command of that name or alias, or NULL. */
const struct command_spec *catalog_find(struct str name);

/* Whether the language has a command of that name that is not built yet. */
bool catalog_is_later(struct str name);

/* The name of a command nearest to a mistyped one, or empty. */
struct str catalog_nearest(struct str name);

struct str catalog_field_name(enum command_field field);

/* "a text", for messages; and the types that an expression there may have. */
const char *catalog_wanted(enum argument_kind kind);
struct str catalog_types(enum argument_kind kind);

/* Whether `word` is one of `words`, which have spaces between them. */
bool catalog_has_word(struct str words, struct str word);

/* How many edits still make a hint for a name: none for the shortest. */
unsigned catalog_hint_distance(struct str name);

#endif
