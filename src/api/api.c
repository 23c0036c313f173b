/* api.c - requests find their handlers; see api.h. */
#include "api/api.h"
#include "api/deliveries.h"
#include "api/open.h"

#include "api/bulk.h"
#include "api/call.h"
#include "api/counts.h"
#include "api/definitions/worlds.h"
#include "api/hooks_known.h"
#include "api/problem.h"
#include "api/stream/events.h"
#include "api/view.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/text/nearest.h"
#include "define/trigger.h"
#include "http/http.h"
#include "http/http_parse.h"
#include "http/origin.h"
#include "http/percent.h"
#include "http/rate.h"
#include "value/mask.h"

#include <sys/random.h>

enum { PARAMETERS_READ_MAX = 50, SHOWN_LEN_MAX = 100 };

struct api {
    struct api_options options;
    struct arena mem;
    struct node *node;
    struct http_server *http;
    struct api_parts parts;
    uint64_t people_changes; /* that streams know of */
    struct uuid_gen ids;
    struct bulks bulks;
    struct counts_known counts;
    int64_t refusal_second; /* monotonic: the last in which a request was refused ... */
    int64_t refusals;       /* ... and how many were */
    uint32_t run;           /* random: tells the requests of two runs apart */
};

struct request_name api_request_name(const struct api *api, uint64_t number)
{
    return (struct request_name){.run = api->run, .number = number};
}

/* Lines of refusals in one second; beyond that they are counted. */
enum { REFUSALS_LOGGED_MAX = 100 };

bool api_logs_refusal(struct api *api)
{
    int64_t second = clock_mono_us(api->options.clock) / 1000000;

    if (second != api->refusal_second) {
        if (api->refusals > REFUSALS_LOGGED_MAX)
            log_write(LOG_NOTICE, "more requests were refused",
                      LOG_FIELDS(log_int("count", api->refusals - REFUSALS_LOGGED_MAX)));
        api->refusal_second = second;
        api->refusals = 0;
    }
    return ++api->refusals <= REFUSALS_LOGGED_MAX;
}

const struct mcp_options *api_mcp(const struct api *api)
{
    return &api->options.mcp;
}

struct str api_request_id(const struct api *api, struct arena *mem, uint64_t number)
{
    return str_printf(mem, "%08x-%llx", api->run, (unsigned long long)number);
}

int64_t api_now_us(const struct api *api)
{
    return clock_wall_us(api->options.clock);
}

struct str api_auth_header(const struct api *api)
{
    return api->options.auth.header;
}

bool api_is_public_by_tls(const struct api *api)
{
    return str_starts_with(api->options.public_url, STR("https://"));
}

struct str api_new_id(struct api *api, struct arena *mem)
{
    return uuid_text(mem, uuid_gen_next(&api->ids, api_now_us(api) / 1000));
}

int64_t api_mono_us(const struct api *api)
{
    return clock_mono_us(api->options.clock);
}

const struct api_parts *api_parts(const struct api *api)
{
    return &api->parts;
}

/* The last address of X-Forwarded-For that is no proxy of ours; `out` stays when there is none. */
static void forwarded_address(const struct api *api, struct str forwarded, struct ip *out)
{
    while (forwarded.len > 0) {
        struct str last;
        struct ip ip;
        size_t at = forwarded.len;

        while (at > 0 && forwarded.ptr[at - 1] != ',')
            at--;
        last = str_trim(str_slice(forwarded, at, forwarded.len));
        forwarded = str_slice(forwarded, 0, at > 0 ? at - 1 : 0);
        if (!ip_read(last, &ip))
            return;
        *out = ip;
        if (!cidrs_have(&api->options.auth.trusted_proxies, ip))
            return;
    }
}

/* A proxy adds its line to those that it was sent: all of them are one list. */
static struct str all_forwarded(const struct http_request *r)
{
    struct str name, value;
    struct buf all;

    if (http_header_count(r, "X-Forwarded-For") <= 1)
        return http_header(r, "X-Forwarded-For");
    buf_init_arena(&all, r->mem);
    for (size_t i = 0; http_header_at(r, i, &name, &value); i++)
        if (http_same_word(name, STR("X-Forwarded-For"))) {
            if (all.len > 0)
                buf_char(&all, ',');
            buf_str(&all, value);
        }
    return buf_view(&all);
}

