/*
 * change_definition.h - a change of a definition, a member of a batch: see store.h.
 *
 * why: decision 0490
 */
#ifndef PAWL_STORE_CHANGE_DEFINITION_H
#define PAWL_STORE_CHANGE_DEFINITION_H

#include "base/arena.h"
#include "base/str.h"

enum definition_action {
    DEFINITION_SAVE_DRAFT,
    DEFINITION_DELETE_DRAFT,
    DEFINITION_PUBLISH,
    DEFINITION_REVERT, /* what was published before is published again */
    DEFINITION_PUT,    /* publish, unless that text is published */
    DEFINITION_REMOVE, /* no version is published any more */
    DEFINITION_RETIRE, /* what is published takes no new starts */
    DEFINITION_UNRETIRE,
    DEFINITION_ERASE, /* every version goes, unless an execution rests on one */
    DEFINITION_KEEP,  /* nothing, provided that `rests_on` is still true */
};

enum definition_match { MATCH_WHATEVER = -1, MATCH_ANY_VERSION = -2 };

/* Definitions are versioned by integers from 1; a draft has none. */
struct definition_change {
    enum definition_action action;
    struct str kind; /* "scenario" */
    struct str code, name;
    struct str text; /* SAVE_DRAFT, PUBLISH, PUT: the definition exactly as it was sent */
    struct str summary;
    struct str user_id;
    /*
     * The revision of the draft, or of PUT and REMOVE the version: 0 there must be
     * none; or one of enum definition_match.
     */
    int64_t if_match;
    bool has_rests_on;
    int64_t rests_on; /* the version that is published; 0 none */
    bool is_process;  /* no process of another kind may have this code */
    bool forgets;     /* versions that are superseded are not kept */
    int64_t now_us;
    /*
     * The answer to be kept for an Idempotency-Key, in `mem`, and its status.
     * Called on the writer's thread. NULL: that of the member's idempotency.
     */
    struct str (*answer)(struct arena *mem, const struct definition_change *d, int32_t *status);
    void *owner;                    /* the caller's */
    struct definition_change *next; /* made together with this one: all or none */

    /* filled by the store */
    int64_t
        version; /* published, or the revision of the draft; 0: the draft is what is published, and has gone */
    bool created;   /* PUT: nothing was published before */
    bool unchanged; /* PUT: that text was published */
};

#endif
