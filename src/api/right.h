/*
 * right.h - which roles may call which routes; the table is rights.def.
 *
 * why: decision 0045
 */
#ifndef PAWL_API_RIGHT_H
#define PAWL_API_RIGHT_H

#include "define/access.h"

enum right {
#define RIGHT(symbol, roles) RIGHT_##symbol,
#include "api/rights.def"
#undef RIGHT
    RIGHT_COUNT
};

/* Whether someone of this role has the right. Nobody needs RIGHT_OPEN. */
bool right_has(enum right right, enum role role);

/* Whether members of the default organisation alone have the right. */
bool right_is_of_default_org(enum right right);

/* What the API calls it, as rights.def does, in small letters: "planner_lead". In `mem`. */
struct str right_name(struct arena *mem, enum right right);

/* The roles that have it, for people: "admin, operator". In `mem`. */
struct str right_roles(struct arena *mem, enum right right);

#endif
