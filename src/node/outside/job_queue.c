/* job_queue.c - see job_queue.h. */
#include "node/outside/job_queue.h"

#include "base/alloc.h"
#include "base/digest.h"
#include "node/cache/load.h"
#include "node/chore/chore.h"
#include "node/node.h"
#include "store/change_job.h"
#include "value/json.h"

#include <stdio.h>

enum { TYPES_MAX = 10000 }; /* known by name; beyond, those that nobody waits for are forgotten */

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

void job_queues_free(struct node *n)
{
    struct map_entry *e;

    while ((e = map_next(&n->jobs->types, NULL)) != NULL)
        queue_free(n, e->ptr);
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

struct job_queue *job_queue_get(struct node *n, struct str org_id, struct str type)
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

int64_t wheel_now(const struct node *n)
{
    return clock_mono_us(n->clock) / WHEEL_TICK_US;
}

void poll_wait(struct node *n, struct node_poll *p)
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
        n->jobs->tick = wheel_now(n); /* the wheel stands still while it is empty */
}

void poll_leave(struct node *n, struct node_poll *p)
{
    for (size_t i = 0; i < p->poll.type_count; i++)
        TAILQ_REMOVE(&p->links[i].queue->waiting, &p->links[i], by_arrival);
    *(p->before != NULL ? &p->before->next : slot_of(n, p)) = p->next;
    if (p->next != NULL)
        p->next->before = p->before;
    n->jobs->waiting--;
}

void poll_ask(struct node *n, struct node_poll *p)
{
    struct jobs *j = n->jobs;

    p->next = NULL;
    *(j->asking_last != NULL ? &j->asking_last->next : &j->asking) = p;
    j->asking_last = p;
}

/* --- notifying --- */

void job_queue_notify(struct node *n, struct job_queue *q)
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

void job_type_notify(struct node *n, struct str org_id, struct str type)
{
    struct job_queue *q = queue_find(n, org_id, type);
    char pattern[QUEUE_NAME_MAX];

    if (q != NULL)
        job_queue_notify(n, q);
    for (int64_t dot = str_find(type, STR("."), 0); dot >= 0;
         dot = str_find(type, STR("."), (size_t)dot + 1)) {
        int len = snprintf(pattern, sizeof(pattern), "%.*s.*", (int)dot, type.ptr);

        if (len >= (int)sizeof(pattern)) /* a damaged row: nobody can ask for it */
            return;
        q = queue_find(n, org_id, str_from(pattern, (size_t)len));
        if (q != NULL)
            job_queue_notify(n, q);
    }
}

void jobs_notify(struct node *n, struct str org_id, struct str type)
{
    (void)job_queue_get(n, org_id, type);
    job_type_notify(n, org_id, type);
}

/* --- jobs of other nodes --- */

void jobs_heard(struct node *n, struct str org_id, struct str type)
{
    job_type_notify(n, org_id, type);
}

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
            job_queue_notify(n, q);
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
