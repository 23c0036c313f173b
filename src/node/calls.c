/* calls.c - see calls.h. */
#include "node/inner.h"

#include "base/log.h"
#include "engine/trace.h"
#include "value/json.h"

#include <stdlib.h>

/* An execution that waits for room. */
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

/* What a work_answer brings. */
struct call_answer {
    struct effect_call *call; /* or NULL: there is none, as error_json says, which is constant */
    struct str error_json;
    struct call_slot about;
    bool has_slot; /* in the file: */
    unsigned slot;
    struct call_answer *before, *after; /* all that are not applied */
};

/* --- hosts --- */

static struct host *host_get(struct node *n, struct str name)
{
    struct host *h = map_get(&n->calls.hosts, name);

    if (h != NULL)
        return h;
    h = calloc(1, sizeof(*h));
    if (h == NULL)
        PANIC("out of memory");
    arena_init(&h->mem);
    h->head.name = str_copy(&h->mem, name);
    map_init(&h->ids, &h->mem);
    map_put(&n->calls.hosts, h->head.name, h);
    return h;
}

static void host_forget_if_idle(struct node *n, struct host *h)
{
    if (h->head.under_way > 0 || h->first != NULL)
        return;
    (void)map_remove(&n->calls.hosts, h->head.name);
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
    q = malloc(sizeof(*q));
    if (q == NULL)
        PANIC("out of memory");
    *q = (struct queued){.id = id};
    *(h->last != NULL ? &h->last->next : &h->first) = q;
    h->last = q;
    map_put(&h->ids, id_key(&q->id), q);
    n->calls.queued++;
}

/* Room for one call has come to be: whoever has waited longest is woken. */
static void host_wake_next(struct node *n, struct host *h)
{
    struct queued *q = h->first;

    if (q == NULL)
        return;
    h->first = q->next;
    if (h->first == NULL)
        h->last = NULL;
    (void)map_remove(&h->ids, id_key(&q->id));
    n->calls.queued--;
    wake(n, q->id);
    free(q);
}

static void give_room_back(struct node *n, struct str name)
{
    struct host *h = host_get(n, name);

    ASSERT(h->head.under_way > 0 && n->calls.total > 0);
    h->head.under_way--;
    n->calls.total--;
    host_wake_next(n, h);
    host_forget_if_idle(n, h);
}

const struct call_room *calls_room(struct node *n)
{
    struct call_room *room = &n->calls.room;

    room->left = n->is_draining ? 0 : EFFECT_CALLS_MAX - n->calls.unanswered;
    return room;
}

/*
 * An attempt is noted before it is durable, because a process may be killed right
 * after that: one that is not durable is no attempt of its execution, and the
 * answer that the next process gives to it is futile.
 */
static void call_reserve(struct node *n, const struct commit *commit, struct ask *a)
{
    host_get(n, a->host)->head.under_way++;
    a->slot = call_file_enter(&n->calls.file, commit->after->id, a->seq);
    n->calls.total++;
    n->calls.unanswered++;
}

static void call_release(struct node *n, const struct ask *a)
{
    give_room_back(n, a->host);
    call_file_leave(&n->calls.file, a->slot);
    n->calls.unanswered--;
}

void calls_queue(struct node *n, const struct execution *x)
{
    for (uint32_t i = 0; !status_is_terminal(x->status) && i < execution_strands(x); i++)
        if (call_is_queued(execution_cursor(x, i)))
            host_queue(n, host_get(n, execution_cursor(x, i)->host), x->id);
}

/* --- sending --- */

/* What the service is told of the attempt. */
static void call_tell_trace(struct effect_call *call, const struct execution *x)
{
    struct trace trace;

    for (uint32_t i = 0; i < execution_strands(x); i++) {
        if (execution_cursor(x, i)->asked_seq != call->seq)
            continue;
        trace_of(x, &trace);
        call->traceparent =
            trace_write(&call->mem, &trace, trace_cursor_span(x, execution_cursor(x, i)));
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
        effect_send(n->calls.effect, call);
}

static void call_send(struct node *n, const struct commit *commit, const struct ask *a)
{
    struct effect_call *call = effect_call_new();

    call->execution = commit->after->id;
    call->seq = a->seq;
    call->key = str_copy(&call->mem, a->key);
    call->host = str_copy(&call->mem, a->host);
    call->request_json = str_copy(&call->mem, a->request_json);
    call->timeout_us = a->timeout_us;
    call_tell_trace(call, commit->after);
    call->slot = a->slot;
    send_noted(n, call);
}

size_t calls_left(struct node *n, struct str host)
{
    const struct call_room *room = calls_room(n);
    const struct call_host *known = map_get(&n->calls.hosts, host);
    size_t under_way = known != NULL ? known->under_way : 0;
    size_t left = under_way < room->limit ? room->limit - under_way : 0;

    return left < room->left ? left : room->left;
}

void calls_make(struct node *n, struct effect_call *call)
{
    const struct entry *e = entry_find(n, call->execution);

    /* Of an execution that is not in memory the trace is not worth a read. */
    if (e != NULL && e->state == ENTRY_READY)
        call_tell_trace(call, e->x);
    host_get(n, call->host)->head.under_way++;
    n->calls.total++;
    n->calls.unanswered++;
    call->slot = call_file_enter(&n->calls.file, call->execution, call->seq);
    send_noted(n, call);
}

const struct outgoing outgoing_call = {
    .reserve = call_reserve, .release = call_release, .send = call_send};

/* --- answers --- */

static void queue_answer(struct node *n, struct call_answer answer)
{
    struct work *w = work_new(n, &work_answer);

    w->answer = malloc(sizeof(*w->answer));
    if (w->answer == NULL)
        PANIC("out of memory");
    *w->answer = answer;
    w->answer->after = n->calls.first_answer;
    if (w->answer->after != NULL)
        w->answer->after->before = w->answer;
    n->calls.first_answer = w->answer;
    entry_queue(n, entry_get(n, answer.about.execution), w);
}

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
    give_room_back(n, call->host);
    queue_answer(n, answer);
    if (call->job_type.len > 0)
        (void)endpoints_tell(n, call->job_org, call->job_type);
}

