/* api.h - what all handlers share: the clock, ids, users in memory, streams, bulk requests. */
#ifndef PAWL_API_API_H
#define PAWL_API_API_H

#include "base/str.h"

struct api;
struct call;
struct bulks;
struct counts_known;
struct directory;
struct events;
struct http_request;
struct ip;
struct rate;
struct request_name;
struct view_memory;
struct worlds;

/* What the request of that number is called, as it is handed to the node. */
struct request_name api_request_name(const struct api *api, uint64_t number);

/* What assistants may do. */
const struct mcp_options *api_mcp(const struct api *api);

/*
 * Handle another request in the place of this one, by the same caller: through
 * the same gate, as if it had come from outside. The texts live in c->mem.
 */
void api_pass_on(struct call *c, struct str method, struct str path, struct str query,
                 struct str body);

/* Whether one more refusal gets a line in the log: so many a second do. */
bool api_logs_refusal(struct api *api);

/* What a problem calls the request of that number: unique, also over restarts. */
struct str api_request_id(const struct api *api, struct arena *mem, uint64_t number);

int64_t api_now_us(const struct api *api);
int64_t api_mono_us(const struct api *api);

/* The header in which a trusted proxy names the user; empty: none is believed. */
struct str api_auth_header(const struct api *api);

/* Whether browsers reach it through something that speaks TLS. */
bool api_is_public_by_tls(const struct api *api);

/* A new id. */
struct str api_new_id(struct api *api, struct arena *mem);

/* What handlers use of it; the pointers stay as they are while it is open. */
struct api_parts {
    struct directory *people;  /* users and tokens in memory */
    struct view_memory *views; /* what definitions say about who may view */
    struct worlds *worlds;
    struct events *events;
    struct hooks_known *hooks;     /* webhooks that there are */
    struct deliveries *deliveries; /* what came to them lately */
    struct rate *rate;             /* how often strangers may call hooks and callbacks */
    struct bulks *bulks;           /* bulk requests that are in flight */
    struct counts_known *counts;   /* what GET /counts has counted lately */
};

const struct api_parts *api_parts(const struct api *api);

/*
 * The address that a request comes from: the peer, or whom a proxy of
 * --trusted-proxy says that it speaks for. All zero: nobody knows.
 */
struct ip api_caller(const struct api *api, const struct http_request *r);

#endif
