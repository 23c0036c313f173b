/*
 * peer.h - the thread that lives for a node among its peers: see store/peers.h.
 *
 *     every 2 s    a beat: 1 is added in the row of this epoch
 *     twice a second, or when a notice says that shards have moved: the epochs of all are read,
 *                  those that have been silent for too long ended, shards taken and given away
 *     at any time  notices sent and heard
 *
 * What it shares with the loop is under `lock`, or atomic; everything else is the thread's alone.
 */
#ifndef PAWL_STORE_PEER_PEER_H
#define PAWL_STORE_PEER_PEER_H

#include "base/arena.h"
#include "base/err.h"
#include "store/db/db.h"
#include "store/peers.h"

#include <pthread.h>
#include <stdatomic.h>

enum { PEERS_MAX = 256 };

/* A living epoch, as this node sees it. */
struct peer {
    int64_t epoch, beat;
    int64_t silent_us; /* for how long its beat was seen unchanged, while it could be read */
    char node[UUID_TEXT_LEN + 1];
    bool is_draining;
    unsigned shards; /* that it owns */
};

struct peers {
    struct db *db;
    struct arena mem; /* of one turn of the thread */
    char node[UUID_TEXT_LEN + 1];
    struct str version;
    char *file; /* of the data folder: which epoch it had last; NULL: there is no folder */
    bool owns_nothing;
    int64_t started_at_us;
    int64_t former; /* epoch of the process before, that could not be ended at the start; or 0 */

    _Atomic int64_t epoch;
    _Atomic int64_t beat_us;   /* CLOCK_BOOTTIME: when the last beat that succeeded was sent */
    _Atomic int64_t skew_us;   /* of the machine's clock, as it was measured last */
    _Atomic int64_t offset_us; /* what the node's time leaves out of it */
    _Atomic unsigned count;    /* of living nodes, this one included */

    pthread_t thread;
    int wake_fd, news_fd;
    pthread_mutex_t lock;
    struct peer_notice out; /* to be sent */
    struct peer_news news;
    struct peer_figures figures;
    bool is_closing, is_draining, is_hurried;
    int64_t living[PEERS_MAX]; /* epochs, upwards */
    unsigned living_count;

    /* the thread's */
    struct peer known[PEERS_MAX];
    unsigned known_count;
    struct shard_set owned;
    struct shard_set
        taken_over; /* of nodes that went without a word; the loop does not know it yet */
    int64_t next_beat_us, next_look_us, looked_us; /* CLOCK_BOOTTIME */
    int64_t cpu_us, cpu_at_us;                     /* of the process, at the last beat */
    bool is_lost;
};

int64_t peer_boot_us(void);

/* Open a connection, begin an epoch, take the shards that are free, start the thread. */
struct peers_options {
    struct str url, node, folder, version; /* `folder` may be empty */
    struct db_server *server;
    bool owns_nothing; /* nothing moves on this node */
};
struct peers *peers_open(const struct peers_options *options, struct err *err) MUST_USE;

/* Look soon: a batch was refused because the epoch is over. */
void peers_hurry(struct peers *p);

/* Give everything away and end the epoch. */
void peers_close(struct peers *p);

/* --- self.c --- */

int64_t peer_rss_bytes(void);
int64_t peer_cpu_percent(struct peers *p); /* of one processor, since the last beat */

/* What the machine's clock said before and after it asked the database's, and what that said. */
void peer_note_clock(struct peers *p, int64_t before_us, int64_t there_us, int64_t after_us);

/* --- shards.c --- */

/* Take what is free, give away what is more than a fair share; the epochs are known. */
enum db_status peer_move_shards(struct peers *p, bool is_draining, bool *moved);

/* --- peers.c --- */

/* Say to the loop which shards it owns. */
void peer_publish_owned(struct peers *p, const struct shard_set *owned);

#endif
