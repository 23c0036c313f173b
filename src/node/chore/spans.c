/* spans.c - see spans.h. */
#include "node/chore/spans.h"

#include "base/log.h"
#include "base/url.h"
#include "define/program.h"
#include "effect/effect.h"
#include "engine/show.h"
#include "engine/trace.h"
#include "node/chore/chore.h"
#include "node/inner.h"
#include "node/meter.h"
#include "node/node.h"
#include "node/notify.h"
#include "value/json.h"
#include "value/mask.h"
#include "value/object.h"

#include <poll.h>

#define SEND_AFTER_US INT64_C(1000000)
#define RETRY_FIRST_US INT64_C(1000000)
#define SEND_TIMEOUT_US INT64_C(10000000)
#define CLOSE_MS 2000

/* Some spans on their way. */
struct parcel {
    bool is_sent;        /* the thread has it; else it is free, or tried again */
    struct buf json;     /* empty: the parcel is free */
    int64_t count;       /* spans in it */
    int64_t retry_at_us; /* monotonic */
    int tries;
};

struct spans {
    struct chore chore; /* first: see chore.h */
    struct effect *effect;
    struct mailbox answers;
    struct str request_json, host, resource_json;
    struct buf filling; /* spans as JSON, with commas between */
    int64_t count;      /* of them */
    int64_t since_us;   /* monotonic: when the first of them came */
    struct parcel parcels[SPANS_IN_FLIGHT];
    bool is_failing; /* the log says so */
};

static struct spans *spans_of(const struct node *n)
{
    return (struct spans *)n->chores[CHORE_SPANS];
}

static void spans_count(struct node *n, enum meter_id id, int64_t count)
{
    if (n->options.meters != NULL)
        meter_add(n->options.meters, id, STR_NONE, STR_NONE, STR_NONE, count);
}

/* --- writing --- */

static void attribute_name(struct buf *out, const char *name)
{
    object_next(out);
    buf_printf(out, "{\"key\":\"%s\",\"value\":", name);
}

static void attribute_text(struct buf *out, const char *name, struct str text)
{
    if (text.len == 0)
        return;
    attribute_name(out, name);
    buf_text(out, "{\"stringValue\":");
    json_write_string(out, text);
    buf_text(out, "}}");
}

static void attribute_int(struct buf *out, const char *name, int64_t n)
{
    attribute_name(out, name);
    buf_printf(out, "{\"intValue\":\"%lld\"}}", (long long)n);
}

/* What one commit tells. */
struct span_source {
    const struct execution *x;
    struct trace trace;
    struct mask mask;
    struct arena *mem;
};

static void span_begin(struct buf *out, const struct span_source *t, struct span_id id,
                       const struct span_id *parent, struct str name, int64_t from_us,
                       int64_t to_us)
{
    if (to_us < from_us)
        to_us = from_us;
    object_next(out);
    buf_text(out, "{\"traceId\":\"");
    trace_put_hex(out, t->trace.id, TRACE_ID_LEN);
    buf_text(out, "\",\"spanId\":\"");
    trace_put_hex(out, id.bytes, SPAN_ID_LEN);
    if (parent != NULL) {
        buf_text(out, "\",\"parentSpanId\":\"");
        trace_put_hex(out, parent->bytes, SPAN_ID_LEN);
    }
    buf_text(out, "\",\"name\":");
    json_write_string(out, name);
    /* SPAN_KIND_INTERNAL */
    buf_printf(out,
               ",\"kind\":1,\"startTimeUnixNano\":\"%lld000\",\"endTimeUnixNano\":\"%lld000\","
               "\"attributes\":[",
               (long long)from_us, (long long)to_us);
    attribute_text(out, "saga.scenario", t->x->program->code);
    attribute_int(out, "saga.version", t->x->program->version);
    attribute_text(out, "saga.execution", UUID_STR(t->x->id));
    attribute_text(out, "order.id", mask_text(t->mem, &t->mask, t->x->key));
}

/* {code, message}: what went wrong; or nothing did. */
static void span_end(struct buf *out, const struct span_source *t, bool is_failed,
                     struct str error_json)
{
    struct value error = value_absent(), code = value_absent(), message = value_absent();
    struct err err;

