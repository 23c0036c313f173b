/*
 * shards.c - which node owns which shard; see peer.h.
 *
 * Everyone computes the same from the same rows: what each living node should have, who has more
 * and who has less. Only the owner acts upon it, so no shard of a living node is taken from it.
 */
#include "base/buf.h"
#include "base/log.h"
#include "store/peer/peer.h"

/* The rows of the table: the epoch that owns each shard. */
struct shard_owners {
    int64_t epochs[SHARD_COUNT];
};

static enum db_status owners_read(struct peers *p, struct shard_owners *out)
{
    enum db_status status = db_run(p->db, SQL_SHARDS_READ, DB_NO_PARAMS);

    *out = (struct shard_owners){0};
    for (; status == DB_ROW; status = db_next(p->db, SQL_SHARDS_READ)) {
        int64_t shard = db_column_int(p->db, SQL_SHARDS_READ, 0);

        if (shard >= 0 && shard < SHARD_COUNT)
            out->epochs[shard] = db_column_int(p->db, SQL_SHARDS_READ, 1);
    }
    db_end(p->db, SQL_SHARDS_READ);
    return status;
}

static struct peer *peer_find(struct peers *p, int64_t epoch)
{
    for (unsigned i = 0; i < p->known_count; i++)
        if (p->known[i].epoch == epoch)
            return &p->known[i];
    return NULL;
}

/* Count what each one owns; answers how many shards are of an epoch that is over. */
static unsigned owners_count(struct peers *p, const struct shard_owners *owners)
{
    unsigned orphans = 0;

    for (unsigned i = 0; i < p->known_count; i++)
        p->known[i].shards = 0;
    for (unsigned shard = 0; shard < SHARD_COUNT; shard++) {
        struct peer *owner = peer_find(p, owners->epochs[shard]);

        if (owner != NULL)
            owner->shards++;
        else
            orphans++;
    }
    return orphans;
}

/* How many the i-th of the known should have: the first ones have what does not divide. */
static unsigned fair_share(const struct peers *p, unsigned i)
{
    unsigned takers = 0, before = 0;

    for (unsigned k = 0; k < p->known_count; k++) {
        takers += !p->known[k].is_draining;
        before += k < i && !p->known[k].is_draining;
    }
    if (takers == 0 || p->known[i].is_draining)
        return 0;
    return SHARD_COUNT / takers + (before < SHARD_COUNT % takers);
}

static enum db_status shards_take(struct peers *p, unsigned own, bool *moved)
{
    unsigned share = fair_share(p, own), has = p->known[own].shards;
    enum db_status status;

    if (has >= share)
        return DB_DONE;
    status = db_run(
        p->db, SQL_SHARDS_TAKE,
        DB_PARAMS(db_text(str_of(p->node)), db_int(p->known[own].epoch), db_int(share - has)));
    for (; status == DB_ROW; status = db_next(p->db, SQL_SHARDS_TAKE)) {
        int64_t shard = db_column_int(p->db, SQL_SHARDS_TAKE, 0);

        *moved = true;
        if (shard >= 0 && shard < SHARD_COUNT && db_column_int(p->db, SQL_SHARDS_TAKE, 1) != 0)
            shard_set_add(&p->taken_over, (unsigned)shard);
    }
    db_end(p->db, SQL_SHARDS_TAKE);
    return status;
}

/* Give the first `count` of what is owned to `to`; the loop lets go of them before that is written. */
static enum db_status shards_give(struct peers *p, struct shard_owners *owners, unsigned count,
                                  int64_t own_epoch, const struct peer *to)
{
    struct shard_set left = {0};
    struct buf list;

    buf_init_arena(&list, &p->mem);
    buf_char(&list, '{');
    for (unsigned shard = 0; shard < SHARD_COUNT; shard++) {
        if (owners->epochs[shard] != own_epoch)
            continue;
        if (count == 0) {
            shard_set_add(&left, shard);
            continue;
        }
        buf_printf(&list, "%s%u", list.len > 1 ? "," : "", shard);
        owners->epochs[shard] = to->epoch;
        count--;
    }
    buf_char(&list, '}');
    peer_publish_owned(p, &left);
    return db_exec(p->db, SQL_SHARDS_GIVE,
                   DB_PARAMS(db_text(str_of(to->node)), db_int(to->epoch), db_int(own_epoch),
                             db_text(buf_view(&list))));
}

static unsigned surplus(const struct peers *p, unsigned i)
{
    unsigned share = fair_share(p, i);

    return p->known[i].shards > share ? p->known[i].shards - share : 0;
}

/*
 * What all have too much is one row of shards, in the order of their epochs, and what others lack
 * is another: the part of this node's lies opposite those that it gives to.
 */
static enum db_status shards_spread(struct peers *p, unsigned own, struct shard_owners *owners,
                                    bool *moved)
{
    unsigned from = 0, to, at = 0;
    enum db_status status = DB_DONE;

    for (unsigned i = 0; i < own; i++)
        from += surplus(p, i);
    to = from + surplus(p, own);
    for (unsigned i = 0; i < p->known_count && status == DB_DONE && from < to; i++) {
        unsigned share = fair_share(p, i), has = p->known[i].shards;
        unsigned end = at + (has < share ? share - has : 0);
        unsigned count = end > from ? (end < to ? end : to) - from : 0;

        if (count > 0) {
            status = shards_give(p, owners, count, p->known[own].epoch, &p->known[i]);
            from += count;
            *moved = true;
        }
        at = end;
    }
    return status;
}

enum db_status peer_move_shards(struct peers *p, bool is_draining, bool *moved)
{
    const struct peer *self = peer_find(p, atomic_load(&p->epoch));
    struct shard_owners owners;
    struct shard_set owned = {0};
    enum db_status status;
    unsigned own;

    if (self == NULL)
        return DB_DONE; /* the next look finds it, or takes a new epoch */
    own = (unsigned)(self - p->known);
    p->known[own].is_draining = is_draining || p->owns_nothing;
    status = owners_read(p, &owners);
    if (status == DB_DONE && owners_count(p, &owners) > 0)
        status = shards_take(p, own, moved);
    else if (status == DB_DONE)
        status = shards_spread(p, own, &owners, moved);
    if (status != DB_DONE)
        return status;
    if (*moved)
        status = owners_read(p, &owners);
    for (unsigned shard = 0; shard < SHARD_COUNT; shard++)
        if (owners.epochs[shard] == self->epoch)
            shard_set_add(&owned, shard);
    if (status == DB_DONE)
        peer_publish_owned(p, &owned);
    return status;
}
