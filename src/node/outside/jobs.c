/* jobs.c - see jobs.h. */
#include "node/outside/jobs.h"

#include "base/alloc.h"
#include "base/digest.h"
#include "engine/commit/commit.h"
#include "engine/execution.h"
#include "node/cache/load.h"
#include "node/chore/chore.h"
#include "node/chore/measure.h"
#include "node/cluster/config.h"
#include "node/inner.h"
#include "node/node.h"
#include "node/outside/outgoing.h"
#include "node/poll.h"
#include "node/request.h"
#include "store/change_job.h"
#include "store/org.h"
#include "value/json.h"

#include <stdio.h>

enum {
    TYPES_MAX = 10000,    /* known by name; beyond, those that nobody waits for are forgotten */
    POLLS_AT_ONCE = 1000, /* in one claim */
};

#define KEY_USED_MESSAGE "this Idempotency-Key was used with another request"

#define WHEEL_TICK_US INT64_C(50000)
#define NOTE_EVERY_US INT64_C(60000000) /* that a type was asked for is stored so often */

/* Those who wait for jobs of a type, in the order in which they came. */
struct job_queue {
    struct str name; /* "organisation\ntype" */
    TAILQ_HEAD(, poll_link) waiting;
    size_t users;     /* who have it in their links, waiting or not */
    bool may_have;    /* jobs may be there: the store is to be asked */
    size_t covered;   /* so many more jobs are for those who were notified */
    bool is_noted;    /* that it was asked for is stored, ... */
    int64_t noted_us; /* ... since then, by the monotonic clock */
};

/* --- types --- */

enum { QUEUE_NAME_MAX = 512 };

/* The name of a queue, written into `text`. So long a type stands in a damaged row: its digest does. */
static struct str queue_name(char text[QUEUE_NAME_MAX], struct str org_id, struct str type)
{
    int len = snprintf(text, QUEUE_NAME_MAX, "%.*s\n%.*s", STR_ARG(org_id), STR_ARG(type));
    uint8_t digests[2][DIGEST_LEN];

    if (len < QUEUE_NAME_MAX)
        return str_from(text, (size_t)len);
    digest_sha256(org_id, digests[0]);
    digest_sha256(type, digests[1]);
    memcpy(text, digests, sizeof(digests));
    return str_from(text, sizeof(digests));
}

static struct job_queue *queue_find(const struct node *n, struct str org_id, struct str type)
{
    char text[QUEUE_NAME_MAX];

    return map_get(&n->jobs->types, queue_name(text, org_id, type));
}

static void queue_free(struct node *n, struct job_queue *q)
{
    (void)map_remove(&n->jobs->types, q->name);
    free(q);
}

static void queues_trim(struct node *n)
{
    struct map_entry *e = map_next(&n->jobs->types, NULL), *next;

    for (; e != NULL; e = next) {
        struct job_queue *q = e->ptr;

        next = map_next(&n->jobs->types, e);
        if (q->users == 0)
            queue_free(n, q);
    }
}

/* Of one that was not known, nobody knows whether there are jobs. */
static struct job_queue *queue_get(struct node *n, struct str org_id, struct str type)
{
    char text[QUEUE_NAME_MAX];
    struct str name = queue_name(text, org_id, type);
    struct job_queue *q = map_get(&n->jobs->types, name);

    if (q != NULL)
        return q;
    if (n->jobs->types.count >= TYPES_MAX)
        queues_trim(n);
    q = alloc_zeroed(sizeof(*q) + name.len);
    memcpy(q + 1, name.ptr, name.len);
    q->name = str_from((const char *)(q + 1), name.len);
    q->may_have = true;
    TAILQ_INIT(&q->waiting);
    map_put(&n->jobs->types, q->name, q);
    return q;
}

/* --- those who wait --- */

static struct node_poll **slot_of(struct node *n, const struct node_poll *p)
{
    return &n->jobs->wheel[p->deadline_us / WHEEL_TICK_US % WHEEL_SLOTS];
}

static int64_t now_tick(const struct node *n)
{
    return clock_mono_us(n->clock) / WHEEL_TICK_US;
}

static void poll_wait(struct node *n, struct node_poll *p)
{
    struct node_poll **slot = slot_of(n, p);

    for (size_t i = 0; i < p->poll.type_count; i++)
        TAILQ_INSERT_TAIL(&p->links[i].queue->waiting, &p->links[i], by_arrival);
    p->before = NULL;
    p->next = *slot;
    if (p->next != NULL)
        p->next->before = p;
    *slot = p;
    if (n->jobs->waiting++ == 0)
        n->jobs->tick = now_tick(n); /* the wheel stands still while it is empty */
}

static void poll_leave(struct node *n, struct node_poll *p)
{
    for (size_t i = 0; i < p->poll.type_count; i++)
        TAILQ_REMOVE(&p->links[i].queue->waiting, &p->links[i], by_arrival);
    *(p->before != NULL ? &p->before->next : slot_of(n, p)) = p->next;
    if (p->next != NULL)
        p->next->before = p->before;
    n->jobs->waiting--;
}

static void poll_ask(struct node *n, struct node_poll *p)
{
    struct jobs *j = n->jobs;

    p->next = NULL;
    *(j->asking_last != NULL ? &j->asking_last->next : &j->asking) = p;
    j->asking_last = p;
}

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

