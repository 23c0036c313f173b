/* cluster.c - see cluster.h. */
#include "node/cluster/cluster.h"

#include "node/cache/entry.h"
#include "node/cache/load.h"
#include "node/cluster/config.h"
#include "node/cluster/waiters.h"
#include "node/inner.h"
#include "node/outside/calls.h"
#include "node/outside/jobs.h"
#include "node/wake.h"

#define AWAITED_KEPT_US INT64_C(60000000)
#define LOOK_REST_US INT64_C(2000)
enum { AWAITED_MAX = 20000, CLUSTER_PAGE = 1000 };

/* --- ownership --- */

bool cluster_owns(const struct node *n, struct uuid id)
{
    return shard_set_has(&n->cluster->owned, shard_of(id));
}

bool cluster_may_act(const struct node *n)
{
    return n->cluster->peers == NULL || peers_may_act(n->cluster->peers);
}

bool cluster_has_duty(const struct node *n, enum chore_id duty)
{
    enum { SPREAD = 97 }; /* duties in a row of the table are of shards that are apart */

    return shard_set_has(&n->cluster->owned, (unsigned)duty * SPREAD % SHARD_COUNT) &&
           cluster_may_act(n);
}

int64_t cluster_epoch(const struct node *n)
{
    return n->cluster->peers != NULL ? peers_epoch(n->cluster->peers) : 0;
}

bool cluster_epoch_is_over(const struct node *n, int64_t epoch)
{
    return peers_epoch_is_over(n->cluster->peers, epoch);
}

static bool has_others(const struct node *n)
{
    return n->cluster->peers != NULL && peers_count(n->cluster->peers) > 1;
}

/* The nth shard that is owned; of none, the first of all. */
static unsigned owned_shard(const struct shard_set *owned, unsigned nth)
{
    unsigned found = 0;

    for (unsigned shard = 0; shard < SHARD_COUNT; shard++)
        if (shard_set_has(owned, shard)) {
            found = shard;
            if (nth-- == 0)
                break;
        }
    return found;
}

struct uuid cluster_new_id(struct node *n)
{
    int64_t now_ms = clock_wall_us(n->clock) / 1000;
    struct uuid id = uuid_gen_next(&n->ids, now_ms);
    const struct shard_set *owned = &n->cluster->owned;
    unsigned count;

    if (cluster_owns(n, id) || shard_set_is_empty(owned))
        return id;
    count = shard_set_count(owned);
    return uuid_gen_next_ending(&n->ids, now_ms,
                                (uint8_t)owned_shard(owned, shard_of(id) * count / SHARD_COUNT));
}

static bool is_not_owned(void *context, struct uuid id)
{
    return !cluster_owns(context, id);
}

static void cluster_own(struct node *n, const struct shard_set *owned)
{
    struct cluster *c = n->cluster;
    struct shard_set before = c->owned;
    uint64_t gained = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(owned->bits); i++)
        gained |= owned->bits[i] & ~before.bits[i];
    c->owned = *owned;
    c->changes++;
    timers_remove_if(&n->wake->timers, is_not_owned, n);
    if (gained == 0)
        return;
    wake_read_again(n);
    cluster_seek_lost_calls(n);
}

void cluster_own_counted(struct node *n)
{
    struct cluster *c = n->cluster;
    struct shard_set owned = c->granted;

    for (unsigned i = 0; i < ARRAY_SIZE(owned.bits); i++)
        owned.bits[i] &= ~c->uncounted.bits[i];
    cluster_own(n, &owned);
}

/* What this node has from now on. */
static void cluster_grant(struct node *n, const struct peer_news *news)
{
    struct cluster *c = n->cluster;

    c->granted = news->owned;
    shard_set_join(&c->uncounted, &news->taken_over);
    for (unsigned i = 0; i < ARRAY_SIZE(c->uncounted.bits); i++)
        c->uncounted.bits[i] &= c->granted.bits[i];
    cluster_own_counted(n);
    if (!shard_set_is_empty(&c->uncounted))
        chore_hurry(&c->takeover, 0);
}

/* --- what others are to hear --- */

static struct str awaited_key(const struct uuid *id)
{
    return str_from((const char *)id->bytes, sizeof(id->bytes));
}

/* Ids that nobody has asked for again in a minute are forgotten. */
static void awaited_turn(struct node *n)
{
    struct cluster *c = n->cluster;
    int64_t now_us = clock_mono_us(n->clock);

    if (now_us < c->awaited_until_us)
        return;
    arena_fini(&c->awaited_mem[1]);
    c->awaited_mem[1] = c->awaited_mem[0];
    c->awaited[1] = c->awaited[0];
    c->awaited[1].mem = &c->awaited_mem[1];
    arena_init(&c->awaited_mem[0]);
    map_init(&c->awaited[0], &c->awaited_mem[0]);
    c->awaited_until_us = now_us + AWAITED_KEPT_US;
}

