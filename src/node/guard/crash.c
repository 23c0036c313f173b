/* crash.c - see crash.h. */
#include "node/guard/crash.h"

#include "node/batch.h"
#include "node/cache/entry.h"
#include "node/cache/load.h"
#include "node/inner.h"
#include "node/work.h"

void crash_count(struct node *n, struct poison_left left)
{
    struct work *w = work_new(n, &work_crash);

    ASSERT(n->crashes->count < POISON_SLOTS);
    w->crash = left;
    n->crashes->works[n->crashes->count++] = w;
    batch_add(n, w);
}

bool crash_holds_all(const struct node *n)
{
    for (unsigned i = 0; i < n->crashes->count; i++)
        if (n->crashes->works[i]->locked_tries == 0)
            return true;
    return false;
}

bool crash_holds(const struct node *n, struct uuid id)
{
    for (unsigned i = 0; i < n->crashes->count; i++)
        if (uuid_cmp(n->crashes->works[i]->crash.id, id) == 0)
            return true;
    return false;
}

static void crash_member(struct node *n, struct work *w)
{
    w->member.kind = MEMBER_CRASH;
    w->member.crashed = w->crash.id;
    w->member.crashed_at_us = clock_wall_us(n->clock);
    w->member.crashed_letter = uuid_gen_next(&n->ids, w->member.crashed_at_us / 1000);
}

static void crash_forget(struct crashes *all, const struct work *w)
{
    for (unsigned i = 0; i < all->count; i++)
        if (all->works[i] == w) {
            all->works[i] = all->works[--all->count];
            return;
        }
    PANIC("a crash that is not counted must be in the list");
}

static void crash_applied(struct node *n, struct work *w)
{
    struct uuid id = w->crash.id;
    struct entry *held;

    poison_leave(n->poison, w->crash.slot); /* it is counted, once */
    crash_forget(n->crashes, w);
    work_free(n, w);
    held = entry_find(n, id);
    if (held != NULL)
        load_entry(n, held);
}

/* The batch did not happen, or it may have: twice is better than never. */
static void crash_unknown(struct node *n, struct work *w, const struct batch *b)
{
    (void)b;
    batch_add(n, w);
}

/* A crash is of no execution in memory. */
const struct work_kind work_crash = {
    .member = crash_member,
    .applied = crash_applied,
    .refused = crash_applied, /* the execution is gone */
    .unknown = crash_unknown,
};
