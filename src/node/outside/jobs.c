/* jobs.c - see jobs.h. */
#include "node/outside/jobs.h"

#include "engine/commit/commit.h"
#include "engine/execution.h"
#include "node/chore/chore.h"
#include "node/chore/measure.h"
#include "node/cluster/cluster.h"
#include "node/cluster/config.h"
#include "node/node.h"
#include "node/outside/job_queue.h"
#include "node/outside/outgoing.h"
#include "node/poll.h"
#include "node/request.h"
#include "store/change_job.h"
#include "store/org.h"

enum { POLLS_AT_ONCE = 1000 }; /* in one claim */

#define KEY_USED_MESSAGE "this Idempotency-Key was used with another request"

#define NOTE_EVERY_US INT64_C(60000000) /* that a type was asked for is stored so often */

/* --- those who ask under the same Idempotency-Key --- */

/* Whether it goes by itself; else it follows another or is refused: *err. */
static bool poll_leads(struct node *n, struct node_poll *p, bool *follows, struct err *err)
{
    const struct idempotency *i = &p->poll.kept_as;
    struct node_poll *leader, **last;

    p->key = STR_NONE;
    p->followers = NULL;
    *follows = false;
    if (i->key.len == 0)
        return true;
    p->key = str_printf(p->mem, "%.*s\n%.*s\n%.*s\n%.*s", STR_ARG(i->user), STR_ARG(i->method),
                        STR_ARG(i->path), STR_ARG(i->key));
    leader = map_get(&n->jobs->leaders, p->key);
    if (leader == NULL) {
        map_put(&n->jobs->leaders, p->key, p);
        return true;
    }
    if (!str_eq(leader->poll.kept_as.body_hash, i->body_hash))
        return err_set(err, ERR_IDEMPOTENCY_CONFLICT, KEY_USED_MESSAGE);
    *follows = true;
    p->next = NULL;
    for (last = &leader->followers; *last != NULL; last = &(*last)->next)
        ;
    *last = p;
    n->jobs->following++;
    return false;
}

static void poll_answer(struct node_poll *p)
{
    for (size_t i = 0; i < p->poll.type_count; i++)
        p->links[i].queue->users--;
    p->done(p);
}

/* The one that they followed has ended like `last`: they end likewise, or the first leads. */
static void followers_go_on(struct node *n, struct node_poll *first, const struct node_poll *last)
{
    bool is_over = !last->ok || last->poll.found.count > 0 || n->is_draining;

    for (struct node_poll *p = first, *next; p != NULL; p = next) {
        next = p->next;
        n->jobs->following--;
        p->ok = last->ok;
        p->err = last->err;
        p->poll.found = last->poll.found;
        if (is_over || clock_mono_us(n->clock) >= p->deadline_us) {
            poll_answer(p);
            continue;
        }
        map_put(&n->jobs->leaders, p->key, p);
        p->followers = next;
        poll_ask(n, p);
        return;
    }
}

static void poll_end(struct node *n, struct node_poll *p, bool ok)
{
    struct node_poll *followers = p->followers, end = {.ok = ok};

    p->ok = ok;
    end.err = p->err;
    end.poll.found = p->poll.found;
    p->followers = NULL;
    if (p->key.len > 0)
        (void)map_remove(&n->jobs->leaders, p->key);
    poll_answer(p);
    followers_go_on(n, followers, &end);
}

/* --- asking --- */

static bool is_note_due(const struct node *n, const struct job_queue *q)
{
    return !q->is_noted || clock_mono_us(n->clock) - q->noted_us >= NOTE_EVERY_US;
}

/* Whether the store has to be asked something, or be given something, for it. */
static bool poll_needs_store(const struct node *n, struct node_poll *p)
{
    bool needs = false;

    for (size_t i = 0; i < p->poll.type_count; i++) {
        struct job_queue *q = p->links[i].queue;

        p->poll.notes_asked |= is_note_due(n, q);
        needs |= q->may_have;
    }
    /* Who does not wait is answered with what the store has, whatever this node knows of it. */
    return needs || p->poll.notes_asked || p->wait_us == 0;
}

bool node_poll(struct node *n, struct node_poll *p, struct err *err)
{
    bool follows;

    if (n->is_draining)
        return err_set(err, ERR_OVERLOADED, "the server is stopping");
    if (n->options.is_paused)
        return err_set(err, ERR_OVERLOADED, NODE_PAUSED_MESSAGE);
    if (node_store_is_away(n))
        return err_set(err, ERR_STORE_AWAY, "the database does not answer; try again later");
    if (n->jobs->waiting + n->jobs->following >= n->options.pending_max)
        return err_set(err, ERR_OVERLOADED, "too many workers wait for jobs");
    p->ok = false;
    p->poll.found = (struct stored_jobs){0};
    p->deadline_us = clock_mono_us(n->clock) + p->wait_us;
    if (!poll_leads(n, p, &follows, err) && !follows)
        return false;
    p->links = ARENA_ARRAY(p->mem, p->poll.type_count, struct poll_link);
    for (size_t i = 0; i < p->poll.type_count; i++) {
        p->links[i] = (struct poll_link){
            .poll = p, .queue = job_queue_get(n, p->poll.org_id, p->poll.types[i])};
        p->links[i].queue->users++;
    }
    if (follows)
        return true;
    if (poll_needs_store(n, p))
        poll_ask(n, p);
    else if (p->wait_us > 0)
        poll_wait(n, p);
    else
        poll_end(n, p, true);
    return true;
}

