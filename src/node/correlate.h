/*
 * correlate.h - signals that come by correlation. Internal to src/node.
 *
 *     look (reader) --a wait--> its execution --takes it--> answered
 *      ^    |                        |
 *      |    +--none--> buffered      +--does not--> look behind that wait
 *      |                 |
 *      +--a later wait---+
 *
 * An id that was sent before is answered from what the store knows of it, at
 * the first look or, when both are in flight, by the store itself.
 */
#ifndef PAWL_NODE_CORRELATE_H
#define PAWL_NODE_CORRELATE_H

#include "engine/commit/reads.h"
#include "node/work.h"
#include "store/store.h"

/* Look for the next wait behind the one that was asked last: the work goes to its execution. */
void correlate(struct node *n, struct work *w);

/*
 * The execution has rejected the work. Whether it came by correlation and asks
 * the next wait: then it has left this one.
 */
bool correlate_goes_on(struct node *n, struct work *w, enum err_code why);

/* No wait takes it: the change that buffers it. */
struct change *correlate_buffer(struct node *n, struct work *w);

/* Its member was refused: whether it looks for a wait again. */
bool correlate_looks_again(struct node *n, struct work *w);

/* What is buffered for a correlation, for an execution of this access. */
bool correlate_load(struct reader *reader, struct arena *mem, const struct work *w,
                    struct str correlation, struct kept_read *out, struct err *err) MUST_USE;

#endif
