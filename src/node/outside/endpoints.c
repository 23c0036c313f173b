/*
 * endpoints.c - jobs of a namespace that has an endpoint: the node claims them
 * as a worker would and calls the endpoint with each; its answer is that of the
 * worker. See jobs.h.
 *
 * There are never more calls in flight to the host of an endpoint than to any
 * other: jobs that do not fit stay ready. An answer frees capacity for the next.
 */
#include "base/alloc.h"
#include "base/log.h"
#include "base/url.h"
#include "node/inner.h"
#include "node/outside/calls.h"
#include "node/outside/jobs.h"
#include "node/poll.h"
#include "value/json.h"
#include "value/object.h"

#include <stdio.h>

enum { CLAIM_MAX = 100 };

#define CALL_TIMEOUT_US INT64_C(60000000)
#define LEASE_US (CALL_TIMEOUT_US + INT64_C(15000000)) /* the call ends first */

struct endpoint {
    struct str name; /* the namespace */
    struct str url, host, credential;
};

/* Jobs of a type that are being claimed for an endpoint. */
struct endpoint_poll {
    struct node_poll poll;
    struct node *node;
    struct arena mem;
    struct str name; /* in endpoint_polls */
    struct str type;
    struct str host;  /* for which poll.max calls are held */
    bool is_notified; /* more have come meanwhile */
};

/* --- which there are --- */

void endpoints_open(struct node *n)
{
    arena_init(&n->jobs->endpoints_mem);
    map_init(&n->jobs->endpoint_polls, &n->mem);
}

void endpoints_close(struct node *n)
{
    struct map_entry *e;

    while ((e = map_next(&n->jobs->endpoint_polls, NULL)) != NULL) {
        struct endpoint_poll *p = e->ptr;

        (void)map_remove(&n->jobs->endpoint_polls, p->name);
        arena_fini(&p->mem);
        free(p);
    }
    arena_fini(&n->jobs->endpoints_mem);
}

void endpoints_replace(struct node *n, const struct stored_workers *workers)
{
    struct arena *mem = &n->jobs->endpoints_mem;
    struct jobs *j = n->jobs;

    arena_reset(mem);
    j->endpoints = ARENA_ARRAY(mem, workers->count + 1, struct endpoint);
    j->endpoint_count = 0;
    for (size_t i = 0; i < workers->count; i++) {
        const struct stored_worker *w = &workers->items[i];
        struct endpoint *e = &j->endpoints[j->endpoint_count];

        *e = (struct endpoint){.name = str_copy(mem, w->name),
                               .url = str_copy(mem, w->url),
                               .credential = str_copy(mem, w->credential)};
        /* It was looked at when it was registered. */
        j->endpoint_count += url_host(mem, e->url, &e->host) == NULL;
    }
}

/* That of the longest namespace which the type is in; or NULL. */
static const struct endpoint *endpoint_of(const struct node *n, struct str type)
{
    const struct endpoint *found = NULL;

    for (size_t i = 0; i < n->jobs->endpoint_count; i++) {
        const struct endpoint *e = &n->jobs->endpoints[i];

        if (type.len > e->name.len && type.ptr[e->name.len] == '.' &&
            str_starts_with(type, e->name) && (found == NULL || e->name.len > found->name.len))
            found = e;
    }
    return found;
}

/* --- calling one --- */

static struct str request_of(struct arena *mem, const struct endpoint *e,
                             const struct stored_job *job)
{
    struct buf out;

    object_begin(&out, mem);
    object_text(&out, "method", STR("POST"));
    object_text(&out, "url", e->url);
    object_json(&out, "headers", STR("{}"));
    object_int(&out, "timeout", CALL_TIMEOUT_US / 1000);
    if (e->credential.len > 0)
        object_text(&out, "credential", e->credential);
    object_nested(&out, "body");
    object_id(&out, "id", job->id);
    object_text(&out, "type", job->type);
    object_json(&out, "input", job->input_json);
    object_text(&out, "idempotencyKey", job->idempotency_key);
    object_int(&out, "attempt", job->attempt);
    object_id(&out, "executionId", job->execution);
    object_text(&out, "step", job->step);
    buf_text(&out, "}}");
    return buf_view(&out);
}

static void endpoint_call(struct node *n, const struct endpoint *e, const struct stored_job *job)
{
    struct effect_call *call = effect_call_new();

    call->execution = job->execution;
    call->seq = job->seq;
    call->key = str_copy(&call->mem, job->idempotency_key);
    call->host = str_copy(&call->mem, e->host);
    call->request_json = request_of(&call->mem, e, job);
    call->timeout_us = CALL_TIMEOUT_US;
    call->job_type = str_copy(&call->mem, job->type);
    call->job_org = str_copy(&call->mem, job->org_id);
    calls_make(n, call);
}

/* --- claiming --- */

