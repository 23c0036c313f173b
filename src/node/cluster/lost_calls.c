/*
 * lost_calls.c - calls of nodes that are gone: see cluster.h.
 *
 * An attempt names the epoch of the node that makes it, and only that node ends it while the epoch
 * lives. When an epoch is over, each node wakes those of its executions that wait for a call: the
 * engine ends the attempts of that epoch and lets the others be. So it does with shards that it
 * gets. Nothing waits for the time of the call.
 *
 * why: decision 0497
 */
#include "node/cache/load.h"
#include "node/cluster/cluster.h"
#include "node/inner.h"
#include "node/wake.h"

enum { LOST_PAGE = 1000 };

/* An attempt may take an hour, and some seconds of grace. */
#define LOST_WINDOW_US (INT64_C(2) * 3600 * 1000000)

struct lost_load {
    struct load load; /* first: see load.h */
    struct shard_set shards;
    int64_t after_us, until_us;
    struct uuid after_id;
    struct dues dues;
};

static void lost_run(struct load *load, struct reader *reader)
{
    struct lost_load *l = (struct lost_load *)load;

    load->ok = read_calls_due(reader, &load->mem, &l->shards, l->after_us, l->after_id, l->until_us,
                              LOST_PAGE, &l->dues, &load->err);
}

void cluster_seek_lost_calls(struct node *n)
{
    n->cluster->wants_lost_calls = true;
    chore_hurry(&n->cluster->lost_calls, 0);
}

/* What was asked for meanwhile begins anew. */
static void lost_were_read(struct load *load)
{
    struct lost_load *l = (struct lost_load *)load;
    struct node *n = load->node;
    struct cluster *c = n->cluster;

    for (size_t i = 0; load->ok && i < l->dues.count; i++)
        if (cluster_owns(n, l->dues.items[i].id))
            timers_set_sooner(&n->wake->timers, l->dues.items[i].id, 0);
    if (load->ok && l->dues.is_cut) {
        c->lost_after_us = l->dues.items[l->dues.count - 1].wake_at_us;
        c->lost_after_id = l->dues.items[l->dues.count - 1].id;
        chore_rest(&c->lost_calls, 0);
    } else {
        c->lost_after_us = 0;
        c->wants_lost_calls |= !load->ok;
        chore_rest(&c->lost_calls, load->ok ? 0 : RETRY_SOON_US);
    }
    load_free(load);
}

static int64_t lost_in_us(const struct chore *c)
{
    const struct cluster *all = c->node->cluster;

    return all->wants_lost_calls || all->lost_after_us > 0 ? chore_left_us(c) : INT64_MAX;
}

static void lost_read(struct chore *chore)
{
    struct node *n = chore->node;
    struct cluster *c = n->cluster;
    struct lost_load *l = LOAD_NEW(n, struct lost_load, lost_run, lost_were_read);

    if (c->wants_lost_calls) {
        c->wants_lost_calls = false;
        c->lost_after_us = 0;
        c->lost_after_id = (struct uuid){.bytes = {0}};
    }
    chore->is_busy = true;
    l->shards = c->owned;
    l->after_us = c->lost_after_us;
    l->after_id = c->lost_after_id;
    l->until_us = clock_wall_us(n->clock) + LOST_WINDOW_US;
    load_send(&l->load);
}

const struct chore_kind chore_lost_calls = {
    .needs = CHORE_NEEDS_RUNNING | CHORE_NEEDS_RECOVERY,
    .run = lost_read,
    .in_us = lost_in_us,
};