/* --- a claim --- */

/* All that it asked for was there and is not any more. */
static void poll_emptied(struct node_poll *p)
{
    for (size_t i = 0; i < p->poll.type_count; i++)
        p->links[i].queue->may_have = false;
}

/* A notice of another node, or a look, says once that there are jobs, however many: the next asks. */
static void poll_passes_on(struct node *n, const struct node_poll *p)
{
    for (size_t i = 0; i < p->poll.type_count; i++) {
        struct job_queue *q = p->links[i].queue;

        if (q->may_have && q->covered == 0 && !TAILQ_EMPTY(&q->waiting))
            job_queue_notify(n, q);
    }
}

static void poll_noted(struct node *n, struct node_poll *p)
{
    for (size_t i = 0; p->poll.notes_asked && i < p->poll.type_count; i++) {
        struct job_queue *q = p->links[i].queue;

        q->is_noted = true;
        q->noted_us = clock_mono_us(n->clock);
    }
    p->poll.notes_asked = false;
}

/* It takes none of the jobs that it was woken for: others of its types are asked. */
static void poll_makes_way(struct node *n, struct node_poll *p)
{
    for (size_t i = 0; i < p->poll.type_count; i++) {
        struct job_queue *q = p->links[i].queue;

        q->covered = 0;
        if (q->may_have)
            job_queue_notify(n, q);
    }
}

/* Its key was used before: it is answered with what stands of that, or refused. */
static void poll_repeated(struct node *n, struct node_poll *p)
{
    poll_makes_way(n, p);
    if (p->poll.differs)
        (void)err_set(&p->err, ERR_IDEMPOTENCY_CONFLICT, KEY_USED_MESSAGE);
    poll_end(n, p, !p->poll.differs);
}

static void poll_claimed(struct node *n, struct node_poll *p, bool is_cut)
{
    size_t found = p->poll.found.count;

    poll_noted(n, p);
    if (p->poll.repeats) {
        poll_repeated(n, p);
        return;
    }
    for (size_t i = 0; i < found; i++)
        measure_claimed(n, &p->poll.found.items[i]);
    if (found < p->poll.max && !is_cut)
        poll_emptied(p);
    else if (node_is_shared(n))
        poll_passes_on(n, p);
    if (found > 0)
        leases_look_in(n, p->poll.lease_us);
    if (found > 0 && p->key.len == 0 && p->is_gone != NULL && p->is_gone(p)) {
        jobs_give_back(n, &p->poll.found);
        p->poll.found.count = 0;
        poll_end(n, p, true);
    } else if (found > 0 || clock_mono_us(n->clock) >= p->deadline_us || n->is_draining) {
        poll_end(n, p, true);
    } else if (is_cut) {
        poll_ask(n, p);
    } else {
        poll_wait(n, p);
    }
}

static void jobs_claimed(struct node_request *r)
{
    struct node *n = r->owner;
    struct jobs *j = n->jobs;

    j->is_claiming = false;
    for (size_t i = 0; i < j->claim->poll_count; i++) {
        struct node_poll *p = j->claiming[i];

        if (r->ok) {
            poll_claimed(n, p, j->claim->is_cut);
        } else {
            p->err = r->err;
            poll_end(n, p, false);
        }
    }
}

/* The next of those who ask, or NULL; those who have gone make way for others of their types. */
static struct node_poll *asking_take(struct node *n)
{
    struct jobs *j = n->jobs;
    struct node_poll *p;

    while ((p = j->asking) != NULL) {
        j->asking = p->next;
        if (j->asking == NULL)
            j->asking_last = NULL;
        if (p->is_gone == NULL || !p->is_gone(p))
            return p;
        poll_makes_way(n, p);
        poll_end(n, p, true);
    }
    return NULL;
}

