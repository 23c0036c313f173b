/* read_definition.h - definitions and the snapshots of their versions; see read.h. */
#ifndef PAWL_STORE_READ_DEFINITION_H
#define PAWL_STORE_READ_DEFINITION_H

#include "store/read.h"

struct stored_definition {
    struct str kind, code, name;
    int64_t version;   /* 0 = draft */
    int64_t revision;  /* of the draft: its ETag */
    int64_t previous;  /* the version that was published before this one first was; 0: none */
    struct str status; /* draft, published, retired, superseded */
    struct str facts;  /* as facts.h of src/define wrote them; or empty */
    struct str text;
    struct str summary, created_by;
    int64_t created_at_us;
};

struct stored_definitions {
    VEC_OF(struct stored_definition);
};

/* Version `version` of a definition; 0: the draft; -1: the published one, which may be retired. */
bool read_definition(struct reader *r, struct arena *mem, struct str kind, struct str code,
                     int64_t version, struct stored_definition *out, bool *found,
                     struct err *err) MUST_USE;

/* `access` of a version of a process, as JSON; empty when it has none, or does not exist. */
/* Whether a version of a process has something sensitive in its input; true when there is none. */
bool read_is_sensitive(struct reader *r, struct arena *mem, struct str code, int64_t version,
                       bool *out, struct err *err) MUST_USE;

bool read_access(struct reader *r, struct arena *mem, struct str code, int64_t version,
                 struct str *out, struct err *err) MUST_USE;

/*
 * Versions of one definition below `before`, newest first, the draft before all;
 * without their texts; at most `limit`.
 */
bool read_versions(struct reader *r, struct arena *mem, struct str kind, struct str code,
                   int64_t before, int64_t limit, struct stored_definitions *out,
                   struct err *err) MUST_USE;

/* The same for the process of that code, of whatever kind. */
bool read_process(struct reader *r, struct arena *mem, struct str code, int64_t version,
                  struct stored_definition *out, bool *found, struct err *err) MUST_USE;

/*
 * The drafts and published versions of definitions of a kind, or of processes
 * of every kind when that is empty: at most `limit` rows with codes above
 * `after`, by code; without texts. One definition has up to two rows.
 */
bool read_definitions(struct reader *r, struct arena *mem, struct str kind, struct str after,
                      int64_t limit, struct stored_definitions *out, struct err *err) MUST_USE;

/* Everything of a kind that is published, by code, with its texts. */
bool read_published(struct reader *r, struct arena *mem, struct str kind,
                    struct stored_definitions *out, struct err *err) MUST_USE;

/*
 * Those behind `after`, by code, with their texts: up to `limit` of them, and no more once their
 * texts have bytes_max together. *more: others follow.
 */
bool read_published_page(struct reader *r, struct arena *mem, struct str kind, struct str after,
                         int64_t limit, size_t bytes_max, struct stored_definitions *out,
                         bool *more, struct err *err) MUST_USE;

/* The same as read_published() in any order, and the newest version of what has been removed. */
bool read_newest(struct reader *r, struct arena *mem, struct str kind,
                 struct stored_definitions *out, struct err *err) MUST_USE;

/* The procedures and functions that programs which begin now may reach, without their texts. */
bool read_reachable(struct reader *r, struct arena *mem, struct stored_definitions *out,
                    struct err *err) MUST_USE;

/* What a snapshot pins, as pins_write() of src/define wrote it. */
bool read_snapshot(struct reader *r, struct arena *mem, struct str hash, struct str *pins_json,
                   bool *found, struct err *err) MUST_USE;

/* A number that grows with every change of a definition, whichever node makes it. */
bool read_definition_stamp(struct reader *r, int64_t *out, struct err *err) MUST_USE;

#endif
