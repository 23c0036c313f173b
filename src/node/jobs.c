/* jobs.c - see jobs.h. */
#include "node/inner.h"

#include "store/change_job.h"
#include "value/json.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    TYPES_MAX = 10000,    /* known by name; beyond, those that nobody waits for are forgotten */
    POLLS_AT_ONCE = 1000, /* in one claim */
};

#define WHEEL_TICK_US INT64_C(50000)
#define NOTE_EVERY_US INT64_C(60000000) /* that a type was asked for is stored so often */

/* Those who wait for jobs of a type, in the order in which they came. */
struct job_queue {
    struct str name; /* "organisation\ntype" */
    struct poll_link *first, *last;
    size_t users;     /* who have it in their links, waiting or not */
    bool may_have;    /* jobs may be there: the store is to be asked */
    size_t covered;   /* so many more jobs are for those who were told to ask */
    bool is_noted;    /* that it was asked for is stored, ... */
    int64_t noted_us; /* ... since then, by the monotonic clock */
};

/* --- types --- */

enum { QUEUE_NAME_MAX = 512 };

/* The name of a queue, written into `room`. */
static struct str queue_name(char room[QUEUE_NAME_MAX], struct str org_id, struct str type)
{
    int len = snprintf(room, QUEUE_NAME_MAX, "%.*s\n%.*s", STR_ARG(org_id), STR_ARG(type));

    ASSERT(len > 0 && len < QUEUE_NAME_MAX);
    return str_from(room, (size_t)len);
}

static struct job_queue *queue_find(const struct node *n, struct str org_id, struct str type)
{
    char room[QUEUE_NAME_MAX];

    return map_get(&n->jobs.types, queue_name(room, org_id, type));
}

static void queue_free(struct node *n, struct job_queue *q)
{
    (void)map_remove(&n->jobs.types, q->name);
    free(q);
}

static void queues_trim(struct node *n)
{
    struct map_entry *e = map_next(&n->jobs.types, NULL), *next;

    for (; e != NULL; e = next) {
        struct job_queue *q = e->ptr;

        next = map_next(&n->jobs.types, e);
        if (q->users == 0)
            queue_free(n, q);
    }
}

/* Of one that was not known, nobody knows whether there are jobs. */
static struct job_queue *queue_get(struct node *n, struct str org_id, struct str type)
{
    char room[QUEUE_NAME_MAX];
    struct str name = queue_name(room, org_id, type);
    struct job_queue *q = map_get(&n->jobs.types, name);

    if (q != NULL)
        return q;
    if (n->jobs.types.count >= TYPES_MAX)
        queues_trim(n);
    q = calloc(1, sizeof(*q) + name.len);
    if (q == NULL)
        PANIC("out of memory");
    memcpy(q + 1, name.ptr, name.len);
    q->name = str_from((const char *)(q + 1), name.len);
    q->may_have = true;
    map_put(&n->jobs.types, q->name, q);
    return q;
}

/* --- those who wait --- */

static void link_add(struct poll_link *l)
{
    struct job_queue *q = l->queue;

    l->next = NULL;
    l->before = q->last;
    *(q->last != NULL ? &q->last->next : &q->first) = l;
    q->last = l;
}

static void link_remove(struct poll_link *l)
{
    *(l->before != NULL ? &l->before->next : &l->queue->first) = l->next;
    *(l->next != NULL ? &l->next->before : &l->queue->last) = l->before;
}

static struct node_poll **slot_of(struct node *n, const struct node_poll *p)
{
    return &n->jobs.wheel[p->deadline_us / WHEEL_TICK_US % WHEEL_SLOTS];
}

static void poll_wait(struct node *n, struct node_poll *p)
{
    struct node_poll **slot = slot_of(n, p);

    for (size_t i = 0; i < p->poll.type_count; i++)
        link_add(&p->links[i]);
    p->before = NULL;
    p->next = *slot;
    if (p->next != NULL)
        p->next->before = p;
    *slot = p;
    n->jobs.waiting++;
}

