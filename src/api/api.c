/* api.c - requests find their handlers; see api.h. */
#include "api/api.h"

#include "api/bulk.h"
#include "api/call.h"
#include "api/events.h"
#include "api/origin.h"
#include "api/problem.h"
#include "api/rate.h"
#include "api/view.h"
#include "api/worlds.h"
#include "base/log.h"
#include "base/nearest.h"

#include <stdlib.h>
#include <sys/random.h>

enum { PARAMETERS_READ_MAX = 50, SHOWN_LEN_MAX = 100 };

struct api {
    struct api_options options;
    struct arena mem;
    struct node *node;
    struct http_server *http;
    struct directory *people;
    uint64_t people_changes; /* that streams know of */
    struct view_memory *views;
    struct worlds *worlds;
    struct uuid_gen ids;
    struct events *events;
    struct bulks bulks;
    struct rate *rate;
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

struct str api_request_id(const struct api *api, struct arena *mem, uint64_t number)
{
    return str_printf(mem, "%08x-%llx", api->run, (unsigned long long)number);
}

int64_t api_now_us(const struct api *api)
{
    return clock_wall_us(api->options.clock);
}

bool api_is_public_by_tls(const struct api *api)
{
    return str_starts_with(api->options.public_url, STR("https://"));
}

struct str api_new_id(struct api *api, struct arena *mem)
{
    char *text = arena_alloc(mem, UUID_TEXT_LEN + 1);

    uuid_write(uuid_gen_next(&api->ids, api_now_us(api) / 1000), text);
    return str_from(text, UUID_TEXT_LEN);
}

int64_t api_mono_us(const struct api *api)
{
    return clock_mono_us(api->options.clock);
}

struct directory *api_people(struct api *api)
{
    return api->people;
}

struct view_memory *api_views(struct api *api)
{
    return api->views;
}

struct worlds *api_worlds(struct api *api)
{
    return api->worlds;
}

struct events *api_events(struct api *api)
{
    return api->events;
}

struct rate *api_rate(struct api *api)
{
    return api->rate;
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

struct ip api_caller(const struct api *api, const struct http_request *r)
{
    struct ip ip = {0};

