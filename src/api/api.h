/*
 * api.h - the front door: HTTP on one side, the node on the other.
 *
 *     http.c --request--> api.c: route, token --> handler --> node --> answer
 *
 * Runs on the loop of the node and has no thread of its own.
 */
#ifndef PAWL_API_API_H
#define PAWL_API_API_H

#include "api/auth.h"
#include "node/node.h"

struct api;
struct view_memory;
struct events;
struct bulks;

struct api_options {
    struct str host;
    uint16_t port; /* 0 = any that is free */
    struct str admin_token;
    struct auth_options auth; /* lives as long as the API */
    struct str public_url;    /* where browsers find it; empty: the host that a request names */
    const char *tls_cert;     /* PEM texts, see http.h; NULL: plain HTTP */
    const char *tls_key;
    unsigned connections_max; /* 0 = the default of http.h; so are the others */
    int64_t patience_us;
    int64_t
        hook_rate; /* calls a second that one address may make to one hook or callback; 0 = any */
    const struct clock *clock;
};

/* Listen, and answer requests whenever the node's loop runs. ERR_IO when that is impossible. */
struct api *api_open(struct node *node, const struct api_options *options,
                     struct err *err) MUST_USE;

uint16_t api_port(const struct api *api);

/*
 * Answer what is left with 503 and close all connections. Call it after
 * node_close(), when no reader thread works for a request any more.
 */
void api_close(struct api *api);

/*
 * The store does not answer: tell all clients that wait for it, with 503. The
 * loop does that by itself; this is for a node that gave up draining.
 */
void api_tell_undecided(struct api *api);

/* The same as it is handed to the node. */
struct request_name api_request_name(const struct api *api, uint64_t number);

/* Whether one more refusal gets a line in the log: so many a second do. */
bool api_logs_refusal(struct api *api);

/* What a problem calls the request of that number: unique, also over restarts. */
struct str api_request_id(const struct api *api, struct arena *mem, uint64_t number);

int64_t api_now_us(const struct api *api);
int64_t api_mono_us(const struct api *api);

/* Whether browsers reach it through something that speaks TLS. */
bool api_is_public_by_tls(const struct api *api);

/* A new id. */
struct str api_new_id(struct api *api, struct arena *mem);

/* Users and tokens in memory; what definitions say about who may view. */
struct directory *api_people(struct api *api);
struct view_memory *api_views(struct api *api);
struct worlds *api_worlds(struct api *api);
struct events *api_events(struct api *api);

/*
 * The address that a request comes from: the peer, or whom a proxy of
 * --trusted-proxy says that it speaks for. All zero: nobody knows.
 */
struct ip api_caller(const struct api *api, const struct http_request *r);

/* How often strangers may call hooks and callbacks: call_within_rate() asks it. */
struct rate *api_rate(struct api *api);

/* Bulk requests that are under way. */
struct bulks *api_bulks(struct api *api);

#endif
