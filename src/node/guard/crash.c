/*
 * crash.c - counting the crashes of which the poison file tells; see work.h.
 *
 * Nothing is advanced before the counts are durable: one of the executions may
 * end the process again.
 */
#include "node/batch.h"
#include "node/guard/park.h"
#include "node/guard/poison.h"
#include "node/inner.h"
#include "node/work.h"

void crash_count(struct node *n, struct poison_left left)
{
    struct work *w = work_new(n, &work_crash);

    w->crash = left;
    n->counting_crashes++;
    batch_add(n, w);
}

static void crash_member(struct node *n, struct work *w)
{
    w->member.kind = MEMBER_CRASH;
    w->member.crashed = w->crash.id;
    w->member.crashed_at_us = clock_wall_us(n->clock);
    w->member.crashed_letter = uuid_gen_next(&n->ids, w->member.crashed_at_us / 1000);
}

static void crash_applied(struct node *n, struct work *w)
{
    poison_leave(n->poison, w->crash.slot); /* it is counted, once */
    work_free(n, w);
}

/* The batch did not happen, or it may have: twice is better than never. */
static void crash_unknown(struct node *n, struct work *w, const struct batch *b)
{
    struct poison_left left = w->crash;

    (void)b;
    work_free(n, w);
    crash_count(n, left);
}

static void crash_freed(struct node *n, struct work *w)
{
    (void)w;
    n->counting_crashes--;
}

/* A crash is of no execution in memory. */
const struct work_kind work_crash = {
    .member = crash_member,
    .applied = crash_applied,
    .refused = crash_applied, /* the execution is gone */
    .unknown = crash_unknown,
    .freed = crash_freed,
};