struct ip api_caller(const struct api *api, const struct http_request *r)
{
    struct ip ip = {0};

    if (http_peer(r, &ip) && cidrs_have(&api->options.auth.trusted_proxies, ip))
        forwarded_address(api, all_forwarded(r), &ip);
    return ip;
}

uint16_t api_port(const struct api *api)
{
    return http_port(api->http);
}

bool api_use_tls(struct api *api, const char *cert, const char *key, struct err *err)
{
    return http_use_tls(api->http, cert, key, err);
}

/* --- one request --- */

/* Two of a header that decides are as bad as a wrong one. */
static struct str single_header(const struct http_request *r, const char *name)
{
    return http_header_count(r, name) > 1 ? STR("") : http_header(r, name);
}

static bool is_cross_site(const struct call *c)
{
    const struct http_request *r = c->http;
    const struct origin_claim claim = {.origin = single_header(r, "Origin"),
                                       .fetch_site = single_header(r, "Sec-Fetch-Site"),
                                       .host = single_header(r, "Host")};
    struct str public_url = c->api->options.public_url;

    if (!route_changes(c->route))
        return false;
    switch (c->route->csrf) {
    case CSRF_SAME_ORIGIN:
        return c->is_known && c->pass.kind != PASS_TOKEN && !origin_is_ours(&claim, public_url);
    case CSRF_SIGN_IN:
        return origin_is_foreign(&claim, public_url);
    case CSRF_NONE:
        return false;
    }
    PANIC("no such policy");
}

static enum call_gate gate_of(struct call *c)
{
    if (!c->is_known && (c->route == NULL || c->route->auth == AUTH_USER))
        return GATE_UNKNOWN;
    if (c->route == NULL)
        return c->allow.len > 0 ? GATE_METHOD : GATE_NOWHERE;
    if (is_cross_site(c))
        return GATE_CROSS_SITE;
    if (!call_has_right(c, c->route->right))
        return GATE_RIGHT;
    return router_decode(c->mem, c->route, c->params) ? GATE_OPEN : GATE_PATH;
}

static struct call *call_new(struct api *api, struct http_request *r)
{
    struct call *c = ARENA_NEW(r->mem, struct call);

    r->owner = c;
    c->api = api;
    c->node = api->node;
    c->http = r;
    c->mem = r->mem;
    return c;
}

/* Whether a request goes to a webhook that is known; then *path is that of the webhook. */
static bool is_known_hook(const struct call *c, struct str *path)
{
    /* Each byte of a path may be sent as three. */
    return c->route->auth == AUTH_SIGNATURE && c->params[0].len <= 3 * WEBHOOK_PATH_MAX &&
           percent_decode(c->mem, c->params[0], path) &&
           hooks_known_have(c->api->parts.hooks,
                            trigger_webhook_topic(c->mem, c->http->method, *path),
                            api_mono_us(c->api));
}

/*
 * What strangers may take: calls in a second, and memory for their bodies before
 * anybody knows what they are. Both are decided before the body is read.
 */
static enum call_gate gate_of_stranger(struct call *c)
{
    struct str path, counted = c->route->rate != NULL ? str_of(c->route->rate) : STR_NONE;
    bool is_hook = is_known_hook(c, &path);

    if (!c->is_known && c->route->body != SIZE_SMALL)
        c->http->share = is_hook ? HTTP_SHARE_STRANGER : HTTP_SHARE_UNPROVEN;
    if (counted.len == 0 ||
        rate_allows(c->api->parts.rate, api_caller(c->api, c->http), is_hook ? path : counted,
                    api_mono_us(c->api), &c->retry_after_s))
        return GATE_OPEN;
    return GATE_RATE;
}

