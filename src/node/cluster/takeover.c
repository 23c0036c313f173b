/*
 * takeover.c - shards of nodes that went without a word: see cluster.h.
 *
 * Such a node may have ended because of an execution, and its poison file is in its data folder:
 * what was ready in its shards gets one crash more before anything there is advanced. Otherwise
 * one execution would end node after node. Some shards are counted at a time, page by page; the
 * node owns them when that is durable.
 *
 *     granted --taken over--> uncounted --counted--> owned
 *        +-------------- given ---------------------> owned
 *
 * why: decision 0552
 */
#include "base/log.h"
#include "node/cluster/cluster.h"
#include "node/inner.h"
#include "node/wake.h"

enum { SHARDS_AT_ONCE = 16 };

/* The next ones that are not counted. */
static void count_begin(struct cluster *c, int64_t now_us)
{
    unsigned count = 0;

    c->count = (struct takeover_count){
        .change = {.apply = takeover_count_apply, .announces = "dead_letter."}, .until_us = now_us};
    for (unsigned shard = 0; shard < SHARD_COUNT && count < SHARDS_AT_ONCE; shard++)
        if (shard_set_has(&c->uncounted, shard)) {
            shard_set_add(&c->count.shards, shard);
            count++;
        }
    c->is_counting = true;
}

static void takeover_counted(struct node_request *r)
{
    struct node *n = ((struct chore *)r->owner)->node;
    struct cluster *c = n->cluster;

    if (!r->ok) {
        chore_rest(&c->takeover, RETRY_SOON_US);
        return;
    }
    if (c->count.counted > 0)
        log_write(LOG_WARN, "what was ready at a node that has gone is held against a crash",
                  LOG_FIELDS(log_int("executions", c->count.counted)));
    c->count.after_us = c->count.last_us;
    c->count.after_row = c->count.last_row;
    chore_rest(&c->takeover, 0);
    if (c->count.looked_at == TAKEOVER_PAGE)
        return;
    c->is_counting = false;
    for (unsigned i = 0; i < ARRAY_SIZE(c->uncounted.bits); i++)
        c->uncounted.bits[i] &= ~c->count.shards.bits[i];
    cluster_own_counted(n);
}

static int64_t takeover_in_us(const struct chore *chore)
{
    return shard_set_is_empty(&chore->node->cluster->uncounted) ? INT64_MAX : chore_left_us(chore);
}

static void takeover_run(struct chore *chore)
{
    struct cluster *c = chore->node->cluster;
    struct err err;

    if (shard_set_is_empty(&c->uncounted))
        return;
    if (!c->is_counting)
        count_begin(c, clock_wall_us(chore->node->clock));
    if (!chore_change(chore, &c->count.change, takeover_counted, &err))
        chore_rest(chore, RETRY_SOON_US);
}

const struct chore_kind chore_takeover = {
    .needs = CHORE_NEEDS_RUNNING,
    .run = takeover_run,
    .in_us = takeover_in_us,
};
