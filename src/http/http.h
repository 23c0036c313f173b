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
 * answer, however slowly its bytes drip; then its connection is closed. One that
 * goes away while its request is kept is noticed when the answer is sent: the
 * request and all that lives in it stay until it has been answered. So does its
 * socket, and a client that only sends no more gets its answer.
 *
 * The handler has `decide_us`, beyond the time that the request itself asks to
 * wait, to answer what it keeps. Then the client is answered as `overdue` says,
 * whatever has become of the request behind the handler.
 *
 * why: decisions 0048, 0170, 0395
 */
#ifndef PAWL_HTTP_HTTP_H
#define PAWL_HTTP_HTTP_H

#include "http/request.h"

#include <sys/types.h>

struct clock;
struct http_server;

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
 * The answer of a request whose handler will not answer in time, because the
 * server closes or the store does not answer, or has not. It lives in `mem`.
 */
typedef void http_closing_fn(void *context, const struct http_request *r, struct arena *mem,
                             struct http_answer *out);

struct http_options {
    struct str host;      /* an address or a name; IPv6 without brackets */
    uint16_t port;        /* 0 = any that is free */
    http_admit_fn *admit; /* NULL: bodies up to 1 MiB */
    http_handle_fn *handle;
    http_closing_fn *closing; /* NULL: 503 without a body */
    http_closing_fn *overdue; /* NULL: 503 without a body */
    void *context;
    const struct clock *clock;
    unsigned connections_max; /* 0 = 20,000, or what the process may open less 64 */
    size_t bodies_max_bytes;  /* of all requests together; 0 = 256 MiB; beyond it or the share
                                 of the request: ERR_OVERLOADED */
    int64_t patience_us;      /* 0 = 60 s */
    int64_t decide_us;        /* 0 = 30 s */
    const char *tls_cert;     /* PEM, the chain; NULL: plain HTTP */
    const char *tls_key;      /* PEM, without a password; SIGPIPE is ignored then */
};

/* Listen. ERR_IO when that is impossible, with a message for people. */
struct http_server *http_open(const struct http_options *options, struct err *err) MUST_USE;

/*
 * Begin connections with this certificate and key from now on; both are PEM, as in the options of
 * a server that speaks TLS. Those that are open keep theirs. ERR_IO, and all stays as it was, when
 * they cannot be used.
 */
bool http_use_tls(struct http_server *s, const char *cert, const char *key,
                  struct err *err) MUST_USE;

/* The port it listens on. */
uint16_t http_port(const struct http_server *s);

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
 * Answer the clients of all kept requests in place of the handler, once each,
 * and end their connections. The requests live on until the handler answers
 * them; that answer is dropped.
 */
void http_answer_kept(struct http_server *s, http_closing_fn *what);

/* Take no further connections; those that are there are served. */
void http_quiesce(struct http_server *s);

/*
 * Answer what is kept as `closing` says, end streams, give that a second to
 * leave, close all connections and forget the server.
 */
void http_close(struct http_server *s);

/* What a status is called. */
const char *http_reason(int status);

/* --- streams --- */

enum { HTTP_STREAM_END = -1 };

struct http_source {
    /*
     * Put up to `capacity` bytes into `out` and answer how many; 0: none now, the
     * stream sleeps; HTTP_STREAM_END: there will be none. It may be called
     * before http_stream() has returned.
     */
    ssize_t (*more)(void *context, char *out, size_t capacity);
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
void http_stream_abort(struct http_request *r);

#endif
