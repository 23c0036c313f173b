/* audit.h - a line of the audit log. */
#ifndef PAWL_STORE_AUDIT_H
#define PAWL_STORE_AUDIT_H

#include "base/str.h"

/*
 * Who did what, written with the change itself. What executions do and are notified of
 * (starts, signals) stands in their own history and not here.
 */
struct audit {
    struct str user_id, user_name, org_id;
    struct str action;       /* "scenario.publish"; empty: nothing is written */
    struct str target;       /* what it was done to: a code, an id */
    struct str details_json; /* or empty */
    int64_t now_us;
};

#endif
