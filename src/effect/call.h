/*
 * call.h - one call as libcurl performs it. Internal to src/effect: http.c runs
 * the thread, call.c knows what a request and an answer are.
 */
#ifndef PAWL_EFFECT_CALL_H
#define PAWL_EFFECT_CALL_H

#include "base/buf.h"
#include "effect/effect.h"
#include "effect/secret.h"

#include <curl/curl.h>

struct answer_header {
    struct str name, value;
};

struct answer_headers {
    VEC_OF(struct answer_header);
};

/* A call under way. */
struct transfer {
    struct effect_call *call;
    const struct policy *policy;
    struct vault *vault;
    struct value request;         /* with its secrets, in the call's memory */
    struct call_secrets *secrets; /* or NULL */
    struct transfer *waiting;     /* the next that waits for the same token */
    int64_t began_us;             /* monotonic */
    CURL *easy;
    struct curl_slist *headers;
    struct str host_name; /* of the URL, without the port */
    struct str origin;    /* scheme, host and port, in lower case */
    unsigned redirects;   /* followed so far */
    bool is_once;         /* the method is not safe: it leaves once, whatever became of it */
    bool is_denied;       /* its address may not be called */
    bool is_too_large;    /* the answer is */
    struct buf body;
    struct answer_headers answer_headers; /* in the call's memory */
    size_t head_bytes;
    struct str upload; /* of a mail */
    size_t uploaded;
    char error_text[CURL_ERROR_SIZE]; /* of a mail */
    struct transfer *before, *next;   /* those that are performed; or spare ones */
};

/* Give a new handle what is the same for all calls. `trusted_path`: certificates, or NULL = the system's. */
void call_set_up(struct transfer *t, const char *trusted_path);

/*
 * Read the request and put its secrets in. SECRET_WAITS: it needs a token, which
 * secret_take_token() is given before call_prepare().
 */
enum secret_result call_read(struct transfer *t);

/* Let the handle make this call. False: the request is none; the call has its error. */
bool call_prepare(struct transfer *t) MUST_USE;

enum call_end {
    CALL_ENDED,
    CALL_AGAIN,       /* it follows a redirect, and is to be performed again */
    CALL_NEEDS_TOKEN, /* its token was refused: it is to be prepared with a new one */
};

/* The transfer has ended like this. */
enum call_end call_finish(struct transfer *t, CURLcode code);

/* The call fails without having left. */
void call_fail(struct transfer *t, const char *code, const char *class, struct str message);

/* Forget the call; the handle keeps what it needs to be used again. */
void call_reset(struct transfer *t);

#endif
