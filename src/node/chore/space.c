/*
 * space.c - whether a volume that was full has space again. See chore.h.
 *
 * A batch that was refused for lack of space makes the node not ready
 * (NODE_NO_SPACE). It becomes ready when some space is free and a change that
 * changes nothing was taken: nobody else may ask for one, since a proxy sends
 * nobody to a node that is not ready.
 *
 * why: decision 0405
 */
#include "node/batch.h"
#include "node/chore/chore.h"
#include "node/inner.h"
#include "store/change.h"
#include "store/folder.h"

#define LOOK_US INT64_C(1000000)

/* Less than this is used up by a few requests: the node would come and go. */
#define FREE_ENOUGH (INT64_C(1) << 20)

struct space_chore {
    struct chore chore; /* first: see chore.h */
    struct change probe;
};

static void space_found(struct node_request *r)
{
    struct space_chore *s = r->owner;

    if (r->ok)
        s->chore.node->batches->no_space = false;
    chore_rest(&s->chore, LOOK_US);
    arena_reset(&s->chore.mem);
}

static void space_run(struct chore *c)
{
    struct space_chore *s = (struct space_chore *)c;
    struct folder_space space;
    struct err err;

    s->probe = (struct change){.apply = change_nothing};
    if (!c->node->batches->no_space ||
        (folder_space(c->node->options.data_path, &space) && space.free_bytes < FREE_ENOUGH) ||
        !chore_change(c, &s->probe, space_found, &err))
        chore_rest(c, LOOK_US);
}

static int64_t space_in_us(const struct chore *c)
{
    return c->node->batches->no_space ? chore_left_us(c) : INT64_MAX;
}

const struct chore_kind chore_space = {
    .needs = CHORE_NEEDS_RUNNING | CHORE_MOVES_NOTHING,
    .size = sizeof(struct space_chore),
    .run = space_run,
    .in_us = space_in_us,
};