static void awaited_add(struct node *n, struct uuid id)
{
    struct cluster *c = n->cluster;
    struct uuid *kept;

    awaited_turn(n);
    if (map_find(&c->awaited[0], awaited_key(&id)) != NULL)
        return;
    if (c->awaited[0].count >= AWAITED_MAX) {
        c->all_until_us = clock_mono_us(n->clock) + AWAITED_KEPT_US;
        return;
    }
    kept = ARENA_NEW(&c->awaited_mem[0], struct uuid);
    *kept = id;
    map_put(&c->awaited[0], awaited_key(kept), kept);
}

static bool is_awaited_elsewhere(struct node *n, struct uuid id)
{
    struct cluster *c = n->cluster;

    awaited_turn(n);
    return clock_mono_us(n->clock) < c->all_until_us ||
           map_find(&c->awaited[0], awaited_key(&id)) != NULL ||
           map_find(&c->awaited[1], awaited_key(&id)) != NULL;
}

void cluster_note_due(struct node *n, struct uuid id)
{
    if (has_others(n))
        shard_set_add(&n->cluster->out.shards, shard_of(id));
}

void cluster_note_ended(struct node *n, struct uuid id)
{
    if (has_others(n) && (!cluster_owns(n, id) || is_awaited_elsewhere(n, id)))
        notice_add_id(&n->cluster->out.ended, id);
}

void cluster_note_awaited(struct node *n, struct uuid id)
{
    if (has_others(n) && !cluster_owns(n, id))
        notice_add_id(&n->cluster->out.awaited, id);
}

void cluster_note_job(struct node *n, struct str org_id, struct str type)
{
    if (has_others(n))
        notice_add_type(&n->cluster->out, org_id, type);
}

void cluster_note_definitions(struct node *n)
{
    n->cluster->out.definitions = has_others(n);
}

void node_access_changed(struct node *n)
{
    n->cluster->out.access = has_others(n);
}

void node_on_access_change(struct node *n, void (*changed)(void *context), void *context)
{
    n->cluster->access_changed = changed;
    n->cluster->access_context = context;
}

void cluster_notify(struct node *n)
{
    struct cluster *c = n->cluster;

    if (c->peers == NULL || notice_is_empty(&c->out))
        return;
    peers_notify(c->peers, &c->out);
    c->out = (struct peer_notice){0};
}

void cluster_drain(struct node *n)
{
    if (n->cluster->peers != NULL)
        peers_drain(n->cluster->peers);
}

/* --- what is heard --- */

static void hear_shards(struct node *n, const struct shard_set *shards)
{
    struct cluster *c = n->cluster;

    for (unsigned i = 0; i < ARRAY_SIZE(shards->bits); i++)
        c->to_look.bits[i] |= shards->bits[i] & c->owned.bits[i];
    if (shard_set_is_empty(&c->to_look))
        return;
    chore_hurry(&c->look, 0);
    chore_hurry(&n->wake->events, 0);
}

static void hear_jobs(struct node *n, const struct peer_notice *notice)
{
    for (size_t i = 0; i < notice->types_len;) {
        struct str org_id = str_of(notice->types + i);
        struct str type = str_of(notice->types + i + org_id.len + 1);

        jobs_heard(n, org_id, type);
        i += org_id.len + type.len + 2;
    }
    if (notice->types_are_cut)
        chore_hurry(&n->jobs->look_for_types, 0);
}

static void hear_notice(struct node *n, const struct peer_notice *notice)
{
    struct cluster *c = n->cluster;

    hear_shards(n, &notice->shards);
    for (unsigned i = 0; i < notice->ended.count; i++)
        waiters_heard(n, notice->ended.items[i]);
    if (notice->ended.is_cut)
        chore_hurry(&n->waiters->look, 0);
    for (unsigned i = 0; i < notice->awaited.count; i++)
        awaited_add(n, notice->awaited.items[i]);
    if (notice->awaited.is_cut)
        c->all_until_us = clock_mono_us(n->clock) + AWAITED_KEPT_US;
    hear_jobs(n, notice);
    if (notice->definitions)
        chore_hurry(&n->config->chore, 0);
    if (notice->access && c->access_changed != NULL)
        c->access_changed(c->access_context);
}

static void cluster_hear(void *context)
{
    struct node *n = context;
    struct peer_news news;

    peers_take(n->cluster->peers, &news);
    if (news.shards_changed)
        cluster_grant(n, &news);
    if (news.epoch_ended)
        cluster_seek_lost_calls(n);
    hear_notice(n, &news.notice);
    if (news.is_to_drain && !n->stop_requested)
        node_stop(n);
}

/* --- what is due in shards that others have written to --- */

struct shards_load {
    struct load load; /* first: see load.h */
    struct shard_set shards;
    int64_t after_us, until_us;
    struct uuid after_id;
    struct dues dues;
};

static void shards_load_run(struct load *load, struct reader *reader)
{
    struct shards_load *l = (struct shards_load *)load;

    load->ok = read_due(reader, &load->mem, &l->shards, l->after_us, l->after_id, l->until_us,
                        CLUSTER_PAGE, &l->dues, &load->err);
}

