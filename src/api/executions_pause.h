/* executions_pause.h - what pausing one execution and many share. */
#ifndef PAWL_API_EXECUTIONS_PAUSE_H
#define PAWL_API_EXECUTIONS_PAUSE_H

#include "api/call.h"

/* Whether this can be the reason of a pause, or empty; else the call is refused. */
bool pause_check(struct call *c, struct str reason) MUST_USE;

/* Say for the audit log what a NODE_PAUSE or NODE_RESUME does; `id` lives in r->mem. */
void pause_audit(struct call *c, struct node_request *r, struct str id);

#endif
