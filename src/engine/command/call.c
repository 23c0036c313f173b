/*
 * call.c - integration.http: calls over HTTP, a kind of ask.h.
 *
 *     command --capacity--> attempt in the commit --durable--> sent --> answer, an event
 *        |                    |
 *        +-- none: queued ----+          no answer: the attempt may have happened
 *
 * A request is evaluated once a visit and is the same for all attempts:
 *
 *     {method, url, headers, body?, timeout (ms), expect: [...]?, classes: {...}?,
 *      credential?, secrets: [...]?}
 *
 * It is kept with what the step has done (suspend.c), and the row `call` of
 * each attempt shows it. The attempt is in the commit before anything is sent:
 * cursor.asked_seq is its row. A host that is busy makes the call wait without
 * an attempt, so that no time runs while nothing was sent.
 */
#include "base/map.h"
#include "base/url.h"
#include "define/define.h"
#include "engine/command/call_judge.h"
#include "engine/command/call_secret.h"
#include "engine/command/command.h"
#include "engine/command/procedure.h"
#include "engine/commit/ask.h"
#include "engine/commit/call_capacity.h"
#include "engine/flow/step.h"

enum { TIMEOUT_MAX_MS = 3600 * 1000 };

/* The answer has so long to arrive here after the call has ended. */
static const int64_t GRACE_US = 5 * INT64_C(1000000);
/* The node notifies a call that waits for capacity; should the node have ended, the call looks itself. */
static const int64_t LOOK_US = 30 * INT64_C(1000000);

/* Whether one more call may leave for that host. */
static bool has_capacity(const struct turn *t, struct str host)
{
    const struct call_capacity *capacity = t->ev->capacity;
    const struct call_host *known;
    size_t count = 0, calls = 0;

    if (capacity == NULL)
        return true;
    known = map_get(capacity->hosts, host);
    if (known != NULL)
        count = known->in_flight;
    for (size_t i = 0; i < t->out->asks.count; i++) {
        const struct ask *a = &t->out->asks.items[i];

        calls += a->kind == ASK_CALL;
        count += a->kind == ASK_CALL && str_eq(a->host, host);
    }
    return count < capacity->limit && calls < capacity->left;
}

/* The attempt has left, and not from this node as it is now. */
static bool is_sent_elsewhere(const struct turn *t, const struct cursor *cursor)
{
    const struct call_capacity *capacity = t->ev->capacity;

    return capacity != NULL && capacity->epoch_is_over != NULL && cursor->asked_seq > 0 &&
           cursor->asked_epoch != 0 && cursor->asked_epoch != capacity->epoch;
}

/* The node has sent the attempt, or has heard its answer: no clock ends it. */
static bool is_sent_here(const struct turn *t, const struct cursor *cursor)
{
    const struct call_capacity *capacity = t->ev->capacity;
    struct call_attempt about = {.execution = t->x->id, .seq = cursor->asked_seq};

    return capacity != NULL && capacity->in_flight != NULL &&
           map_find(capacity->in_flight, call_attempt_key(&about)) != NULL;
}

static bool is_sender_over(const struct turn *t, const struct cursor *cursor)
{
    const struct call_capacity *capacity = t->ev->capacity;

    return capacity->epoch_is_over(capacity->context, cursor->asked_epoch);
}

/* Whoever made the call is gone: nobody will hear of its answer. */
static bool call_is_lost(const struct turn *t, const struct cursor *cursor)
{
    return is_sent_elsewhere(t, cursor) && !is_sent_here(t, cursor) && is_sender_over(t, cursor);
}

bool call_is_in_flight(const struct turn *t, const struct cursor *cursor)
{
    return is_sent_here(t, cursor) || (is_sent_elsewhere(t, cursor) && !is_sender_over(t, cursor));
}

/* Whether there is capacity for the call that the strand waits to make, or nobody to answer it. */
static bool call_has_news(const struct turn *t, const struct cursor *cursor)
{
    return call_is_queued(cursor) ? has_capacity(t, cursor->host) : call_is_lost(t, cursor);
}

/* --- the request --- */

/* A request as it is evaluated, or as it was noted: then only the value is known. */
struct call_request {
    struct value value;
    struct str json; /* or empty */
    struct str host; /* or empty: not known, or secrets were taken out of the URL since */
};

static bool refuse(struct turn *t, const char *code, const char *what)
{
    (void)turn_fail(t, str_of(code), ERR_CLASS_BUSINESS, "%s", what);
    return false;
}

