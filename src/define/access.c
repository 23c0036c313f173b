/* access.c - see access.h. */
#include "define/access.h"

#include "base/nearest.h"

static const char *const names[] = {
#define ROLE(symbol, name, summary) name,
#include "define/roles.def"
#undef ROLE
};

const char *role_name(enum role role)
{
    ASSERT(role < ROLE_COUNT);
    return names[role];
}

bool role_find(struct str name, enum role *out)
{
    for (unsigned i = 0; i < ROLE_COUNT; i++)
        if (str_eq(str_of(names[i]), name)) {
            *out = (enum role)i;
            return true;
        }
    return false;
}

const char *role_nearest(struct str name)
{
    struct nearest n = nearest_to(name);

    for (unsigned i = 0; i < ROLE_COUNT; i++)
        nearest_offer(&n, str_of(names[i]));
    return n.best.len > 0 ? n.best.ptr : NULL;
}

static bool is_in_group(struct str group, struct value groups)
{
    for (uint32_t i = 0; groups.kind == VALUE_LIST && i < groups.len; i++)
        if (groups.items[i].kind == VALUE_STRING && str_eq(value_text(groups.items[i]), group))
            return true;
    return false;
}

bool access_allows(struct value access, const char *what, struct str role, struct value groups)
{
    struct value list =
        access.kind == VALUE_MAP ? value_map_get_str(access, str_of(what)) : value_absent();

    if (str_eq(role, str_of(names[ROLE_ADMIN])) || str_eq(role, str_of(names[ROLE_SYSTEM])))
        return true;
    if (access.kind == VALUE_ABSENT || access.kind == VALUE_NULL)
        return true;
    if (access.kind == VALUE_MAP && list.kind == VALUE_ABSENT)
        return true;
    if (list.kind != VALUE_LIST)
        return false;
    for (uint32_t i = 0; i < list.len; i++) {
        struct str who = list.items[i].kind == VALUE_STRING ? value_text(list.items[i]) : STR_NONE;
        if (str_eq(who, role))
            return true;
        if (str_starts_with(who, STR("group:")) && is_in_group(str_slice(who, 6, who.len), groups))
            return true;
    }
    return false;
}