void calls_lose(struct node *n, struct uuid execution, int64_t seq, struct str error_json)
{
    queue_answer(n, (struct call_answer){.about = {.execution = execution, .seq = seq},
                                         .error_json = error_json});
}

static void take_answers(void *context)
{
    struct node *n = context;
    void *items[256];
    size_t count = mailbox_take(&n->calls.answers, items, ARRAY_SIZE(items));

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

static void answer_event(const struct node *n, const struct work *w, struct event *ev)
{
    const struct call_answer *a = w->answer;
    struct arena *mem = &w->entry->mem;
    struct err err;

    (void)n;
    ev->kind = EVENT_ANSWER;
    ev->answer_seq = a->about.seq;
    ev->answer_output = ev->answer_error = value_absent();
    if (a->call == NULL) {
        ev->answer_error = read_or_refuse(mem, a->error_json, STR_NONE);
        ev->answer_is_lost = true;
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

static void answer_applied(struct node *n, struct work *w)
{
    park_forget(n, w->entry->id);
    work_free(n, w);
}

/* Nobody waits for it: its time was up before, or the execution has ended. */
static void answer_futile(struct node *n, struct entry *e, struct work *w, const struct err *err,
                          const struct findings *found)
{
    (void)e;
    (void)err;
    (void)found;
    work_free(n, w);
}

/* It cannot be written: the deadline of the attempt will say so. */
static void answer_refused(struct node *n, struct work *w)
{
    const struct member *m = &w->member;

    if (m->result == MEMBER_FAILED)
        park_or_wake_later(n, w->entry->id, "internal_write", &m->err);
    work_free(n, w);
}

/* It may be applied already: then it is futile. */
static void answer_unknown(struct node *n, struct work *w, const struct batch *b)
{
    (void)b;
    work_again(n, w);
}

static void answer_gone(struct node *n, struct entry *e, struct work *w, const struct err *err)
{
    (void)e;
    (void)err;
    work_free(n, w);
}

static void answer_drop(struct node *n, struct call_answer *a)
{
    *(a->before != NULL ? &a->before->after : &n->calls.first_answer) = a->after;
    if (a->after != NULL)
        a->after->before = a->before;
    ASSERT(n->calls.first_answer != a);
    if (a->call != NULL)
        effect_call_free(a->call);
    free(a);
}

/* It is applied, or nobody waits for it. */
static void answer_freed(struct node *n, struct work *w)
{
    if (w->answer->has_slot) {
        call_file_leave(&n->calls.file, w->answer->slot);
        n->calls.unanswered--;
    }
    answer_drop(n, w->answer);
    w->answer = NULL;
}

const struct work_kind work_answer = {
    .name = "answer",
    .event = answer_event,
    .applied = answer_applied,
    .futile = answer_futile,
    .refused = answer_refused,
    .unknown = answer_unknown,
    .gone = answer_gone,
    .freed = answer_freed,
};

/* --- opening and closing --- */

bool calls_open(struct node *n, struct err *err)
{
    struct calls *c = &n->calls;
    struct effect_options options = {
        .policy = n->options.policy, .vault = n->options.vault, .answers = &c->answers};
    static const struct policy any;

    map_init(&c->hosts, &n->mem);
    c->room = (struct call_room){
        .hosts = &c->hosts,
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
    return c->effect != NULL;
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
    const struct call_file *f = &n->calls.file;
    struct call_answer *left = calloc(f->slot_count + 1, sizeof(*left));
    size_t count = 0;

    if (left == NULL)
        PANIC("out of memory");
    for (unsigned i = 0; i < f->slot_count; i++) {
        left[count] = (struct call_answer){
            .has_slot = true,
            .slot = i,
            .error_json = STR("{\"code\":\"external_unknown\",\"class\":\"indeterminate\","
                              "\"message\":\"the call was under way when the server ended: nobody "
                              "knows what became of it\"}"),
        };
        if (call_file_left(f, i, &left[count].about))
            count++;
    }
    qsort(left, count, sizeof(*left), by_seq_downwards);
    for (size_t i = 0; i < count; i++)
        queue_answer(n, left[i]);
    free(left);
    n->calls.unanswered += count;
    if (count > 0)
        log_write(LOG_WARN, "calls were under way when the server ended",
                  LOG_FIELDS(log_int("calls", (int64_t)count)));
}

void calls_close(struct node *n)
{
    struct calls *c = &n->calls;
    struct map_entry *entry;
    void *items[256];
    size_t count;

    if (c->effect != NULL) {
        effect_close(c->effect);
        while ((count = mailbox_take(&c->answers, items, ARRAY_SIZE(items))) > 0)
            for (size_t i = 0; i < count; i++)
                effect_call_free(items[i]);
        mailbox_fini(&c->answers);
    }
    /* Those that are not applied are found in the file by the next process. */
    while (c->first_answer != NULL)
        answer_drop(n, c->first_answer);
    while ((entry = map_next(&c->hosts, NULL)) != NULL) {
        struct host *h = entry->ptr;

        while (h->first != NULL) {
            struct queued *q = h->first;
            h->first = q->next;
            free(q);
        }
        h->head.under_way = 0;
        host_forget_if_idle(n, h);
    }
    call_file_close(&c->file);
}
