/* measure.h - what durable commits, batches, calls and claims count for. Internal to src/node. */
#ifndef PAWL_NODE_CHORE_MEASURE_H
#define PAWL_NODE_CHORE_MEASURE_H

#include <stdint.h>

struct batch;
struct commit;
struct effect_call;
struct entry;
struct node;
struct stored_job;

/* A commit has become durable; before notify_commit(), which forgets what was before it. */
void measure_commit(struct node *n, const struct entry *e, const struct commit *commit);

/* Events for which no transition of the machine was open. */
void measure_not_allowed(struct node *n, const struct entry *e, uint32_t count);

void measure_batch(struct node *n, const struct batch *b,
                   int64_t sent_at_us);                             /* it has come back */
void measure_call(struct node *n, const struct effect_call *call);  /* it has come back */
void measure_claimed(struct node *n, const struct stored_job *job); /* a worker has it */

#endif
