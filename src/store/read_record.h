/*
 * read_record.h - records: one, a search, and which executions have written one.
 * See read.h.
 *
 * A commit that writes a record leaves a row that names the version it made and
 * the row of history of the step that wrote it last. The rows go with their
 * execution; changes that people make by hand are in the audit log.
 *
 * why: decision 0317
 */
#ifndef PAWL_STORE_READ_RECORD_H
#define PAWL_STORE_READ_RECORD_H

#include "engine/commit/history.h"
#include "store/read.h"

struct collector;
struct record_read;
struct search;
struct search_found;

/* One record of an organisation (empty: the default one); out->version is 0 when there is none. */
bool read_record(struct reader *r, struct arena *mem, struct str org_id, struct str object,
                 struct str id, struct record_read *out, struct err *err) MUST_USE;

/* The last version of a record that is gone; 0 when there never was one. */
bool read_record_last(struct reader *r, struct str org_id, struct str object, struct str id,
                      int64_t *version, struct err *err) MUST_USE;

/* How far a search goes beside its budget of SEARCH_ALLOWED_US. */
struct search_bounds {
    int64_t rows_max; /* without an order: so many records are looked at for one page; 0 = all */
    bool may_be_part; /* without an order: at the end of its budget it gives what it has */
    bool (*is_gone)(void *context); /* whether nobody waits for it any more; or NULL */
    void *context;
};

/*
 * Look through the records of an object for a page of a search, in one
 * snapshot; `c` has begun, and ends with it. ERR_LIMIT_QUERY: the budget was
 * not enough.
 */
bool read_search(struct reader *r, struct collector *c, const struct search_bounds *bounds,
                 struct err *err) MUST_USE;

/* The same for the engine: *out says what became of it. False: the store failed. */
bool read_found(struct reader *r, struct arena *mem, const struct search *s,
                struct search_found *out, struct err *err) MUST_USE;

/* --- which objects there are --- */

struct record_object {
    struct str name;
    int64_t count; /* RECORDS_COUNTED_MAX: so many or more */
};

struct record_objects {
    VEC_OF(struct record_object);
    bool is_cut; /* there are more behind the last one */
};

/*
 * The objects of an organisation after the name `after`, in order, with the number of
 * their records: `limit` at most, and none behind the one with which
 * RECORDS_COUNTED_MAX records are counted.
 */
enum { RECORDS_COUNTED_MAX = 1000000 };
bool read_record_objects(struct reader *r, struct arena *mem, struct str org_id, struct str after,
                         int64_t limit, struct record_objects *out, struct err *err) MUST_USE;

/* --- which executions have written a record --- */

struct record_change_row {
    int64_t version;   /* that it made of the record */
    struct str action; /* created updated deleted */
    struct uuid execution;
    struct str kind, code, status; /* of the execution as it is now */
    int64_t code_version;
    struct str key;     /* or empty */
    struct str waiting; /* what it waits for, or empty */
    struct str org_id;
    enum history_kind step_kind;
    struct str step; /* or empty */
    int64_t visit, attempt, at_us;
};

struct record_change_rows {
    VEC_OF(struct record_change_row);
};

struct record_change_filter {
    struct str org_id; /* or empty: the default one */
    struct str object, id;
    struct str cursor; /* or empty */
    int64_t limit;
};

/* The newest version first. *next: where the next page begins; empty: there is none. */
bool read_record_changes(struct reader *r, struct arena *mem, const struct record_change_filter *f,
                         struct record_change_rows *out, struct str *next,
                         struct err *err) MUST_USE;

#endif
