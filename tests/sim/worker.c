/*
 * worker.c - workers that are made up; see sim.h. What they may claim: jobs.c.
 *
 * A worker asks any node for jobs and answers to any other, late, twice or
 * never; it may be gone before it hears of what it was given. Each of its
 * answers has a digest of its own, unless it says the same again.
 */
#include "sim/sim.h"

#include "store/org.h"
#include "value/json.h"

#define SECOND INT64_C(1000000)

static struct str some_type(struct dice *d)
{
    static const char *const names[] = {"w.t0", "w.t1", "w.t2"};

    return str_of(names[dice_roll(d, ARRAY_SIZE(names))]);
}

/* --- asking --- */

static bool is_gone(const struct node_poll *p)
{
    (void)p;
    return !sim_running->no_faults && dice_hits(&sim_running->dice, 30);
}

static void claimed(struct node_poll *p)
{
    struct worker_poll *w = p->owner;
    struct sim *sim = sim_running;

    SIM_CHECK(sim, w->at != NULL, "a poll was answered twice");
    w->at = NULL;
    sim_note(sim, p->ok ? 7000 + p->poll.found.count : 7);
    for (size_t i = 0; p->ok && i < p->poll.found.count; i++) {
        const struct stored_job *found = &p->poll.found.items[i];
        struct disk_job *j = disk_job_find(&sim->disk, found->id);

        SIM_CHECK(sim, j != NULL && str_eq(j->job.token, found->token),
                  "I1: a worker is given a job whose lease is not durable");
        SIM_CHECK(sim, str_eq(j->job.input_json, found->input_json),
                  "a worker is given another input than the attempt has");
        disk_job_promised(sim, j);
        *VEC_ADD(&sim->mem, &sim->workers.held) =
            (struct held_job){.job = j, .token = str_copy(&sim->mem, found->token)};
    }
}

static struct worker_poll *idle_worker(struct sim *sim)
{
    for (size_t i = 0; i < ARRAY_SIZE(sim->workers.polls); i++)
        if (sim->workers.polls[i].at == NULL)
            return &sim->workers.polls[i];
    return NULL;
}

bool worker_ask(struct sim *sim, struct sim_node *at, int64_t wait_us, int64_t lease_us)
{
    struct worker_poll *w = idle_worker(sim);
    struct err err;

    if (w == NULL)
        return false;
    if (!w->has_mem)
        arena_init(&w->mem);
    w->has_mem = true;
    arena_reset(&w->mem);
    w->at = at;
    for (size_t i = 0; i < ARRAY_SIZE(w->types); i++)
        w->types[i] = str_printf(&w->mem, "w.t%zu", i);
    w->poll = (struct node_poll){
        .poll = {.org_id = record_org(STR_NONE),
                 .worker = STR("w"),
                 .types = w->types,
                 .type_count = ARRAY_SIZE(w->types),
                 .max = 4,
                 .lease_us = lease_us},
        .wait_us = wait_us,
        .is_gone = is_gone,
        .done = claimed,
        .owner = w,
        .mem = &w->mem,
    };
    if (!sim->no_faults) {
        w->types[0] = some_type(&sim->dice);
        w->poll.poll.type_count = 1;
        w->poll.poll.max = 1 + dice_roll(&sim->dice, 4);
    }
    if (node_poll(at->node, &w->poll, &err))
        return true;
    w->at = NULL;
    return false;
}

/* --- answering --- */

/* What it says is decided once: whoever sends it again says the same. */
static void decide(struct sim *sim, struct held_job *h)
{
    static const char *const classes[] = {"transient", "business", "indeterminate"};
    unsigned which = sim->no_faults ? 0 : dice_roll(&sim->dice, 10);

    if (h->said.len > 0)
        return;
    h->is_error = which >= 6 && which < 9;
    if (h->is_error)
        h->said = str_printf(&sim->mem, "{\"code\":\"made_up\",\"class\":\"%s\",\"message\":\"m\"}",
                             classes[which - 6]);
    else
        h->said = str_printf(&sim->mem, "{\"outcome\":\"%s\",\"output\":{\"n\":%lld}}",
                             dice_roll(&sim->dice, 2) == 0 ? "succeeded" : "not_happened",
                             (long long)++sim->workers.answers);
    h->digest = str_printf(&sim->disk.mem, "digest%lld", (long long)++sim->workers.answers);
    *VEC_ADD(&sim->disk.mem, &h->job->sent) = h->digest;
}

