/* calls.c - see calls.h. */
#include "node/outside/calls.h"

#include "base/alloc.h"
#include "base/log.h"
#include "effect/effect.h"
#include "engine/trace.h"
#include "node/cache/entry.h"
#include "node/chore/measure.h"
#include "node/cluster/cluster.h"
#include "node/guard/guard.h"
#include "node/guard/park.h"
#include "node/inner.h"
#include "node/node.h"
#include "node/outside/call_answer.h"
#include "node/outside/call_file.h"
#include "node/outside/credentials.h"
#include "node/outside/jobs.h"
#include "node/outside/outgoing.h"
#include "node/outside/relay.h"
#include "node/wake.h"
#include "node/work.h"
#include "value/json.h"

/* An execution that waits for capacity. */
struct queued {
    struct uuid id;
    struct queued *next;
};

struct host {
    struct call_host head; /* first: the engine looks at it */
    struct queued *first, *last;
    struct map ids; /* of those that are queued */
    struct arena mem;
};

/* An attempt that this node makes or has heard of, until what became of it is applied. */
struct own_attempt {
    struct call_attempt about; /* first: its key in the map */
    unsigned count; /* one that did not become durable may be followed by one of its row */
    bool is_lost;   /* an answer that says so waits to be applied */
};

/* --- hosts --- */

static struct host *host_get(struct node *n, struct str name)
{
    struct host *h = map_get(&n->calls->hosts, name);

    if (h != NULL)
        return h;
    h = alloc_zeroed(sizeof(*h));
    arena_init(&h->mem);
    h->head.name = str_copy(&h->mem, name);
    map_init(&h->ids, &h->mem);
    map_put(&n->calls->hosts, h->head.name, h);
    return h;
}

static void host_forget_if_idle(struct node *n, struct host *h)
{
    if (h->head.in_flight > 0 || h->first != NULL)
        return;
    (void)map_remove(&n->calls->hosts, h->head.name);
    arena_fini(&h->mem);
    free(h);
}

static struct str id_key(const struct uuid *id)
{
    return str_from((const char *)id->bytes, sizeof(id->bytes));
}

static void host_queue(struct node *n, struct host *h, struct uuid id)
{
    struct queued *q;

    if (map_find(&h->ids, id_key(&id)) != NULL)
        return;
    q = alloc_bytes(sizeof(*q));
    *q = (struct queued){.id = id};
    *(h->last != NULL ? &h->last->next : &h->first) = q;
    h->last = q;
    map_put(&h->ids, id_key(&q->id), q);
    n->calls->queued++;
}

/* There is capacity for one more call: whoever has waited longest is woken. */
static void host_wake_next(struct node *n, struct host *h)
{
    struct queued *q = h->first;

    if (q == NULL)
        return;
    h->first = q->next;
    if (h->first == NULL)
        h->last = NULL;
    (void)map_remove(&h->ids, id_key(&q->id));
    n->calls->queued--;
    wake(n, q->id);
    free(q);
}

static void calls_give_back(struct node *n, struct str name)
{
    struct host *h = host_get(n, name);

    ASSERT(h->head.in_flight > 0 && n->calls->total > 0);
    h->head.in_flight--;
    n->calls->total--;
    host_wake_next(n, h);
    host_forget_if_idle(n, h);
}

static bool is_sender_over(const void *context, int64_t epoch)
{
    return cluster_epoch_is_over(context, epoch);
}

const struct call_capacity *calls_capacity(struct node *n)
{
    struct call_capacity *capacity = &n->calls->capacity;

    capacity->epoch = cluster_epoch(n);
    capacity->epoch_is_over = capacity->epoch != 0 ? is_sender_over : NULL;
    capacity->context = n;
    capacity->left = n->is_draining || n->calls->unanswered >= EFFECT_CALLS_MAX
                         ? 0
                         : EFFECT_CALLS_MAX - n->calls->unanswered;
    return capacity;
}

