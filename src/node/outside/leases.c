/*
 * leases.c - leases of jobs that are over: nobody knows what their workers have
 * done. See jobs.h.
 *
 * The store is asked when the next one ends, and every few seconds besides, since
 * other nodes lease too; with that it is asked which endpoints are registered.
 */
#include "base/log.h"
#include "node/cache/load.h"
#include "node/chore/chore.h"
#include "node/inner.h"
#include "node/outside/calls.h"
#include "node/outside/jobs.h"
#include "node/poll.h"

enum { LEASES_PAGE = 500 };

#define LOOK_AT_LEASES_US INT64_C(5000000) /* at the latest: other nodes lease too */
#define LOOK_AGAIN_US INT64_C(100000)

/* Leases that are over; and what endpoints may do, which is a read of its own: it may fail alone. */
struct leases_load {
    struct load load; /* first: see load.h */
    int64_t now_us, next_in_us;
    struct leases_over over;
    struct stored_workers workers;
    struct job_types ready; /* of their namespaces */
    bool has_workers;
    struct err workers_err;
};

void leases_look_in(struct node *n, int64_t us)
{
    chore_hurry(&n->jobs->leases, us);
}

static bool workers_read(struct leases_load *l, struct reader *reader)
{
    bool ok = read_workers(reader, &l->load.mem, &l->workers, &l->workers_err);

    for (size_t i = 0; ok && i < l->workers.count; i++)
        ok = read_types_of(reader, &l->load.mem, l->workers.items[i].name, &l->ready,
                           &l->workers_err);
    return ok;
}

static void run_leases(struct load *load, struct reader *reader)
{
    struct leases_load *l = (struct leases_load *)load;

    load->ok = read_leases_over(reader, &load->mem, l->now_us, LEASES_PAGE, &l->over,
                                &l->next_in_us, &load->err);
    l->has_workers = workers_read(l, reader);
}

static void workers_were_read(struct node *n, const struct leases_load *l)
{
    if (!l->has_workers) {
        log_write(LOG_ERROR, "endpoints of workers cannot be read",
                  LOG_FIELDS(log_str("reason", str_of(l->workers_err.message))));
        return;
    }
    n->jobs->has_starved = false;
    endpoints_replace(n, &l->workers);
    for (size_t i = 0; i < l->ready.count; i++)
        (void)endpoints_notify(n, l->ready.items[i].org_id, l->ready.items[i].type);
}

static void done_leases(struct load *load)
{
    struct leases_load *l = (struct leases_load *)load;
    struct node *n = load->node;
    int64_t in_us = LOOK_AT_LEASES_US;

    n->jobs->leases.is_busy = false;
    for (size_t i = 0; load->ok && i < l->over.count; i++)
        calls_lose(n, l->over.items[i].execution, l->over.items[i].seq,
                   STR("{\"code\":\"timeout_lease\",\"class\":\"indeterminate\",\"message\":\"the "
                       "worker let its lease run out: nobody knows what it has done\"}"));
    workers_were_read(n, l);
    if (load->ok && l->over.count == LEASES_PAGE)
        in_us = LOOK_AGAIN_US;
    else if (load->ok && l->next_in_us >= 0 && l->next_in_us < in_us)
        in_us = l->next_in_us + 1000;
    leases_look_in(n, in_us);
    load_free(load);
}

static void leases_run(struct chore *c)
{
    struct leases_load *l = LOAD_NEW(c->node, struct leases_load, run_leases, done_leases);

    c->is_busy = true;
    /* What is leased while it looks lowers it again. */
    c->next_us = INT64_MAX;
    l->now_us = clock_wall_us(c->node->clock);
    load_send(&l->load);
}

const struct chore_kind chore_leases = {
    .needs = CHORE_NEEDS_RUNNING | CHORE_NEEDS_RECOVERY,
    .run = leases_run,
};

void node_look_at_workers(struct node *n)
{
    leases_look_in(n, 0);
}