/* A part of a URL or a header: a text, or a number or a boolean as JSON writes it. */
static bool read_text(struct turn *t, struct value v, struct str *out)
{
    if (v.kind == VALUE_STRING) {
        *out = value_text(v);
        return true;
    }
    if (v.kind == VALUE_MAP || v.kind == VALUE_LIST)
        return refuse(t, "validation_type", "a header or a parameter of the query is a text");
    return turn_json(t, v, out);
}

static bool add_query(struct turn *t, struct buf *url, struct value query)
{
    struct str text;

    for (uint32_t i = 0; i < query.map->count; i++) {
        const struct value_entry *e = &query.map->entries[i];
        bool is_list = e->value.kind == VALUE_LIST;
        uint32_t count = is_list ? e->value.len : 1;

        for (uint32_t k = 0; k < count; k++) {
            struct value v = is_list ? e->value.items[k] : e->value;

            if (v.kind == VALUE_NULL)
                continue;
            if (!read_text(t, v, &text))
                return false;
            url_add_parameter(url, value_text(e->key), text);
        }
    }
    return true;
}

/* Where the URL leads. False: it is no URL, or too long; that is the step's failure. */
static bool find_host(struct turn *t, struct str url, struct str *host)
{
    const char *wrong = url_host(t->mem, url, host);

    return wrong == NULL || refuse(t, "validation_url", wrong);
}

static bool evaluate_url(struct turn *t, const struct command *c, struct str *url)
{
    struct str credential, path;
    struct value query;
    struct buf out;

    if (!command_text(t, c, FIELD_URL, STR_NONE, url) ||
        !command_text(t, c, FIELD_PATH, STR_NONE, &path) ||
        !command_text(t, c, FIELD_CREDENTIAL, STR_NONE, &credential) ||
        !command_field(t, c, FIELD_QUERY, &query))
        return false;
    if (c->fields[FIELD_URL] == NULL && !call_credential_url(t, credential, path, url))
        return false;
    if (query.kind != VALUE_ABSENT && query.kind != VALUE_NULL && query.kind != VALUE_MAP)
        return refuse(t, "validation_type", "'query' must be an object");
    if (query.kind != VALUE_MAP)
        return true;
    buf_init_arena(&out, t->mem);
    buf_str(&out, *url);
    if (!add_query(t, &out, query))
        return false;
    *url = buf_view(&out);
    return true;
}

static bool evaluate_headers(struct turn *t, const struct command *c, struct value *out)
{
    struct value_entry *entries;
    struct value written;
    uint32_t count = 0;
    size_t duplicate;

    if (!command_field(t, c, FIELD_HEADERS, &written))
        return false;
    *out = value_map_empty();
    if (written.kind == VALUE_ABSENT || written.kind == VALUE_NULL)
        return true;
    if (written.kind != VALUE_MAP)
        return refuse(t, "validation_type", "'headers' must be an object");
    entries = ARENA_ARRAY(t->mem, written.map->count + 1, struct value_entry);
    for (uint32_t i = 0; i < written.map->count; i++) {
        const struct value_entry *e = &written.map->entries[i];
        const char *wrong;
        struct str text;

        if (e->value.kind == VALUE_NULL)
            continue;
        if (!read_text(t, e->value, &text))
            return false;
        wrong = url_header_mistake(value_text(e->key), text);
        if (wrong != NULL)
            return refuse(t, "validation_header", wrong);
        entries[count++] = (struct value_entry){.key = e->key, .value = value_string(text)};
    }
    *out = value_map_make(t->mem, entries, count, &duplicate);
    return true;
}

static bool evaluate_timeout(struct turn *t, const struct command *c, int64_t *out_ms)
{
    const struct step *step = turn_step(t);
    int64_t us = CALL_TIMEOUT_S * INT64_C(1000000);
    struct value v;

    if (!command_field(t, c, FIELD_TIMEOUT, &v))
        return false;
    if (v.kind != VALUE_ABSENT && (!define_duration_us(v, &us) || us <= 0))
        return refuse(t, "validation_timeout", "'timeout' must be a duration such as \"10s\"");
    if (step->timeout_us > 0 && step->timeout_us < us)
        us = step->timeout_us;
    *out_ms = (us + 999) / 1000;
    if (*out_ms > TIMEOUT_MAX_MS)
        return refuse(t, "validation_timeout", "a call takes an hour at most");
    return true;
}

static void add_member(struct value_entry *entries, size_t *count, const char *name, struct value v)
{
    if (v.kind != VALUE_ABSENT)
        entries[(*count)++] = (struct value_entry){.key = value_key(str_of(name)), .value = v};
}