static void claim(struct node *n)
{
    struct jobs *j = n->jobs;
    struct node_poll *p;
    struct err err;

    arena_reset(&j->mem);
    j->claim = ARENA_NEW(&j->mem, struct job_claim);
    *j->claim = (struct job_claim){.change = {.apply = job_claim_apply,
                                              .now_us = clock_wall_us(n->clock),
                                              .leaves_executions = true},
                                   .polls = ARENA_ARRAY(&j->mem, POLLS_AT_ONCE, struct job_poll *)};
    j->claiming = ARENA_ARRAY(&j->mem, POLLS_AT_ONCE, struct node_poll *);
    while (j->claim->poll_count < POLLS_AT_ONCE && (p = asking_take(n)) != NULL) {
        for (size_t i = 0; i < ARRAY_SIZE(p->poll.seed); i++)
            p->poll.seed[i] = uuid_gen_next(&n->ids, clock_wall_us(n->clock) / 1000);
        for (size_t i = 0; i < p->poll.type_count; i++)
            p->links[i].queue->covered = 0;
        p->poll.first_type = j->turn++ % p->poll.type_count;
        j->claim->polls[j->claim->poll_count] = &p->poll;
        j->claiming[j->claim->poll_count++] = p;
    }
    if (j->claim->poll_count == 0)
        return;
    j->is_claiming = true;
    j->request = node_change_request(&j->claim->change, &j->mem, jobs_claimed, n);
    if (!node_submit(n, &j->request, &err)) {
        j->request.ok = false;
        j->request.err = err;
        jobs_claimed(&j->request);
    }
}

/* --- jobs that commits ask for --- */

void node_job_returned(struct node *n, struct str org_id, struct str type)
{
    cluster_note_job(n, org_id, type);
    if (!endpoints_notify(n, org_id, type))
        job_type_notify(n, org_id, type);
}

static void job_send(struct node *n, const struct commit *commit, const struct ask *a)
{
    node_job_returned(n, record_org(commit->after->org_id), a->type);
}

const struct outgoing outgoing_job = {.send = job_send};

/* --- deadlines of those who wait --- */

static void wheel_look(struct node *n, int64_t tick, int64_t now_us)
{
    struct node_poll *p = n->jobs->wheel[tick % WHEEL_SLOTS], *next;

    for (; p != NULL; p = next) {
        next = p->next;
        if (p->deadline_us > now_us && !n->is_draining)
            continue;
        poll_leave(n, p);
        poll_end(n, p, true);
    }
}

static void wheel_run(struct node *n)
{
    struct jobs *j = n->jobs;
    int64_t now_us = clock_mono_us(n->clock), until = wheel_now(n);
    bool is_whole_turn = n->is_draining || until - j->tick >= WHEEL_SLOTS;

    for (int64_t slot = 0; is_whole_turn && slot < WHEEL_SLOTS && j->waiting > 0; slot++)
        wheel_look(n, slot, now_us);
    if (is_whole_turn)
        j->tick = until;
    for (; j->tick < until && j->waiting > 0; j->tick++)
        wheel_look(n, j->tick, now_us);
}

/* Until the next slot with somebody in it has passed. */
static int64_t wheel_in_us(const struct node *n)
{
    const struct jobs *j = n->jobs;
    int64_t tick = j->tick;

    if (j->waiting == 0)
        return INT64_MAX;
    while (j->wheel[tick % WHEEL_SLOTS] == NULL && tick < j->tick + WHEEL_SLOTS)
        tick++;
    return (tick + 1) * WHEEL_TICK_US - clock_mono_us(n->clock);
}

/* --- claims and deadlines --- */

bool jobs_nobody_waits(const struct node *n)
{
    return n->jobs->asking == NULL && n->jobs->waiting == 0 && !n->jobs->is_claiming;
}

static int64_t jobs_in_us(const struct chore *c)
{
    const struct node *n = c->node;
    const struct jobs *j = n->jobs;

    if (n->is_draining && (j->asking != NULL || j->waiting > 0))
        return 0;
    /* Nothing is claimed before the configuration is read. */
    return j->asking != NULL && !j->is_claiming && n->config->is_known ? 0 : wheel_in_us(n);
}

static void jobs_run(struct chore *c)
{
    struct node *n = c->node;

    wheel_run(n);
    while (n->is_draining && n->jobs->asking != NULL) {
        struct node_poll *p = n->jobs->asking;

        n->jobs->asking = p->next;
        if (n->jobs->asking == NULL)
            n->jobs->asking_last = NULL;
        poll_end(n, p, true);
    }
    if (n->jobs->asking != NULL && !n->jobs->is_claiming && n->config->is_known)
        claim(n);
}

static bool jobs_open(struct chore *c, struct err *err)
{
    struct node *n = c->node;

    (void)err;
    map_init(&n->jobs->types, &n->mem);
    map_init(&n->jobs->leaders, &n->mem);
    arena_init(&n->jobs->mem);
    n->jobs->tick = wheel_now(n);
    endpoints_open(n);
    return true;
}

static void jobs_close(struct chore *c)
{
    struct node *n = c->node;

    jobs_forget_returns(n);
    job_queues_free(n);
    arena_fini(&n->jobs->mem);
    endpoints_close(n);
}

const struct chore_kind chore_jobs = {
    .open = jobs_open,
    .run = jobs_run,
    .in_us = jobs_in_us,
    .close = jobs_close,
};
