/* stats.c - figures about a node; see node.h. */
#include "node/inner.h"

void node_stats(const struct node *n, struct node_stats *out)
{
    *out = (struct node_stats){
        .batches = n->batch_number,
        .batches_refused = n->batches_refused,
        .members_applied = n->members_applied,
        .members_refused = n->members_refused,
        .pending = n->pending,
        .waiting = n->waiting,
        .cached = n->entry_count,
        .cached_bytes = n->entry_bytes,
        .programs = n->programs.count,
        .program_bytes = n->programs.bytes,
        .timers = n->timers.count,
        .purged = retention_purged(n),
        .mailbox = mailbox_depth(n->done),
        .calls_under_way = n->calls.total,
        .calls_queued = n->calls.queued,
        .workers_waiting = n->jobs.waiting,
    };
}

struct meters *node_meters(const struct node *n)
{
    return n->options.meters;
}

struct str node_own_name(const struct node *n)
{
    return n->store->name == NULL ? STR_NONE : str_of(n->store->name);
}
