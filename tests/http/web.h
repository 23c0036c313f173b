/*
 * web.h - the HTTP server, driven by hand: the test is the loop, the clock
 * stands still, and the clients are sockets in the same thread.
 */
#ifndef PAWL_TESTS_WEB_H
#define PAWL_TESTS_WEB_H

#include "base/buf.h"
#include "base/time/clock.h"
#include "http/http.h"

enum {
    WEB_KEPT_MAX = 4096,
    WEB_SMALL_MAX = 1024, /* bytes of a body of /small */
    WEB_LARGE_MAX = 1 << 20,
    WEB_WAIT_MS = 120000,
};

/* So long the handler has for what it keeps; and /later/wait asks to wait beyond that. */
#define WEB_DECIDE_US INT64_C(7200000000)
#define WEB_WAIT_US INT64_C(60000000)

/* A server and what its handler saw. */
struct web {
    struct http_server *server;
    struct clock_manual clock;
    struct http_request *kept[WEB_KEPT_MAX];
    size_t kept_count;
    size_t calls;
    struct buf seen; /* method, path and body of each request */
};

/*
 * /later is kept, /echo answers the body, /many eight headers, /asks what the
 * request says, /cookie the cookie pawl, a refusal its code, anything else hello. /unwanted is not
 * admitted.
 */
void web_handle(void *context, struct http_request *r);
bool web_admit(void *context, struct http_request *r, size_t *body_max);
void web_closing(void *context, const struct http_request *r, struct arena *mem,
                 struct http_answer *out);
void web_answer(struct http_request *r, int status, const char *text);

/* For cmocka; web_setup_for_two() has room for two connections. */
int web_setup(void **state);
int web_setup_for_two(void **state);
int web_teardown(void **state);

/* As many descriptors as the system gives. */
void web_raise_limits(void);

/* How many requests the server holds that are not answered. */
size_t web_kept(const struct web *f);

/* One pass of the loop, without sleeping; answers how long it may sleep. */
int web_pass(struct web *f);
/* Ten of them. */
void web_passes(struct web *f);

/* A client that the server has taken in; or the system has, and the server perhaps not yet. */
int web_connect(struct web *f);
int web_knock(const struct web *f);

/* Send everything, running the server where the client would block. */
void web_send(struct web *f, int fd, const char *bytes, size_t len);
void web_say(struct web *f, int fd, const char *text);

/* Run the server until the client has a whole answer, or its stream has ended. */
struct str web_hear(struct web *f, int fd, struct buf *out);

/* Run it until `out` holds `wanted` so often. Fails when the stream ends before. */
void web_hear_times(struct web *f, int fd, struct buf *out, const char *wanted, int times);

/* Run it until the handler has kept so many. */
void web_keep(struct web *f, size_t count);

bool web_contains(struct str s, const char *part);

/* A client that says one thing; what it hears must contain `wanted`. */
void web_expect(struct web *f, const char *request, const char *wanted);

/* Whether the connection of a request is kept for the next one. */
bool web_stays_open(struct web *f, const char *request);

/* Whether the stream of a client has ended; or the same where it must be so. */
bool web_is_cut(struct web *f, int fd);
bool web_gets_cut(struct web *f, int fd);

/* Keep `count` requests, or as many as the system lets us; answers how many. */
size_t web_keep_many(struct web *f, int *fds, size_t count);

#endif
