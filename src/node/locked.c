/* locked.c - see locked.h. */
#include "node/locked.h"

#include "base/alloc.h"
#include "node/batch.h"
#include "node/cache/entry.h"
#include "node/inner.h"

enum {
    PASSES_MAX = 3,       /* then it may wait */
    REST_US = 20000,      /* the first time; twice as long each time ... */
    REST_MAX_US = 500000, /* ... up to this */
    FULL_PAUSE_US = 1000,
};

/* --- resting --- */

static int64_t locked_rest_us(const struct work *w)
{
    int64_t us = REST_US;

    for (unsigned i = 1; i < w->locked_tries && us < REST_MAX_US; i++)
        us *= 2;
    return us < REST_MAX_US ? us : REST_MAX_US;
}

bool locked_rest(struct node *n, struct work *w)
{
    int64_t now_us = clock_mono_us(n->clock);

    if (w->locked_tries++ == 0)
        w->locked_since_us = now_us;
    if (w->request != NULL && now_us - w->locked_since_us >= LOCKED_MAX_US)
        return false;
    w->passes = w->member.is_left_out && w->passes < PASSES_MAX ? PASSES_MAX : w->passes + 1;
    w->locked_until_us = now_us + locked_rest_us(w);
    if (w->entry != NULL)
        entry_mark_stale(w->entry);
    work_push(&n->locked->works, w);
    n->locked->count++;
    chore_hurry(&n->locked->chore, locked_rest_us(w));
    return true;
}

/* It has rested: the same again, behind what has arrived meanwhile. */
static void rested(struct node *n, struct work *w)
{
    struct entry *e = w->entry;

    n->locked->count--;
    if (e == NULL) {
        batch_add(n, w);
        return;
    }
    w->number = ++n->works->number;
    entry_unpin(n, e);
    work_again(n, w);
    entry_release_if_idle(n, e);
}

static void locked_run(struct chore *c)
{
    struct node *n = c->node;
    struct work_queue resting = n->locked->works;
    int64_t now_us = clock_mono_us(n->clock);
    struct work *w;

    n->locked->works = (struct work_queue){0};
    c->next_us = INT64_MAX;
    while ((w = work_pop(&resting)) != NULL) {
        if (w->locked_until_us <= now_us && !batch_is_full(n)) {
            rested(n, w);
            continue;
        }
        work_push(&n->locked->works, w);
        if (w->locked_until_us < c->next_us)
            c->next_us = w->locked_until_us;
    }
    /* What has rested waits for a batch with a place in it: that is looked for every millisecond. */
    if (c->next_us < now_us + FULL_PAUSE_US)
        c->next_us = now_us + FULL_PAUSE_US;
}

static int64_t locked_in_us(const struct chore *c)
{
    return c->node->locked->count > 0 ? chore_left_us(c) : INT64_MAX;
}

const struct chore_kind chore_locked = {
    .needs = CHORE_MOVES_NOTHING,
    .run = locked_run,
    .in_us = locked_in_us,
};

bool locked_is_empty(const struct node *n)
{
    return n->locked->count == 0 && n->locked->waiting == NULL;
}

/* --- waiting --- */

bool locked_wait(struct node *n, struct work *w)
{
    struct entry *e = w->entry;
    struct batch *b;

    /* What it rests on must be durable: no other member of its execution is in flight. */
    if (w->passes < PASSES_MAX || n->locked->waiting != NULL || (e != NULL && e->pins != 1))
        return false;
    b = batch_make(n);
    b->waits = true;
    b->number = n->locked->number + 1;
    b->seen = n->locked->number;
    batch_route(n, &b->mem, w);
    *VEC_ADD(&b->mem, &b->members) = &w->member;
    if (!store_submit(n->store, b)) {
        batch_recycle(n, b);
        return false;
    }
    n->locked->number++;
    n->locked->waiting = b;
    w->passes = 0;
    if (e != NULL)
        e->is_waited_for = true;
    return true;
}

void locked_waited(struct node *n, struct batch *b)
{
    struct work *w = b->members.items[0]->owner;

    ASSERT(n->locked->waiting == b);
    n->locked->waiting = NULL;
    if (w->entry != NULL)
        w->entry->is_waited_for = false;
}
