/*
 * search.h - a page of the records of an object: where, order, limit, after.
 *
 * What record.query, trials and GET /records have in common. Records come in
 * the order of `orderBy`, equal ones and all without it in the order in which
 * they were made. A search has one budget, however many records it looks at.
 *
 *     search_begin --record by record: search_offer--> search_end --> items
 *
 * Whoever asks may hide records that it has changed and not yet stored, and
 * lay its own over what was found: search_merge().
 */
#ifndef PAWL_ENGINE_SEARCH_H
#define PAWL_ENGINE_SEARCH_H

#include "base/buf.h"
#include "base/vec.h"
#include "cel/cel.h"
#include "engine/commit/search_found.h"

enum {
    SEARCH_PAGE_MAX = 1000,           /* records of one page */
    SEARCH_BYTES_MAX = 64 << 20,      /* of what one search holds in memory */
    SEARCH_COST_MAX = 400000000,      /* of all evaluations of `where` together */
    SEARCH_STAGED_COST_MAX = 2000000, /* ... for records of a turn, on the loop */
    SEARCH_CURSOR_LEN_MAX = 200000,
};

#define SEARCH_ALLOWED_US INT64_C(2000000)
#define SEARCH_NO_LIMIT INT64_C(-1)     /* more than SEARCH_PAGE_MAX matches are ERR_LIMIT_QUERY */
#define SEARCH_NEW_ROW (INT64_MAX >> 1) /* from here on: of records that are not stored yet */

struct search_order {
    struct str field;
    bool descending;
};

struct search_ids {
    VEC_OF(struct str);
};

/* What is looked for. */
struct search {
    struct str org_id, object;
    const struct cel_program *where; /* or NULL */
    const struct value *slots;       /* what `where` sees, `slot_count` of them */
    uint32_t slot_count, record_slot;
    int64_t now_us;
    struct search_order orders[SEARCH_ORDERS_MAX];
    unsigned order_count;
    int64_t limit;            /* 0 to SEARCH_PAGE_MAX, or SEARCH_NO_LIMIT */
    struct str after;         /* `next` of the page before; or empty */
    struct search_ids hidden; /* records that are not to be found, whatever they hold */
};

/* "amount", "amount desc" or "-amount". False: it is none, or one too many. */
bool search_add_order(struct search *s, struct str text) MUST_USE;

/* Whether two searches ask for the same. */
bool search_is_same(const struct search *a, const struct search *b);

void search_rank_of(const struct search *s, struct value record, int64_t row,
                    struct search_rank *out);
int search_compare(const struct search *s, const struct search_rank *a,
                   const struct search_rank *b);

/* Opaque text for `after`, and back: ERR_BAD_REQUEST when it is none of this search. */
struct str search_cursor(struct arena *mem, const struct search *s, const struct search_rank *rank);
bool search_cursor_read(struct arena *mem, const struct search *s, struct search_rank *out,
                        struct err *err) MUST_USE;

/* The record as expressions and answers have it: {id, version, ...data}. */
struct value search_record(struct arena *mem, struct str id, int64_t version, struct value data);

/* --- collecting the records of a page --- */

/* A record that may become part of the page. */
struct search_item {
    struct arena mem;
    struct search_rank rank;
    int64_t version;
    struct str data_json;
};

struct collector {
    const struct search *search;
    struct arena *mem;
    struct arena scratch; /* of one record */
    struct cel_limits left;
    size_t bytes, bytes_max; /* of the items */
    bool cuts;               /* at bytes_max the page ends; else that is ERR_LIMIT_QUERY */
    struct value *slots;
    bool has_after;
    struct search_rank after;
    struct search_item **items; /* a heap, the last of the order at its top; sorted at the end */
    size_t count, capacity;
    bool more;          /* others come behind the items */
    int64_t stopped_at; /* the row up to which records were looked at, when not all were; or 0 */
};

/*
 * Begin; everything lives in `mem` until search_fini(). With `cuts` the page
 * ends where its items exceed `bytes_max`, but has at least one.
 */
bool search_begin(struct collector *c, struct arena *mem, const struct search *s, size_t bytes_max,
                  bool cuts, struct err *err) MUST_USE;

/*
 * Look at one record. False: ERR_LIMIT_QUERY, or what `where` failed with.
 * Rows come in their order, so that *is_full says: nothing that comes later can
 * be part of the page.
 */
bool search_offer(struct collector *c, int64_t row, struct str id, int64_t version,
                  struct str data_json, bool *is_full, struct err *err) MUST_USE;

/* Bring the items into their order and leave the first of them. */
void search_end(struct collector *c);
void search_fini(struct collector *c);

/* Turn the items of a collector, which has ended, into what was found. */
void search_take(struct arena *mem, struct collector *c, struct search_found *out);

/* Whether a record that is not stored fits; within *left. False: *err, as of `where`. */
bool search_fits(struct arena *mem, const struct search *s, struct cel_limits *left,
                 struct value record, bool *out, struct err *err) MUST_USE;

/*
 * Lay records of the asker's own over what was found, in their order: `own`
 * fit, and their places have the rows of `found->hidden`, or from SEARCH_NEW_ROW on.
 * False: together they are more than a search without limit may find.
 */
bool search_merge(struct arena *mem, const struct search *s, struct search_found *found,
                  const struct search_match *own, uint32_t own_count, struct err *err) MUST_USE;

/* {items, count, more, next} */
struct value search_value(struct arena *mem, const struct search *s,
                          const struct search_found *found);

#endif
