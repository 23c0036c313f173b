/*
 * bench_delay.c - a wire that is slow: what comes in on one port goes on to
 * another one some microseconds later, in both directions.
 *
 *     bench_delay LISTEN-PORT TARGET-PORT MICROSECONDS
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 1 << 20 };

static long delay_ns;

struct wire {
    int from, to;
};

static struct sockaddr_in address(int port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static void *carry(void *context)
{
    struct wire *w = context;
    char *bytes = malloc(CHUNK);
    ssize_t got;

    for (;;) {
        struct pollfd readable = {.fd = w->from, .events = POLLIN};

        if (bytes == NULL || poll(&readable, 1, -1) < 0)
            break;
        /* What comes meanwhile goes along. */
        (void)nanosleep(&(struct timespec){.tv_nsec = delay_ns}, NULL);
        got = read(w->from, bytes, CHUNK);
        if (got <= 0)
            break;
        for (ssize_t sent = 0, n; sent < got; sent += n) {
            n = write(w->to, bytes + sent, (size_t)(got - sent));
            if (n <= 0)
                goto out;
        }
    }
out:
    (void)shutdown(w->to, SHUT_WR);
    free(bytes);
    free(w);
    return NULL;
}

static void start_wire(int from, int to)
{
    struct wire *w = malloc(sizeof(*w));
    pthread_t thread;
    int yes = 1;

    if (w == NULL)
        abort();
    *w = (struct wire){.from = from, .to = to};
    (void)setsockopt(to, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    if (pthread_create(&thread, NULL, carry, w) != 0)
        abort();
    pthread_detach(thread);
}

/* A number of the command line from 1 to `most`; 0 when it is none. */
static long read_number(const char *text, long most)
{
    char *end;
    long n = strtol(text, &end, 10);

    return *end == '\0' && n >= 1 && n <= most ? n : 0;
}

int main(int argc, char **argv)
{
    long from = argc == 4 ? read_number(argv[1], UINT16_MAX) : 0;
    long to = argc == 4 ? read_number(argv[2], UINT16_MAX) : 0;
    long delay_us = argc == 4 ? read_number(argv[3], 999999) : 0;
    struct sockaddr_in here, there;
    int listener, yes = 1;

    if (from == 0 || to == 0 || delay_us == 0) {
        (void)fprintf(stderr, "usage: bench_delay LISTEN-PORT TARGET-PORT MICROSECONDS\n");
        return 1;
    }
    here = address((int)from);
    there = address((int)to);
    delay_ns = delay_us * 1000;
    listener = socket(AF_INET, SOCK_STREAM, 0);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (bind(listener, (struct sockaddr *)&here, sizeof(here)) != 0 || listen(listener, 64) != 0) {
        perror("bench_delay");
        (void)close(listener);
        return 1;
    }
    for (;;) {
        int client = accept(listener, NULL, NULL), server = socket(AF_INET, SOCK_STREAM, 0);

        if (client < 0 || connect(server, (struct sockaddr *)&there, sizeof(there)) != 0) {
            perror("bench_delay");
            (void)close(listener);
            return 1;
        }
        start_wire(client, server);
        start_wire(server, client);
    }
}
