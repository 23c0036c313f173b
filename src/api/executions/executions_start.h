/* executions_start.h - what those share who start executions. */
#ifndef PAWL_API_EXECUTIONS_EXECUTIONS_START_H
#define PAWL_API_EXECUTIONS_EXECUTIONS_START_H

#include "api/call.h"

/* Answers a request that starts an execution: see POST /executions. */
void executions_started(struct node_request *r);

#endif
