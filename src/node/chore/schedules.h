/* schedules.h - starts by schedules. Internal to src/node. */
#ifndef PAWL_NODE_CHORE_SCHEDULES_H
#define PAWL_NODE_CHORE_SCHEDULES_H

#include "node/request.h"

/* The input of a start by a schedule, as its trigger says. False: *err. */
bool schedules_input(struct node *n, struct node_request *r, const struct program *p,
                     struct value *out, struct err *err) MUST_USE;

#endif