/* What may hold secrets, which are taken out of it. */
static bool evaluate_sent(struct turn *t, const struct command *c, struct str *url,
                          struct value *headers, struct value *body, struct value *secrets,
                          struct str *host)
{
    struct str shown = STR_NONE;
    bool ok;

    call_secrets_show(t, c);
    ok = evaluate_url(t, c, url) && find_host(t, *url, host) && evaluate_headers(t, c, headers) &&
         command_field(t, c, FIELD_BODY, body);
    if (ok) {
        shown = *url;
        ok = call_secrets_take(t, c, url, headers, body, secrets);
    }
    call_secrets_hide(t);
    /* The names that stand for secrets by now may have made it too long: ask() looks again. */
    if (ok && url->ptr != shown.ptr)
        *host = STR_NONE;
    return ok;
}

/* STEP_DONE or STEP_FAILED. */
static enum step_result evaluate_request(struct turn *t, const struct command *c,
                                         struct call_request *out)
{
    struct value_entry *entries = ARENA_ARRAY(t->mem, 10, struct value_entry);
    struct value headers, body, expect, classes, credential, secrets;
    struct str method, url;
    int64_t timeout_ms = 0;
    size_t count = 0, duplicate;

    if (!command_text(t, c, FIELD_METHOD, STR("GET"), &method) ||
        !evaluate_sent(t, c, &url, &headers, &body, &secrets, &out->host) ||
        !evaluate_timeout(t, c, &timeout_ms) || !command_field(t, c, FIELD_EXPECT, &expect) ||
        !command_field(t, c, FIELD_CLASSES, &classes) ||
        !command_field(t, c, FIELD_CREDENTIAL, &credential))
        return STEP_FAILED;
    add_member(entries, &count, "method", value_string(method));
    add_member(entries, &count, "url", value_string(url));
    add_member(entries, &count, "headers", headers);
    add_member(entries, &count, "body", body);
    add_member(entries, &count, "timeout", value_int(timeout_ms));
    add_member(entries, &count, "expect", expect);
    add_member(entries, &count, "classes", classes);
    add_member(entries, &count, "credential", credential);
    add_member(entries, &count, "secrets", secrets);
    out->value = value_map_make(t->mem, entries, count, &duplicate);
    return turn_freeze(t, &out->value, &out->json) ? STEP_DONE : STEP_FAILED;
}

/* --- asking --- */

static struct str call_describe(struct turn *t, struct value request, bool is_queued)
{
    const struct cursor *cursor = &t->x->cursor;
    struct buf why;

    buf_init_arena(&why, t->mem);
    field_kind(&why, WAITING_CALL);
    field_text(&why, "step", turn_code(t));
    field_text(&why, "method", value_map_text(request, STR("method")));
    field_text(&why, "url", value_map_text(request, STR("url")));
    field_text(&why, "idempotencyKey", cursor->awaited);
    if (cursor->phase == PHASE_RECONCILE)
        field_json(&why, "reconcile", STR("true"));
    if (is_queued) {
        field_json(&why, "queued", STR("true"));
        field_text(&why, "reason", STR("as many calls as may be are in flight to this host"));
    }
    field_time(&why, "since", t->now_us);
    if (!is_queued)
        field_time(&why, "until", cursor->wake_at_us - GRACE_US);
    return field_end(&why);
}

/* A request that was noted or that waits comes back from the store: it may hold anything. */
static bool request_is_whole(struct turn *t, struct value request)
{
    int64_t timeout_ms = value_map_int(request, STR("timeout"));

    if (timeout_ms > 0 && timeout_ms <= TIMEOUT_MAX_MS)
        return true;
    turn_damaged(t, "the request of a call has no timeout");
    return false;
}

/* The attempt is part of this commit, and leaves with it. The request is whole. */
static void send(struct turn *t, struct value request, struct str request_json)
{
    struct cursor *cursor = &t->x->cursor;
    int64_t timeout_us = value_map_int(request, STR("timeout")) * 1000;

    cursor->wake_at_us = t->wall_us + timeout_us + GRACE_US;
    cursor->asked_epoch = t->ev->capacity != NULL ? t->ev->capacity->epoch : 0;
    ask_leave(t,
              (struct ask){.host = cursor->host,
                           .request_json = request_json,
                           .timeout_us = timeout_us,
                           .epoch = cursor->asked_epoch},
              call_describe(t, request, false));
}

