/* search_found.h - what a search has found, as the engine gets it; see search.h. */
#ifndef PAWL_ENGINE_SEARCH_FOUND_H
#define PAWL_ENGINE_SEARCH_FOUND_H

#include "base/err.h"
#include "value/value.h"

struct search;

enum { SEARCH_ORDERS_MAX = 8 };

/* Where a record stands in the order of a search. */
struct search_rank {
    struct value keys[SEARCH_ORDERS_MAX]; /* null where it has no such field */
    int64_t row;                          /* the store's: later records have larger ones */
    struct str id;
};

struct search_hidden {
    struct str id;
    int64_t row;
};

struct search_match {
    struct search_rank rank;
    struct value record; /* {id, version, ...} */
};

struct search_found {
    struct search_match *items;
    uint32_t count;
    bool more;
    struct search_hidden *hidden; /* those of search.hidden that were met, and where */
    uint32_t hidden_count;
    int64_t after_row; /* of the record that `after` names; 0 without it */
    struct err err;    /* ERR_NONE, or why there is nothing: ERR_LIMIT_QUERY, or of `where` */
};

/* What a search has found, for record.query. */
struct search_read {
    const struct search *search;
    struct search_found found;
};

#endif
