/* jobs.h - what jobs say of the executions that wait for them. */
#ifndef PAWL_API_PEOPLE_JOBS_H
#define PAWL_API_PEOPLE_JOBS_H

#include "api/lookup.h"

struct stored_execution;

/*
 * An execution that waits for a job: waitingFor says why it is not done, whether
 * a worker has it or when one last asked. Run on a reader thread.
 */
bool jobs_explain(struct lookup *q, struct reader *reader, struct stored_execution *x,
                  struct err *err) MUST_USE;

#endif
