/*
 * audit_retention.c - lines of the audit log that are older than they are kept
 * for are deleted, a few at a time. See chore.h.
 */
#include "base/log.h"
#include "node/chore/chore.h"
#include "node/inner.h"
#include "store/change_retention.h"

enum { LINES_MAX = 500 }; /* in one member */

#define LOOK_MAX_US INT64_C(600000000)
#define LOOK_MIN_US INT64_C(1000000)
#define PAUSE_US INT64_C(100000)

struct audit_retention {
    struct chore chore; /* first: see chore.h */
    struct audit_purge purge;
};

/* Until the next look: a tenth of what is kept, within reason. */
static int64_t look_us(const struct audit_retention *t)
{
    int64_t us = t->chore.node->options.keep_audit_us / 10;

    return us > LOOK_MAX_US ? LOOK_MAX_US : us < LOOK_MIN_US ? LOOK_MIN_US : us;
}

static void audit_purged(struct node_request *r)
{
    struct audit_retention *t = r->owner;

    if (!r->ok)
        log_write(LOG_WARN, "old lines of the audit log cannot be deleted",
                  LOG_FIELDS(log_str("reason", str_of(r->err.message))));
    chore_rest(&t->chore, r->ok && t->purge.purged > 0 ? PAUSE_US : look_us(t));
    arena_reset(&t->chore.mem);
}

static void audit_retention_run(struct chore *c)
{
    struct audit_retention *t = (struct audit_retention *)c;
    struct err err;

    t->purge = (struct audit_purge){
        .change = {.apply = audit_purge_apply},
        .before_us = clock_wall_us(c->node->clock) - c->node->options.keep_audit_us,
        .limit = LINES_MAX,
    };
    if (!chore_change(c, &t->purge.change, audit_purged, &err))
        chore_rest(c, look_us(t));
}

const struct chore_kind chore_audit_retention = {
    .needs = CHORE_NEEDS_RUNNING | CHORE_NEEDS_RECOVERY | CHORE_IS_DUTY,
    .size = sizeof(struct audit_retention),
    .run = audit_retention_run,
};
