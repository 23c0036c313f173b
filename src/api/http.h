/*
 * http.h - an HTTP/1.1 server for the one thread of a loop.
 *
 * The handler is called once for each request, when its body is complete. It
 * answers at once, or keeps the request and answers later from the same
 * thread; until then the connection costs nothing but the memory of its
 * request. Answers to kept requests leave when the pass of the loop ends.
 * Requests that a client sends without waiting for answers are handled one
 * after the other.
 *
 *     receiving --complete--> handler --http_answer()--> sending --> receiving ...
 *                                |                          ^
 *                                +-> kept --http_answer()---+
 *
 * An answer may also be a stream: bytes that come to be over time. Its source
 * is asked for more whenever the client can take some; when it has none the
 * stream sleeps until http_stream_wake().
 *
 * A client has `patience_us` to deliver a request and as long to take an
 * answer, however slowly its bytes drip; then its connection is cut. One that
 * goes away while its request is kept is noticed when the answer is sent: the
 * request and all that lives in it stay until it has been answered. So does its
 * socket, and a client that only sends no more gets its answer.
 */
#ifndef PAWL_API_HTTP_H
#define PAWL_API_HTTP_H

#include "api/cidr.h"
#include "base/clock.h"
#include "base/err.h"

#include <sys/types.h>

struct http_server;

/*
 * Read it; the owner field alone is the handler's. One whose head is no good
 * (http_parse.h) was not admitted: it has no headers and no query, and method
 * and path only when they could be read.
 */
struct http_request {
    struct arena *mem; /* lives until the answer was sent */
    struct str method; /* "GET" */
    struct str path;   /* as it was sent, percent-encoded, without the query */
    struct str body;
    enum err_code refusal; /* why there is no body, or no request at all; else ERR_NONE */
    const char *why;       /* of a refusal: what to answer */
    uint64_t number;       /* counts the requests of this server from 1 */
    void *owner;
};

struct http_header {
    const char *name;
    const char *value;
};

enum { HTTP_HEADERS_MAX = 12 };

struct http_answer {
    int status;
    const char *content_type;                     /* or NULL without a body */
    struct str body;                              /* constant, or in the request's memory */
    struct http_header headers[HTTP_HEADERS_MAX]; /* up to the first without a name */
};

/*
 * Asked when the headers of a request are there: whether its body is wanted,
 * and how long it may be. False: it will be refused whatever its body says. No
 * byte of the body is kept then; when there is one, the handler is called at
 * once and the connection ends with its answer.
 */
typedef bool http_admit_fn(void *context, struct http_request *r, size_t *body_max);

/*
 * Called with each complete request; http_answer() or http_stream() must be
 * called for it once, now or later. A request with a refusal, and one that was
 * not admitted, is answered now.
 */
typedef void http_handle_fn(void *context, struct http_request *r);

/*
 * What a request is answered with that nobody answers otherwise, because the
 * server closes or what it waits for is away. The answer lives in `mem`.
 */
typedef void http_closing_fn(void *context, const struct http_request *r, struct arena *mem,
                             struct http_answer *out);

struct http_options {
    struct str host;      /* an address or a name; IPv6 without brackets */
    uint16_t port;        /* 0 = any that is free */
    http_admit_fn *admit; /* NULL: bodies up to 1 MiB */
    http_handle_fn *handle;
    http_closing_fn *closing; /* NULL: 503 without a body */
    void *context;
    const struct clock *clock;
    unsigned connections_max; /* 0 = 20,000, or what the process may open less 64 */
    size_t bodies_max_bytes;  /* of all requests together; 0 = 256 MiB; beyond: ERR_OVERLOADED */
    int64_t patience_us;      /* 0 = 60 s */
    const char *tls_cert;     /* PEM, the chain; NULL: plain HTTP */
    const char *tls_key;      /* PEM, without a password; SIGPIPE is ignored then */
};

/* Listen. ERR_IO when that is impossible, with a message for people. */
struct http_server *http_open(const struct http_options *options, struct err *err) MUST_USE;

/* The port it listens on. */
uint16_t http_port(const struct http_server *s);

