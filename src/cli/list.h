/*
 * list.h - lists of the API as commands show them: options that become filters,
 * pages one after the other as a table, and an item that a person names by the
 * end of its id.
 */
#ifndef PAWL_CLI_LIST_H
#define PAWL_CLI_LIST_H

#include "cli/client.h"

/* How a cell shows the member of an item that its column names. */
enum cell_kind {
    CELL_TEXT,
    CELL_ID,     /* the end of an id, which is enough for other commands */
    CELL_NUMBER, /* 0 when there is none */
    CELL_FLAG,   /* one of the two words of its column */
    CELL_AGE,    /* how long ago: "3 min" */
    CELL_AGO,    /* "3 min ago" */
    CELL_NEAR,   /* "3 min ago", "in 2 h"; nothing without a time */
    CELL_LEFT,   /* how long until then: "2 h", nothing without a time */
    CELL_MOMENT, /* "2026-11-20 09:00 CET"; nothing without a time */
};

struct list_column {
    const char *title;
    enum cell_kind kind;
    const char *path;     /* of the member: "code", "error.message" */
    const char *yes, *no; /* of a flag */
    /* In place of all of these. */
    struct str (*make)(struct arena *mem, struct value item);
};

/* A column that shows a member: COLUMN("CODE", TEXT, "code"). */
#define COLUMN(heading, cell, member)                                                              \
    {                                                                                              \
        .title = (heading), .kind = CELL_##cell, .path = (member)                                  \
    }
#define COLUMN_FLAG(heading, member, if_true, if_false)                                            \
    {                                                                                              \
        .title = (heading), .kind = CELL_FLAG, .path = (member), .yes = (if_true),                 \
        .no = (if_false)                                                                           \
    }

struct list {
    const char *route; /* "/jobs" */
    /*
     * The options that are parameters of the list, with spaces between them:
     * "status kind"; "order-by=orderBy" where the parameter is called
     * otherwise, "held=waiting:incident" where the option has no value,
     * "@parent" where the value names an execution.
     */
    const char *filters;
    bool all; /* every page, whatever the options say; else --all, --limit and the first page */
    /* A table, or how an item is printed. */
    const struct list_column *columns;
    size_t column_count;
    void (*print)(struct arena *mem, struct value item);
    const char *none;       /* what is said of an empty list; of one that is filtered: */
    const char *none_match; /* NULL: the same */
};

/* The columns of a list: a static array. */
#define LIST_COLUMNS(array) .columns = (array), .column_count = ARRAY_SIZE(array)

/* Print it. The exit status. */
int list_print(struct client *c, const struct options *o, const struct list *l);

/* Append &name=value, unless value is NULL or empty. */
void list_filter(struct buf *path, const char *name, const char *value);

/*
 * Append the filters that the options give. *count has their number. False
 * after a message: a named execution was not found.
 */
bool list_filters(struct client *c, const struct options *o, const char *filters, struct buf *path,
                  unsigned *count) MUST_USE;

/* Print a table of what is no page: all of `items`. */
void list_table(struct arena *mem, const struct list_column *columns, size_t count,
                struct value items);

/* The end of an id, which is unlike any other's and enough for other commands. */
struct str list_id_end(struct str id);

/* The time of a member as "2026-11-20 09:00 CET", or empty. */
struct str list_moment(struct arena *mem, struct value item, const char *name);

/*
 * The id of what a person named: an id, a unique end of one in the list at
 * `path`, or @last: the newest there. `what` is one of them ("dead letter"),
 * `command` lists them ("pawl dlq").
 */
bool list_find(struct client *c, const char *what, const char *command, const char *path,
               const char *name, struct str *out) MUST_USE;

#endif
