/*
 * request.h - one request to the server of http.h: what it says, and its answer.
 */
#ifndef PAWL_HTTP_REQUEST_H
#define PAWL_HTTP_REQUEST_H

#include "base/err.h"

struct ip;
struct http_answer;

/*
 * Whose bodies take from one budget. Each budget is a quarter of the one before
 * and a part of it: who is in a later one cannot use up what the earlier have.
 */
enum http_share { HTTP_SHARE_KNOWN, HTTP_SHARE_STRANGER, HTTP_SHARE_UNPROVEN, HTTP_SHARE_COUNT };

/*
 * Read it; `owner` and `wait_us` are the handler's, and the share that of admit(). One whose head is no good
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
    enum http_share
        share;       /* of the budget of bodies; HTTP_SHARE_KNOWN unless admit() says another */
    int64_t wait_us; /* the handler's, at any time: its answer may be put off so long: decide_us */
    /* The handler's, or NULL: makes of its answer the one that is sent. */
    void (*reshape)(struct http_request *r, struct http_answer *answer);
    void *reshaper; /* whatever that needs */
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

/* Ask for something else in the place of what was asked; the texts live as long as the request. */
void http_rewrite(struct http_request *r, struct str method, struct str path, struct str query,
                  struct str body);

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
 * headers that keep browsers from guessing types, framing and revealing to others
 * where they came from.
 */
void http_answer(struct http_request *r, const struct http_answer *answer);

#endif
