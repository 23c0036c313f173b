/*
 * call.h - one call as libcurl performs it. Internal to src/effect: http.c runs
 * the thread, call.c knows what a request is, answer.c what an answer is.
 *
 * why: decision 0333
 */
#ifndef PAWL_EFFECT_CALL_H
#define PAWL_EFFECT_CALL_H

#include "base/buf.h"
#include "effect/effect.h"
#include "effect/secret/secret.h"

#include <curl/curl.h>
#include <sys/queue.h>

/* A line of the head of an answer: where its name and its value stand in transfer.head. */
struct answer_header {
    uint32_t name_at, name_len, value_at, value_len;
};

struct answer_headers {
    VEC_OF(struct answer_header);
};

/* A call in flight. */
struct transfer {
    struct effect_call *call;
    const struct policy *policy;
    struct vault *vault;
    struct mail_sockets *mail_sockets; /* of all transfers */
    struct value request;              /* with its secrets, in the call's memory */
    struct call_secrets *secrets;      /* or NULL */
    struct transfer *waiting;          /* the next that waits for the same token */
    int64_t began_us;                  /* monotonic */
    CURL *easy;
    struct curl_slist *headers; /* in the call's memory; recipients of a mail */
    struct str host_name;       /* of the URL, without the port */
    struct str origin;          /* scheme, host and port, in lower case */
    unsigned redirects;         /* followed so far */
    bool is_once;               /* the method is not safe: it leaves once, whatever became of it */
    bool is_denied;             /* its address may not be called */
    bool is_too_large;          /* the answer is */
    bool has_head;              /* the head of the answer has come whole */
    struct buf body, head;
    struct answer_headers answer_headers; /* in the call's memory */
    size_t heads_bytes;                   /* of all heads: also of those before the answer */
    size_t body_bytes;                    /* that have come, kept or not */
    struct str upload;                    /* of a mail */
    size_t uploaded;
    char error_text[CURL_ERROR_SIZE]; /* of a mail */
    LIST_ENTRY(transfer) link;        /* of those that are performed; or of spare ones */
};

/* Give a new handle what is the same for all calls. `trusted_path`: certificates, or NULL = the system's. */
void call_set_up(struct transfer *t, const char *trusted_path);

/*
 * Read the request and put its secrets in. SECRET_WAITS: it needs a token, which
 * secret_take_token() is given before call_prepare().
 */
enum secret_result call_read(struct transfer *t);

/* One more of t->headers, put together from its parts. */
void call_add_line(struct transfer *t, struct str name, struct str between, struct str value);

/* Let the handle make this call. False: the request is none; the call has its error. */
bool call_prepare(struct transfer *t) MUST_USE;

enum call_end {
    CALL_ENDED,
    CALL_AGAIN,       /* it follows a redirect, and is to be performed again */
    CALL_NEEDS_TOKEN, /* its token was refused: it is to be prepared with a new one */
};

/* The transfer has ended like this. */
enum call_end call_finish(struct transfer *t, CURLcode code);

/* The call has failed: its error is {code, class, message}. `code` is constant. */
void call_fail(struct effect_call *call, const char *code, enum err_class class,
               struct str message);

/* Forget the call; the handle keeps what it needs to be used again. */
void call_reset(struct transfer *t);

#endif
