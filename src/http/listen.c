/* listen.c - a socket that takes connections; see listen.h. */
#include "http/listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LISTEN_BACKLOG = 4096 };

static bool listen_on(const struct addrinfo *a, int *out)
{
    int fd = socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol);
    int on = 1;

    if (fd < 0)
        return false;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    /* Connections inherit it. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, LISTEN_BACKLOG) == 0) {
        *out = fd;
        return true;
    }
    on = errno;
    close(fd);
    errno = on;
    return false;
}

bool listen_open(struct str host, uint16_t port, int *out, struct err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found;
    char name[256], service[8];
    bool ok = false;
    int status;

    snprintf(name, sizeof(name), "%.*s", STR_ARG(host));
    snprintf(service, sizeof(service), "%u", (unsigned)port);
    status = getaddrinfo(name, service, &hints, &found);
    if (status != 0)
        return err_set(err, ERR_IO, "cannot listen on %s: %s", name, gai_strerror(status));
    for (struct addrinfo *a = found; a != NULL && !ok; a = a->ai_next)
        ok = listen_on(a, out);
    if (!ok)
        (void)err_set(err, ERR_IO, "cannot listen on %s, port %u: %s%s", name, (unsigned)port,
                      strerror(errno),
                      errno == EADDRINUSE ? "; stop what has it, or choose another port" : "");
    freeaddrinfo(found);
    return ok;
}

uint16_t listen_port(int fd)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof(address);
    char service[8];
    int64_t port = 0;

    if (getsockname(fd, (struct sockaddr *)&address, &len) == 0 &&
        getnameinfo((struct sockaddr *)&address, len, NULL, 0, service, sizeof(service),
                    NI_NUMERICSERV) == 0)
        (void)!str_to_int64(str_of(service), &port);
    return (uint16_t)port;
}
