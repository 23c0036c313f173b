/*
 * crash.c - counting the crash of which the poison file tells; see work.h.
 *
 * Nothing is advanced before the count is durable: the execution may be the one
 * that ends the process again.
 */
#include "node/inner.h"

void crash_count(struct node *n)
{
    n->counts_crash = true;
    batch_add(n, work_new(n, &work_crash));
}

static void crash_member(struct node *n, struct work *w)
{
    w->member.kind = MEMBER_CRASH;
    w->member.crashed = n->crashed;
}

static void crash_applied(struct node *n, struct work *w)
{
    n->counts_crash = false;
    poison_clear(&n->poison); /* it is counted, once */
    work_free(n, w);
}

/* The batch did not happen, or it may have: twice is better than never. */
static void crash_unknown(struct node *n, struct work *w, const struct batch *b)
{
    (void)b;
    work_free(n, w);
    crash_count(n);
}

/* A crash is of no execution in memory. */
const struct work_kind work_crash = {
    .name = "crash",
    .member = crash_member,
    .applied = crash_applied,
    .refused = crash_applied, /* the execution is gone */
    .unknown = crash_unknown,
};
