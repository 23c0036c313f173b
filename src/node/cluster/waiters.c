/* waiters.c - see waiters.h. */
#include "node/cluster/waiters.h"

#include "engine/execution.h"
#include "node/batch.h"
#include "node/cache/entry.h"
#include "node/cache/load.h"
#include "node/chore/chore.h"
#include "node/cluster/cluster.h"
#include "node/inner.h"
#include "node/node.h"
#include "node/work.h"
#include "node/work_request.h"
#include "value/json.h"

/* How long waiters may be looked at too late. */
#define EXPIRY_GRAIN_US INT64_C(20000)
/* So long the store may take to say how it stands when somebody's time is up: see is_overdue(). */
#define EXPIRY_MAX_US INT64_C(5000000)
#define EXPIRY_DRAIN_US INT64_C(1000000) /* ... and after the node was told to stop */
/* How often the store is asked how those stand that are waited for; and for how many at once. */
#define LOOK_US INT64_C(1000000)
#define LOOK_FIRST_US INT64_C(20000)
/* How often others are notified again of what is waited for. */
#define ANNOUNCE_EVERY_US INT64_C(30000000)
enum { LOOK_MAX = 1000 };

void waiters_init(struct node *n)
{
    TAILQ_INIT(&n->waiters->awaited);
}

/* Those that are waited for, in a list: looked at in turn. */
static void awaited_append(struct node *n, struct entry *e)
{
    if (!e->is_awaited)
        TAILQ_INSERT_TAIL(&n->waiters->awaited, e, awaited);
    e->is_awaited = true;
}

void waiters_unlink(struct node *n, struct entry *e)
{
    if (e->is_awaited)
        TAILQ_REMOVE(&n->waiters->awaited, e, awaited);
    e->is_awaited = false;
}

/* The owner hears that its end is waited for; it may have ended before that: look soon. */
static void waiters_announce(struct node *n, struct entry *e)
{
    if (cluster_owns(n, e->id))
        return;
    e->announced_us = clock_mono_us(n->clock);
    cluster_note_awaited(n, e->id);
    chore_hurry(&n->waiters->look, LOOK_FIRST_US);
}

void waiters_add(struct node *n, struct entry *e, struct node_request *r)
{
    r->deadline_us = clock_mono_us(n->clock) + r->wait_us;
    r->waits_since = n->works->number;
    r->next = e->waiters;
    e->waiters = r;
    awaited_append(n, e);
    if (n->waiters->count++ == 0)
        n->waiters->look.next_us = clock_mono_us(n->clock) + LOOK_US;
    waiters_announce(n, e);
    if (r->deadline_us < n->waiters->deadlines.next_us)
        n->waiters->deadlines.next_us = r->deadline_us;
}

/* Who of those that wait is meant: */
struct waiters_who {
    int64_t until_us;    /* with a deadline that is not later */
    int64_t before_work; /* who have waited before that work was made; or INT64_MAX */
};

/* Take those off the entry. */
static struct node_request *take_waiters(struct node *n, struct entry *e, struct waiters_who who)
{
    struct node_request **link = &e->waiters, *taken = NULL, **last = &taken;

    while (*link != NULL) {
        struct node_request *r = *link;

        if (r->deadline_us > who.until_us || r->waits_since >= who.before_work) {
            link = &r->next;
            continue;
        }
        *link = r->next;
        *last = r;
        last = &r->next;
        r->next = NULL;
        n->waiters->count--;
    }
    if (e->waiters == NULL)
        e->due_since_us = 0;
    return taken;
}

static void answer_who(struct node *n, struct entry *e, const struct execution *x,
                       struct waiters_who who)
{
    struct node_request *r = take_waiters(n, e, who), *next;

    for (; r != NULL; r = next) {
        next = r->next;
        request_answer(n, r, x);
    }
}

static void refuse_until(struct node *n, struct entry *e, const struct err *err, int64_t until_us)
{
    struct waiters_who who = {.until_us = until_us, .before_work = INT64_MAX};
    struct node_request *r = take_waiters(n, e, who), *next;

    for (; r != NULL; r = next) {
        next = r->next;
        r->is_unconfirmed = r->ok;
        if (r->ok)
            request_done(n, r); /* what it asked for has happened, and it was shown how */
        else
            request_refuse(n, r, err->code, "%pS", ERR_ARG(err));
    }
}

