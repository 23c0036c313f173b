/*
 * audit_retention.c - lines of the audit log that are older than they are kept
 * for are deleted, a few at a time. See inner.h.
 */
#include "node/inner.h"

#include "base/log.h"
#include "store/change_audit.h"

enum { PURGE_MAX = 500 }; /* lines in one member */

#define LOOK_EVERY_US INT64_C(600000000)
#define PAUSE_US INT64_C(100000)

struct audit_retention {
    struct node *node;
    int64_t next_us; /* monotonic; when to delete some */
    bool is_busy;    /* a request is under way */
    struct arena mem;
    struct audit_purge purge;
    struct node_request request;
};

void audit_retention_open(struct node *n)
{
    if (n->options.keep_audit_us <= 0)
        return;
    n->audit_retention = ARENA_NEW(&n->mem, struct audit_retention);
    n->audit_retention->node = n;
    arena_init(&n->audit_retention->mem);
}

void audit_retention_close(struct node *n)
{
    if (n->audit_retention != NULL)
        arena_fini(&n->audit_retention->mem);
}

static void audit_go_on_in(struct audit_retention *t, int64_t us)
{
    t->is_busy = false;
    t->next_us = clock_mono_us(t->node->clock) + us;
}

static void audit_purged(struct node_request *r)
{
    struct audit_retention *t = r->owner;

    if (!r->ok)
        log_write(LOG_WARN, "old lines of the audit log cannot be deleted",
                  LOG_FIELDS(log_str("reason", str_of(r->err.message))));
    audit_go_on_in(t, r->ok && t->purge.purged >= PURGE_MAX ? PAUSE_US : LOOK_EVERY_US);
    arena_reset(&t->mem);
}

int64_t audit_retention_in_us(const struct node *n)
{
    const struct audit_retention *t = n->audit_retention;
    int64_t us;

    if (t == NULL || t->is_busy || n->is_draining || !n->is_recovered)
        return INT64_MAX;
    us = t->next_us - clock_mono_us(n->clock);
    return us > 0 ? us : 0;
}

void audit_retention_run(struct node *n)
{
    struct audit_retention *t = n->audit_retention;
    int64_t now_us = clock_wall_us(n->clock);
    struct err err;

    if (audit_retention_in_us(n) > 0)
        return;
    t->is_busy = true;
    t->purge = (struct audit_purge){
        .change = {.apply = audit_purge_apply, .now_us = now_us},
        .before_us = now_us - n->options.keep_audit_us,
        .limit = PURGE_MAX,
    };
    t->request = (struct node_request){.kind = NODE_CHANGE,
                                       .change = &t->purge.change,
                                       .mem = &t->mem,
                                       .done = audit_purged,
                                       .owner = t};
    if (!node_submit(n, &t->request, &err))
        audit_go_on_in(t, LOOK_EVERY_US);
}