/* The call of a request, made when its headers are there: who asks, for what, and whether they may. */
static bool admit(void *context, struct http_request *r, size_t *body_max)
{
    struct api *api = context;
    struct call *c = call_new(api, r);
    struct buf allow;

    buf_init_arena(&allow, r->mem);
    c->route = router_find(r->method, r->path, c->params, &allow);
    c->allow = str_copy(r->mem, buf_view(&allow));
    c->is_known = auth_identify(api->parts.people, &api->options.auth, r, &c->user, &c->role,
                                &c->pass, &c->unknown);
    c->gate = gate_of(c);
    if (c->gate == GATE_OPEN)
        c->gate = gate_of_stranger(c);
    if (c->gate != GATE_OPEN)
        return false;
    *body_max = route_body_max(c->route);
    return true;
}

static void refuse_method(struct call *c)
{
    struct err err;

    (void)err_set(&err, ERR_METHOD_NOT_ALLOWED, "this path takes %.*s", STR_ARG(c->allow));
    call_refuse_header(c, &err, "Allow", c->allow.ptr);
}

static void refuse_right(struct call *c)
{
    struct str roles = right_roles(c->mem, c->route->right);

    if (right_has(c->route->right, c->role))
        call_refuse_text(c, ERR_DEFAULT_ORG_ONLY,
                         "this belongs to the whole installation: only an admin of the default "
                         "organisation may change it");
    else
        call_refuse_text(c, ERR_FORBIDDEN, "your role, %s, may not do this; it takes one of: %.*s",
                         role_name(c->role), STR_ARG(roles));
}

static void refuse_rate(struct call *c)
{
    struct err err;

    (void)err_set(&err, ERR_TOO_MANY, "this address calls too often; try again in %lld s",
                  (long long)c->retry_after_s);
    call_refuse_header(c, &err, "Retry-After",
                       str_printf(c->mem, "%lld", (long long)c->retry_after_s).ptr);
}

static void refuse_at_gate(struct call *c)
{
    switch (c->gate) {
    case GATE_UNKNOWN:
        call_refuse(c, &c->unknown);
        return;
    case GATE_METHOD:
        refuse_method(c);
        return;
    case GATE_NOWHERE:
        call_refuse_text(c, ERR_NOT_FOUND, "there is nothing at this path");
        return;
    case GATE_CROSS_SITE:
        call_refuse_text(c, ERR_CROSS_SITE,
                         "this request does not come from a page of this server; a program sends a "
                         "token in the header Authorization instead of a cookie");
        return;
    case GATE_RIGHT:
        refuse_right(c);
        return;
    case GATE_PATH:
        call_refuse_text(c, ERR_BAD_REQUEST, "the path is not UTF-8, or holds U+0000");
        return;
    case GATE_RATE:
        refuse_rate(c);
        return;
    case GATE_OPEN:
        break;
    }
    PANIC("it was admitted");
}

/*
 * Parameters that the route does not take, or that are given twice, are refused:
 * a filter that is misspelt and ignored would let everything through.
 */
static bool check_parameters(struct call *c)
{
    struct str given[PARAMETERS_READ_MAX];
    size_t count = http_query_names(c->http, given, PARAMETERS_READ_MAX);

    /* Probes and hooks are called by others, who put there what they like. */
    if (!str_starts_with(c->route->pattern, STR("/api/")))
        return true;
    /* Those beyond would not be looked at, and what is not looked at may be misspelt. */
    if (count == PARAMETERS_READ_MAX)
        return call_refuse_text(c, ERR_BAD_REQUEST, "a request has less than %d parameters",
                                PARAMETERS_READ_MAX);
    for (size_t i = 0; i < count; i++) {
        struct str shown =
            str_slice(given[i], 0, given[i].len > SHOWN_LEN_MAX ? SHOWN_LEN_MAX : given[i].len);

        if (!route_takes(c->route, given[i])) {
            struct nearest nearest = nearest_to(given[i]);
            struct err err;

            nearest_offer_words(&nearest, str_of(c->route->query != NULL ? c->route->query : ""));
            (void)err_set(&err, ERR_BAD_REQUEST, "there is no parameter '%.*s' here",
                          STR_ARG(shown));
            if (nearest.best.len > 0)
                (void)err_set_hint(&err, "did you mean '%.*s'?", STR_ARG(nearest.best));
            return call_refuse(c, &err);
        }
        for (size_t k = 0; k < i; k++)
            if (str_eq(given[i], given[k]) && !str_eq(given[i], STR("status")))
                return call_refuse_text(c, ERR_BAD_REQUEST, "%.*s is given twice", STR_ARG(shown));
    }
    return true;
}

