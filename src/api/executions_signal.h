/* executions_signal.h - what those share who hand signals to executions. */
#ifndef PAWL_API_EXECUTIONS_SIGNAL_H
#define PAWL_API_EXECUTIONS_SIGNAL_H

#include "api/call.h"

enum { SIGNAL_TYPE_LEN_MAX = 255 };

/* Answers a request of kind NODE_SIGNAL: see POST /executions/{id}/signal. */
void executions_signalled(struct node_request *r);

#endif
