/*
 * list.h - one page of a list: GET with ?limit and ?cursor, answered with
 * {items, nextCursor}.
 *
 *     list_start --> read --> show what the caller may see --> answer
 *                      ^                   |
 *                      +-------------------+ rows were left out, and more follow
 *
 * Rows that the caller may not see leave gaps, which are filled from the pages
 * behind: LIST_PAGES_MAX of them at most, so a page may be short and have a
 * cursor all the same. Rows are read up to PAGE_BYTES_MAX, which `read` sees to;
 * a page that holds so much is not filled further. A cursor is opaque to clients: it is what `read` gave as
 * `next` before.
 *
 * One more list embeds a struct list_page as its first field, with its filter
 * behind it, and has a struct list_kind.
 */
#ifndef PAWL_API_LIST_H
#define PAWL_API_LIST_H

#include "api/lookup.h"

#include <stddef.h>

enum { LIST_LIMIT = 50, LIST_PAGES_MAX = 20 };

struct list_page;

/*
 * Which fields of a row say whose it is: the execution or the definition that
 * decides who sees it. Without one, `read` gives only what the caller may see.
 */
struct list_owner {
    bool is_set;
    size_t org_id, code, version; /* where these fields are: text, text, int64_t */
};

#define LIST_FIELD(row, field, type) _Generic(&((row *)NULL)->field, type * : offsetof(row, field))
#define LIST_OWNER(row, org, code_of, version_of)                                                  \
    {                                                                                              \
        true, LIST_FIELD(row, org, struct str), LIST_FIELD(row, code_of, struct str),              \
            LIST_FIELD(row, version_of, int64_t)                                                   \
    }

/* All run on a reader thread; false: *l->err says why. */
struct list_kind {
    /*
     * Read l->limit rows from l->cursor on, and hand them over with LIST_ROWS();
     * l->next is set when more follow. list_bad_cursor() when that cannot be read.
     */
    bool (*read)(struct list_page *l);
    /* Append the row to l->out: as an object; or its members, where that cannot fail. */
    bool (*show)(struct list_page *l, const void *row);
    void (*show_members)(struct list_page *l, const void *row);
    struct list_owner owner;
};

struct list_page {
    const struct list_kind *kind;
    struct call *call;
    struct reader *reader;
    struct arena *mem; /* goes with the page */
    struct buf *out;
    struct err *err;
    struct str cursor; /* where the next read begins; empty: at the start */
    int64_t limit;     /* how many rows are still wanted */
    /* of the last read */
    const char *rows;
    size_t row_bytes, count;
    struct str next; /* empty: nothing follows */
};

/*
 * Take the rows of a vector, l->limit of them. Answers with the last of these
 * when there are more, so that `next` can be made of it; else with NULL.
 */
#define LIST_ROWS(l, vec) list_rows((l), (vec)->items, sizeof(*(vec)->items), (vec)->count)
const void *list_rows(struct list_page *l, const void *rows, size_t row_bytes, size_t count);

/* Answer with a page, by ?limit (else LIST_LIMIT) and ?cursor. `l` lives in c->mem. */
void list_start(struct call *c, struct list_page *l, const struct list_kind *kind);

/* ERR_BAD_REQUEST: it is no cursor that a page has given. */
bool list_bad_cursor(struct err *err);

/* A cursor that is a number from 0 on; 0 when there is none. */
bool list_cursor_number(struct str cursor, int64_t *out, struct err *err) MUST_USE;
struct str list_number_cursor(struct arena *mem, int64_t number);

/* A cursor that is the id of a row, or empty. */
bool list_cursor_id(struct str cursor, struct err *err) MUST_USE;

/* For pages that are read in another way: what stands before the items, and behind them. */
void list_open(struct buf *out);
void list_close(struct buf *out, struct str next);

#endif