static void wait_for_capacity(struct turn *t, struct value request)
{
    struct cursor *cursor = &t->x->cursor;

    cursor->asked_seq = cursor->asked_epoch = 0;
    cursor->wake_at_us = t->wall_us + LOOK_US;
    step_wait(t, cursor->phase, WAITING_CALL, STR("queued"), call_describe(t, request, true));
    t->out->history.items[t->out->history.count - 1].key = cursor->awaited;
}

static enum step_result ask(struct turn *t, const struct command *c, struct call_request *r)
{
    struct cursor *cursor = &t->x->cursor;
    struct str place = procedure_command_place(t, c);

    if (r->json.len == 0 && !turn_json(t, r->value, &r->json))
        return STEP_FAILED;
    if (r->host.len == 0 && !find_host(t, value_map_text(r->value, STR("url")), &r->host))
        return STEP_FAILED;
    procedure_note_input(t, c, r->value, r->json);
    if (!ask_begin(t, ASK_CALL, place))
        return STEP_FAILED;
    cursor->host = r->host;
    if (has_capacity(t, r->host))
        send(t, r->value, r->json);
    else
        wait_for_capacity(t, r->value);
    return STEP_WAITS;
}

enum step_result call_run(struct turn *t, const struct command *c, struct value *out)
{
    struct str place = procedure_command_place(t, c);
    struct call_request request = {.value = procedure_noted_input(t, c)};
    enum step_result end = procedure_answered(t, place, out);

    /* Another attempt asks for the same. */
    if (end == STEP_FAILED && request.value.kind == VALUE_MAP)
        procedure_note_input(t, c, request.value, STR_NONE);
    if (end == STEP_DONE && out->kind != VALUE_ABSENT)
        call_warn(t, *out);
    if (end == STEP_FAILED || out->kind != VALUE_ABSENT)
        return end;
    if (t->is_stopping)
        return STEP_FAILED;
    if (request.value.kind != VALUE_MAP && evaluate_request(t, c, &request) != STEP_DONE)
        return STEP_FAILED;
    return request_is_whole(t, request.value) ? ask(t, c, &request) : STEP_WAITS;
}

/* --- what comes of it --- */

bool call_waits_on(struct turn *t)
{
    struct cursor *cursor = &t->x->cursor;

    if (cursor->ask != ASK_CALL || cursor->asked_seq == 0 || !call_is_in_flight(t, cursor))
        return false;
    /* Should the node be gone by then, the attempt is lost. */
    cursor->wake_at_us = t->wall_us + LOOK_US;
    turn_begin_step(t);
    step_wait(t, PHASE_JOB, WAITING_CALL, STR_NONE, call_describe(t, suspend_asked(t), false));
    return true;
}

void call_release(struct turn *t)
{
    bool is_queued = call_is_queued(&t->x->cursor);

    t->x->cursor.wake_at_us = t->wall_us + LOOK_US;
    execution_set_waiting(t->x, WAITING_CALL, call_describe(t, suspend_asked(t), is_queued));
}

static enum step_result call_wake(struct turn *t)
{
    struct cursor *cursor = &t->x->cursor;
    struct value request;
    struct str json;

    turn_begin_step(t);
    if (call_is_queued(cursor)) {
        request = suspend_asked(t);
        if (!has_capacity(t, cursor->host) && cursor->wake_at_us > t->wall_us)
            return STEP_SKIPPED;
        if (!has_capacity(t, cursor->host)) {
            wait_for_capacity(t, request);
            return STEP_WAITS;
        }
        if (!request_is_whole(t, request))
            return STEP_WAITS;
        if (!turn_json(t, request, &json)) {
            turn_damaged(t, "a call that waits for capacity has no request");
            return STEP_WAITS;
        }
        cursor->started_at_us = t->now_us;
        send(t, request, json);
        return STEP_WAITS;
    }
    if (call_is_in_flight(t, cursor))
        return STEP_SKIPPED;
    if (call_is_lost(t, cursor))
        return turn_fail(t, STR("external_unknown"), ERR_CLASS_INDETERMINATE,
                         "the node that made the call is gone: nobody knows what became of it");
    if (cursor->wake_at_us > t->wall_us &&
        (t->x->rollback == NULL || t->x->rollback->deadline_at_us > t->wall_us ||
         t->x->rollback->deadline_at_us == 0))
        return STEP_SKIPPED;
    return turn_fail(t, STR("timeout_call"), ERR_CLASS_INDETERMINATE,
                     "the call had no answer before its time was up");
}

const struct ask_functions ask_call = {
    .waiting = WAITING_CALL,
    .is_waited_for = true,
    .has_news = call_has_news,
    .wake = call_wake,
    .judge = call_judge,
    .reduce = call_reduce,
};
