/* listen.h - a socket that takes connections. */
#ifndef PAWL_HTTP_LISTEN_H
#define PAWL_HTTP_LISTEN_H

#include "base/err.h"

/*
 * Listen on a name or address and a port, 0 being any that is free. The
 * descriptor in *out does not block. ERR_IO with a message for people.
 */
bool listen_open(struct str host, uint16_t port, int *out, struct err *err) MUST_USE;

/* The port that a listening socket has. */
uint16_t listen_port(int fd);

#endif