/* --- attempts --- */

static struct own_attempt *attempt_enter(struct node *n, struct uuid execution, int64_t seq)
{
    struct call_attempt about = {.execution = execution, .seq = seq};
    struct own_attempt *a = map_get(&n->calls->attempts, call_attempt_key(&about));

    if (a == NULL) {
        a = ALLOC_NEW(struct own_attempt);
        a->about = about;
        map_put(&n->calls->attempts, call_attempt_key(&a->about), a);
    }
    a->count++;
    return a;
}

static void attempt_leave(struct node *n, struct uuid execution, int64_t seq)
{
    struct call_attempt about = {.execution = execution, .seq = seq};
    struct own_attempt *a = map_get(&n->calls->attempts, call_attempt_key(&about));

    ASSERT(a != NULL);
    if (--a->count > 0)
        return;
    (void)map_remove(&n->calls->attempts, call_attempt_key(&a->about));
    free(a);
}

/*
 * An attempt is noted before it is durable, because a process may be killed right
 * after that: one that is not durable is no attempt of its execution, and the
 * answer that the next process gives to it is rejected.
 */
static void call_reserve(struct node *n, const struct commit *commit, struct ask *a)
{
    host_get(n, a->host)->head.in_flight++;
    a->slot = call_file_enter(&n->calls->file, commit->after->id, a->seq);
    a->reserved_us = clock_mono_us(n->clock);
    (void)attempt_enter(n, commit->after->id, a->seq);
    n->calls->total++;
    n->calls->unanswered++;
}

static void call_release(struct node *n, const struct commit *commit, const struct ask *a)
{
    attempt_leave(n, commit->after->id, a->seq);
    calls_give_back(n, a->host);
    call_file_leave(&n->calls->file, a->slot);
    n->calls->unanswered--;
}

void calls_queue(struct node *n, const struct execution *x)
{
    for (uint32_t i = 0; !status_is_terminal(x->status) && i < execution_askers(x); i++)
        if (call_is_queued(execution_asker(x, i)))
            host_queue(n, host_get(n, execution_asker(x, i)->host), x->id);
}

static void queue_answer(struct node *n, struct call_answer answer)
{
    struct work *w = work_new(n, &work_answer);

    w->answer = alloc_bytes(sizeof(*w->answer));
    *w->answer = answer;
    LIST_INSERT_HEAD(&n->calls->unapplied, w->answer, unapplied);
    answer_queue(n, w);
}

/* --- sending --- */

/* What the service sees of the attempt. */
static void call_add_trace(struct effect_call *call, const struct execution *x)
{
    struct trace trace;

    for (uint32_t i = 0; i < execution_askers(x); i++) {
        if (execution_asker(x, i)->asked_seq != call->seq)
            continue;
        trace_of(x, &trace);
        call->traceparent =
            trace_write(&call->mem, &trace, trace_cursor_span(x, execution_asker(x, i)));
        call->tracestate = str_copy(&call->mem, trace.state);
        return;
    }
}

static void send_noted(struct node *n, struct effect_call *call)
{
    call->sent_at_us = clock_mono_us(n->clock);
    if (n->options.caller.send != NULL)
        n->options.caller.send(n->options.caller.context, call);
    else
        effect_send(n->calls->effect, call);
}

/*
 * The store has taken longer than the attempt may: its time is up, and nothing
 * was sent. So it is on a node that others may take for dead, or have taken for dead since: they
 * may have ended the attempt. The engine asks for it again, and that is no further attempt.
 */
static bool call_is_late(struct node *n, const struct commit *commit, const struct ask *a)
{
    if (clock_mono_us(n->clock) - a->reserved_us < a->timeout_us && cluster_may_act(n) &&
        a->epoch == cluster_epoch(n))
        return false;
    calls_give_back(n, a->host);
    queue_answer(n,
                 (struct call_answer){
                     .about = {.execution = commit->after->id, .seq = a->seq},
                     .has_slot = true,
                     .slot = a->slot,
                     .error_json = STR("{\"code\":\"" CALL_NEVER_SENT "\",\"class\":\"transient\","
                                       "\"message\":\"the call was not sent: storing its attempt "
                                       "took longer than the call may take\"}"),
                 });
    return true;
}

