/*
 * hooks.c - `/hooks/PATH`: requests of other systems that start or signal executions.
 *
 *     rate -> which trigger, its signature, the body (reader thread)
 *          -> what the trigger makes of it (the node) -> a start, a signal or nothing -> 202
 *
 * Whoever calls is nobody's user: what happens runs as the user `system`.
 */
#include "api/executions/hooks.h"
#include "api/api.h"

#include "api/executions/executions_signal.h"
#include "api/lookup.h"
#include "http/percent.h"
#include "node/node.h"
#include "store/org.h"
#include "store/read_triggers.h"
#include "value/object.h"

struct hook_call {
    struct str path;
    struct stored_trigger trigger;
    struct value webhook;
};

static const int64_t KEPT_US = INT64_C(24) * 3600 * 1000000; /* of a signal that finds no wait */

static bool run_hook(struct lookup *q, struct reader *reader, struct err *err)
{
    struct hook_call *h = q->args;
    struct http_request *r = q->call->http;
    struct stored_triggers found;

    if (!read_triggers_of_topic(reader, q->mem, TRIGGER_WEBHOOK,
                                trigger_webhook_topic(q->mem, r->method, h->path), &found, err))
        return false;
    if (found.count == 0)
        return err_set(err, ERR_NOT_FOUND, "no process has a webhook with this path and method");
    h->trigger = found.items[0];
    return hook_verify(q->mem, node_vault(q->call->node), r, h->trigger.spec, err) &&
           hook_request(q->mem, r, h->path, &h->webhook, err);
}

static void hook_done(struct node_request *r)
{
    struct call *c = r->owner;
    struct buf more;

    buf_init_arena(&more, c->mem);
    if (!r->ok) {
        if (r->err.code == ERR_KEY_BUSY)
            object_id(&more, "executionId", r->id);
        call_refuse_with(c, &r->err, &r->findings, buf_view(&more));
    } else if (r->stored_status != 0) {
        call_answer_again(c, r->stored_status, r->stored_answer);
    } else if (r->hook->result == HOOK_STARTS) {
        executions_answer_id(c, uuid_text(c->mem, r->id));
    } else {
        executions_answer_id(c, r->hook->result == HOOK_SIGNALS ? r->signal_id_out : STR_NONE);
    }
}

static void hook_found(struct lookup *q)
{
    struct hook_call *h = q->args;
    struct call *c = q->call;
    struct node_hook *hook = arena_zalloc(c->mem, sizeof(*hook));
    struct node_request *r;

    c->user =
        (struct node_user){.id = STR("system"),
                           .name = STR("system"),
                           .role = STR("system"),
                           .org_id = h->trigger.org_id.len > 0 ? h->trigger.org_id : ORG_DEFAULT,
                           .groups = value_list(NULL, 0)};
    r = call_request(c, NODE_HOOK, hook_done);
    if (r == NULL)
        return;
    *hook = (struct node_hook){.position = h->trigger.position,
                               .signals = value_map_get_str(h->trigger.spec, STR("signal")).kind ==
                                          VALUE_MAP,
                               .webhook = h->webhook,
                               .id = {.user = STR("system"),
                                      .method = c->http->method,
                                      .path = str_printf(c->mem, "/hooks/%.*s", STR_ARG(h->path)),
                                      .body_hash = STR("webhook")}};
    r->idempotency = (struct idempotency){0}; /* the trigger says what a redelivery is known by */
    r->code = h->trigger.code;
    r->version = h->trigger.version;
    r->hook = hook;
    r->webhook = hook_kept(c->mem, h->webhook, api_auth_header(c->api));
    r->answers_id = true;
    r->event.by = call_by(c);
    r->ttl_us = KEPT_US;
    r->trace = call_trace(c);
    call_submit(c, r);
}

void hooks_take(struct call *c)
{
    struct hook_call *h = ARENA_NEW(c->mem, struct hook_call);

    if (!percent_decode(c->mem, c->params[0], &h->path))
        call_refuse_text(c, ERR_BAD_REQUEST, "the path is not UTF-8, or holds U+0000");
    else if (h->path.len > WEBHOOK_PATH_MAX)
        call_refuse_text(c, ERR_NOT_FOUND, "no process has a webhook with so long a path");
    else
        lookup_start(c, h, run_hook, hook_found);
}
