/* executions_signal.h - what those share who hand signals to executions. */
#ifndef PAWL_API_EXECUTIONS_EXECUTIONS_SIGNAL_H
#define PAWL_API_EXECUTIONS_EXECUTIONS_SIGNAL_H

#include "api/call.h"

enum { SIGNAL_TYPE_LEN_MAX = 255 };

/* 202 with the id of what was received. */
void executions_answer_id(struct call *c, struct str id);

/* The same of a signal that a machine may not have judged yet. */
void executions_answer_received(struct call *c, const struct node_request *r);

/* Answers a request that is an EVENT_SIGNAL: see POST /executions/{id}/signal. */
void executions_signalled(struct node_request *r);

#endif