static void poll_leave(struct node *n, struct node_poll *p)
{
    for (size_t i = 0; i < p->poll.type_count; i++)
        link_remove(&p->links[i]);
    *(p->before != NULL ? &p->before->next : slot_of(n, p)) = p->next;
    if (p->next != NULL)
        p->next->before = p->before;
    n->jobs.waiting--;
}

static void poll_ask(struct node *n, struct node_poll *p)
{
    struct jobs *j = &n->jobs;

    p->next = NULL;
    *(j->asking_last != NULL ? &j->asking_last->next : &j->asking) = p;
    j->asking_last = p;
}

static void poll_end(struct node_poll *p, bool ok)
{
    for (size_t i = 0; i < p->poll.type_count; i++)
        p->links[i].queue->users--;
    p->ok = ok;
    p->done(p);
}

static void poll_answer(struct node_poll *p)
{
    poll_end(p, true);
}

/* There is one more job of the type: who has waited longest asks, unless enough do already. */
static void queue_tell(struct node *n, struct job_queue *q)
{
    struct node_poll *p;

    q->may_have = true;
    if (q->covered > 0) {
        q->covered--;
        return;
    }
    if (q->first == NULL)
        return;
    p = q->first->poll;
    q->covered += p->poll.max - 1;
    poll_leave(n, p);
    poll_ask(n, p);
}

void jobs_tell(struct node *n, struct str org_id, struct str type)
{
    queue_tell(n, queue_get(n, org_id, type));
}

/* --- asking --- */

static bool is_note_due(const struct node *n, const struct job_queue *q)
{
    return !q->is_noted || clock_mono_us(n->clock) - q->noted_us >= NOTE_EVERY_US;
}

/* Whether the store has to be asked, or told, something for it. */
static bool poll_needs_store(const struct node *n, struct node_poll *p)
{
    bool needs = false;

    for (size_t i = 0; i < p->poll.type_count; i++) {
        struct job_queue *q = p->links[i].queue;

        p->poll.notes_asked |= is_note_due(n, q);
        needs |= q->may_have;
    }
    /* Who does not wait is told what the store has, whatever this node knows of it. */
    return needs || p->poll.notes_asked || p->wait_us == 0;
}

