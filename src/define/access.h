/*
 * access.h - roles, and the `access` of a definition: who may start, view and
 * operate its executions.
 *
 *     "access": {"start": ["operator", "group:finance"], "view": [...], "operate": [...]}
 */
#ifndef PAWL_DEFINE_ACCESS_H
#define PAWL_DEFINE_ACCESS_H

#include "value/value.h"

enum role {
#define ROLE(symbol, name, summary) ROLE_##symbol,
#include "define/roles.def"
#undef ROLE
    ROLE_COUNT
};

const char *role_name(enum role role);

/* False when there is no role of that name. */
bool role_find(struct str name, enum role *out) MUST_USE;

/* The role whose name is most like it, or NULL: for "did you mean". */
const char *role_nearest(struct str name);

/*
 * Whether `access`, the field of a definition or VALUE_ABSENT, lets someone of
 * this role and these groups (a list of texts) do `what`: "start", "view" or
 * "operate". What it does not mention is left to the role alone; what is there
 * and no list lets nobody in. It never shuts out administrators, who could
 * change it, nor the system itself.
 */
bool access_allows(struct value access, const char *what, struct str role, struct value groups);

#endif
