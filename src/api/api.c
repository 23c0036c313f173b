/* api.c - requests find their handlers; see api.h. */
#include "api/api.h"

#include "api/call.h"
#include "api/events.h"
#include "api/percent.h"
#include "api/token.h"

#include <stdlib.h>
#include <sys/random.h>

enum { BODY_MAX_BYTES = 1 << 20, DEFINITION_MAX_BYTES = 2 << 20, BUNDLE_MAX_BYTES = 16 << 20 };

struct api {
    struct api_options options;
    struct arena mem;
    struct node *node;
    struct http_server *http;
    struct events *events;
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

struct events *api_events(struct api *api)
{
    return api->events;
}

uint16_t api_port(const struct api *api)
{
    return http_port(api->http);
}

/* --- one request --- */

static enum role authenticate(const struct api *api, const struct http_request *r,
                              struct node_user *user)
{
    if (!token_is_borne(http_header(r, "Authorization"), api->options.admin_token))
        return ROLE_OPEN;
    *user = (struct node_user){.id = STR("admin"), .name = STR("admin"), .role = STR("admin")};
    return ROLE_ADMIN;
}

static size_t body_max(void *context, const struct http_request *r)
{
    struct api *api = context;
    struct node_user user;

    /* Who may not call anything may not make us keep bodies either. */
    if (authenticate(api, r, &user) == ROLE_OPEN)
        return 0;
    if (str_ends_with(r->path, STR("/draft")) || str_ends_with(r->path, STR("/validate")))
        return DEFINITION_MAX_BYTES;
    if (str_ends_with(r->path, STR("/import")))
        return BUNDLE_MAX_BYTES;
    return BODY_MAX_BYTES;
}

static void refuse_method(struct call *c, const struct buf *allow)
{
    struct err err;
    struct str methods = str_copy(c->mem, buf_view(allow));

    (void)err_set(&err, ERR_METHOD_NOT_ALLOWED, "this path takes %.*s", STR_ARG(methods));
    call_refuse_headers(c, &err, &(struct http_header){"Allow", methods.ptr}, 1);
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
    struct api *api = context;
    struct call *c = ARENA_NEW(r->mem, struct call);
    enum role role = authenticate(api, r, &c->user);
    struct buf allow;

    c->api = api;
    c->node = api->node;
    c->http = r;
    c->mem = r->mem;
    buf_init_arena(&allow, r->mem);
    c->route = router_find(r->method, r->path, c->params, &allow);
    if (role == ROLE_OPEN && (c->route == NULL || c->route->role > ROLE_OPEN))
        call_refuse_text(c, ERR_UNAUTHORIZED,
                         "send the header Authorization: Bearer with a token; the first one is in "
                         "admin.token of the data folder");
    else if (c->route == NULL && allow.len > 0)
        refuse_method(c, &allow);
    else if (c->route == NULL)
        call_refuse_text(c, ERR_NOT_FOUND, "there is nothing at this path");
    else if (role < c->route->role)
        call_refuse_text(c, ERR_FORBIDDEN, "your role may not do this");
    else if (!decode_params(c))
        call_refuse_text(c, ERR_BAD_REQUEST, "the path is not UTF-8, or holds U+0000");
    else if (r->refusal == ERR_TOO_LARGE)
        call_refuse_text(c, ERR_TOO_LARGE, "the body is larger than %zu bytes", body_max(api, r));
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
    events_before_sleep(api->events, timeout_ms);
    http_before_sleep(api->http, timeout_ms);
}

struct api *api_open(struct node *node, const struct api_options *options, struct err *err)
{
    struct api *api = calloc(1, sizeof(*api));
    struct http_options http = {
        .host = options->host,
        .port = options->port,
        .handle = handle,
        .body_max = body_max,
        .context = api,
        .clock = options->clock,
    };

    if (api == NULL)
        PANIC("out of memory");
    arena_init(&api->mem);
    api->options = *options;
    api->options.admin_token = str_copy(&api->mem, options->admin_token);
    api->node = node;
    if (getrandom(&api->run, sizeof(api->run), 0) != (ssize_t)sizeof(api->run))
        PANIC("no random numbers");
    api->events = events_new(node, options->clock);
    api->http = http_open(&http, err);
    if (api->http == NULL || !node_watch(node, http_fd(api->http), on_ready, api, err) ||
        !node_watch(node, http_gone_fd(api->http), on_gone, api, err)) {
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
    events_free(api->events);
    arena_fini(&api->mem);
    free(api);
}
