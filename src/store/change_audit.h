/*
 * change_audit.h - deleting lines of the audit log that are older than they are kept for.
 */
#ifndef PAWL_STORE_CHANGE_AUDIT_H
#define PAWL_STORE_CHANGE_AUDIT_H

#include "store/change.h"

/* Delete the oldest lines, `limit` at most, of those before `before_us`. Never refused. */
struct audit_purge {
    struct change change; /* .apply = audit_purge_apply */
    int64_t before_us;
    int64_t limit;
    int64_t purged; /* out */
};

enum apply_result audit_purge_apply(struct apply *a, struct member *m, enum db_status *status);

#endif
