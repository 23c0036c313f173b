/*
 * http_inner.h - the parts of the HTTP server. Internal to http*.c.
 *
 * A connection reads heads and bodies; an exchange is one request and its
 * answer. Both are in one thread, and a handler is never called from within
 * http_answer() or another handler: what is answered, woken or closed is put into
 * a list that http_before_sleep() works off.
 *
 *     HANDSHAKE --> HEAD <--> BODY
 *                    ^  \      |
 *             sent   |   v     v
 *                    +--- BUSY (the exchange says how far it is)
 *                          |
 *                          v
 *                    LINGERING --> OVER
 */
#ifndef PAWL_HTTP_HTTP_INNER_H
#define PAWL_HTTP_HTTP_INNER_H

#include "base/buf.h"
#include "http/http.h"
#include "http/http_parse.h"

#include <sys/queue.h>

enum {
    IN_BYTES = 2 * HTTP_HEAD_MAX_BYTES, /* read at once; a head fits twice */
    OUT_BYTES = 16 << 10,               /* of a stream, or into one record of TLS */
    CHUNK_EDGE_BYTES = 16,              /* around a chunk of a stream */
};

struct ssl_st;
struct ssl_ctx_st;

enum connection_state {
    CONNECTION_HANDSHAKE, /* of TLS */
    CONNECTION_HEAD,      /* waits for a request, or for the rest of its head */
    CONNECTION_BODY,
    CONNECTION_BUSY,      /* a request is handled, kept or answered; nothing is read */
    CONNECTION_LINGERING, /* the last answer was sent; what the client still sends is dropped */
    CONNECTION_OVER,      /* freed as soon as nothing points to it */
};

/* Connections that something is expected of, the one that waits longest first. */
struct waiting {
    struct connection *oldest, *newest;
};

struct connection {
    struct http_server *server;
    LIST_ENTRY(connection) all;       /* connections */
    struct connection *older, *newer; /* in `waiting` */
    struct waiting *waiting;          /* or NULL */
    struct connection *next_ready;
    struct exchange *exchange; /* or NULL */
    struct ssl_st *tls;        /* or NULL */
    int64_t since_us;          /* in `waiting` */
    char *held;                /* bytes that were read and not used */
    size_t held_len;
    size_t linger_left_bytes;
    int fd;
    enum connection_state state;
    bool held_is_new;    /* the bytes that are held were not parsed yet */
    bool may_read;       /* the socket may have something */
    bool is_half_closed; /* the client sends no more, or has gone */
    bool is_ready;       /* in the list of the server */
    bool lingers;        /* something may be unread when the last answer was sent */
};

enum phase { PHASE_RECEIVING, PHASE_HANDLING, PHASE_KEPT, PHASE_ANSWERED, PHASE_SENDING };

/* What a stream that has been begun is doing. */
enum rest {
    REST_NONE,   /* sending, or waiting for the client */
    REST_ASLEEP, /* its source has nothing */
    REST_ENDED,  /* all that is left to send is in `out` */
};

struct exchange {
    struct http_request request; /* first: see exchange_of() */
    struct arena mem;
    struct http_server *server;
    struct connection *connection;
    enum phase phase;

    /* What was asked. The head lies in `mem`. */
    const char *head;
    const struct http_field *fields;
    uint16_t field_count;
    struct str query;
    bool is_1_0;
    bool is_chunked;
    struct http_chunks chunks;
    uint64_t left_bytes; /* of a body with a length */
    struct buf body;     /* one that came in several pieces */
    size_t counted;      /* of it, in body_bytes of the server */
    size_t body_max;
    size_t discarded;

    /* What is answered: the pieces that were not sent yet. */
    struct str out[2];
    struct http_source source; /* of a stream, else without functions */
    struct buf unsent;         /* of a stream */
    enum rest rest;
    bool is_aborted;
    bool is_answered_early; /* exchange_notify(): the client has an answer */
    bool is_last;           /* the connection ends with its answer */

    int64_t kept_at_us; /* kept: since then */

    struct exchange *next;     /* answered; or spare */
    LIST_ENTRY(exchange) link; /* of all that are kept; or of all streams */
};