bool node_poll(struct node *n, struct node_poll *p, struct err *err)
{
    if (n->is_draining)
        return err_set(err, ERR_OVERLOADED, "the server is stopping");
    if (node_store_is_away(n))
        return err_set(err, ERR_STORE_AWAY, "the database does not answer; try again later");
    if (n->jobs.waiting >= n->options.pending_max)
        return err_set(err, ERR_OVERLOADED, "too many workers wait for jobs");
    p->ok = false;
    p->poll.found = (struct stored_jobs){0};
    p->deadline_us = clock_mono_us(n->clock) + p->wait_us;
    p->links = ARENA_ARRAY(p->mem, p->poll.type_count, struct poll_link);
    for (size_t i = 0; i < p->poll.type_count; i++) {
        p->links[i] =
            (struct poll_link){.poll = p, .queue = queue_get(n, p->poll.org_id, p->poll.types[i])};
        p->links[i].queue->users++;
    }
    if (poll_needs_store(n, p))
        poll_ask(n, p);
    else if (p->wait_us > 0)
        poll_wait(n, p);
    else
        poll_answer(p);
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

static void poll_claimed(struct node *n, struct node_poll *p, bool is_cut)
{
    size_t found = p->poll.found.count;

    poll_noted(n, p);
    for (size_t i = 0; i < found; i++)
        measure_claimed(n, &p->poll.found.items[i]);
    if (found < p->poll.max && !is_cut)
        poll_emptied(p);
    if (found > 0)
        leases_look_in(n, p->poll.lease_us);
    if (found > 0 && p->is_gone != NULL && p->is_gone(p)) {
        jobs_give_back(n, &p->poll.found);
        p->poll.found.count = 0;
        poll_answer(p);
    } else if (found > 0 || clock_mono_us(n->clock) >= p->deadline_us || n->is_draining) {
        poll_answer(p);
    } else if (is_cut) {
        poll_ask(n, p);
    } else {
        poll_wait(n, p);
    }
}

static void claimed(struct node_request *r)
{
    struct node *n = r->owner;
    struct jobs *j = &n->jobs;

    j->is_claiming = false;
    for (size_t i = 0; i < j->claim->poll_count; i++) {
        struct node_poll *p = j->claiming[i];

        if (r->ok) {
            poll_claimed(n, p, j->claim->is_cut);
        } else {
            p->err = r->err;
            poll_end(p, false);
        }
    }
}

/* The next of those who ask, or NULL; those who have gone make room for others of their types. */
static struct node_poll *asking_take(struct node *n)
{
    struct jobs *j = &n->jobs;
    struct node_poll *p;

    while ((p = j->asking) != NULL) {
        j->asking = p->next;
        if (j->asking == NULL)
            j->asking_last = NULL;
        if (p->is_gone == NULL || !p->is_gone(p))
            return p;
        for (size_t i = 0; i < p->poll.type_count; i++) {
            struct job_queue *q = p->links[i].queue;

            q->covered = 0;
            if (q->may_have)
                queue_tell(n, q);
        }
        poll_answer(p);
    }
    return NULL;
}

static void claim(struct node *n)
{
    struct jobs *j = &n->jobs;
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
    j->request = (struct node_request){.kind = NODE_CHANGE,
                                       .change = &j->claim->change,
                                       .mem = &j->mem,
                                       .done = claimed,
                                       .owner = n};
    if (!node_submit(n, &j->request, &err)) {
        j->request.ok = false;
        j->request.err = err;
        claimed(&j->request);
    }
}

/* --- jobs that commits ask for --- */

static void job_send(struct node *n, const struct commit *commit, const struct ask *a)
{
    struct str org_id = record_org(commit->after->org_id);
    struct job_queue *q;

    if (endpoints_tell(n, org_id, a->type))
        return;
    q = queue_find(n, org_id, a->type);
    if (q != NULL)
        queue_tell(n, q);
}

const struct outgoing outgoing_job = {.send = job_send};

/* --- deadlines of those who wait --- */

static int64_t now_tick(const struct node *n)
{
    return clock_mono_us(n->clock) / WHEEL_TICK_US;
}

static void wheel_look(struct node *n, int64_t tick, int64_t now_us)
{
    struct node_poll *p = n->jobs.wheel[tick % WHEEL_SLOTS], *next;

    for (; p != NULL; p = next) {
        next = p->next;
        if (p->deadline_us > now_us && !n->is_draining)
            continue;
        poll_leave(n, p);
        poll_answer(p);
    }
}

static void wheel_run(struct node *n)
{
    struct jobs *j = &n->jobs;
    int64_t now_us = clock_mono_us(n->clock), until = now_tick(n);

    if (j->waiting == 0) {
        j->tick = until;
        return;
    }
    if (n->is_draining || until - j->tick >= WHEEL_SLOTS)
        j->tick = until - WHEEL_SLOTS;
    for (; j->tick < until && j->waiting > 0; j->tick++)
        wheel_look(n, j->tick, now_us);
}

/* Until the next slot with somebody in it has passed. */
static int64_t wheel_in_us(const struct node *n)
{
    const struct jobs *j = &n->jobs;
    int64_t tick = j->tick;

    if (j->waiting == 0)
        return INT64_MAX;
    while (j->wheel[tick % WHEEL_SLOTS] == NULL && tick < j->tick + WHEEL_SLOTS)
        tick++;
    return (tick + 1) * WHEEL_TICK_US - clock_mono_us(n->clock);
}

/* --- jobs of other nodes --- */

#define LOOK_FOR_TYPES_US INT64_C(1000000)

static void run_types(struct node_read *read, struct reader *reader)
{
    struct load *l = read->owner;

    l->ok = read_types_ready(reader, &l->mem, l->types.wanted_json, &l->types.ready, &l->err);
}

static void done_types(struct node_read *read)
{
    struct load *l = read->owner;
    struct node *n = l->node;

    n->jobs.is_looking_for_types = false;
    n->jobs.next_look_for_types_us = clock_mono_us(n->clock) + LOOK_FOR_TYPES_US;
    for (size_t i = 0; l->ok && i < l->types.ready.count; i++) {
        const struct job_type *t = &l->types.ready.items[i];
        struct job_queue *q = queue_find(n, t->org_id, t->type);

        if (q != NULL)
            queue_tell(n, q);
    }
    load_free(l);
}

/* [[organisation, type], ...] of the types that somebody waits for. */
static struct str list_waited_for(struct node *n, struct arena *mem)
{
    struct map_entry *e = NULL;
    struct buf out;
    bool first = true;

    buf_init_arena(&out, mem);
    buf_char(&out, '[');
    while ((e = map_next(&n->jobs.types, e)) != NULL) {
        const struct job_queue *q = e->ptr;
        size_t end = (size_t)str_find(q->name, STR("\n"), 0);

        if (q->first == NULL)
            continue;
        buf_text(&out, first ? "[" : ",[");
        first = false;
        json_write_string(&out, str_slice(q->name, 0, end));
        buf_char(&out, ',');
        json_write_string(&out, str_slice(q->name, end + 1, q->name.len));
        buf_char(&out, ']');
    }
    buf_char(&out, ']');
    return buf_view(&out);
}

static int64_t types_in_us(const struct node *n)
{
    if (n->jobs.waiting == 0 || n->jobs.is_looking_for_types || n->is_draining ||
        !node_is_shared(n))
        return INT64_MAX;
    return n->jobs.next_look_for_types_us - clock_mono_us(n->clock);
}

static void look_for_types(struct node *n)
{
    struct load *l;

    if (types_in_us(n) > 0)
        return;
    n->jobs.is_looking_for_types = true;
    l = load_new(n, run_types, done_types);
    l->types.wanted_json = list_waited_for(n, &l->mem);
    load_send(l);
}

/* --- the loop --- */

int64_t jobs_in_us(const struct node *n)
{
    int64_t us = leases_in_us(n), other = types_in_us(n);

    if (other < us)
        us = other;
    other = wheel_in_us(n);
    if (other < us)
        us = other;
    /* Nothing is claimed before the configuration is read. */
    return n->jobs.asking != NULL && !n->jobs.is_claiming && n->has_config ? 0 : us;
}

void jobs_run(struct node *n)
{
    leases_run(n);
    look_for_types(n);
    wheel_run(n);
    while (n->is_draining && n->jobs.asking != NULL) {
        struct node_poll *p = n->jobs.asking;

        n->jobs.asking = p->next;
        if (n->jobs.asking == NULL)
            n->jobs.asking_last = NULL;
        poll_answer(p);
    }
    if (n->jobs.asking != NULL && !n->jobs.is_claiming && n->has_config)
        claim(n);
}

void jobs_open(struct node *n)
{
    map_init(&n->jobs.types, &n->mem);
    arena_init(&n->jobs.mem);
    n->jobs.tick = now_tick(n);
    endpoints_open(n);
}

void jobs_close(struct node *n)
{
    struct map_entry *e;

    jobs_forget_returns(n);
    while ((e = map_next(&n->jobs.types, NULL)) != NULL)
        queue_free(n, e->ptr);
    arena_fini(&n->jobs.mem);
    endpoints_close(n);
}
