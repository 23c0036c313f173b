/* commit_log.h - lines in the log about executions. Internal to src/node. */
#ifndef PAWL_NODE_COMMIT_LOG_H
#define PAWL_NODE_COMMIT_LOG_H

#include "node/request.h"

struct commit;

/* A line for what failed, is held or parked with this commit, which `r`, or NULL, led to. */
void commit_log(const struct commit *commit, const struct node_request *r,
                enum execution_status before);

/* The lines that its steps have logged. */
void commit_log_lines(struct arena *mem, const struct commit *commit);

#endif
