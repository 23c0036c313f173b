/*
 * catalog.h - the fields of definitions and the commands, as data: fields.def
 * and commands.def for C code. Checking, the catalog and the reference read
 * the same rows.
 *
 * why: decisions 0153, 0312
 */
#ifndef PAWL_DEFINE_CATALOG_CATALOG_H
#define PAWL_DEFINE_CATALOG_CATALOG_H

#include "define/program.h"
#include "words/language.h"

/* The words of `onError`, in the order of enum on_error. */
#define ON_ERROR_WORDS "compensate retry fail_fast hold"

/* Of triggers, in the order of enum trigger_type, catch_up and verify_encoding. */
#define TRIGGER_SCHEDULE_WORD "schedule"
#define TRIGGER_WEBHOOK_WORD "webhook"
#define TRIGGER_EVENT_WORD "event"
#define TRIGGER_ACTION_WORD "action"
#define CATCH_UP_WORDS "one none all"
#define VERIFY_ENCODING_WORDS "hex base64"
#define VERIFY_SCHEME_WORDS "github gitlab stripe slack"
#define WEBHOOK_METHOD_WORDS "POST PUT PATCH DELETE GET"

/* A text for people, in each language of the catalog. */
struct text {
    const char *in[LANGUAGE_COUNT];
};

/* --- fields --- */

enum field_table {
#define FIELD_TABLE(symbol, name, label, help) TABLE_##symbol,
#include "define/catalog/field_tables.def"
#undef FIELD_TABLE
    FIELD_TABLE_COUNT
};

enum field_state {
    STATE_NOW,
    STATE_LATER,   /* of the language, and not built yet */
    STATE_IGNORED, /* accepted whatever it holds */
};

enum field_need { FIELD_IS_OPTIONAL, FIELD_IS_NEEDED };

struct field_spec {
    const char *name;
    enum field_state state;
    enum field_need need;
    const char *kind;  /* see field_kinds.def */
    const char *words; /* "one of": spaces between them; else NULL */
    struct text label, help;
    const char *example; /* JSON */
};

/* The fields of an object that a definition is made of, one by one; NULL: there is no other. */
const struct field_spec *catalog_field_next(enum field_table table, const struct field_spec *last);

/* The field of that name, or NULL. */
const struct field_spec *catalog_field(enum field_table table, struct str name);

/* --- the tables as texts, for the catalog --- */

struct table_spec {
    const char *name;
    struct text label, help;
};

const struct table_spec *catalog_table(enum field_table table);

/* A word of field_kinds.def, or a group of commands: `label` is what it is called, or means. */
struct word_spec {
    const char *name;
    struct text label;
};

struct word_list {
    const struct word_spec *items;
    size_t count;
};

struct word_list catalog_kind_words(void);

/* --- commands --- */

enum argument_kind {
#define ARGUMENT_KIND(symbol, kind, wanted, types) ARGUMENT_##symbol,
#include "define/catalog/argument_kinds.def"
#undef ARGUMENT_KIND
    ARGUMENT_KIND_COUNT
};

enum command_place { PLACE_ANYWHERE, PLACE_ALONE, PLACE_NODE };

/* When a command has its result: see commands.def. */
enum command_ends { ENDS_AT_ONCE, ENDS_WAITS, ENDS_ASKS };

/* What stays outside of the execution when it has run: see commands.def. */
enum command_leaves { LEAVES_NOTHING, LEAVES_SOMETHING, LEAVES_QUESTION };

enum command_group {
#define COMMAND_GROUP(symbol, name, label) GROUP_##symbol,
#include "define/catalog/command_groups.def"
#undef COMMAND_GROUP
    COMMAND_GROUP_COUNT
};

struct argument {
    struct field_spec spec; /* `name` is NULL behind the last one */
    enum command_field field;
    enum argument_kind kind;
    bool has_default; /* a word: the first of its words */
};

/* A member of what a command returns. */
struct result_member {
    const char *name; /* NULL behind the last one */
    const char *kind;
    struct text help;
};

enum { COMMAND_ARGUMENTS_MAX = 16, RESULT_MEMBERS_MAX = 8 };

struct command_result {
    const char *kind;
    struct text help;
    struct result_member members[RESULT_MEMBERS_MAX + 1];
};

struct command_spec {
    const char *name;
    const char *alias; /* or NULL */
    enum command_type type;
    enum command_place place;
    enum command_ends ends;
    enum command_leaves leaves;
    enum command_group group;
    struct text label, help;
    struct command_result result;
    struct argument arguments[COMMAND_ARGUMENTS_MAX + 1];
};

const struct command_spec *catalog_command(enum command_type type);

const struct word_spec *catalog_group(enum command_group group);

/* The command of that name or alias, or NULL; those that only a node of a schema has are none. */
const struct command_spec *catalog_find(struct str name);

/* The name of a command nearest to a mistyped one, or empty. */
struct str catalog_nearest(struct str name);

/* --- nodes of schemas --- */

enum node_type {
#define NODE_TYPE(symbol, name, command) NODE_TYPE_##symbol,
#include "define/catalog/node_types.def"
#undef NODE_TYPE
    NODE_TYPE_COUNT
};

struct node_type_spec {
    const char *name;
    enum command_type command; /* that does it */
};

const struct node_type_spec *catalog_node_type(enum node_type type);

/* The type of that name, or NULL: a node may also be any command, see catalog_find(). */
const struct node_type_spec *catalog_find_node_type(struct str name);

/* The type or command nearest to a mistyped one, or empty. */
struct str catalog_nearest_node_type(struct str name);

/* --- words --- */

struct str catalog_field_name(enum command_field field);

/* "a text", for messages; and the types that an expression there may have. */
const char *catalog_wanted(enum argument_kind kind);
struct str catalog_types(enum argument_kind kind);

/* Whether `word` is one of `words`, which have spaces between them. */
bool catalog_has_word(struct str words, struct str word);

#endif