    if (is_failed && error_json.len > 0 && json_read(t->mem, error_json, &error, &err) &&
        error.kind == VALUE_MAP) {
        code = value_map_get_str(error, STR("code"));
        message = value_map_get_str(error, STR("message"));
    }
    if (code.kind == VALUE_STRING)
        attribute_text(out, "error.type", mask_text(t->mem, &t->mask, value_text(code)));
    buf_printf(out, "],\"status\":{\"code\":%d", is_failed ? 2 : 1);
    if (message.kind == VALUE_STRING)
        object_text(out, "message", mask_text(t->mem, &t->mask, value_text(message)));
    buf_text(out, "}}");
}

/* Who is asked in this step: the host that was called, or who does the procedure. */
static struct str row_dependency(const struct execution *x, const struct history_row *row)
{
    const struct step *step = program_step(x->program, row->step);

    if (row->dep.len > 0 || step == NULL || step->procedure == NULL ||
        step->procedure->kind != PROCEDURE_EXTERNAL)
        return row->dep;
    return step->procedure->name;
}

static void span_of_row(struct buf *out, const struct span_source *t, const struct history_row *row)
{
    struct span_id parent = trace_current_span(t->x);

    span_begin(out, t, trace_row_span(t->x->id, row), &parent, row->step, row->started_at_us,
               row->completed_at_us);
    attribute_text(out, "saga.step", row->step);
    attribute_text(out, "saga.kind", str_of(history_kind_name(row->kind)));
    attribute_int(out, "saga.visit", row->visit);
    attribute_int(out, "retry.attempt", row->attempt);
    attribute_text(out, "dep.name", mask_text(t->mem, &t->mask, row_dependency(t->x, row)));
    attribute_text(out, "saga.outcome", row->status);
    span_end(out, t, str_eq(row->status, STR("failed")), row->error_json);
}

static void span_of_execution(struct buf *out, const struct span_source *t)
{
    const struct execution *x = t->x;
    struct span_id first = trace_span(x->id);

    if (x->reopened_at_us > 0)
        span_begin(out, t, trace_current_span(x), &first, x->program->code, x->reopened_at_us,
                   x->completed_at_us);
    else
        span_begin(out, t, first, t->trace.has_parent ? &t->trace.parent : NULL, x->program->code,
                   x->created_at_us, x->completed_at_us);
    attribute_text(out, "saga.outcome", str_of(status_name(x->status)));
    span_end(out, t, x->status == STATUS_FAILED, x->error_json);
}

/* An attempt: events are none, and what was skipped was not tried. */
static bool is_attempt(const struct history_row *row)
{
    return row->kind != HISTORY_EVENT && !str_eq(row->status, STR("skipped"));
}

void spans_take(struct node *n, const struct commit *commit, enum execution_status before)
{
    const struct execution *x = commit->after;
    bool has_ended = notify_is_end(commit, before);
    struct spans *s = spans_of(n);
    struct span_source t = {.x = x};
    struct arena mem;
    int64_t count = has_ended;

    if (s == NULL)
        return;
    for (size_t i = 0; i < commit->history.count; i++)
        count += is_attempt(&commit->history.items[i]);
    trace_of(x, &t.trace);
    if (count == 0 || !t.trace.is_sampled)
        return;
    if (s->count + count > SPANS_MAX || s->filling.len > SPANS_BYTES) {
        spans_count(n, METER_SPANS_DROPPED, count);
        return;
    }
    arena_init(&mem);
    t.mem = &mem;
    show_mask(&mem, x, &t.mask);
    if (s->count == 0)
        s->since_us = clock_mono_us(n->clock);
    for (size_t i = 0; i < commit->history.count; i++)
        if (is_attempt(&commit->history.items[i]))
            span_of_row(&s->filling, &t, &commit->history.items[i]);
    if (has_ended)
        span_of_execution(&s->filling, &t);
    s->count += count;
    arena_fini(&mem);
}

/* --- sending --- */

static void parcel_free(struct parcel *p)
{
    buf_fini(&p->json);
    *p = (struct parcel){0};
    buf_init(&p->json);
}