static void handle(void *context, struct http_request *r)
{
    struct call *c = r->owner;

    if (c == NULL) /* its head could not be read */
        c = call_new(context, r);
    if (c->gate != GATE_OPEN)
        refuse_at_gate(c);
    else if (r->refusal == ERR_TOO_LARGE)
        call_refuse_text(c, ERR_TOO_LARGE, "the body is larger than %zu bytes",
                         route_body_max(c->route));
    else if (r->refusal != ERR_NONE)
        call_refuse_text(c, r->refusal, "%s", r->why);
    else if (check_parameters(c))
        c->route->handle(c);
}

void api_pass_on(struct call *c, struct str method, struct str path, struct str query,
                 struct str body)
{
    struct buf allow;

    http_rewrite(c->http, method, path, query, body);
    buf_init_arena(&allow, c->mem);
    c->route = router_find(method, path, c->params, &allow);
    c->allow = buf_view(&allow);
    c->gate = gate_of(c);
    if (c->gate != GATE_OPEN)
        refuse_at_gate(c);
    else if (body.len > route_body_max(c->route))
        call_refuse_text(c, ERR_TOO_LARGE, "the body is larger than %zu bytes",
                         route_body_max(c->route));
    else if (check_parameters(c))
        c->route->handle(c);
}

static void problem_answer(const struct api *api, const struct http_request *r, struct arena *mem,
                           const struct err *err, const char *retry_after, struct http_answer *out)
{
    *out = (struct http_answer){
        .status = err_http_status(err->code),
        .content_type = "application/problem+json",
        .body = problem_json(mem, language_accepted(http_header(r, "Accept-Language")), err, NULL,
                             STR_NONE, api_request_id(api, mem, r->number)),
        .headers = {{"Retry-After", retry_after}}};
}

/* A request that is left when the server closes: whether it took effect, who asks can find out. */
static void answer_closing(void *context, const struct http_request *r, struct arena *mem,
                           struct http_answer *out)
{
    struct err err;

    (void)err_set(&err, ERR_OVERLOADED, "the server is stopping; ask again");
    problem_answer(context, r, mem, &err, "1", out);
}

static bool request_only_reads(const struct http_request *r)
{
    return str_eq(r->method, STR("GET")) || str_eq(r->method, STR("HEAD"));
}

/* The store does not answer. What was to be changed may be changed yet. */
static void answer_store_away(void *context, const struct http_request *r, struct arena *mem,
                              struct http_answer *out)
{
    struct err err;

    if (request_only_reads(r))
        (void)err_set(&err, ERR_STORE_AWAY, "the database does not answer; try again later");
    else
        (void)err_set(&err, ERR_OUTCOME_UNKNOWN,
                      "the database does not answer: whether it happened is not known");
    problem_answer(context, r, mem, &err, STORE_RETRY_AFTER, out);
}

/* Nothing has answered the request: a fault of the server, and its client is not to wait for ever. */
static void answer_overdue(void *context, const struct http_request *r, struct arena *mem,
                           struct http_answer *out)
{
    const struct api *api = context;
    struct err err;

    log_write(LOG_ERROR, "a request was not decided in time",
              LOG_FIELDS(log_str("requestId", api_request_id(api, mem, r->number)),
                         log_str("method", r->method), log_str("path", mask_links(mem, r->path))));
    if (request_only_reads(r))
        (void)err_set(&err, ERR_OVERLOADED, "there was no answer in time; try again");
    else
        (void)err_set(&err, ERR_OUTCOME_UNKNOWN,
                      "there was no answer in time: whether it happened is not known");
    problem_answer(api, r, mem, &err, "1", out);
}

void api_answer_undecided(struct api *api)
{
    http_answer_kept(api->http, answer_store_away);
}

/* --- the loop --- */

