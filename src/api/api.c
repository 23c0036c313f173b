/* api.c - requests find their handlers; see api.h. */
#include "api/api.h"

#include "api/bulk.h"
#include "api/call.h"
#include "api/events.h"
#include "api/percent.h"
#include "api/view.h"

#include <stdlib.h>
#include <sys/random.h>

enum { BODY_MAX_BYTES = 1 << 20, DEFINITION_MAX_BYTES = 2 << 20, BUNDLE_MAX_BYTES = 16 << 20 };

struct api {
    struct api_options options;
    struct arena mem;
    struct node *node;
    struct http_server *http;
    struct directory *people;
    uint64_t people_changes; /* that streams know of */
    struct view_memory *views;
    struct uuid_gen ids;
    struct events *events;
    struct bulks bulks;
    uint32_t run; /* random: tells the requests of two runs apart */
};

struct str api_request_id(const struct api *api, struct arena *mem, uint64_t number)
{
    return str_printf(mem, "%08x-%llx", api->run, (unsigned long long)number);
}

int64_t api_now_us(const struct api *api)
{
    return clock_wall_us(api->options.clock);
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

struct events *api_events(struct api *api)
{
    return api->events;
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

/* The call of a request, made when its headers are there. */
static struct call *call_of(struct api *api, struct http_request *r)
{
    struct call *c = r->owner;

    if (c != NULL)
        return c;
    c = r->owner = ARENA_NEW(r->mem, struct call);
    c->api = api;
    c->node = api->node;
    c->http = r;
    c->mem = r->mem;
    c->is_known =
        auth_identify(api->people, &api->options.auth, r, &c->user, &c->role, &c->pass, &c->who);
    return c;
}

static size_t body_limit(const struct http_request *r)
{
    if (str_ends_with(r->path, STR("/draft")) || str_ends_with(r->path, STR("/validate")))
        return DEFINITION_MAX_BYTES;
    if (str_ends_with(r->path, STR("/import")))
        return BUNDLE_MAX_BYTES;
    return BODY_MAX_BYTES;
}

static size_t body_max(void *context, struct http_request *r)
{
    /* Who may not call anything may not make us keep bodies either. */
    return call_of(context, r)->is_known ? body_limit(r) : 0;
}

static void refuse_method(struct call *c, const struct buf *allow)
{
    struct err err;
    struct str methods = str_copy(c->mem, buf_view(allow));

    (void)err_set(&err, ERR_METHOD_NOT_ALLOWED, "this path takes %.*s", STR_ARG(methods));
    call_refuse_headers(c, &err, &(struct http_header){"Allow", methods.ptr}, 1);
}

static void refuse_role(struct call *c)
{
    call_refuse_text(c, ERR_FORBIDDEN, "your role, %s, may not do this; it takes one of: %.*s",
                     role_name(c->role), STR_ARG(right_roles(c->mem, c->route->right)));
}

/* Whether the caller belongs to an organisation that may not change what all of them share. */
static bool is_foreign(const struct call *c)
{
    return right_is_of_default_org(c->route->right) && call_scope(c).len > 0;
}

static bool decode_params(struct call *c)
{
    for (size_t i = 0; i < ROUTE_PARAMS_MAX; i++)
        if (!percent_decode(c->mem, c->params[i], &c->params[i]))
            return false;
    return true;
}

static void handle(void *context, struct http_request *r)
{
    struct call *c = call_of(context, r);
    struct buf allow;

    buf_init_arena(&allow, r->mem);
    c->route = router_find(r->method, r->path, c->params, &allow);
    if (!c->is_known && (c->route == NULL || c->route->right != RIGHT_OPEN))
        call_refuse(c, &c->who);
    else if (c->route == NULL && allow.len > 0)
        refuse_method(c, &allow);
    else if (c->route == NULL)
        call_refuse_text(c, ERR_NOT_FOUND, "there is nothing at this path");
    else if (c->route->right != RIGHT_OPEN && !right_has(c->route->right, c->role))
        refuse_role(c);
    else if (is_foreign(c))
        call_refuse_text(c, ERR_DEFAULT_ORG_ONLY,
                         "this belongs to the whole installation: only an admin of the default "
                         "organisation may change it");
    else if (!decode_params(c))
        call_refuse_text(c, ERR_BAD_REQUEST, "the path is not UTF-8, or holds U+0000");
    else if (r->refusal == ERR_TOO_LARGE)
        call_refuse_text(c, ERR_TOO_LARGE, "the body is larger than %zu bytes", body_limit(r));
    else if (r->refusal != ERR_NONE)
        call_refuse_text(c, r->refusal, "%s", r->why);
    else
        c->route->handle(c);
}

/* --- the loop --- */

static void on_ready(void *context)
{
    struct api *api = context;

    http_run(api->http);
}

static void on_gone(void *context)
{
    struct api *api = context;

    http_drop_gone(api->http);
}

static void on_before_sleep(void *context, int *timeout_ms)
{
    struct api *api = context;
    const char *why;

    if (!node_is_ready(api->node, &why) && strcmp(why, "stopping") == 0) {
        http_quiesce(api->http);
        events_drain(api->events);
    }
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
        .handle = handle,
        .body_max = body_max,
        .context = api,
        .clock = api->options.clock,
        .connections_max = api->options.connections_max,
        .patience_us = api->options.patience_us,
        .tls_cert = api->options.tls_cert,
        .tls_key = api->options.tls_key,
    };

    api->http = http_open(&http, err);
    return api->http != NULL && node_watch(api->node, http_fd(api->http), on_ready, api, err) &&
           node_watch(api->node, http_gone_fd(api->http), on_gone, api, err);
}

struct api *api_open(struct node *node, const struct api_options *options, struct err *err)
{
    struct api *api = calloc(1, sizeof(*api));

    if (api == NULL)
        PANIC("out of memory");
    arena_init(&api->mem);
    api->options = *options;
    api->options.admin_token = str_copy(&api->mem, options->admin_token);
    api->node = node;
    api->views = view_memory_new();
    uuid_gen_init(&api->ids, NULL, NULL);
    if (getrandom(&api->run, sizeof(api->run), 0) != (ssize_t)sizeof(api->run))
        PANIC("no random numbers");
    api->events = events_new(node, options->clock);
    if (!open_people(api, err) || !open_http(api, err)) {
        api_close(api);
        return NULL;
    }
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
    events_free(api->events);
    arena_fini(&api->mem);
    free(api);
}
