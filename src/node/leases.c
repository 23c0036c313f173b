/*
 * leases.c - leases of jobs that are over: nobody knows what their workers have
 * done. See jobs.h.
 *
 * The store is asked when the next one ends, and every few seconds besides, since
 * other nodes lease too; with that it is asked which endpoints are registered.
 */
#include "node/inner.h"

enum { LEASES_PAGE = 500 };

#define LOOK_AT_LEASES_US INT64_C(5000000) /* at the latest: other nodes lease too */
#define LOOK_AGAIN_US INT64_C(100000)

void leases_look_in(struct node *n, int64_t us)
{
    int64_t at_us = clock_mono_us(n->clock) + us;

    if (at_us < n->jobs.next_look_at_leases_us)
        n->jobs.next_look_at_leases_us = at_us;
}

static void run_leases(struct node_read *read, struct reader *reader)
{
    struct load *l = read->owner;

    l->ok = read_leases_over(reader, &l->mem, l->leases.now_us, LEASES_PAGE, &l->leases.over,
                             &l->leases.next_in_us, &l->err) &&
            read_workers(reader, &l->mem, &l->leases.workers, &l->err);
    for (size_t i = 0; l->ok && i < l->leases.workers.count; i++)
        l->ok = read_types_of(reader, &l->mem, l->leases.workers.items[i].name, &l->leases.ready,
                              &l->err);
}

static void done_leases(struct node_read *read)
{
    struct load *l = read->owner;
    struct node *n = l->node;
    int64_t in_us = LOOK_AT_LEASES_US;

    n->jobs.is_looking_at_leases = false;
    for (size_t i = 0; l->ok && i < l->leases.over.count; i++)
        calls_lose(n, l->leases.over.items[i].execution, l->leases.over.items[i].seq,
                   STR("{\"code\":\"timeout_lease\",\"class\":\"indeterminate\",\"message\":\"the "
                       "worker let its lease run out: nobody knows what it has done\"}"));
    if (l->ok)
        endpoints_replace(n, &l->leases.workers);
    for (size_t i = 0; l->ok && i < l->leases.ready.count; i++)
        (void)endpoints_tell(n, l->leases.ready.items[i].org_id, l->leases.ready.items[i].type);
    if (l->ok && l->leases.over.count == LEASES_PAGE)
        in_us = LOOK_AGAIN_US;
    else if (l->ok && l->leases.next_in_us >= 0 && l->leases.next_in_us < in_us)
        in_us = l->leases.next_in_us + 1000;
    leases_look_in(n, in_us);
    load_free(l);
}

int64_t leases_in_us(const struct node *n)
{
    if (n->jobs.is_looking_at_leases || n->is_draining || !n->is_recovered)
        return INT64_MAX;
    return n->jobs.next_look_at_leases_us - clock_mono_us(n->clock);
}

void leases_run(struct node *n)
{
    struct load *l;

    if (leases_in_us(n) > 0)
        return;
    n->jobs.is_looking_at_leases = true;
    /* What is leased while it looks lowers it again. */
    n->jobs.next_look_at_leases_us = INT64_MAX;
    l = load_new(n, run_leases, done_leases);
    l->leases.now_us = clock_wall_us(n->clock);
    load_send(l);
}

void node_look_at_workers(struct node *n)
{
    leases_look_in(n, 0);
}
