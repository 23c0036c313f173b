/* org.h - the organisation and the user that every store has. */
#ifndef PAWL_STORE_ORG_H
#define PAWL_STORE_ORG_H

#include "base/str.h"

/* Made with the tables. */
#define ORG_DEFAULT STR("00000000-0000-7000-8000-000000000001")
#define USER_ADMIN STR("00000000-0000-7000-8000-000000000002")

/* The organisation that a row belongs to: the default one where none is named. */
static inline struct str record_org(struct str org_id)
{
    return org_id.len > 0 ? org_id : ORG_DEFAULT;
}

#endif
