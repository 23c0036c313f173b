/*
 * peers.h - the nodes that share one database: who lives, who owns which shard, and what they
 * notify each other of. A store of one node (SQLite) has no peers and pays nothing for this.
 *
 * A node lives in epochs: a number that the database gives once, in a row of the table `epochs`.
 * The node adds 1 to its `beat` every 2 s. Who has seen the same beat for 10 s of its own clock,
 * while it could read, deletes the row; so does a node that stops, and one that starts in the
 * same data folder after a crash. A row that is missing is the only meaning of "over": every
 * batch holds the row of its own epoch when it commits, so nothing of an epoch that is over
 * becomes true, and no clock decides it.
 *
 *     row inserted --beats--> living --row deleted, by anyone--> over; a new epoch follows
 *
 * Every execution belongs to a shard, the last byte of its id. The owner of a shard fires its
 * timers. Shards of an epoch that is over are anybody's; one of a living node is given away by
 * its owner alone. Owning a shard is for not doing things twice: what makes a commit true is its
 * `row_version`, on every node.
 *
 * A thread with a connection of its own does all of it, so that a beat never waits for a batch.
 *
 * why: decisions 0461, 0462
 */
#ifndef PAWL_STORE_PEERS_H
#define PAWL_STORE_PEERS_H

#include "base/str.h"
#include "base/uuid.h"

struct peers;

/* --- shards --- */

enum { SHARD_COUNT = 256 };

struct shard_set {
    uint64_t bits[SHARD_COUNT / 64];
};

static inline unsigned shard_of(struct uuid id)
{
    return id.bytes[sizeof(id.bytes) - 1];
}

static inline bool shard_set_has(const struct shard_set *s, unsigned shard)
{
    return (s->bits[shard / 64] >> (shard % 64) & 1) != 0;
}

static inline void shard_set_add(struct shard_set *s, unsigned shard)
{
    s->bits[shard / 64] |= UINT64_C(1) << (shard % 64);
}

static inline void shard_set_remove(struct shard_set *s, unsigned shard)
{
    s->bits[shard / 64] &= ~(UINT64_C(1) << (shard % 64));
}

/* Add those of `more`. */
static inline void shard_set_join(struct shard_set *s, const struct shard_set *more)
{
    for (unsigned i = 0; i < SHARD_COUNT / 64; i++)
        s->bits[i] |= more->bits[i];
}

static inline struct shard_set shard_set_all(void)
{
    return (struct shard_set){.bits = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
}

static inline bool shard_set_is_empty(const struct shard_set *s)
{
    return (s->bits[0] | s->bits[1] | s->bits[2] | s->bits[3]) == 0;
}

unsigned shard_set_count(const struct shard_set *s);

/* --- what nodes notify each other of --- */

enum { NOTICE_IDS_MAX = 64, NOTICE_TYPES_BYTES = 1000 };

/* Some executions; `is_cut`: there were more than fit, so whoever hears of it looks for itself. */
struct notice_ids {
    struct uuid items[NOTICE_IDS_MAX];
    unsigned count;
    bool is_cut;
};

/*
 * What others are to hear; of fixed size, so that any number of them can be merged into one. It
 * only saves time: what is lost on the way is found by looking, a second later at most.
 */
struct peer_notice {
    struct shard_set shards; /* something was committed there that is due within a minute */
    struct notice_ids ended, awaited;
    char types[NOTICE_TYPES_BYTES]; /* of ready jobs: organisation, NUL, type, NUL, ... */
    size_t types_len;
    bool types_are_cut;
    bool definitions; /* definitions, config, subscriptions */
    bool access;      /* users, tokens, sessions */
};

void notice_add_id(struct notice_ids *ids, struct uuid id);
void notice_add_type(struct peer_notice *n, struct str org_id, struct str type);
void notice_merge(struct peer_notice *into, const struct peer_notice *more);
bool notice_is_empty(const struct peer_notice *n);

/* Let the others hear of it, soon; never waits. */
void peers_notify(struct peers *p, const struct peer_notice *notice);

/* --- what a node hears --- */

struct peer_news {
    bool shards_changed; /* `owned` may be others than before */
    struct shard_set owned;
    struct shard_set taken_over; /* of these, what nodes had that went without a word */
    struct peer_notice notice;
    bool is_to_drain; /* an operator has said so */
    bool epoch_ended; /* of another node: its calls are nobody's */
};

/* Readable while there is news; peers_take() takes it. */
int peers_fd(const struct peers *p);
void peers_take(struct peers *p, struct peer_news *out);

/* --- this node --- */

int64_t peers_epoch(const struct peers *p); /* that batches are committed under */

/*
 * Whether an epoch is over. One that is newer than all that were read may have begun since: it
 * lives. They become visible in the order of their numbers.
 */
bool peers_epoch_is_over(struct peers *p, int64_t epoch);

/*
 * Whether the node may send and fire: its last beat that succeeded was sent less than 8 s ago.
 * Else another node may believe it dead, or will.
 */
bool peers_may_act(const struct peers *p);

/* How long ago the last beat that succeeded was sent. */
int64_t peers_beat_age_us(const struct peers *p);

/* Others may live on the same database. */
unsigned peers_count(const struct peers *p);

/* What the list of nodes shows of this one; written with the next beat. */
struct peer_figures {
    int64_t executions; /* in memory */
    int64_t calls;      /* in flight */
    int64_t lag_ms;     /* of the loop */
};
void peers_report(struct peers *p, const struct peer_figures *figures);

/* The node stops: give its shards away, take none. It lives until the store is closed. */
void peers_drain(struct peers *p);

/* By how much the clock of this machine is ahead of the database's. */
int64_t peers_skew_us(const struct peers *p);

/*
 * What is to be taken off that clock, so that it is the database's: measured with each beat, and
 * changed when it is wrong by more than the measurement may be.
 */
int64_t peers_offset_us(const struct peers *p);

#endif