static void call_send(struct node *n, const struct commit *commit, const struct ask *a)
{
    struct effect_call *call;

    if (call_is_late(n, commit, a))
        return;
    call = effect_call_new();
    call->execution = commit->after->id;
    call->seq = a->seq;
    call->key = str_copy(&call->mem, a->key);
    call->host = str_copy(&call->mem, a->host);
    call->request_json = str_copy(&call->mem, a->request_json);
    call->timeout_us = a->timeout_us;
    call_add_trace(call, commit->after);
    call->slot = a->slot;
    send_noted(n, call);
}

size_t calls_left(struct node *n, struct str host)
{
    const struct call_capacity *capacity = calls_capacity(n);
    const struct call_host *known = map_get(&n->calls->hosts, host);
    size_t in_flight = known != NULL ? known->in_flight : 0;
    size_t left = in_flight < capacity->limit ? capacity->limit - in_flight : 0;

    return left < capacity->left ? left : capacity->left;
}

void calls_hold(struct node *n, struct str host, size_t count)
{
    host_get(n, host)->head.in_flight += count;
    n->calls->total += count;
    n->calls->unanswered += count;
}

void calls_unhold(struct node *n, struct str host, size_t count)
{
    for (size_t i = 0; i < count; i++)
        calls_give_back(n, host);
    n->calls->unanswered -= count;
}

void calls_make(struct node *n, struct effect_call *call)
{
    const struct entry *e = entry_find(n, call->execution);

    /* Of an execution that is not in memory the trace is not worth a read. */
    if (e != NULL && entry_is_loaded(e))
        call_add_trace(call, e->x);
    call->slot = call_file_enter(&n->calls->file, call->execution, call->seq);
    (void)attempt_enter(n, call->execution, call->seq);
    send_noted(n, call);
}

const struct outgoing outgoing_call = {
    .reserve = call_reserve, .release = call_release, .send = call_send};

/* --- answers --- */

void node_call_answered(struct node *n, struct effect_call *call)
{
    struct call_answer answer;

    if (call->message != NULL) {
        relay_answered(n, call);
        return;
    }
    answer = (struct call_answer){
        .call = call,
        .about = {.execution = call->execution, .seq = call->seq},
        .has_slot = true,
        .slot = call->slot,
    };

    measure_call(n, call);
    credentials_used(n, call->credential, call->execution);
    calls_give_back(n, call->host);
    queue_answer(n, answer);
    if (call->job_type.len > 0)
        (void)endpoints_notify(n, call->job_org, call->job_type);
}

void calls_lose(struct node *n, struct uuid execution, int64_t seq, struct str error_json)
{
    struct own_attempt *a = attempt_enter(n, execution, seq);

    /* The one who looks finds it again and again, until it is applied. */
    if (a->is_lost) {
        attempt_leave(n, execution, seq);
        return;
    }
    a->is_lost = true;
    queue_answer(n, (struct call_answer){.about = {.execution = execution, .seq = seq},
                                         .error_json = error_json,
                                         .is_lost = true});
}

static void take_answers(void *context)
{
    struct node *n = context;
    void *items[256];
    size_t count = mailbox_take(&n->calls->answers, items, ARRAY_SIZE(items));

    for (size_t i = 0; i < count; i++)
        node_call_answered(n, items[i]);
}

static struct value read_or_refuse(struct arena *mem, struct str json, struct str fallback)
{
    struct value v = value_absent();
    struct err err;

    if (json.len > 0 && !json_read(mem, json, &v, &err) && !json_read(mem, fallback, &v, &err))
        PANIC("a constant is no JSON");
    return v;
}