/* How many requests the handler has kept and not answered. */
size_t http_kept(const struct http_server *s);

/* Readable whenever http_run() has something to do. */
int http_fd(const struct http_server *s);

/* Take what has arrived, send what can be sent. */
void http_run(struct http_server *s);

/*
 * Let the answers of this pass leave. Lowers *timeout_ms (-1 = for ever) to the
 * time by which it must be called again.
 */
void http_before_sleep(struct http_server *s, int *timeout_ms);

/*
 * Tell the clients of all kept requests an answer, once each, although the
 * handler has none: then their connections end. The requests go on with all
 * that lives in them, and what they are answered later nobody hears.
 */
void http_tell_kept(struct http_server *s, http_closing_fn *what);

/* Take no further connections; those that are there are served. */
void http_quiesce(struct http_server *s);

/*
 * Answer what is kept as `closing` says, end streams, give that a second to
 * leave, close all connections and forget the server.
 */
void http_close(struct http_server *s);

/* A header, whatever the case of its name, or STR_NONE. Lives as long as the request. */
struct str http_header(const struct http_request *r, const char *name);

/* The i-th header as it was sent; false: there are no more. */
bool http_header_at(const struct http_request *r, size_t i, struct str *name,
                    struct str *value) MUST_USE;

/* How many headers have this name. */
unsigned http_header_count(const struct http_request *r, const char *name);

/* The address at the other end of the connection. False when it has none. */
bool http_peer(const struct http_request *r, struct ip *out) MUST_USE;

/* The socket of the connection, to look at; it is open as long as the request lives. */
int http_socket(const struct http_request *r);

/* A parameter of the query, decoded, or STR_NONE; `?x` and `?x=` are empty and not none. */
struct str http_query(const struct http_request *r, const char *name);

/* All values of a parameter that is given several times; at most `max`. Answers how many. */
size_t http_query_all(const struct http_request *r, const char *name, struct str *out, size_t max);

/* The names of the parameters as they were sent, each as often as it was; `max` of them at most. */
size_t http_query_names(const struct http_request *r, struct str *out, size_t max);

/* The query as it was sent, without the question mark. */
struct str http_query_text(const struct http_request *r);

/*
 * The next pair of a query or of the body of a form, decoded, in `mem`; *at is 0
 * at first. BROKEN: what stands there is no text.
 */
enum http_pair { HTTP_PAIR_END, HTTP_PAIR_FOUND, HTTP_PAIR_BROKEN };
enum http_pair http_pair_next(struct arena *mem, struct str encoded, size_t *at, struct str *name,
                              struct str *value);

/* Whether the request comes from this machine; of one that a proxy has passed on nobody knows. */
bool http_is_local(const struct http_request *r);

/* A cookie, or STR_NONE; of several with one name the first. */
struct str http_cookie(const struct http_request *r, const char *name);

/* Whether the connection is encrypted by this server. */
bool http_is_tls(const struct http_request *r);

/*
 * Answer. The request may be gone when this returns. Every answer also has the
 * headers that keep browsers from guessing types, framing and telling others
 * where they came from.
 */
void http_answer(struct http_request *r, const struct http_answer *answer);

/* What a status is called. */
const char *http_reason(int status);

/* --- streams --- */

enum { HTTP_STREAM_END = -1 };

struct http_source {
    /*
     * Put up to `room` bytes into `out` and answer how many; 0: none now, the
     * stream sleeps; HTTP_STREAM_END: there will be none. It may be called
     * before http_stream() has returned.
     */
    ssize_t (*more)(void *context, char *out, size_t room);
    /* The end was sent, or the client has gone: `r` is no longer there. Called once. */
    void (*gone)(void *context);
    void *context;
};

/* Answer with a stream; the answer has no body of its own. */
void http_stream(struct http_request *r, const struct http_answer *answer,
                 const struct http_source *source);

/* Its source has something. Nothing is called back before the pass ends. */
void http_stream_wake(struct http_request *r);

/* End it without sending what is left. `gone` is called later. */
void http_stream_cut(struct http_request *r);

#endif