static void shards_were_read(struct load *load)
{
    struct shards_load *l = (struct shards_load *)load;
    struct node *n = load->node;
    struct cluster *c = n->cluster;
    bool has_more = load->ok && l->dues.is_cut;

    for (size_t i = 0; load->ok && i < l->dues.count; i++)
        if (cluster_owns(n, l->dues.items[i].id))
            timers_set_sooner(&n->wake->timers, l->dues.items[i].id, l->dues.items[i].wake_at_us);
    c->look_after_us = has_more ? l->dues.items[l->dues.count - 1].wake_at_us : 0;
    c->look_after_id = has_more ? l->dues.items[l->dues.count - 1].id : (struct uuid){.bytes = {0}};
    if (!has_more)
        c->looking = (struct shard_set){.bits = {0}};
    /* What could not be read is found by the look of every second. */
    chore_rest(&c->look, load->ok ? LOOK_REST_US : RETRY_SOON_US);
    load_free(load);
}

static int64_t cluster_look_in_us(const struct chore *c)
{
    const struct cluster *all = c->node->cluster;

    return shard_set_is_empty(&all->to_look) && shard_set_is_empty(&all->looking)
               ? INT64_MAX
               : chore_left_us(c);
}

static void cluster_look(struct chore *chore)
{
    struct node *n = chore->node;
    struct cluster *c = n->cluster;
    struct shards_load *l = LOAD_NEW(n, struct shards_load, shards_load_run, shards_were_read);

    if (shard_set_is_empty(&c->looking)) {
        c->looking = c->to_look;
        c->to_look = (struct shard_set){.bits = {0}};
    }
    chore->is_busy = true;
    l->shards = c->looking;
    l->after_us = c->look_after_us;
    l->after_id = c->look_after_id;
    l->until_us = clock_wall_us(n->clock) + TIMER_WINDOW_US;
    load_send(&l->load);
}

const struct chore_kind chore_shards = {
    .needs = CHORE_NEEDS_RUNNING | CHORE_NEEDS_RECOVERY,
    .run = cluster_look,
    .in_us = cluster_look_in_us,
};

/* --- what this node says of itself --- */

#define REPORT_EVERY_US INT64_C(1000000)

static void report_run(struct chore *c)
{
    struct node *n = c->node;
    int64_t late_us = clock_mono_us(n->clock) - c->next_us;

    atomic_store(&n->cluster->clock.offset_us, peers_offset_us(n->cluster->peers));
    peers_report(n->cluster->peers,
                 &(struct peer_figures){.executions = (int64_t)n->entries->count,
                                        .calls = (int64_t)n->calls->total,
                                        .lag_ms = c->next_us > 0 ? late_us / 1000 : 0});
    chore_rest(c, REPORT_EVERY_US);
}

const struct chore_kind chore_report = {
    .needs = CHORE_MOVES_NOTHING,
    .size = sizeof(struct chore),
    .run = report_run,
};

void cluster_stats(const struct node *n, struct node_stats *out)
{
    const struct cluster *c = n->cluster;

    out->nodes = c->peers != NULL ? peers_count(c->peers) : 1;
    out->shards = shard_set_count(&c->owned);
    out->beat_age_us = c->peers != NULL ? peers_beat_age_us(c->peers) : 0;
    out->skew_us = c->peers != NULL ? peers_skew_us(c->peers) : 0;
}

/* --- the time --- */

static int64_t shared_wall_us(const struct clock *clock)
{
    const struct shared_clock *c = (const struct shared_clock *)clock;

    return clock_wall_us(c->machine) - atomic_load_explicit(&c->offset_us, memory_order_relaxed);
}

static int64_t shared_mono_us(const struct clock *clock)
{
    return clock_mono_us(((const struct shared_clock *)clock)->machine);
}

/* From now on the node's time is the database's. */
static void cluster_share_clock(struct node *n)
{
    struct shared_clock *c = &n->cluster->clock;

    c->clock = (struct clock){.wall_us = shared_wall_us, .mono_us = shared_mono_us};
    c->machine = n->clock;
    atomic_store(&c->offset_us, peers_offset_us(n->cluster->peers));
    n->clock = &c->clock;
}

/* --- opening --- */

void cluster_init(struct node *n)
{
    struct cluster *c = n->cluster;

    c->owned = shard_set_all();
    for (unsigned i = 0; i < ARRAY_SIZE(c->awaited); i++) {
        arena_init(&c->awaited_mem[i]);
        map_init(&c->awaited[i], &c->awaited_mem[i]);
    }
}

bool cluster_open(struct node *n, struct err *err)
{
    struct cluster *c = n->cluster;
    struct peer_news news;

    c->peers = n->store->peers;
    if (c->peers == NULL)
        return true;
    cluster_share_clock(n);
    peers_take(c->peers, &news);
    c->owned = c->granted = news.owned;
    c->uncounted = news.taken_over;
    for (unsigned i = 0; i < ARRAY_SIZE(c->owned.bits); i++)
        c->owned.bits[i] &= ~c->uncounted.bits[i];
    c->wants_lost_calls = true;
    return node_watch(n, peers_fd(c->peers), cluster_hear, n, err);
}

void cluster_close(struct node *n)
{
    for (unsigned i = 0; i < ARRAY_SIZE(n->cluster->awaited_mem); i++)
        arena_fini(&n->cluster->awaited_mem[i]);
}