static enum guard_subject call_answer_subject(const struct work *w)
{
    (void)w;
    return GUARD_ANSWER;
}

static void call_answer_event(const struct work *w, struct event *ev)
{
    const struct call_answer *a = w->answer;
    struct arena *mem = &w->entry->mem;
    struct err err;

    ev->kind = EVENT_ANSWER;
    ev->answer_seq = a->about.seq;
    ev->answer_output = ev->answer_error = value_absent();
    if (a->call == NULL) {
        ev->answer_error = read_or_refuse(mem, a->error_json, STR_NONE);
        ev->answer_is_lost = a->is_lost;
        ev->answer_is_lapsed = a->is_lost && !a->has_slot;
        return;
    }
    if (a->call->answer_json.len > 0 &&
        !json_read(mem, a->call->answer_json, &ev->answer_output, &err)) {
        ev->answer_output = value_absent();
        a->call->error_json = STR("{\"code\":\"external_bad_body\",\"class\":\"business\","
                                  "\"message\":\"the answer is nested too deeply\"}");
    }
    if (ev->answer_output.kind == VALUE_ABSENT)
        ev->answer_error = read_or_refuse(mem, a->call->error_json, STR("{}"));
    else if (a->call->job_type.len > 0)
        endpoints_judge(mem, ev->answer_output, &ev->answer_output, &ev->answer_error);
}

static void call_answer_applied(struct node *n, struct work *w)
{
    park_forget(n, w->entry->id);
    work_free(n, w);
}

/*
 * Nobody waits for it: its time was up before, or the execution has ended. One that is damaged is
 * parked, and may wait for it again when it was mended.
 */
static void call_answer_rejected(struct node *n, struct work *w, const struct err *err,
                                 const struct findings *found)
{
    (void)found;
    if (err->code == ERR_INTERNAL)
        answer_keep(n, w);
    else
        work_free(n, w);
}

/* It cannot be written now: it is kept, unless its execution is deleted. */
static void call_answer_refused(struct node *n, struct work *w)
{
    const struct member *m = &w->member;

    if (m->result == MEMBER_FAILED)
        park_or_wake_later(n, w->entry->id, "internal_write", &m->err);
    if (m->result == MEMBER_GONE)
        work_free(n, w);
    else
        answer_keep(n, w);
}

static void call_answer_gone(struct node *n, struct work *w, const struct err *err)
{
    if (err->code == ERR_NOT_FOUND)
        work_free(n, w);
    else
        answer_keep(n, w);
}

static void call_answer_drop(struct node *n, struct call_answer *a)
{
    LIST_REMOVE(a, unapplied);
    ASSERT(LIST_FIRST(&n->calls->unapplied) != a);
    if (a->call != NULL)
        effect_call_free(a->call);
    free(a);
}

/* It is applied, or nobody waits for it. */
static void call_answer_freed(struct node *n, struct work *w)
{
    attempt_leave(n, w->answer->about.execution, w->answer->about.seq);
    if (w->answer->has_slot) {
        call_file_leave(&n->calls->file, w->answer->slot);
        n->calls->unanswered--;
    }
    call_answer_drop(n, w->answer);
    w->answer = NULL;
}

/* One of a batch that is unknown may be applied already: then it is rejected the second time. */
const struct work_kind work_answer = {
    .subject = call_answer_subject,
    .event = call_answer_event,
    .applied = call_answer_applied,
    .rejected = call_answer_rejected,
    .refused = call_answer_refused,
    .gone = call_answer_gone,
    .again = answer_queue,
    .freed = call_answer_freed,
};

/* --- opening and closing --- */

