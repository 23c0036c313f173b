/*
 * waiters.c - those who wait for the end of an execution, or for a signal to be
 * taken; see inner.h.
 *
 * A waiter is answered by the commit that it waits for, once that is durable.
 * One whose time is up, or who waits for what the node has read to have ended,
 * is answered with the state in memory, after the store has said that this
 * state is still true: another node may have changed it. Where nodes share a
 * store, what is waited for is looked at every second: what another node has
 * changed is loaded again, and its waiters are answered with the end that it
 * has then.
 */
#include "node/inner.h"

#include "value/json.h"

/* How long waiters may be looked at too late. */
#define EXPIRY_GRAIN_US INT64_C(20000)
/* How often the store is asked how those stand that are waited for; and for how many at once. */
#define LOOK_US INT64_C(1000000)
enum { LOOK_MAX = 1000 };

/* Those that are waited for, in a list: looked at in turn. */
static void awaited_append(struct node *n, struct entry *e)
{
    if (e->is_awaited)
        return;
    e->is_awaited = true;
    e->next_awaited = NULL;
    e->previous_awaited = n->awaited_last;
    if (n->awaited_last != NULL)
        n->awaited_last->next_awaited = e;
    else
        n->awaited = e;
    n->awaited_last = e;
}

void waiters_unlink(struct node *n, struct entry *e)
{
    if (!e->is_awaited)
        return;
    if (e->previous_awaited != NULL)
        e->previous_awaited->next_awaited = e->next_awaited;
    else
        n->awaited = e->next_awaited;
    if (e->next_awaited != NULL)
        e->next_awaited->previous_awaited = e->previous_awaited;
    else
        n->awaited_last = e->previous_awaited;
    e->is_awaited = false;
}

void request_wait(struct node *n, struct entry *e, struct node_request *r)
{
    r->deadline_us = clock_mono_us(n->clock) + r->wait_us;
    r->next = e->waiters;
    e->waiters = r;
    awaited_append(n, e);
    if (n->waiting++ == 0)
        n->next_look_at_awaited_us = clock_mono_us(n->clock) + LOOK_US;
    if (r->deadline_us < n->next_expiry_us)
        n->next_expiry_us = r->deadline_us;
}

/* Take those off the entry whose deadline is not later than this. */
static struct node_request *take_waiters(struct node *n, struct entry *e, int64_t until_us)
{
    struct node_request **link = &e->waiters, *taken = NULL, **last = &taken;

    while (*link != NULL) {
        struct node_request *r = *link;

        if (r->deadline_us > until_us) {
            link = &r->next;
            continue;
        }
        *link = r->next;
        *last = r;
        last = &r->next;
        r->next = NULL;
        n->waiting--;
    }
    return taken;
}

static void answer_until(struct node *n, struct entry *e, const struct execution *x,
                         int64_t until_us)
{
    struct node_request *r = take_waiters(n, e, until_us), *next;

    for (; r != NULL; r = next) {
        next = r->next;
        request_answer(n, r, x);
    }
}

static void refuse_until(struct node *n, struct entry *e, const struct err *err, int64_t until_us)
{
    struct node_request *r = take_waiters(n, e, until_us), *next;

    for (; r != NULL; r = next) {
        next = r->next;
        if (r->ok)
            request_done(n, r); /* what it asked for has happened, and it was shown how */
        else
            request_refuse(n, r, err->code, "%s", err->message);
    }
}

void request_answer_waiters(struct node *n, struct entry *e, const struct execution *x)
{
    answer_until(n, e, x, INT64_MAX);
}

void request_refuse_waiters(struct node *n, struct entry *e, const struct err *err)
{
    refuse_until(n, e, err, INT64_MAX);
}

/* --- their time is up --- */

/* Those with a deadline up to this are not to wait any longer. */
static int64_t due_until_us(const struct node *n)
{
    return n->is_draining ? INT64_MAX : clock_mono_us(n->clock);
}

static void expire_applied(struct node *n, struct work *w)
{
    bool has_ended = status_is_terminal(w->met->status);

    answer_until(n, w->entry, w->met, has_ended ? INT64_MAX : due_until_us(n));
    work_free(n, w);
}

/* Another was faster each time: the next look asks again. */
static void expire_refused(struct node *n, struct work *w)
{
    if (w->member.result == MEMBER_FAILED)
        refuse_until(n, w->entry, &w->member.err, due_until_us(n));
    work_free(n, w);
}

static void expire_unknown(struct node *n, struct work *w, const struct batch *b)
{
    struct err err;

    (void)err_set(&err, ERR_OVERLOADED, "the store does not answer: %s", b->err.message);
    refuse_until(n, w->entry, &err, due_until_us(n));
    work_free(n, w);
}