static void endpoint_claimed(struct node_poll *poll)
{
    struct endpoint_poll *p = poll->owner;
    struct node *n = p->node;
    const struct endpoint *e = endpoint_of(n, p->type);
    bool may_be_more = p->is_notified || poll->poll.found.count == poll->poll.max;

    size_t found = poll->ok ? poll->poll.found.count : 0;
    /* It was removed or moved in between, or the node stops: others may have these jobs. */
    bool may_call = e != NULL && str_eq(e->host, p->host) && !n->is_draining;

    if (found > 0 && !may_call) {
        jobs_give_back(n, &poll->poll.found);
        found = 0;
    }
    calls_unhold(n, p->host, poll->poll.max - found);
    if (n->jobs->has_starved && poll->poll.max > found)
        leases_look_in(n, 0);
    for (size_t i = 0; i < found; i++)
        endpoint_call(n, e, &poll->poll.found.items[i]);
    (void)map_remove(&n->jobs->endpoint_polls, p->name);
    if (poll->ok && may_be_more)
        (void)endpoints_notify(n, poll->poll.org_id, p->type);
    arena_fini(&p->mem);
    free(p);
}

static struct endpoint_poll *poll_new(struct node *n, struct str name, struct str org_id,
                                      struct str type)
{
    struct endpoint_poll *p = ALLOC_NEW(struct endpoint_poll);

    arena_init(&p->mem);
    p->node = n;
    p->name = str_copy(&p->mem, name);
    p->type = str_copy(&p->mem, type);
    p->poll = (struct node_poll){.poll = {.org_id = str_copy(&p->mem, org_id),
                                          .worker = STR("endpoint"),
                                          .types = &p->type,
                                          .type_count = 1,
                                          .lease_us = LEASE_US},
                                 .done = endpoint_claimed,
                                 .owner = p,
                                 .mem = &p->mem};
    return p;
}

bool endpoints_notify(struct node *n, struct str org_id, struct str type)
{
    const struct endpoint *e = n->jobs->endpoint_count > 0 ? endpoint_of(n, type) : NULL;
    struct endpoint_poll *p;
    char text[512];
    struct str name;
    struct err err;
    size_t left;

    if (e == NULL)
        return false;
    name = str_from(
        text, (size_t)snprintf(text, sizeof(text), "%.*s\n%.*s", STR_ARG(org_id), STR_ARG(type)));
    p = map_get(&n->jobs->endpoint_polls, name);
    if (p != NULL) {
        p->is_notified = true;
        return true;
    }
    left = calls_left(n, e->host);
    if (left == 0) {
        /* The next answer of that host, the end of a poll, or the next look comes back to it. */
        n->jobs->has_starved = true;
        return true;
    }
    p = poll_new(n, name, org_id, type);
    p->poll.poll.max = left < CLAIM_MAX ? left : CLAIM_MAX;
    p->host = str_copy(&p->mem, e->host);
    map_put(&n->jobs->endpoint_polls, p->name, p);
    /* What it claims is called at once: no other may take that capacity meanwhile. */
    calls_hold(n, p->host, p->poll.poll.max);
    if (!node_poll(n, &p->poll, &err)) {
        calls_unhold(n, p->host, p->poll.poll.max);
        (void)map_remove(&n->jobs->endpoint_polls, p->name);
        arena_fini(&p->mem);
        free(p);
    }
    return true;
}

/* --- what it answers --- */

static struct value make_error(struct arena *mem, int64_t status, struct value said)
{
    bool may_pass = status == 408 || status == 425 || status == 429 || status >= 500;
    enum err_class class = err_class_find(value_map_text(said, STR("class")));
    struct str code = value_map_text(said, STR("code"));
    struct str message = value_map_text(said, STR("message"));
    struct value error = value_absent();
    struct buf out;
    struct err err;

    if (class == ERR_CLASS_NONE)
        class = status / 100 != 2 && may_pass ? ERR_CLASS_TRANSIENT : ERR_CLASS_BUSINESS;
    object_begin(&out, mem);
    object_text(&out, "code", code.len > 0 ? code : STR("external_status"));
    object_text(&out, "class", str_of(err_class_name(class)));
    if (message.len > 0)
        object_text(&out, "message", message);
    else
        object_text(&out, "message",
                    str_printf(mem, "the endpoint of the worker answered %lld", (long long)status));
    if (!json_read(mem, object_end(&out), &error, &err))
        PANIC("an error does not read back");
    return error;
}

void endpoints_judge(struct arena *mem, struct value answer, struct value *output,
                     struct value *error)
{
    int64_t status = value_map_get_str(answer, STR("status_code")).i;
    struct value body = value_map_get_str(answer, STR("body"));
    struct value said = value_map_member(body, STR("error"));

    if (status / 100 == 2 && said.kind != VALUE_MAP) {
        /* It was done, whatever its body was; the output is null then. */
        if (value_map_member(answer, STR("size")).kind == VALUE_INT)
            log_write(LOG_WARN, "the answer of a worker's endpoint could not be kept",
                      LOG_FIELDS(log_int("status", status),
                                 log_str("contentType", value_map_text(answer, STR("contentType"))),
                                 log_int("size", value_map_int(answer, STR("size")))));
        *output = body;
        return;
    }
    *output = value_absent();
    *error = make_error(mem, status, said);
}
