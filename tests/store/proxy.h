/*
 * proxy.h - a wire between the store and its server that can be cut at a chosen moment.
 *
 * Forwards bytes of any number of connections between a port of its own and
 * the server's, on a thread. When the bytes it waits for pass, it closes that
 * connection on both sides: those from the client are not forwarded, and
 * those from the server are swallowed.
 */
#ifndef PAWL_TESTS_STORE_PROXY_H
#define PAWL_TESTS_STORE_PROXY_H

#include "base/str.h"

struct proxy;

struct proxy *proxy_open(int server_port);

int proxy_port(const struct proxy *p);

/* Cut the next connection over which `bytes` come, from the server or from the client. */
void proxy_cut_at(struct proxy *p, struct str bytes, bool from_server);

/* How many connections were cut. */
unsigned proxy_cuts(struct proxy *p);

/* How often a client has spoken after the server had: the round trips of all connections. */
unsigned proxy_trips(struct proxy *p);

void proxy_close(struct proxy *p);

#endif