/* The entry is read again, for it has waiters; those whose time is up are found by the next look. */
static void expire_again(struct node *n, struct work *w)
{
    work_free(n, w);
}

static void expire_freed(struct node *n, struct work *w)
{
    (void)n;
    w->entry->is_expiring = false;
}

/* It is in a batch from the beginning, and in no queue. */
const struct work_kind work_expire = {
    .name = "expire",
    .applied = expire_applied,
    .refused = expire_refused,
    .unknown = expire_unknown,
    .again = expire_again,
    .freed = expire_freed,
};

static void expire_entry(struct node *n, struct entry *e)
{
    struct work *w = work_new(n, &work_expire);

    w->entry = e;
    e->is_expiring = true;
    work_assert(n, e, w);
}

void request_expire_loaded(struct node *n, struct entry *e)
{
    if (e->waiters != NULL && !e->is_expiring && status_is_terminal(e->x->status))
        expire_entry(n, e);
}

static int64_t first_deadline_us(const struct entry *e)
{
    int64_t first_us = INT64_MAX;

    for (const struct node_request *r = e->waiters; r != NULL; r = r->next)
        if (r->deadline_us < first_us)
            first_us = r->deadline_us;
    return first_us;
}

void request_expire(struct node *n)
{
    int64_t now_us = clock_mono_us(n->clock), until_us = due_until_us(n), next_us = INT64_MAX;

    if (n->waiting == 0 || (now_us < n->next_expiry_us && !n->is_draining))
        return;
    for (struct entry *e = n->awaited, *next; e != NULL; e = next) {
        int64_t first_us = first_deadline_us(e);

        next = e->next_awaited;
        if (e->waiters == NULL) {
            waiters_unlink(n, e);
            continue;
        }
        if (first_us <= until_us && e->state == ENTRY_READY && !e->is_stale && !e->is_expiring &&
            n->current->members.count < BATCH_MEMBERS_MAX)
            expire_entry(n, e);
        if (first_us < next_us)
            next_us = first_us;
    }
    n->next_expiry_us = next_us < now_us + EXPIRY_GRAIN_US ? now_us + EXPIRY_GRAIN_US : next_us;
}

/* --- what other nodes have made --- */

int64_t waiters_look_in_us(const struct node *n)
{
    if (n->waiting == 0 || n->is_looking_at_awaited || !node_is_shared(n) || n->is_draining)
        return INT64_MAX;
    return n->next_look_at_awaited_us - clock_mono_us(n->clock);
}

static void run_awaited(struct node_read *read, struct reader *reader)
{
    struct load *l = read->owner;

    l->ok = read_row_versions(reader, &l->mem, l->awaited.ids_json, &l->awaited.found, &l->err);
}

static void done_awaited(struct node_read *read)
{
    struct load *l = read->owner;
    struct node *n = l->node;

    for (size_t i = 0; l->ok && i < l->awaited.found.count; i++) {
        const struct execution_version *is = &l->awaited.found.items[i];
        struct entry *e = entry_find(n, is->id);

        /* What this node has under way finds out by itself. */
        if (e == NULL || e->state != ENTRY_READY || e->pins > 0 || e->works.first != NULL ||
            e->is_needing || e->waiters == NULL || e->x->row_version >= is->row_version)
            continue;
        e->is_stale = true;
        entry_make_ready(n, e);
    }
    n->is_looking_at_awaited = false;
    n->next_look_at_awaited_us = clock_mono_us(n->clock) + LOOK_US;
    load_free(l);
}

/* The ids of those to be asked for; they go to the end of the list. */
static struct str list_awaited(struct node *n, struct arena *mem)
{
    struct entry *first = NULL;
    struct buf ids;

    buf_init_arena(&ids, mem);
    buf_char(&ids, '[');
    for (unsigned i = 0; i < LOOK_MAX && n->awaited != NULL && n->awaited != first; i++) {
        struct entry *e = n->awaited;
        char id[UUID_TEXT_LEN + 1];

        waiters_unlink(n, e);
        if (e->waiters == NULL)
            continue;
        if (first == NULL)
            first = e;
        awaited_append(n, e);
        uuid_write(e->id, id);
        if (ids.len > 1)
            buf_char(&ids, ',');
        json_write_string(&ids, str_of(id));
    }
    buf_char(&ids, ']');
    return buf_view(&ids);
}

void waiters_look(struct node *n)
{
    struct load *l;

    if (waiters_look_in_us(n) > 0)
        return;
    n->is_looking_at_awaited = true;
    l = load_new(n, run_awaited, done_awaited);
    l->awaited.ids_json = list_awaited(n, &l->mem);
    load_send(l);
}
