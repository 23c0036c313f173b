/*
 * open.h - opening and closing the front door: HTTP on one side, the node on the other.
 *
 *     http.c --request--> api.c: route, token --> handler --> node --> answer
 *
 * Runs on the loop of the node and has no thread of its own.
 */
#ifndef PAWL_API_OPEN_H
#define PAWL_API_OPEN_H

#include "api/access/auth.h"
#include "mcp/mcp.h"

struct api;
struct node;

struct api_options {
    struct str host;
    uint16_t port;            /* 0 = any that is free */
    struct str admin_hash;    /* SHA-256 of the token of the administrator, in hexadecimal */
    struct auth_options auth; /* lives as long as the API */
    struct str public_url;    /* where browsers find it; empty: the host that a request names */
    const char *tls_cert;     /* PEM texts, see http.h; NULL: plain HTTP */
    const char *tls_key;
    unsigned connections_max; /* 0 = the default of http.h; so are the others */
    int64_t patience_us;
    int64_t
        hook_rate; /* calls a second that one address may make to one hook or callback; 0 = any */
    struct mcp_options mcp; /* for assistants at /mcp */
    const struct clock *clock;
};

/* Listen, and answer requests whenever the node's loop runs. ERR_IO when that is impossible. */
struct api *api_open(struct node *node, const struct api_options *options,
                     struct err *err) MUST_USE;

uint16_t api_port(const struct api *api);

/* Another certificate and key for connections to come: http_use_tls(). */
bool api_use_tls(struct api *api, const char *cert, const char *key, struct err *err) MUST_USE;

/*
 * Answer what is left with 503 and close all connections. Call it after
 * node_close(), when no reader thread works for a request any more.
 */
void api_close(struct api *api);

/*
 * The store does not answer: answer all clients that wait for it with 503. The
 * loop does that by itself; this is for a node that gave up draining.
 */
void api_answer_undecided(struct api *api);

#endif
