/*
 * expiry.c - signals that were buffered for too long are deleted, a few at a
 * time, and so is what is known of those that were delivered. See chore.h.
 */
#include "base/log.h"
#include "node/cache/load.h"
#include "node/chore/chore.h"
#include "node/inner.h"
#include "store/change_signal.h"

enum { SIGNALS_MAX = 500 }; /* of each kind, in one member */

#define LOOK_EVERY_US INT64_C(60000000)
#define PAUSE_US INT64_C(100000)

struct expiry {
    struct chore chore; /* first: see chore.h */
    struct signal_purge purge;
};

static void signals_purged(struct node_request *r)
{
    struct expiry *e = r->owner;

    if (!r->ok)
        log_write(LOG_WARN, "expired signals cannot be deleted",
                  LOG_FIELDS(log_str("reason", str_of(r->err.message))));
    chore_rest(&e->chore, r->ok && e->purge.purged >= SIGNALS_MAX ? PAUSE_US : LOOK_EVERY_US);
    arena_reset(&e->chore.mem);
}

struct expired_load {
    struct load load; /* first: see load.h */
    struct expiry *expiry;
    int64_t now_us;
    bool found;
};

static void expired_run(struct load *load, struct reader *reader)
{
    struct expired_load *l = (struct expired_load *)load;

    load->ok = read_expired(reader, l->now_us, &l->found, &load->err);
}

static void expired_done(struct load *load)
{
    struct expired_load *l = (struct expired_load *)load;
    struct expiry *e = l->expiry;
    struct err err;

    e->purge = (struct signal_purge){.change = {.apply = signal_purge_apply}, .limit = SIGNALS_MAX};
    if (!load->ok || !l->found || !chore_change(&e->chore, &e->purge.change, signals_purged, &err))
        chore_rest(&e->chore, LOOK_EVERY_US);
    load_free(load);
}

static void expiry_run(struct chore *c)
{
    struct expired_load *l = LOAD_NEW(c->node, struct expired_load, expired_run, expired_done);

    c->is_busy = true;
    l->expiry = (struct expiry *)c;
    l->now_us = clock_wall_us(c->node->clock);
    load_send(&l->load);
}

const struct chore_kind chore_expiry = {
    .needs = CHORE_NEEDS_RUNNING | CHORE_NEEDS_RECOVERY | CHORE_IS_DUTY,
    .size = sizeof(struct expiry),
    .run = expiry_run,
};