bool calls_open(struct node *n, struct err *err)
{
    struct calls *c = n->calls;
    struct effect_options options = {
        .policy = n->options.policy, .vault = n->options.vault, .answers = &c->answers};
    static const struct policy any;

    map_init(&c->hosts, &n->mem);
    map_init(&c->attempts, &n->mem);
    kept_answers_init(n);
    c->capacity = (struct call_capacity){
        .hosts = &c->hosts,
        .in_flight = &c->attempts,
        .limit = n->options.calls_per_host > 0 ? n->options.calls_per_host : CALLS_PER_HOST,
    };
    if (!call_file_open(&c->file, n->options.data_path, EFFECT_CALLS_MAX, err))
        return false;
    if (n->options.caller.send != NULL || n->options.store != NULL)
        return true;
    if (options.policy == NULL)
        options.policy = &any;
    if (!mailbox_init(&c->answers, EFFECT_CALLS_MAX + EFFECT_MESSAGES_MAX, err))
        return false;
    if (!node_watch(n, mailbox_fd(&c->answers), take_answers, n, err))
        return false;
    c->effect = effect_open(&options, err);
    if (c->effect != NULL && n->options.servers.smtp_url.len > 0)
        c->mails = effect_open(&options, err);
    return c->effect != NULL && (c->mails != NULL || n->options.servers.smtp_url.len == 0);
}

static int by_seq_downwards(const void *a, const void *b)
{
    const struct call_answer *x = a, *y = b;

    return (x->about.seq < y->about.seq) - (x->about.seq > y->about.seq);
}

/*
 * Of the attempts of one execution the newest may not be durable. It is answered
 * first, in vain: after the answer to an older one, the next attempt may have its
 * number.
 */
void calls_recover(struct node *n)
{
    const struct call_file *f = &n->calls->file;
    struct call_answer *left = alloc_array(f->slot_count + 1, sizeof(*left));
    size_t count = 0;

    for (unsigned i = 0; i < f->slot_count; i++) {
        left[count] = (struct call_answer){
            .has_slot = true,
            .is_lost = true,
            .slot = i,
            .error_json = STR("{\"code\":\"external_unknown\",\"class\":\"indeterminate\","
                              "\"message\":\"the call was in flight when the server ended: nobody "
                              "knows what became of it\"}"),
        };
        if (call_file_left(f, i, &left[count].about))
            count++;
    }
    qsort(left, count, sizeof(*left), by_seq_downwards);
    for (size_t i = 0; i < count; i++) {
        attempt_enter(n, left[i].about.execution, left[i].about.seq)->is_lost = true;
        queue_answer(n, left[i]);
    }
    free(left);
    n->calls->unanswered += count;
    if (count > 0)
        log_write(LOG_WARN, "calls were in flight when the server ended",
                  LOG_FIELDS(log_int("calls", (int64_t)count)));
}

void calls_close(struct node *n)
{
    struct calls *c = n->calls;
    struct map_entry *entry;
    void *items[256];
    size_t count;

    if (c->effect != NULL) {
        effect_close(c->effect);
        if (c->mails != NULL)
            effect_close(c->mails);
        while ((count = mailbox_take(&c->answers, items, ARRAY_SIZE(items))) > 0)
            for (size_t i = 0; i < count; i++)
                effect_call_free(items[i]);
        mailbox_fini(&c->answers);
    }
    /* Those that are not applied are found in the file by the next process. */
    while (!LIST_EMPTY(&c->unapplied))
        call_answer_drop(n, LIST_FIRST(&c->unapplied));
    while ((entry = map_next(&c->hosts, NULL)) != NULL) {
        struct host *h = entry->ptr;

        while (h->first != NULL) {
            struct queued *q = h->first;
            h->first = q->next;
            free(q);
        }
        h->head.in_flight = 0;
        host_forget_if_idle(n, h);
    }
    while ((entry = map_next(&c->attempts, NULL)) != NULL) {
        struct own_attempt *a = entry->ptr;

        (void)map_remove(&c->attempts, call_attempt_key(&a->about));
        free(a);
    }
    call_file_close(&c->file);
}
