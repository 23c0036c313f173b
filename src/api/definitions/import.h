/*
 * import.h - a bundle of definitions on its way in: what the files of POST /import share; see import.c.
 *
 * why: decision 0491
 */
#ifndef PAWL_API_DEFINITIONS_IMPORT_H
#define PAWL_API_DEFINITIONS_IMPORT_H

#include "api/definitions/key_row.h"

enum plan { PLAN_UNCHANGED, PLAN_CREATE, PLAN_UPDATE, PLAN_RETIRE, PLAN_UNRETIRE };

struct import_item {
    struct definition_item item;
    struct findings findings; /* pointers into the item */
    bool is_usable;           /* its kind and code are known */
    enum plan plan;
    int64_t version; /* published now, or the revision of the draft; 0: none */
    struct str changes_json;
    struct str stored_text; /* of a credential that changes and keeps its secret; or empty */
    struct definition_change change;
};

struct import {
    struct import_item *items;
    size_t count;
    bool is_dry, is_draft, prunes;
    struct {
        VEC_OF(struct import_item *);
    } pruned;                    /* what the bundle lacks: behind its items */
    bool overwrites[KIND_COUNT]; /* of kinds that belong to the environment */
    enum language language;      /* of what is found */
    struct str summary;
    unsigned tries;
    bool has_sealed; /* secrets of subscriptions are sealed: all of it rests on the key */
    struct key_row key;
    struct definition_change key_change;
};

/* One more finding about a field of the item, or with "" about all of it; import_warn(): a warning. */
void import_wrong(struct arena *mem, struct import_item *i, const char *field, const char *code,
                  struct sentence message);
void import_warn(struct arena *mem, struct import_item *i, const char *code,
                 struct sentence message);

/* Config, subscriptions and credentials name addresses of the installation that they are part of. */
bool import_is_environment(enum kind kind);

/* --- import_items.c: taking the items apart --- */

/* Read the request. What is wrong with an item is a finding of it; false: the body itself is wrong. */
bool import_read_body(struct lookup *q, struct import *all, struct err *err) MUST_USE;

/* --- import_plan.c: what becomes of an item --- */

/* Compare an item with what is stored. */
bool import_plan_item(struct lookup *q, struct reader *reader, const struct import *all,
                      struct import_item *i, struct err *err) MUST_USE;

/* --- import_prune.c: what the bundle lacks --- */

/* Fill all->pruned; after the items are planned. */
bool import_plan_prune(struct lookup *q, struct reader *reader, struct import *all,
                       struct err *err) MUST_USE;

#endif
