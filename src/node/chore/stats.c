/* stats.c - figures about a node; see node.h. */
#include "node/batch.h"
#include "node/cache/program.h"
#include "node/chore/retention.h"
#include "node/cluster/cluster.h"
#include "node/cluster/waiters.h"
#include "node/inner.h"
#include "node/node.h"
#include "node/outside/calls.h"
#include "node/outside/jobs.h"
#include "node/wake.h"

void node_stats(const struct node *n, struct node_stats *out)
{
    *out = (struct node_stats){
        .batches = n->batches->number,
        .batches_refused = n->batches->refused,
        .members_applied = n->batches->members_applied,
        .members_refused = n->batches->members_refused,
        .pending = n->pending,
        .waiting = n->waiters->count,
        .cached = n->entries->count,
        .cached_bytes = n->entries->bytes,
        .programs = n->programs->count,
        .program_bytes = n->programs->bytes,
        .programs_compiled = n->programs->compiled,
        .timers = n->wake->timers.count,
        .purged = retention_purged(n),
        .spared = retention_spared(n),
        .mailbox = mailbox_depth(n->done),
        .calls_in_flight = n->calls->total,
        .calls_queued = n->calls->queued,
        .workers_waiting = n->jobs->waiting,
    };
    cluster_stats(n, out);
    if (!folder_space(n->options.data_path, &out->data))
        out->data = (struct folder_space){0};
}

struct meters *node_meters(const struct node *n)
{
    return n->options.meters;
}

struct str node_own_name(const struct node *n)
{
    return n->store->name == NULL ? STR_NONE : str_of(n->store->name);
}
