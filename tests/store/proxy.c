/* proxy.c - see proxy.h. */
#include "store/proxy.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINKS_MAX = 32 };

/* One connection; [0] is the client's end, [1] the server's. */
struct link {
    int fds[2];
    bool server_spoke; /* last */
};

struct proxy {
    int listener, stop[2], server_port;
    struct link links[LINKS_MAX];
    unsigned count;
    pthread_t thread;
    pthread_mutex_t lock;
    struct str awaited; /* empty: nothing */
    bool from_server;
    unsigned cuts, trips;
};

static struct sockaddr_in loopback(int port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static void drop(struct proxy *p, unsigned i)
{
    close(p->links[i].fds[0]);
    close(p->links[i].fds[1]);
    p->links[i] = p->links[--p->count];
}

static void take_in(struct proxy *p)
{
    struct sockaddr_in address = loopback(p->server_port);
    int client = accept(p->listener, NULL, NULL);
    int server = socket(AF_INET, SOCK_STREAM, 0);

    if (p->count == LINKS_MAX || client < 0 ||
        connect(server, (struct sockaddr *)&address, sizeof(address)) != 0) {
        close(client);
        close(server);
        return;
    }
    p->links[p->count++] = (struct link){.fds = {client, server}};
}

/* Whether these bytes are the ones to cut at. */
static bool is_awaited(struct proxy *p, struct str bytes, bool from_server)
{
    bool found;

    pthread_mutex_lock(&p->lock);
    found = p->awaited.len > 0 && p->from_server == from_server &&
            memmem(bytes.ptr, bytes.len, p->awaited.ptr, p->awaited.len) != NULL;
    if (found) {
        p->awaited = STR_NONE;
        p->cuts++;
    }
    pthread_mutex_unlock(&p->lock);
    return found;
}

static void count_trip(struct proxy *p, struct link *link, bool from_server)
{
    pthread_mutex_lock(&p->lock);
    p->trips += link->server_spoke && !from_server;
    pthread_mutex_unlock(&p->lock);
    link->server_spoke = from_server;
}

/* Pass on what one end said. False: the connection is over. */
static bool forward(struct proxy *p, struct link *link, bool from_server)
{
    char capacity[1 << 16];
    ssize_t got = read(link->fds[from_server], capacity, sizeof(capacity));

    if (got <= 0 || is_awaited(p, str_from(capacity, (size_t)got), from_server))
        return false;
    count_trip(p, link, from_server);
    for (ssize_t done = 0; done < got;) {
        ssize_t wrote =
            send(link->fds[!from_server], capacity + done, (size_t)(got - done), MSG_NOSIGNAL);

        if (wrote <= 0)
            return false;
        done += wrote;
    }
    return true;
}

static void *proxy_main(void *context)
{
    struct proxy *p = context;

    for (;;) {
        struct pollfd fds[2 + 2 * LINKS_MAX];
        unsigned count = p->count;

        fds[0] = (struct pollfd){.fd = p->stop[0], .events = POLLIN};
        fds[1] = (struct pollfd){.fd = p->listener, .events = POLLIN};
        for (unsigned i = 0; i < 2 * count; i++)
            fds[2 + i] = (struct pollfd){.fd = p->links[i / 2].fds[i % 2], .events = POLLIN};
        if (poll(fds, 2 + 2 * count, -1) < 0 || fds[0].revents != 0)
            return NULL;
        /* From the last, since a dropped link is replaced by the last one. */
        for (unsigned i = count; i-- > 0;)
            if ((fds[2 + 2 * i].revents != 0 && !forward(p, &p->links[i], false)) ||
                (fds[3 + 2 * i].revents != 0 && !forward(p, &p->links[i], true)))
                drop(p, i);
        if (fds[1].revents != 0)
            take_in(p);
    }
}

struct proxy *proxy_open(int server_port)
{
    struct proxy *p = calloc(1, sizeof(*p));
    struct sockaddr_in address = loopback(0);

    if (p == NULL)
        PANIC("out of memory");
    p->server_port = server_port;
    p->listener = socket(AF_INET, SOCK_STREAM, 0);
    if (p->listener < 0 || bind(p->listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(p->listener, LINKS_MAX) != 0 || pipe(p->stop) != 0 ||
        pthread_mutex_init(&p->lock, NULL) != 0 ||
        pthread_create(&p->thread, NULL, proxy_main, p) != 0)
        PANIC("no proxy");
    return p;
}

int proxy_port(const struct proxy *p)
{
    struct sockaddr_in address;
    socklen_t len = sizeof(address);

    if (getsockname(p->listener, (struct sockaddr *)&address, &len) != 0)
        PANIC("no port");
    return ntohs(address.sin_port);
}

void proxy_cut_at(struct proxy *p, struct str bytes, bool from_server)
{
    pthread_mutex_lock(&p->lock);
    p->awaited = bytes;
    p->from_server = from_server;
    pthread_mutex_unlock(&p->lock);
}

unsigned proxy_cuts(struct proxy *p)
{
    unsigned cuts;

    pthread_mutex_lock(&p->lock);
    cuts = p->cuts;
    pthread_mutex_unlock(&p->lock);
    return cuts;
}

unsigned proxy_trips(struct proxy *p)
{
    unsigned trips;

    pthread_mutex_lock(&p->lock);
    trips = p->trips;
    pthread_mutex_unlock(&p->lock);
    return trips;
}

void proxy_close(struct proxy *p)
{
    if (write(p->stop[1], "x", 1) != 1)
        PANIC("no pipe");
    pthread_join(p->thread, NULL);
    while (p->count > 0)
        drop(p, 0);
    close(p->listener);
    close(p->stop[0]);
    close(p->stop[1]);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
