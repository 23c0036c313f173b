/* access.c - see access.h. */
#include "define/access.h"

#include "base/names.h"
#include "base/text/nearest.h"

static const char *const names[] = {
#define ROLE(symbol, name, summary) name,
#include "define/roles.def"
#undef ROLE
};

NAMES_NAME(role_name, enum role, names)
NAMES_READ(role_find, enum role, names)

const char *role_nearest(struct str name)
{
    struct nearest n = nearest_to(name);

    for (unsigned i = 0; i < ROLE_COUNT; i++)
        nearest_offer(&n, str_of(names[i]));
    return n.best.len > 0 ? n.best.ptr : NULL;
}

bool access_allows(struct value access, const char *what, struct str role, struct value groups)
{
    struct value list = value_map_member(access, str_of(what));

    if (str_eq(role, str_of(names[ROLE_ADMIN])) || str_eq(role, str_of(names[ROLE_SYSTEM])))
        return true;
    if (access.kind == VALUE_ABSENT || access.kind == VALUE_NULL)
        return true;
    if (access.kind == VALUE_MAP && list.kind == VALUE_ABSENT)
        return true;
    if (list.kind != VALUE_LIST)
        return false;
    for (uint32_t i = 0; i < list.len; i++) {
        struct str who = value_text_or(list.items[i], STR_NONE);
        if (str_eq(who, role))
            return true;
        if (str_starts_with(who, STR("group:")) &&
            value_list_has_text(groups, str_slice(who, 6, who.len)))
            return true;
    }
    return false;
}
