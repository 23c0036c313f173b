/* intake.c - see intake.h. */
#include "node/outside/intake.h"

#include "base/digest.h"
#include "base/log.h"
#include "effect/broker/consumer.h"
#include "node/cache/load.h"
#include "node/chore/chore.h"
#include "node/inner.h"
#include "node/outside/broker_link.h"
#include "node/outside/intake_read.h"
#include "node/request.h"
#include "store/org.h"
#include "store/read_find.h"
#include "value/object.h"

#define INTAKE_REST_US INT64_C(200000)

/* One message on its way through the node; in the memory of its delivery. */
struct intake_work {
    struct node *node;
    struct broker_delivery *delivery;
    struct intake_message message;
    struct node_request request;
};

static void intake_process(struct node *n, struct broker_delivery *d);

/* --- how a message ends --- */

static void intake_rest(struct node *n, struct broker_delivery *d)
{
    struct intake *in = n->intake;

    d->next = NULL;
    *(in->last_resting != NULL ? &in->last_resting->next : &in->resting) = d;
    in->last_resting = d;
    chore_hurry(n->chores[CHORE_INTAKE], INTAKE_REST_US);
}

static void intake_answered(struct node *n, struct broker_message *m)
{
    struct broker_delivery *d = m->owner;

    if (m->outcome == BROKER_CONFIRMED)
        consumer_ack(n->intake->consumer, d);
    else
        intake_rest(n, d);
}

/* A copy goes where people look at it; what has come is acknowledged when that is confirmed. */
static void intake_dead(struct node *n, struct broker_delivery *d, enum err_code code,
                        const char *reason)
{
    struct broker_message *m;
    struct buf headers;

    if (!broker_link_is_up(n)) {
        intake_rest(n, d);
        return;
    }
    log_write(LOG_WARN, "a message was refused: see the queue " INTAKE_DEAD_QUEUE,
              LOG_FIELDS(log_str("messageId", d->id), log_str("reason", str_of(reason))));
    n->intake->refused++;
    m = broker_message_new();
    m->owner = d;
    m->answered = intake_answered;
    m->id = str_copy(&m->mem, d->id);
    m->type = str_copy(&m->mem, d->type);
    m->exchange = STR_NONE;
    m->routing_key = STR(INTAKE_DEAD_QUEUE);
    m->body = str_copy(&m->mem, d->body);
    m->is_opaque = true;
    object_begin(&headers, &m->mem);
    object_text(&headers, "pawl-code", str_of(err_code_name(code)));
    object_text(&headers, "pawl-reason", str_of(reason));
    object_text(&headers, "pawl-queue", STR(INTAKE_QUEUE));
    object_int(&headers, "pawl-size", (int64_t)(d->size & INT64_MAX));
    m->headers_json = object_end(&headers);
    broker_send(n->broker->broker, m);
}

/* --- asking the node --- */

/* It could not be done: later perhaps, or never, and then somebody has to look at it. */
static void intake_failed(struct intake_work *w, const struct err *err)
{
    if (err_is_retryable(err->code))
        intake_rest(w->node, w->delivery);
    else if (err->code == ERR_IDEMPOTENCY_CONFLICT)
        intake_dead(w->node, w->delivery, err->code, "another message had this message_id");
    else
        intake_dead(w->node, w->delivery, err->code, err->message);
}

static void intake_done(struct node_request *r)
{
    struct intake_work *w = r->owner;
    struct node *n = w->node;

    if (r->ok) {
        if (r->stored_status != 0)
            n->intake->repeated++;
        else
            n->intake->taken++;
        consumer_ack(n->intake->consumer, w->delivery);
    } else {
        intake_failed(w, &r->err);
    }
}

static void intake_submit(struct intake_work *w)
{
    struct err err;

    if (!node_submit(w->node, &w->request, &err))
        intake_failed(w, &err);
}

struct key_load {
    struct load load; /* first: see load.h */
    struct intake_work *work;
    struct dues found;
    bool is_known;
    struct uuid id;
};

static void run_key(struct load *load, struct reader *reader)
{
    struct key_load *l = (struct key_load *)load;
    const struct intake_message *m = &l->work->message;

    load->ok =
        read_live_by_key(reader, &load->mem, m->key, m->code, ORG_DEFAULT, &l->found, &load->err);
    /* One that came before: its execution may have ended. */
    if (load->ok && l->found.count == 0)
        load->ok = read_receiver(reader, m->key, m->code, ORG_DEFAULT, l->work->delivery->id,
                                 &l->id, &l->is_known, &load->err);
}

static void done_key(struct load *load)
{
    struct key_load *l = (struct key_load *)load;
    struct intake_work *w = l->work;

    if (!load->ok) {
        intake_failed(w, &load->err);
    } else if (l->found.count == 1 || (l->found.count == 0 && l->is_known)) {
        w->request.execution = l->found.count == 1 ? l->found.items[0].id : l->id;
        intake_submit(w);
    } else if (l->found.count == 0) {
        intake_dead(load->node, w->delivery, ERR_NOT_FOUND, "nothing runs under this key");
    } else {
        intake_dead(load->node, w->delivery, ERR_CONFLICT,
                    "executions of several codes run under this key: say which code is meant");
    }
    load_free(load);
}