static void on_ready(void *context)
{
    struct api *api = context;

    http_run(api->http);
}

static void on_before_sleep(void *context, int *timeout_ms)
{
    struct api *api = context;

    if (node_readiness(api->node) == NODE_STOPPING) {
        http_quiesce(api->http);
        events_drain(api->parts.events);
    }
    if (node_store_is_away(api->node))
        api_answer_undecided(api);
    if (api->people_changes != directory_changes(api->parts.people)) {
        api->people_changes = directory_changes(api->parts.people);
        events_recheck(api->parts.events);
    }
    events_before_sleep(api->parts.events, timeout_ms);
    bulks_tick(&api->bulks, api_mono_us(api), timeout_ms);
    http_before_sleep(api->http, timeout_ms);
    directory_tick(api->parts.people, timeout_ms);
}

static bool open_people(struct api *api, struct err *err)
{
    const struct directory_options people = {
        .node = api->node,
        .clock = api->options.clock,
        .admin_hash = api->options.admin_hash,
        .is_shared = node_is_shared(api->node),
    };

    api->parts.people = directory_open(&people, err);
    return api->parts.people != NULL;
}

static bool open_http(struct api *api, struct err *err)
{
    const struct http_options http = {
        .host = api->options.host,
        .port = api->options.port,
        .admit = admit,
        .handle = handle,
        .closing = answer_closing,
        .overdue = answer_overdue,
        .context = api,
        .clock = api->options.clock,
        .connections_max = api->options.connections_max,
        .patience_us = api->options.patience_us,
        .tls_cert = api->options.tls_cert,
        .tls_key = api->options.tls_key,
    };

    api->http = http_open(&http, err);
    return api->http != NULL && node_watch(api->node, http_fd(api->http), on_ready, api, err);
}

/* Where people find what answers waits. */
static void link_from(struct api *api)
{
    struct str front = api->options.public_url, host = api->options.host;
    bool is_ipv6 = str_find(host, STR(":"), 0) >= 0;

    while (front.len > 0 && front.ptr[front.len - 1] == '/')
        front.len--;
    if (front.len == 0)
        front = str_printf(&api->mem, "%s://%s%.*s%s:%u",
                           api->options.tls_cert != NULL ? "https" : "http", is_ipv6 ? "[" : "",
                           STR_ARG(host), is_ipv6 ? "]" : "", (unsigned)http_port(api->http));
    node_link_from(api->node, str_printf(&api->mem, "%.*s/callbacks/", STR_ARG(front)));
}

struct api *api_open(struct node *node, const struct api_options *options, struct err *err)
{
    struct api *api = ALLOC_NEW(struct api);

    arena_init(&api->mem);
    api->options = *options;
    api->options.admin_hash = str_copy(&api->mem, options->admin_hash);
    api->options.public_url = str_copy(&api->mem, options->public_url);
    api->node = node;
    api->parts.bulks = &api->bulks;
    api->parts.counts = &api->counts;
    api->parts.views = view_memory_new();
    api->parts.worlds = worlds_new();
    api->parts.rate = rate_new(options->hook_rate);
    api->parts.hooks = hooks_known_new(node);
    api->parts.deliveries = deliveries_new();
    uuid_gen_init(&api->ids, NULL, NULL);
    if (getrandom(&api->run, sizeof(api->run), 0) != (ssize_t)sizeof(api->run))
        PANIC("no random numbers");
    api->parts.events = events_new(node, options->clock);
    if (!open_people(api, err) || !open_http(api, err)) {
        api_close(api);
        return NULL;
    }
    link_from(api);
    node_before_sleep(node, on_before_sleep, api);
    return api;
}

void api_close(struct api *api)
{
    events_readers_ended(api->parts.events);
    if (api->http != NULL)
        http_close(api->http);
    if (api->parts.people != NULL)
        directory_close(api->parts.people);
    view_memory_free(api->parts.views);
    worlds_free(api->parts.worlds);
    rate_free(api->parts.rate);
    hooks_known_free(api->parts.hooks);
    deliveries_free(api->parts.deliveries);
    events_free(api->parts.events);
    arena_fini(&api->mem);
    free(api);
}
