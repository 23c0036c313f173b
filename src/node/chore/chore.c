/* chore.c - see chore.h. */
#include "node/chore/chore.h"

#include "node/cluster/cluster.h"
#include "node/cluster/config.h"
#include "node/cluster/waiters.h"
#include "node/inner.h"
#include "node/locked.h"
#include "node/outside/calls.h"
#include "node/outside/jobs.h"
#include "node/request.h"
#include "node/wake.h"
#include "store/change.h"

#define CHORE(symbol, kind, ...) extern const struct chore_kind kind;
#include "node/chore/chores.def"
#undef CHORE

static const struct {
    const struct chore_kind *kind;
    enum chore_phase phase;
} chores[CHORE_COUNT] = {
#define CHORE(symbol, row, part, ...) {.kind = &(row), .phase = CHORE_##part},
#include "node/chore/chores.def"
#undef CHORE
};

static bool has_what_it_needs(const struct chore *c)
{
    const struct node *n = c->node;
    unsigned needs = c->kind->needs;

    return !((needs & CHORE_MOVES_NOTHING) == 0 && n->options.is_paused) &&
           !((needs & CHORE_NEEDS_RUNNING) != 0 && n->is_draining) &&
           !((needs & CHORE_NEEDS_RECOVERY) != 0 && !n->is_recovered) &&
           !((needs & CHORE_NEEDS_CONFIG) != 0 && !n->config->is_known) &&
           !((needs & CHORE_IS_DUTY) != 0 && !cluster_has_duty(n, c->id));
}

int64_t chore_left_us(const struct chore *c)
{
    int64_t us = c->next_us - clock_mono_us(c->node->clock);

    return us > 0 ? us : 0;
}

static int64_t chore_in_us(const struct chore *c)
{
    int64_t us;

    if (c->is_busy || !has_what_it_needs(c))
        return INT64_MAX;
    us = c->kind->in_us != NULL ? c->kind->in_us(c) : chore_left_us(c);
    return us > 0 ? us : 0;
}

int64_t chores_in_us(const struct node *n)
{
    int64_t first_us = INT64_MAX;

    for (unsigned i = 0; i < CHORE_COUNT; i++) {
        int64_t us = n->chores[i] != NULL ? chore_in_us(n->chores[i]) : INT64_MAX;

        first_us = us < first_us ? us : first_us;
    }
    return first_us;
}

void chores_run(struct node *n, enum chore_phase phase)
{
    for (unsigned i = 0; i < CHORE_COUNT; i++) {
        struct chore *c = n->chores[i];

        if (c != NULL && chores[i].phase == phase && chore_in_us(c) == 0)
            c->kind->run(c);
    }
}

/* The memory of a chore, zeroed; or NULL: this node does not do it. */
static struct chore *chore_memory(struct node *n, enum chore_id id)
{
    struct chore *at = NULL;
    bool is_done = false;

    switch (id) {
#define CHORE(symbol, kind, phase, when, place)                                                    \
    case CHORE_##symbol:                                                                           \
        is_done = (when);                                                                          \
        at = (place);                                                                              \
        break;
#include "node/chore/chores.def"
#undef CHORE
    case CHORE_COUNT:
        PANIC("no chore");
    }
    if (!is_done)
        return NULL;
    return at != NULL ? at : arena_zalloc(&n->mem, chores[id].kind->size);
}

bool chores_open(struct node *n, struct err *err)
{
    for (unsigned i = 0; i < CHORE_COUNT; i++) {
        struct chore *c = chore_memory(n, (enum chore_id)i);

        if (c == NULL)
            continue;
        c->kind = chores[i].kind;
        c->node = n;
        c->id = (enum chore_id)i;
        arena_init(&c->mem);
        if (c->kind->open != NULL && !c->kind->open(c, err))
            return false;
        n->chores[i] = c;
    }
    return true;
}

void chores_close(struct node *n)
{
    for (unsigned i = 0; i < CHORE_COUNT; i++) {
        struct chore *c = n->chores[i];

        if (c == NULL)
            continue;
        if (c->kind->close != NULL)
            c->kind->close(c);
        arena_fini(&c->mem);
        n->chores[i] = NULL;
    }
}

void chore_rest(struct chore *c, int64_t us)
{
    c->is_busy = false;
    c->next_us = clock_mono_us(c->node->clock) + us;
}

void chore_hurry(struct chore *c, int64_t us)
{
    int64_t at_us = clock_mono_us(c->node->clock) + us;

    if (at_us < c->next_us)
        c->next_us = at_us;
}

bool chore_change(struct chore *c, struct change *change, void (*done)(struct node_request *r),
                  struct err *err)
{
    change->now_us = clock_wall_us(c->node->clock);
    c->request = node_change_request(change, &c->mem, done, c);
    c->is_busy = true;
    return node_submit(c->node, &c->request, err);
}