static void intake_request(struct intake_work *w)
{
    const struct intake_message *m = &w->message;
    struct arena *mem = &w->delivery->mem;
    struct node_request *r = &w->request;

    *r = (struct node_request){
        .kind = m->kind == INTAKE_START ? NODE_START : NODE_EVENT,
        .user = node_system_user(ORG_DEFAULT),
        .idempotency = {.user = STR("system"),
                        .method = STR(RECEIVED_METHOD),
                        .path = STR(INTAKE_QUEUE),
                        .key = w->delivery->id,
                        .body_hash = digest_hex(mem, w->delivery->body)},
        .answers_id = true,
        .names_execution = true,
        .mem = mem,
        .owner = w,
        .done = intake_done,
    };
    if (m->kind == INTAKE_START) {
        r->code = m->code;
        r->key = m->key;
        r->event.input = m->input;
        return;
    }
    r->event.kind = EVENT_SIGNAL;
    r->event.signal_type = m->type;
    r->event.signal_id = w->delivery->id;
    r->event.signal_payload = m->payload;
    r->event.signal_correlation = m->correlation;
    r->event.by =
        value_map_of(mem, VALUE_ENTRIES({value_key(STR("id")), value_string(STR("system"))},
                                        {value_key(STR("name")), value_string(STR(INTAKE_QUEUE))}));
    r->ttl_us = m->kind == INTAKE_CORRELATED ? m->ttl_us : 0;
    r->execution = m->execution;
}

static void intake_process(struct node *n, struct broker_delivery *d)
{
    struct intake_work *w;
    struct err err;

    if (!consumer_has(n->intake->consumer, d)) {
        broker_delivery_free(d); /* it comes again */
        return;
    }
    if (node_readiness(n) != NODE_READY) {
        intake_rest(n, d);
        return;
    }
    arena_release(&d->mem, d->fresh);
    w = ARENA_NEW(&d->mem, struct intake_work);
    *w = (struct intake_work){.node = n, .delivery = d};
    if (!intake_read(&d->mem, d->has_id, d->id, d->body, d->size, &w->message, &err)) {
        intake_dead(n, d, err.code, err.message);
        return;
    }
    intake_request(w);
    if (w->message.kind == INTAKE_BY_KEY) {
        struct key_load *l = LOAD_NEW(n, struct key_load, run_key, done_key);

        l->work = w;
        load_send(&l->load);
        return;
    }
    intake_submit(w);
}

/* --- the loop's part --- */

static void take_deliveries(void *context)
{
    struct node *n = context;
    void *items[256];
    size_t count = mailbox_take(&n->intake->deliveries, items, ARRAY_SIZE(items));

    for (size_t i = 0; i < count; i++)
        intake_process(n, items[i]);
}

/* Those that rest are tried again. */
static void intake_run(struct chore *c)
{
    struct intake *in = c->node->intake;
    struct broker_delivery *d = in->resting, *next;

    c->next_us = INT64_MAX;
    in->resting = in->last_resting = NULL;
    for (; d != NULL; d = next) {
        next = d->next;
        intake_process(c->node, d);
    }
}

const struct chore_kind chore_intake = {.size = sizeof(struct chore), .run = intake_run};

bool intake_open(struct node *n, struct err *err)
{
    struct intake *in = n->intake;
    struct consumer_options options = {.url = n->options.servers.broker_url,
                                       .queue = INTAKE_QUEUE,
                                       .dead_queue = INTAKE_DEAD_QUEUE,
                                       .deliveries = &in->deliveries};

    if (n->broker->broker == NULL)
        return true;
    if (!mailbox_init(&in->deliveries, CONSUMER_DELIVERIES_MAX, err))
        return false;
    in->has_deliveries = true;
    if (!node_watch(n, mailbox_fd(&in->deliveries), take_deliveries, n, err))
        return false;
    in->consumer = consumer_open(&options, err);
    return in->consumer != NULL;
}

void intake_figures(const struct node *n, struct node_broker *out)
{
    struct consumer_view view;

    if (n->intake->consumer == NULL)
        return;
    consumer_look(n->intake->consumer, &view);
    out->takes = view.is_up;
    out->taken = n->intake->taken;
    out->repeated = n->intake->repeated;
    out->intake_refused = n->intake->refused;
}

void intake_close(struct node *n)
{
    struct intake *in = n->intake;
    struct broker_delivery *next;
    void *items[256];
    size_t count;

    if (in->consumer != NULL)
        consumer_close(in->consumer);
    for (struct broker_delivery *d = in->resting; d != NULL; d = next) {
        next = d->next;
        broker_delivery_free(d);
    }
    if (!in->has_deliveries)
        return;
    while ((count = mailbox_take(&in->deliveries, items, ARRAY_SIZE(items))) > 0)
        for (size_t i = 0; i < count; i++)
            broker_delivery_free(items[i]);
    mailbox_fini(&in->deliveries);
}
