/* read_audit.h - the audit log: who did what. See read.h. */
#ifndef PAWL_STORE_READ_AUDIT_H
#define PAWL_STORE_READ_AUDIT_H

#include "store/read.h"

struct audit_filter {
    struct str user_id, action, target, org_id; /* empty = any */
    int64_t from_us, to_us;                     /* 0 = open */
    struct str cursor;                          /* opaque, of the page before */
    int64_t limit;
};

struct stored_audit {
    struct str id;      /* for people */
    int64_t row, at_us; /* row is 0 of what is in another table */
    struct str user_id, user_name, action, target, details_json;
};

struct stored_audits {
    VEC_OF(struct stored_audit);
};

/* A page of who did what, newest first; *next is the cursor or empty. */
bool read_audit(struct reader *r, struct arena *mem, const struct audit_filter *filter,
                struct stored_audits *out, struct str *next, struct err *err) MUST_USE;

#endif