    if (http_peer(r, &ip) && cidrs_have(&api->options.auth.trusted_proxies, ip))
        forwarded_address(api, http_header(r, "X-Forwarded-For"), &ip);
    return ip;
}

struct bulks *api_bulks(struct api *api)
{
    return &api->bulks;
}

uint16_t api_port(const struct api *api)
{
    return http_port(api->http);
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

/* Administrators of other organisations do not change what all organisations share. */
static bool has_right(const struct call *c)
{
    enum right right = c->route->right;

    if (right == RIGHT_OPEN)
        return true;
    return right_has(right, c->role) && (!right_is_of_default_org(right) || call_scope(c).len == 0);
}

static enum call_gate gate_of(struct call *c)
{
    if (!c->is_known && (c->route == NULL || c->route->auth == AUTH_USER))
        return GATE_UNKNOWN;
    if (c->route == NULL)
        return c->allow.len > 0 ? GATE_METHOD : GATE_NOWHERE;
    if (is_cross_site(c))
        return GATE_CROSS_SITE;
    if (!has_right(c))
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

/* The call of a request, made when its headers are there: who asks, for what, and whether they may. */
static bool admit(void *context, struct http_request *r, size_t *body_max)
{
    struct api *api = context;
    struct call *c = call_new(api, r);
    struct buf allow;

    buf_init_arena(&allow, r->mem);
    c->route = router_find(r->method, r->path, c->params, &allow);
    c->allow = str_copy(r->mem, buf_view(&allow));
    c->is_known =
        auth_identify(api->people, &api->options.auth, r, &c->user, &c->role, &c->pass, &c->who);
    c->gate = gate_of(c);
    if (c->gate != GATE_OPEN)
        return false;
    *body_max = route_body_max(c->route);
    return true;
}

static void refuse_method(struct call *c)
{
    struct err err;

    (void)err_set(&err, ERR_METHOD_NOT_ALLOWED, "this path takes %.*s", STR_ARG(c->allow));
    call_refuse_headers(c, &err, &(struct http_header){"Allow", c->allow.ptr}, 1);
}

static void refuse_right(struct call *c)
{
    if (right_has(c->route->right, c->role))
        call_refuse_text(c, ERR_DEFAULT_ORG_ONLY,
                         "this belongs to the whole installation: only an admin of the default "
                         "organisation may change it");
    else
        call_refuse_text(c, ERR_FORBIDDEN, "your role, %s, may not do this; it takes one of: %.*s",
                         role_name(c->role), STR_ARG(right_roles(c->mem, c->route->right)));
}

static void refuse_at_gate(struct call *c)
{
    switch (c->gate) {
    case GATE_UNKNOWN:
        call_refuse(c, &c->who);
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
    case GATE_OPEN:
        break;
    }
    PANIC("it was admitted");
}

/* What nobody reads would choose everything: the misspelt is refused, and what is given twice. */
static bool check_parameters(struct call *c)
{
    struct str given[PARAMETERS_READ_MAX];
    size_t count = http_query_names(c->http, given, PARAMETERS_READ_MAX);

    /* Probes and hooks are called by others, who put there what they like. */
    if (!str_starts_with(c->route->pattern, STR("/api/")))
        return true;

    for (size_t i = 0; i < count; i++) {
        struct str shown =
            str_slice(given[i], 0, given[i].len > SHOWN_LEN_MAX ? SHOWN_LEN_MAX : given[i].len);

        if (!route_takes(c->route, given[i])) {
            struct nearest nearest = nearest_to(given[i]);

            nearest_offer_words(&nearest, str_of(c->route->query != NULL ? c->route->query : ""));
            call_refuse_text(c, ERR_BAD_REQUEST, "there is no parameter '%.*s' here%s%.*s%s",
                             STR_ARG(shown), nearest.best.len > 0 ? "; did you mean '" : "",
                             STR_ARG(nearest.best), nearest.best.len > 0 ? "'?" : "");
            return false;
        }
        for (size_t k = 0; k < i; k++)
            if (str_eq(given[i], given[k]) && !str_eq(given[i], STR("status"))) {
                call_refuse_text(c, ERR_BAD_REQUEST, "%.*s is given twice", STR_ARG(shown));
                return false;
            }
    }
    return true;
}

static void handle(void *context, struct http_request *r)
{
    struct call *c = r->owner;

    if (c == NULL) /* its head is no good: nobody knows more about it */
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

static void tell_problem(const struct api *api, const struct http_request *r, struct arena *mem,
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
static void closing(void *context, const struct http_request *r, struct arena *mem,
                    struct http_answer *out)
{
    struct err err;

    (void)err_set(&err, ERR_OVERLOADED, "the server is stopping; ask again");
    tell_problem(context, r, mem, &err, "1", out);
}

/* The store does not answer. What was to be changed may be changed yet. */
static void away(void *context, const struct http_request *r, struct arena *mem,
                 struct http_answer *out)
{
    bool only_reads = str_eq(r->method, STR("GET")) || str_eq(r->method, STR("HEAD"));
    struct err err;

    if (only_reads)
        (void)err_set(&err, ERR_STORE_AWAY, "the database does not answer; try again later");
    else
        (void)err_set(&err, ERR_OUTCOME_UNKNOWN,
                      "the database does not answer: whether it happened is not known");
    tell_problem(context, r, mem, &err, STORE_RETRY_AFTER, out);
}

void api_tell_undecided(struct api *api)
{
    http_tell_kept(api->http, away);
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
    const char *why;

    if (!node_is_ready(api->node, &why) && strcmp(why, "stopping") == 0) {
        http_quiesce(api->http);
        events_drain(api->events);
    }
    if (node_store_is_away(api->node))
        api_tell_undecided(api);
    if (api->people_changes != directory_changes(api->people)) {
        api->people_changes = directory_changes(api->people);
        events_recheck(api->events);
    }
    events_before_sleep(api->events, timeout_ms);
    bulks_tick(&api->bulks, api_mono_us(api), timeout_ms);
    http_before_sleep(api->http, timeout_ms);
    directory_tick(api->people, timeout_ms);
}

static bool open_people(struct api *api, struct err *err)
{
    const struct directory_options people = {
        .node = api->node,
        .clock = api->options.clock,
        .admin_token = api->options.admin_token,
        .is_shared = node_is_shared(api->node),
    };

    api->people = directory_open(&people, err);
    return api->people != NULL;
}

static bool open_http(struct api *api, struct err *err)
{
    const struct http_options http = {
        .host = api->options.host,
        .port = api->options.port,
        .admit = admit,
        .handle = handle,
        .closing = closing,
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
    struct api *api = calloc(1, sizeof(*api));

    if (api == NULL)
        PANIC("out of memory");
    arena_init(&api->mem);
    api->options = *options;
    api->options.admin_token = str_copy(&api->mem, options->admin_token);
    api->options.public_url = str_copy(&api->mem, options->public_url);
    api->node = node;
    api->views = view_memory_new();
    api->worlds = worlds_new();
    api->rate = rate_new(options->hook_rate);
    uuid_gen_init(&api->ids, NULL, NULL);
    if (getrandom(&api->run, sizeof(api->run), 0) != (ssize_t)sizeof(api->run))
        PANIC("no random numbers");
    api->events = events_new(node, options->clock);
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
    events_readers_ended(api->events);
    if (api->http != NULL)
        http_close(api->http);
    if (api->people != NULL)
        directory_close(api->people);
    view_memory_free(api->views);
    worlds_free(api->worlds);
    rate_free(api->rate);
    events_free(api->events);
    arena_fini(&api->mem);
    free(api);
}