/* There is one more job of the type: who has waited longest asks, unless enough do already. */
static void queue_notify(struct node *n, struct job_queue *q)
{
    struct node_poll *p;

    q->may_have = true;
    if (q->covered > 0) {
        q->covered--;
        return;
    }
    if (TAILQ_EMPTY(&q->waiting))
        return;
    p = TAILQ_FIRST(&q->waiting)->poll;
    q->covered += p->poll.max - 1;
    poll_leave(n, p);
    poll_ask(n, p);
}

/* Those who ask for the type, by its name or by a pattern that it fits. */
static void type_notify(struct node *n, struct str org_id, struct str type)
{
    struct job_queue *q = queue_find(n, org_id, type);
    char pattern[QUEUE_NAME_MAX];

    if (q != NULL)
        queue_notify(n, q);
    for (int64_t dot = str_find(type, STR("."), 0); dot >= 0;
         dot = str_find(type, STR("."), (size_t)dot + 1)) {
        int len = snprintf(pattern, sizeof(pattern), "%.*s.*", (int)dot, type.ptr);

        if (len >= (int)sizeof(pattern)) /* a damaged row: nobody can ask for it */
            return;
        q = queue_find(n, org_id, str_from(pattern, (size_t)len));
        if (q != NULL)
            queue_notify(n, q);
    }
}

void jobs_notify(struct node *n, struct str org_id, struct str type)
{
    (void)queue_get(n, org_id, type);
    type_notify(n, org_id, type);
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
        p->links[i] =
            (struct poll_link){.poll = p, .queue = queue_get(n, p->poll.org_id, p->poll.types[i])};
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
            queue_notify(n, q);
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

static void job_send(struct node *n, const struct commit *commit, const struct ask *a)
{
    struct str org_id = record_org(commit->after->org_id);

    if (!endpoints_notify(n, org_id, a->type))
        type_notify(n, org_id, a->type);
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
    int64_t now_us = clock_mono_us(n->clock), until = now_tick(n);
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

/* --- jobs of other nodes --- */

#define LOOK_FOR_TYPES_US INT64_C(1000000)

/* Which of the types that are waited for have jobs. */
struct types_load {
    struct load load; /* first: see load.h */
    struct str wanted_json;
    struct job_types ready;
};

static void run_types(struct load *load, struct reader *reader)
{
    struct types_load *l = (struct types_load *)load;

    load->ok = read_types_ready(reader, &load->mem, l->wanted_json, &l->ready, &load->err);
}

static void done_types(struct load *load)
{
    struct types_load *l = (struct types_load *)load;
    struct node *n = load->node;

    chore_rest(&n->jobs->look_for_types, LOOK_FOR_TYPES_US);
    for (size_t i = 0; load->ok && i < l->ready.count; i++) {
        const struct job_type *t = &l->ready.items[i];
        struct job_queue *q = queue_find(n, t->org_id, t->type);

        if (q != NULL)
            queue_notify(n, q);
    }
    load_free(load);
}

/* The first and the last name that a type or a pattern stands for, as members of a list. */
static void write_range(struct arena *mem, struct buf *out, struct str type)
{
    bool is_pattern = job_type_is_pattern(type);
    struct str first = is_pattern ? str_slice(type, 0, type.len - 1) : type;
    struct str last = is_pattern ? str_printf(mem, "%.*s/", (int)(first.len - 1), first.ptr) : type;

    buf_char(out, ',');
    json_write_string(out, first);
    buf_char(out, ',');
    json_write_string(out, last);
}

/* [[organisation, type, its first name, its last], ...] of the types that somebody waits for. */
static struct str list_waited_for(struct node *n, struct arena *mem)
{
    struct map_entry *e = NULL;
    struct buf out;
    bool first = true;

    buf_init_arena(&out, mem);
    buf_char(&out, '[');
    while ((e = map_next(&n->jobs->types, e)) != NULL) {
        const struct job_queue *q = e->ptr;
        size_t end = (size_t)str_find(q->name, STR("\n"), 0);

        if (TAILQ_EMPTY(&q->waiting))
            continue;
        buf_text(&out, first ? "[" : ",[");
        first = false;
        json_write_string(&out, str_slice(q->name, 0, end));
        buf_char(&out, ',');
        json_write_string(&out, str_slice(q->name, end + 1, q->name.len));
        write_range(mem, &out, str_slice(q->name, end + 1, q->name.len));
        buf_char(&out, ']');
    }
    buf_char(&out, ']');
    return buf_view(&out);
}

static int64_t types_in_us(const struct chore *c)
{
    return c->node->jobs->waiting > 0 ? chore_left_us(c) : INT64_MAX;
}

static void types_run(struct chore *c)
{
    struct types_load *l = LOAD_NEW(c->node, struct types_load, run_types, done_types);

    c->is_busy = true;
    l->wanted_json = list_waited_for(c->node, &l->load.mem);
    load_send(&l->load);
}

const struct chore_kind chore_job_types = {
    .needs = CHORE_NEEDS_RUNNING,
    .run = types_run,
    .in_us = types_in_us,
};

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
    n->jobs->tick = now_tick(n);
    endpoints_open(n);
    return true;
}

static void jobs_close(struct chore *c)
{
    struct node *n = c->node;
    struct map_entry *e;

    jobs_forget_returns(n);
    while ((e = map_next(&n->jobs->types, NULL)) != NULL)
        queue_free(n, e->ptr);
    arena_fini(&n->jobs->mem);
    endpoints_close(n);
}

const struct chore_kind chore_jobs = {
    .open = jobs_open,
    .run = jobs_run,
    .in_us = jobs_in_us,
    .close = jobs_close,
};
