/*
 * planner.h - calls about tasks and what is around them.
 *
 * A change is a row of planner.def: the fields of its body and the function of
 * the store that applies it. Everything else is the same for all of them.
 */
#ifndef PAWL_API_PEOPLE_PLANNER_H
#define PAWL_API_PEOPLE_PLANNER_H

#include "api/call.h"
#include "store/planner.h"

/* The caller as a person of the planner; skills are read from the store. */
struct planner_person planner_actor(const struct call *c);

#endif