static struct parcel *parcel_find(struct spans *s)
{
    for (size_t i = 0; i < SPANS_IN_FLIGHT; i++)
        if (s->parcels[i].json.len == 0)
            return &s->parcels[i];
    return NULL;
}

static void parcel_send(struct spans *s, struct parcel *p)
{
    struct effect_call *call = effect_call_new();

    call->slot = (unsigned)(p - s->parcels);
    call->request_json = s->request_json;
    call->host = s->host;
    call->timeout_us = SEND_TIMEOUT_US;
    p->json.len = mask_links_in(p->json.ptr, p->json.len);
    call->body = buf_view(&p->json);
    p->is_sent = true;
    p->tries++;
    effect_send(s->effect, call);
}

/* What is being filled goes into a parcel, if there is one. */
static void spans_post(struct spans *s)
{
    struct parcel *p = parcel_find(s);

    if (p == NULL)
        return;
    buf_printf(&p->json,
               "{\"resourceSpans\":[{\"resource\":{\"attributes\":[%.*s]},\"scopeSpans\":["
               "{\"scope\":{\"name\":\"pawl\"},\"spans\":[",
               STR_ARG(s->resource_json));
    buf_str(&p->json, buf_view(&s->filling));
    buf_text(&p->json, "]}]}]}");
    p->count = s->count;
    s->count = 0;
    /* A batch that was large once does not stay so. */
    buf_fini(&s->filling);
    buf_init(&s->filling);
    parcel_send(s, p);
}

/* Whether the collector may take it later. */
static bool may_pass(const struct effect_call *call)
{
    return call->status == 0 || call->status == 429 || call->status == 502 || call->status == 503 ||
           call->status == 504;
}

static void spans_log_trouble(struct spans *s, const struct effect_call *call)
{
    if (s->is_failing)
        return;
    s->is_failing = true;
    log_write(LOG_WARN, "the collector does not take spans",
              LOG_FIELDS(log_str("collector", s->host), log_int("status", call->status),
                         log_str("reason", call->error_json)));
}

static void parcel_answered(struct node *n, const struct effect_call *call)
{
    struct spans *s = spans_of(n);
    struct parcel *p = &s->parcels[call->slot];

    p->is_sent = false;
    if (call->status / 100 == 2) {
        spans_count(n, METER_SPANS_EXPORTED, p->count);
        if (s->is_failing)
            log_write(LOG_INFO, "the collector takes spans again",
                      LOG_FIELDS(log_str("collector", s->host)));
        s->is_failing = false;
        parcel_free(p);
        return;
    }
    spans_log_trouble(s, call);
    if (p->tries < SPANS_TRIES && may_pass(call)) {
        p->retry_at_us = clock_mono_us(n->clock) + (RETRY_FIRST_US << (p->tries - 1));
        return;
    }
    spans_count(n, METER_SPANS_DROPPED, p->count);
    parcel_free(p);
}

static void spans_answered(void *context)
{
    struct node *n = context;
    void *items[SPANS_IN_FLIGHT];
    size_t count = mailbox_take(&spans_of(n)->answers, items, SPANS_IN_FLIGHT);

    for (size_t i = 0; i < count; i++) {
        parcel_answered(n, items[i]);
        effect_call_free(items[i]);
    }
}

static int64_t spans_due_us(const struct spans *s)
{
    int64_t due_us = INT64_MAX;
    bool has_free = false;

    for (size_t i = 0; i < SPANS_IN_FLIGHT; i++) {
        const struct parcel *p = &s->parcels[i];

        has_free = has_free || p->json.len == 0;
        if (p->json.len > 0 && !p->is_sent && p->retry_at_us < due_us)
            due_us = p->retry_at_us;
    }
    if (!has_free || s->count == 0)
        return due_us;
    if (s->count >= SPANS_BATCH)
        return 0;
    return s->since_us + SEND_AFTER_US < due_us ? s->since_us + SEND_AFTER_US : due_us;
}

static int64_t spans_in_us(const struct chore *c)
{
    int64_t due_us = spans_due_us((const struct spans *)c);

    return due_us == INT64_MAX ? INT64_MAX : due_us - clock_mono_us(c->node->clock);
}

