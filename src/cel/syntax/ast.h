/*
 * ast.h - the syntax tree of one expression.
 *
 *     source --parse--> tree --check--> tree with names resolved
 *            --fold---> tree with constants --emit--> program
 *
 * Nodes live in the arena of the compilation and are changed in place by the
 * passes. Macros are expanded by the parser into the nodes FOLD, BIND and
 * OPTIONAL_MAP, so no later pass knows them.
 */
#ifndef PAWL_CEL_AST_H
#define PAWL_CEL_AST_H

#include "cel/cel.h"

struct type;
struct cel_function;

enum operator{
#define OPERATOR(symbol, name, text) OPERATOR_##symbol,
#include "cel/syntax/operator.def"
#undef OPERATOR
    OPERATOR_COUNT
};

const char *operator_text(enum operator op);

enum node_kind {
    NODE_CONST,           /* value */
    NODE_NAME,            /* a name, until check: then SLOT, LOCAL, CONST or FAIL */
    NODE_SLOT,            /* a declared variable */
    NODE_LOCAL,           /* a variable of a macro */
    NODE_ROOT,            /* $ */
    NODE_SELECT,          /* operand.field */
    NODE_HAS,             /* has(operand.field) */
    NODE_HAS_SLOT,        /* has() of a declared variable */
    NODE_OPTIONAL_SELECT, /* operand.?field */
    NODE_OPERATOR,        /* one or two operands */
    NODE_CALL,            /* function(items...) or items[0].function(...) */
    NODE_AND,             /* items, two or more */
    NODE_OR,
    NODE_TERNARY,      /* items: condition, then, else */
    NODE_LIST,         /* items */
    NODE_MAP,          /* items: key, value, key, value... */
    NODE_FOLD,         /* a comprehension */
    NODE_BIND,         /* cel.bind(local, items[0], items[1]) */
    NODE_OPTIONAL_MAP, /* items[0].optMap(local, items[1]) */
    NODE_JOIN,         /* a template: items joined as text; `text` of a URL: enum url_part each */
    NODE_FAIL,         /* fails when evaluated, with the error in `value` */
};

/* What an item of a NODE_JOIN is that makes a URL. */
enum url_part {
    URL_PART_TEXT = 't',  /* written in the template */
    URL_PART_VALUE = 'v', /* percent-encoded */
    URL_PART_RAW = 'r',   /* taken as it is */
};

enum fold_kind {
    FOLD_ALL,
    FOLD_EXISTS,
    FOLD_EXISTS_ONE,
    FOLD_LIST,      /* map(), filter(), transformList() */
    FOLD_MAP,       /* transformMap() */
    FOLD_MAP_ENTRY, /* transformMapEntry() */
};

/* A variable that a macro introduces. */
struct local {
    struct str name;
    const struct type *type;
    uint32_t place; /* on the machine's stack, set when code is emitted */
    struct local *outer;
};

struct fold {
    enum fold_kind kind;
    struct local first;  /* element or key; index or key when there is a second */
    struct local second; /* value; its name is empty when there is none */
    struct ast_node *range;
    struct ast_node *filter; /* or NULL */
    struct ast_node *body;
};

struct ast_node {
    uint8_t kind;     /* enum node_kind */
    bool is_member;   /* CALL: items[0] is the receiver */
    bool is_absolute; /* NAME: written with a leading dot */
    bool is_quoted;   /* SELECT, OPTIONAL_SELECT: the field is in backquotes */
    bool is_flat;     /* OPTIONAL_MAP: optFlatMap */
    bool is_path;     /* JOIN of a URL: a path without a host */
    uint8_t op;       /* OPERATOR: enum operator */
    uint16_t depth;
    uint32_t offset; /* in the source, in bytes: where a message points */
    uint32_t count;  /* of items */
    struct str text; /* NAME, SELECT, CALL: name */
    union {
        struct ast_node **items;
        struct ast_node *operand; /* SELECT, HAS, OPTIONAL_SELECT */
        struct fold *fold;
    };
    union {
        struct value value;                  /* CONST; FAIL: the error */
        uint32_t slot;                       /* SLOT, HAS_SLOT */
        struct local *local;                 /* LOCAL, BIND, OPTIONAL_MAP */
        const struct cel_function *function; /* CALL, after check */
        const bool *optional; /* LIST, MAP: which items or entries have a '?', or NULL */
    };
};

struct ast_node *node_new(struct arena *mem, enum node_kind kind, uint32_t offset);
struct ast_node *node_const(struct arena *mem, uint32_t offset, struct value v);
struct ast_node *node_name(struct arena *mem, uint32_t offset, struct str name);

/* A node with its own copy of the list of items. */
struct ast_node *node_items(struct arena *mem, enum node_kind kind, uint32_t offset,
                            struct ast_node *const *items, uint32_t count);

#endif
