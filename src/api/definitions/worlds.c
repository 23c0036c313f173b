/* worlds.c - see worlds.h. */
#include "api/definitions/worlds.h"
#include "store/read_definition.h"

#include "base/alloc.h"

#include <pthread.h>

struct kept_world {
    int64_t stamp;
    unsigned leases; /* one of them is `current` of struct worlds, while it is */
    struct arena mem;
    struct world world;
};

struct worlds {
    pthread_mutex_t lock;
    struct kept_world *current; /* or NULL */
};

struct worlds *worlds_new(void)
{
    struct worlds *all = ALLOC_NEW(struct worlds);

    if (pthread_mutex_init(&all->lock, NULL) != 0)
        PANIC("no mutex");
    return all;
}

static void kept_world_free(struct kept_world *k)
{
    if (k->world.definitions != NULL)
        world_close(&k->world);
    arena_fini(&k->mem);
    free(k);
}

/* With the lock held: one lease less. The world to be freed by the caller, or NULL. */
static struct kept_world *kept_world_leave(struct kept_world *k)
{
    return k != NULL && --k->leases == 0 ? k : NULL;
}

void worlds_free(struct worlds *all)
{
    struct kept_world *last = kept_world_leave(all->current);

    if (last != NULL)
        kept_world_free(last);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

static struct kept_world *kept_world_read(struct reader *reader, int64_t stamp, struct err *err)
{
    struct kept_world *k = ALLOC_NEW(struct kept_world);

    arena_init(&k->mem);
    k->stamp = stamp;
    if (!definitions_world(reader, &k->mem, &k->world, err)) {
        kept_world_free(k);
        return NULL;
    }
    world_open(&k->world);
    return k;
}

static struct kept_world *kept_world_find(struct worlds *all, int64_t stamp)
{
    struct kept_world *k;

    pthread_mutex_lock(&all->lock);
    k = all->current != NULL && all->current->stamp == stamp ? all->current : NULL;
    if (k != NULL)
        k->leases++;
    pthread_mutex_unlock(&all->lock);
    return k;
}

/* The new world takes the place of what is kept, unless another thread was faster. */
static void kept_world_keep(struct worlds *all, struct kept_world *k)
{
    struct kept_world *old = NULL;

    pthread_mutex_lock(&all->lock);
    k->leases = 1;
    if (all->current == NULL || all->current->stamp < k->stamp) {
        old = kept_world_leave(all->current);
        all->current = k;
        k->leases++;
    }
    pthread_mutex_unlock(&all->lock);
    if (old != NULL)
        kept_world_free(old);
}

bool worlds_lend(struct worlds *all, struct reader *reader, struct arena *mem, struct world *out,
                 struct kept_world **lease, struct err *err)
{
    struct kept_world *k;
    int64_t stamp;

    /* Read before the definitions: what is kept is never older than its stamp. */
    if (!read_definition_stamp(reader, &stamp, err))
        return false;
    k = kept_world_find(all, stamp);
    if (k == NULL) {
        k = kept_world_read(reader, stamp, err);
        if (k == NULL)
            return false;
        kept_world_keep(all, k);
    }
    *out = k->world;
    out->mem = mem;
    definitions_look_up(out, reader);
    *lease = k;
    return true;
}

void worlds_return(struct worlds *all, struct kept_world *lease)
{
    struct kept_world *last;

    pthread_mutex_lock(&all->lock);
    last = kept_world_leave(lease);
    pthread_mutex_unlock(&all->lock);
    if (last != NULL)
        kept_world_free(last);
}