bool waiters_are_over(const struct execution *x)
{
    return status_is_terminal(x->status) || execution_is_held(x);
}

void waiters_answer(struct node *n, struct entry *e, const struct execution *x)
{
    answer_who(n, e, x, (struct waiters_who){INT64_MAX, INT64_MAX});
}

void waiters_refuse(struct node *n, struct entry *e, const struct err *err)
{
    refuse_until(n, e, err, INT64_MAX);
}

/* --- their time is up --- */

/* Those with a deadline up to this are not to wait any longer. */
static int64_t due_until_us(const struct node *n)
{
    return n->is_draining ? INT64_MAX : clock_mono_us(n->clock);
}

/*
 * Whoever came after the store was asked may know of a later state: it is answered with that, or by
 * the next look when its time is up. Where nothing has followed an end, all are answered with it.
 */
static void expire_applied(struct node *n, struct work *w)
{
    const struct entry *e = w->entry;
    bool is_over = waiters_are_over(w->met);
    bool goes_on = e->x != NULL && !waiters_are_over(e->x);
    struct waiters_who who = {.until_us = is_over ? INT64_MAX : due_until_us(n),
                              .before_work = is_over && !goes_on ? INT64_MAX : w->number};

    w->entry->due_since_us = 0;
    answer_who(n, w->entry, w->met, who);
    work_free(n, w);
}

/* Another was faster each time: the next look asks again. */
static void expire_refused(struct node *n, struct work *w)
{
    if (w->member.result == MEMBER_FAILED)
        refuse_until(n, w->entry, &w->member.err, due_until_us(n));
    work_free(n, w);
}

static void expire_freed(struct node *n, struct work *w)
{
    (void)n;
    w->entry->is_expiring = false;
}

/*
 * It is in a batch from the beginning, and in no queue. Not applied, the entry is
 * read again, for it has waiters; those whose time is up are found by the next look.
 */
const struct work_kind work_expire = {
    .applied = expire_applied,
    .refused = expire_refused,
    .again = work_free,
    .freed = expire_freed,
};

static void expire_entry(struct node *n, struct entry *e)
{
    struct work *w = work_new(n, &work_expire);

    w->entry = e;
    e->is_expiring = true;
    work_assert(n, e, w, ASSERTS_SETTLED);
}

static int64_t first_deadline_us(const struct entry *e)
{
    int64_t first_us = INT64_MAX;

    for (const struct node_request *r = e->waiters; r != NULL; r = r->next)
        if (r->deadline_us < first_us)
            first_us = r->deadline_us;
    return first_us;
}

/* It has ended, or their time is up: one that comes back from a lock is not to keep them waiting. */
void waiters_loaded(struct node *n, struct entry *e)
{
    if (e->waiters != NULL && !e->is_expiring && !batch_is_full(n) &&
        (waiters_are_over(e->x) || first_deadline_us(e) <= due_until_us(n)))
        expire_entry(n, e);
}

static int64_t waiters_in_us(const struct chore *c)
{
    return c->node->waiters->count > 0 ? chore_left_us(c) : INT64_MAX;
}

/*
 * The store was asked for a while how it stands, and has not said so, in whatever
 * state the entry is: batches are refused, the row is locked, it cannot be loaded.
 */
static bool is_overdue(const struct node *n, const struct entry *e)
{
    int64_t allowed_us = n->is_draining ? EXPIRY_DRAIN_US : EXPIRY_MAX_US;

    return e->due_since_us != 0 && clock_mono_us(n->clock) - e->due_since_us >= allowed_us;
}

static void answer_unconfirmed(struct node *n, struct entry *e)
{
    struct err err;

    (void)err_set(&err, ERR_OVERLOADED,
                  "the store does not say in time how the execution stands; try again");
    e->due_since_us = 0;
    refuse_until(n, e, &err, due_until_us(n));
}

/* Some of its waiters may be due. Answers when the first that remains is; INT64_MAX: there is none. */
static int64_t expire_if_due(struct node *n, struct entry *e)
{
    bool can_assert = e->state == ENTRY_READY || e->state == ENTRY_READING;

    if (is_overdue(n, e))
        answer_unconfirmed(n, e);
    if (first_deadline_us(e) > due_until_us(n) || e->waiters == NULL)
        return first_deadline_us(e);
    if (e->due_since_us == 0)
        e->due_since_us = clock_mono_us(n->clock);
    if (can_assert && !e->is_expiring && !e->is_waited_for && !batch_is_full(n))
        expire_entry(n, e);
    return first_deadline_us(e);
}