struct http_server {
    struct http_options options;
    struct ssl_ctx_st *tls; /* or NULL */
    int listen_fd;          /* -1 when it takes no connections any more */
    int epoll_fd;
    uint16_t port;
    bool is_listening; /* another connection may be taken */
    int64_t full_us;   /* when the system had none */
    bool is_quiet;     /* the handler is not called any more */
    int64_t now_us;
    int64_t date_s; /* of `date` */
    struct str date;
    char date_text[48];
    uint64_t requests;
    uint64_t handled;                    /* of them, those that came to their end */
    size_t body_bytes[HTTP_SHARE_COUNT]; /* of the requests of this share and of later ones */
    struct waiting patient;              /* a client has its patience */
    struct waiting lingering;            /* ... or a moment to read its last answer */
    LIST_HEAD(, connection) all;
    size_t open_count;
    size_t closed_count; /* since memory was given back */
    struct connection *ready, **ready_end;
    LIST_HEAD(, exchange) kept;
    int64_t next_overdue_us; /* none of them is overdue before; INT64_MAX: none is kept */
    LIST_HEAD(, exchange) streams;
    size_t sending_count;
    struct exchange *answered, **answered_end; /* to be sent at the end of the pass */
    struct exchange *spare;
    unsigned spare_count;
    char in[IN_BYTES];
    char out[OUT_BYTES + CHUNK_EDGE_BYTES];
};

/* The request is the first member. */
static inline struct exchange *exchange_of(struct http_request *r)
{
    return (struct exchange *)r;
}

/* --- http.c --- */

/* Something is expected of a client from now on: by its patience, or another list; or nothing. */
void connection_wait_for(struct connection *c);
void connection_wait_in(struct connection *c, struct waiting *list);
void connection_leave(struct connection *c);
/* Go on with it when the pass ends. */
void connection_make_ready(struct connection *c);
/* There is one connection less. */
void server_has_capacity(struct http_server *s);

/* --- http_connection.c --- */

/* A new connection; the descriptor becomes its own. */
void connection_open(struct http_server *s, int fd);
/* What epoll says of it. */
void connection_hear(struct connection *c, uint32_t events);
/* Do what can be done. `c` may be gone afterwards. */
void connection_run(struct connection *c);
void connection_free(struct connection *c);
/* The answer was sent: the next request, or the end. */
void connection_answered(struct connection *c, bool is_last);
/* Send some of two pieces and shorten them by it. False: nothing more can be sent now, or ever. */
bool connection_send(struct connection *c, struct str pieces[2]);
/* Send no more, and read on for a while, so that the client gets to read its answer. */
void connection_linger(struct connection *c);

/* --- http_receive.c --- */

/* A head has come that is no good. */
void exchange_refuse_head(struct connection *c, const char *text, const struct http_head *head);
/* A head has come; `has_more` says whether bytes follow it. */
void exchange_begin(struct connection *c, const char *text, const struct http_head *head,
                    bool has_more);
/* Bytes of the body; answers how many of them belong to it. */
size_t exchange_take_body(struct exchange *x, struct str in);

/* --- http_exchange.c --- */

struct exchange *exchange_new(struct connection *c);
/* The request is complete. */
void exchange_handle(struct exchange *x);
/* The same for one whose body will not be read: it may be on its way, and is the last. */
void exchange_handle_early(struct exchange *x);
/* Send what was answered, as far as that is possible now. */
void exchange_send(struct exchange *x);
void exchange_send_more(struct exchange *x);
void exchange_free(struct exchange *x);
void exchange_uncount_body(struct exchange *x); /* its body takes no memory any more */
void exchanges_send_answered(struct http_server *s);
void exchanges_answer_closing(struct http_server *s);
/* Answer the clients of requests that were kept for too long. */
void exchanges_answer_overdue(struct http_server *s);
void exchanges_free_spare(struct http_server *s);

/* --- http_write.c --- */

void server_set_date(struct http_server *s);
/* Status line and headers. */
void head_write(struct buf *out, const struct exchange *x, const struct http_answer *answer);
/* Whether an answer with this status may have a body. */
bool status_has_body(int status);

/* --- http_stream.c --- */

void stream_began(struct exchange *x);
/* Put what the source has into `out`. False: it sleeps. */
bool stream_fill(struct exchange *x);
/* What is in `out` could not be sent: it outlives the pass. */
void stream_keep_unsent(struct exchange *x);
void stream_ended(struct exchange *x); /* `gone` is called */
void streams_wake(struct http_server *s);

/* --- http_tls.c: like the calls of sockets, errno included; EAGAIN asks to come again --- */

void secure_close(struct http_server *s);
bool secure_begin(struct connection *c) MUST_USE;
/* The handshake. False with errno. */
bool secure_shake(struct connection *c) MUST_USE;
ssize_t secure_recv(struct connection *c, char *out, size_t capacity);
ssize_t secure_send(struct connection *c, const struct str pieces[2]);
/* Tell the client that nothing more comes. */
void secure_end(struct connection *c);
void secure_free(struct connection *c);

#endif
