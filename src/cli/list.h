/*
 * list.h - lists of the API as commands show them: filters in a path, pages one
 * after the other, and an item that a person names by the end of its id.
 */
#ifndef PAWL_CLI_LIST_H
#define PAWL_CLI_LIST_H

#include "cli/client.h"

/* Begin the path of a list: its route, and how many are read at once. `limit` is NULL or the user's. */
void list_begin(struct client *c, struct buf *path, struct str route, const char *limit, bool all);

/* Append &name=value, unless value is NULL or empty. */
void list_filter(struct buf *path, const char *name, const char *value);

/* The end of an id, which is unlike any other's and enough for other commands. */
struct str list_id_end(struct str id);

struct list {
    struct str path; /* with a query already */
    bool all;        /* every page; else the first that has something */
    bool as_json;
    /* A table: what stands above its columns, NULL after the last, and the cells of an item. */
    const char *const *head;
    void (*row)(struct arena *mem, struct value item, int64_t now_us, struct str *cells);
    /* Or anything else: how a page is printed. */
    void (*print)(struct arena *mem, struct value items);
    const char *none; /* what is said of an empty list */
};

/* Print it. The exit status. */
int list_print(struct client *c, const struct list *l);

/*
 * The id of what a person named: an id, a unique end of one in the list at
 * `path`, or @last: the newest there. `what` is one of them ("dead letter"),
 * `command` lists them ("pawl dlq").
 */
bool list_find(struct client *c, const char *what, const char *command, const char *path,
               const char *name, struct str *out) MUST_USE;

#endif
