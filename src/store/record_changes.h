/*
 * record_changes.h - which executions have made, changed or deleted a record.
 *
 * A commit that writes a record leaves a row that names the version it made and
 * the row of history of the step that wrote it last. The rows go with their
 * execution; what people change by hand is in the audit log.
 */
#ifndef PAWL_STORE_RECORD_CHANGES_H
#define PAWL_STORE_RECORD_CHANGES_H

#include "store/read.h"

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