static void spans_run(struct chore *c)
{
    struct spans *s = (struct spans *)c;
    int64_t now_us = clock_mono_us(c->node->clock);

    for (size_t i = 0; i < SPANS_IN_FLIGHT; i++) {
        struct parcel *p = &s->parcels[i];

        if (p->json.len > 0 && !p->is_sent && p->retry_at_us <= now_us)
            parcel_send(s, p);
    }
    if (s->count >= SPANS_BATCH || (s->count > 0 && s->since_us + SEND_AFTER_US <= now_us))
        spans_post(s);
}

/* --- opening and closing --- */

static void write_request(struct node *n, struct spans *s)
{
    struct str url = n->options.otlp_url;
    struct buf out;

    while (url.len > 0 && url.ptr[url.len - 1] == '/')
        url.len--;
    buf_init_arena(&out, &n->mem);
    buf_text(&out, "{\"method\":\"POST\",\"url\":");
    json_write_string(&out, str_printf(&n->mem, "%.*s/v1/traces", STR_ARG(url)));
    buf_text(&out, ",\"headers\":{\"content-type\":\"application/json\"}}");
    s->request_json = buf_view(&out);
    buf_init_arena(&out, &n->mem);
    attribute_text(&out, "service.name", STR("pawl"));
    attribute_text(&out, "service.version", n->options.version);
    attribute_text(&out, "service.instance.id", node_own_name(n));
    s->resource_json = buf_view(&out);
}

static bool spans_are_in_flight(const struct spans *s)
{
    for (size_t i = 0; i < SPANS_IN_FLIGHT; i++)
        if (s->parcels[i].is_sent)
            return true;
    return false;
}

/* What the last passes of the loop have brought is worth a moment, and no more. */
static void spans_flush(struct spans *s)
{
    int64_t until_us = clock_mono_us(&clock_system) + CLOSE_MS * INT64_C(1000);
    struct pollfd answers = {.fd = mailbox_fd(&s->answers), .events = POLLIN};

    for (;;) {
        int64_t left_us = until_us - clock_mono_us(&clock_system);

        if (s->count > 0)
            spans_post(s);
        if (left_us <= 0 || !spans_are_in_flight(s))
            return;
        if (poll(&answers, 1, (int)(left_us / 1000 + 1)) > 0)
            spans_answered(s->chore.node);
    }
}

/* Send what is left, for CLOSE_MS at most. */
static void spans_close(struct chore *c)
{
    struct spans *s = (struct spans *)c;
    void *items[SPANS_IN_FLIGHT];
    size_t count;

    if (s->effect != NULL) {
        spans_flush(s);
        effect_close(s->effect);
    }
    while ((count = mailbox_take(&s->answers, items, SPANS_IN_FLIGHT)) > 0)
        for (size_t i = 0; i < count; i++)
            effect_call_free(items[i]);
    for (size_t i = 0; i < SPANS_IN_FLIGHT; i++)
        buf_fini(&s->parcels[i].json);
    buf_fini(&s->filling);
    mailbox_fini(&s->answers);
}

static bool spans_open(struct chore *c, struct err *err)
{
    struct effect_options options = {.policy = NULL};
    struct spans *s = (struct spans *)c;
    struct node *n = c->node;
    const char *wrong;

    buf_init(&s->filling);
    for (size_t i = 0; i < SPANS_IN_FLIGHT; i++)
        buf_init(&s->parcels[i].json);
    wrong = url_host(&n->mem, n->options.otlp_url, &s->host);
    if (wrong != NULL)
        return err_set(err, ERR_INVALID, "--otlp: %s", wrong);
    write_request(n, s);
    if (!mailbox_init(&s->answers, SPANS_IN_FLIGHT, err))
        return false;
    options.answers = &s->answers;
    s->effect = effect_open(&options, err);
    if (s->effect != NULL && node_watch(n, mailbox_fd(&s->answers), spans_answered, n, err))
        return true;
    spans_close(c);
    return false;
}

const struct chore_kind chore_spans = {
    .size = sizeof(struct spans),
    .open = spans_open,
    .run = spans_run,
    .in_us = spans_in_us,
    .close = spans_close,
};