static void send_answer(struct sim *sim, struct held_job *h)
{
    struct sim_request *q = client_new_event(sim, EVENT_ANSWER);
    struct value said = value_null();
    struct err err;

    decide(sim, h);
    if (!json_read(&q->mem, h->said, &said, &err))
        PANIC("an answer is no JSON");
    q->job = h->job;
    q->r.execution = h->job->job.execution;
    q->r.event.answer_seq = h->job->job.seq;
    q->r.event.answer_output = h->is_error ? value_absent() : said;
    q->r.event.answer_error = h->is_error ? said : value_absent();
    q->r.event.answer_digest = h->digest;
    (void)client_submit(sim, q);
}

void worker_beat(struct sim *sim, const struct held_job *h)
{
    struct sim_request *q = client_new(sim, NODE_CHANGE);

    q->beat = ARENA_NEW(&q->mem, struct job_beat);
    *q->beat = (struct job_beat){.change = {.apply = job_beat_apply,
                                            .now_us = clock_wall_us(&q->at->clock.clock),
                                            .leaves_executions = true},
                                 .id = h->job->job.id,
                                 .org_id = record_org(STR_NONE),
                                 .token = str_copy(&q->mem, h->token)};
    q->r.change = &q->beat->change;
    q->check = disk_check_beat;
    (void)client_submit(sim, q);
}

static void forget(struct workers *w, size_t which)
{
    w->held.items[which] = w->held.items[--w->held.count];
}

void worker_act(struct sim *sim)
{
    struct workers *w = &sim->workers;
    struct dice *d = &sim->dice;
    unsigned which = dice_roll(d, 10);
    size_t at;

    if (which < 4 || w->held.count == 0) {
        static const int64_t waits[] = {0, 0, SECOND, 30 * SECOND};
        static const int64_t leases[] = {SECOND, 10 * SECOND, 60 * SECOND, 3600 * SECOND};

        (void)worker_ask(sim, sim_some_node(sim), waits[dice_roll(d, ARRAY_SIZE(waits))],
                         leases[dice_roll(d, ARRAY_SIZE(leases))]);
        return;
    }
    at = dice_roll(d, (unsigned)w->held.count);
    if (which < 8)
        send_answer(sim, &w->held.items[at]);
    else if (which < 9)
        worker_beat(sim, &w->held.items[at]);
    /* It may send the same once more; or it is never heard of again. */
    if (which == 9 || (which < 8 && dice_roll(d, 3) > 0))
        forget(w, at);
}

/* Without faults everything is done, and said once. */
bool worker_settle(struct sim_node *at)
{
    struct sim *sim = at->sim;
    struct workers *w = &sim->workers;
    bool any = w->held.count > 0;

    while (w->held.count > 0) {
        send_answer(sim, &w->held.items[w->held.count - 1]);
        w->held.count--;
    }
    for (size_t i = 0; i < ARRAY_SIZE(w->polls); i++)
        if (w->polls[i].at == at)
            return any;
    if (disk_has_ready_job(&sim->disk))
        any |= worker_ask(sim, at, 0, 60 * SECOND);
    return any;
}

void worker_crash(struct sim_node *at)
{
    for (size_t i = 0; i < ARRAY_SIZE(at->sim->workers.polls); i++)
        if (at->sim->workers.polls[i].at == at)
            at->sim->workers.polls[i].at = NULL;
}

void worker_fini(struct sim *sim)
{
    for (size_t i = 0; i < ARRAY_SIZE(sim->workers.polls); i++)
        if (sim->workers.polls[i].has_mem)
            arena_fini(&sim->workers.polls[i].mem);
}
