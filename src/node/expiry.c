/*
 * expiry.c - signals that were kept for too long are deleted, a few at a time,
 * and so is what is known of those that were delivered. See inner.h.
 */
#include "node/inner.h"

#include "base/log.h"
#include "store/change_signal.h"

enum { PURGE_MAX = 500 }; /* of each kind, in one member */

#define LOOK_EVERY_US INT64_C(60000000)
#define PAUSE_US INT64_C(100000)

struct expiry {
    struct node *node;
    int64_t next_us; /* monotonic; when to look */
    bool is_busy;    /* a read or a request is under way */
    struct arena mem;
    struct signal_purge purge;
    struct node_request request;
};

void expiry_open(struct node *n)
{
    n->expiry = ARENA_NEW(&n->mem, struct expiry);
    n->expiry->node = n;
    arena_init(&n->expiry->mem);
}

void expiry_close(struct node *n)
{
    if (n->expiry != NULL)
        arena_fini(&n->expiry->mem);
}

static void go_on_in(struct expiry *e, int64_t us)
{
    e->is_busy = false;
    e->next_us = clock_mono_us(e->node->clock) + us;
}

static void purged(struct node_request *r)
{
    struct expiry *e = r->owner;

    if (!r->ok)
        log_write(LOG_WARN, "expired signals cannot be deleted",
                  LOG_FIELDS(log_str("reason", str_of(r->err.message))));
    go_on_in(e, r->ok && e->purge.purged >= PURGE_MAX ? PAUSE_US : LOOK_EVERY_US);
    arena_reset(&e->mem);
}

static void purge(struct expiry *e)
{
    struct err err;

    e->purge = (struct signal_purge){
        .change = {.apply = signal_purge_apply, .now_us = clock_wall_us(e->node->clock)},
        .limit = PURGE_MAX,
    };
    e->request = (struct node_request){.kind = NODE_CHANGE,
                                       .change = &e->purge.change,
                                       .mem = &e->mem,
                                       .done = purged,
                                       .owner = e};
    if (!node_submit(e->node, &e->request, &err))
        go_on_in(e, LOOK_EVERY_US);
}

static void run_look(struct node_read *read, struct reader *reader)
{
    struct load *l = read->owner;

    l->ok = read_expired(reader, l->expired.now_us, &l->expired.found, &l->err);
}

static void done_look(struct node_read *read)
{
    struct load *l = read->owner;
    struct expiry *e = l->node->expiry;

    if (l->ok && l->expired.found)
        purge(e);
    else
        go_on_in(e, LOOK_EVERY_US);
    load_free(l);
}

int64_t expiry_in_us(const struct node *n)
{
    int64_t us;

    if (n->expiry->is_busy || n->is_draining || !n->is_recovered)
        return INT64_MAX;
    us = n->expiry->next_us - clock_mono_us(n->clock);
    return us > 0 ? us : 0;
}

void expiry_run(struct node *n)
{
    struct load *l;

    if (expiry_in_us(n) > 0)
        return;
    n->expiry->is_busy = true;
    l = load_new(n, run_look, done_look);
    l->expired.now_us = clock_wall_us(n->clock);
    load_send(l);
}
