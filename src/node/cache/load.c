/* load.c - reads of the node's own; see load.h. */
#include "node/cache/load.h"

#include "base/alloc.h"
#include "node/guard/poison.h"
#include "node/inner.h"
#include "node/request.h"

/* On a reader thread. */
static void load_run(struct node_read *read, struct reader *reader)
{
    static const struct uuid nobody;
    struct load *l = read->owner;
    bool is_about_one = uuid_cmp(l->about, nobody) != 0;
    unsigned slot = is_about_one ? poison_enter(l->node->poison, l->about) : 0;

    l->run(l, reader);
    if (is_about_one)
        poison_leave(l->node->poison, slot);
}

static void load_done(struct node_read *read)
{
    struct load *l = read->owner;

    l->done(l);
}

struct load *load_new(struct node *n, size_t size, load_run_fn *run, load_done_fn *done)
{
    struct load *l = alloc_zeroed(size);

    ASSERT(size >= sizeof(*l));
    arena_init(&l->mem);
    l->node = n;
    l->run = run;
    l->done = done;
    l->read.run = load_run;
    l->read.done = load_done;
    l->read.owner = l;
    LIST_INSERT_HEAD(&n->loads->in_flight, l, in_flight);
    return l;
}

void load_free(struct load *l)
{
    LIST_REMOVE(l, in_flight);
    arena_fini(&l->mem);
    free(l);
}

void load_send(struct load *l)
{
    struct node *n = l->node;
    struct load_queue *unsent = &n->loads->unsent[l->read.lane];

    if (unsent->first == NULL && node_read(n, &l->read, &l->err))
        return;
    l->next_unsent = NULL;
    if (unsent->first != NULL)
        unsent->last->next_unsent = l;
    else
        unsent->first = l;
    unsent->last = l;
}

bool loads_resend(struct node *n)
{
    bool any = n->loads->group != NULL;

    loads_send_group(n);
    for (unsigned lane = 0; lane < LANE_COUNT; lane++) {
        struct load_queue *unsent = &n->loads->unsent[lane];

        while (unsent->first != NULL && node_read(n, &unsent->first->read, &unsent->first->err)) {
            unsent->first = unsent->first->next_unsent;
            any = true;
        }
    }
    return any;
}

bool loads_are_unsent(const struct node *n)
{
    if (n->loads->group != NULL)
        return true;
    for (unsigned lane = 0; lane < LANE_COUNT; lane++)
        if (n->loads->unsent[lane].first != NULL)
            return true;
    return false;
}

void loads_free(struct node *n)
{
    for (struct load *l = LIST_FIRST(&n->loads->in_flight), *next; l != NULL; l = next) {
        next = LIST_NEXT(l, in_flight);
        load_free(l);
    }
}