/* Answer those whose time is up, once the store has said that what they are shown is true. */
static void deadlines_run(struct chore *c)
{
    struct node *n = c->node;
    int64_t now_us = clock_mono_us(n->clock), next_us = INT64_MAX;

    for (struct entry *e = TAILQ_FIRST(&n->waiters->awaited), *next; e != NULL; e = next) {
        int64_t first_us = expire_if_due(n, e);

        next = TAILQ_NEXT(e, awaited);
        if (e->waiters == NULL) {
            waiters_unlink(n, e);
            entry_release_if_idle(n, e);
            continue;
        }
        if (first_us < next_us)
            next_us = first_us;
    }
    if (next_us < now_us + EXPIRY_GRAIN_US || n->is_draining)
        next_us = now_us + EXPIRY_GRAIN_US;
    c->next_us = next_us;
}

const struct chore_kind chore_deadlines = {
    .needs = CHORE_MOVES_NOTHING,
    .run = deadlines_run,
    .in_us = waiters_in_us,
};

void waiters_drain(struct node *n)
{
    chore_hurry(&n->waiters->deadlines, 0);
}

/* --- what other nodes have made --- */

/* How executions stand that are waited for. */
struct awaited_load {
    struct load load; /* first: see load.h */
    struct str ids_json;
    struct execution_versions found;
};

static void run_awaited(struct load *load, struct reader *reader)
{
    struct awaited_load *l = (struct awaited_load *)load;

    load->ok = read_row_versions(reader, &load->mem, l->ids_json, &l->found, &load->err);
}

/* What is in flight on this node finds out by itself. */
static bool waiters_may_load(const struct entry *e)
{
    return e != NULL && e->state == ENTRY_READY && e->pins == 0 && e->works.first == NULL &&
           e->waiters != NULL;
}

void waiters_heard(struct node *n, struct uuid id)
{
    struct entry *e = entry_find(n, id);

    if (!waiters_may_load(e) || waiters_are_over(e->x))
        return;
    entry_mark_stale(e);
    entry_make_ready(n, e);
}

static void done_awaited(struct load *load)
{
    struct awaited_load *l = (struct awaited_load *)load;
    struct node *n = load->node;

    for (size_t i = 0; load->ok && i < l->found.count; i++) {
        const struct execution_version *is = &l->found.items[i];
        struct entry *e = entry_find(n, is->id);

        if (!waiters_may_load(e) || e->x->row_version >= is->row_version)
            continue;
        entry_mark_stale(e);
        entry_make_ready(n, e);
    }
    chore_rest(&n->waiters->look, LOOK_US);
    load_free(load);
}

/* The ids of those to be asked for; they go to the end of the list. */
static struct str list_awaited(struct node *n, struct arena *mem)
{
    struct entry *first = NULL, *e;
    struct buf ids;

    buf_init_arena(&ids, mem);
    buf_char(&ids, '[');
    for (unsigned i = 0; i < LOOK_MAX; i++) {
        e = TAILQ_FIRST(&n->waiters->awaited);
        if (e == NULL || e == first)
            break;
        waiters_unlink(n, e);
        if (e->waiters == NULL)
            continue;
        if (first == NULL)
            first = e;
        awaited_append(n, e);
        if (clock_mono_us(n->clock) - e->announced_us >= ANNOUNCE_EVERY_US)
            waiters_announce(n, e);
        if (ids.len > 1)
            buf_char(&ids, ',');
        json_write_string(&ids, UUID_STR(e->id));
    }
    buf_char(&ids, ']');
    return buf_view(&ids);
}

static void look_run(struct chore *c)
{
    struct awaited_load *l = LOAD_NEW(c->node, struct awaited_load, run_awaited, done_awaited);

    c->is_busy = true;
    l->ids_json = list_awaited(c->node, &l->load.mem);
    load_send(&l->load);
}

const struct chore_kind chore_awaited = {
    .needs = CHORE_NEEDS_RUNNING | CHORE_MOVES_NOTHING,
    .run = look_run,
    .in_us = waiters_in_us,
};
