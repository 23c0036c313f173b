/*
 * http_inner.h - the parts of the HTTP server. Internal to http.c and
 * http_stream.c, the two files that know libmicrohttpd.
 */
#ifndef PAWL_API_HTTP_INNER_H
#define PAWL_API_HTTP_INNER_H

#include "api/http.h"
#include "base/buf.h"

#include <microhttpd.h>

/* A client's connection; in the list of the server while we wait for the client. */
struct connection {
    struct connection *older, *newer;
    int64_t since_us;
    int fd;
    bool is_waited_for;
    bool is_reused; /* it has had a request before: all of its memory has been touched */
    bool lingers;   /* it was answered before its body had come */
};

/* Connections that were answered before their body had come; see http_linger.c. */
enum { LINGERING_MAX = 64 };

struct lingering {
    struct {
        int fd;
        int64_t until_us;
        size_t left_bytes;
    } items[LINGERING_MAX];
    unsigned count;
};

enum phase { PHASE_RECEIVING, PHASE_HANDLING, PHASE_KEPT, PHASE_ANSWERED, PHASE_SENDING };

/* What a stream that has been begun is doing. */
enum rest {
    REST_NONE,   /* sending, or waiting for the client */
    REST_ASLEEP, /* suspended: its source has nothing */
    REST_WOKEN,  /* suspended, and in the list of those to be resumed */
};

struct exchange {
    struct http_request request; /* first: see exchange_of() */
    struct arena mem;
    struct http_server *server;
    struct MHD_Connection *handle;
    struct connection *connection;
    struct MHD_Response *response;
    unsigned status;
    enum phase phase;
    struct buf body;
    size_t body_max;
    size_t discarded;
    struct http_source source; /* of a stream, else without functions */
    enum rest rest;
    bool is_cut;
    bool is_told;                    /* http_tell.c: the client waits no longer */
    bool is_last;                    /* the connection ends with its answer */
    struct exchange *next;           /* answered or woken; or spare */
    struct exchange *before, *after; /* all that are kept; or all streams */
};

struct http_server {
    struct http_options options;
    struct MHD_Daemon *daemon;
    int listen_fd;
    int epoll_fd;
    uint16_t port;
    int64_t now_us;
    uint64_t requests;
    uint64_t handled; /* of them, those that came to their end */
    size_t body_bytes;
    bool is_quiet; /* the handler is not called any more */
    bool has_more; /* the library wants to run again */
    struct connection *oldest, *newest;
    struct exchange *first_kept;
    size_t kept_count;
    size_t asleep_count; /* streams */
    int64_t resumed_us;  /* when connections were resumed last */
    size_t open_count;   /* connections */
    size_t reused_count; /* ... of them that have had a request before */
    size_t closed_count; /* ... since memory was given back */
    struct exchange *first_stream;
    int gone_fd; /* epoll: clients of streams that have gone */
    size_t sending_count;
    struct exchange *answered, **answered_end; /* to be resumed at the end of the pass */
    struct exchange *spare;
    unsigned spare_count;
    struct lingering lingering;
};

/* http.c: the headers that every answer has. */
extern const struct http_header http_protections[];
extern const size_t http_protection_count;

/* The request is the first member. */
static inline struct exchange *exchange_of(struct http_request *r)
{
    return (struct exchange *)r;
}

/* http.c: a client has its patience from now on; or nothing is expected of it. */
void connection_wait_for(struct http_server *s, struct connection *c);
void connection_leave(struct http_server *s, struct connection *c);

/* http.c: answer with a response; it is handed over now, or at the end of the pass. */
void exchange_answer(struct exchange *x, const struct http_answer *answer,
                     struct MHD_Response *response);
/* http.c: resume its connection at the end of the pass. */
void exchange_resume(struct exchange *x);

/*
 * http_shape.c: what makes a request, whose headers are there, unclear; NULL
 * when nothing does. Sets is_last when it is where the body ends.
 */
const char *shape_mistake(struct exchange *x);

/*
 * http_linger.c: the library is about to close this connection. Read on for a
 * while and throw away, so that the client gets to read its answer.
 */
void linger_begin(struct http_server *s, int fd);
void linger_run(struct http_server *s, int *timeout_ms);
void linger_end(struct http_server *s);

/* http_stream.c */
void stream_began(struct exchange *x);
void stream_ended(struct exchange *x); /* `gone` is called */
void streams_wake(struct http_server *s);

#endif
