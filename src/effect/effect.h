/*
 * effect.h - what leaves the process: calls over HTTP, made by a thread of
 * their own.
 *
 *     loop --effect_send()--> thread --> the service
 *          <--mailbox-------- thread <--
 *
 * Every call that was taken comes back exactly once, answered or failed, unless
 * effect_close() comes first.
 */
#ifndef PAWL_EFFECT_EFFECT_H
#define PAWL_EFFECT_EFFECT_H

#include "base/mailbox.h"
#include "base/uuid.h"
#include "effect/policy.h"

struct credential;
struct vault;

/* Calls that are in flight at once, all hosts together. */
enum { EFFECT_CALLS_MAX = 16384 };

/* Messages of the outbox that are in flight beside them. */
enum { EFFECT_MESSAGES_MAX = 1024 };

/* The largest body of an answer that is kept, and how deeply its JSON may be nested. */
enum { EFFECT_ANSWER_MAX_BYTES = 1 << 20, EFFECT_ANSWER_DEPTH_MAX = 190 };

/* One attempt of a call. Its texts are in its own memory; effect_call_free(). */
struct effect_call {
    struct arena mem;
    struct uuid execution;
    int64_t seq; /* of the row that holds the attempt */
    struct str key, host;
    struct str request_json; /* {method, url, headers, body?, timeout, credential?, secrets?} */
    struct str body;         /* in place of that of the request, as it is; or empty */
    int64_t timeout_us;
    /* Of the attempt, or empty; a traceparent among the headers of the request wins over both. */
    struct str traceparent, tracestate;
    unsigned slot;                /* the loop's own */
    struct str job_type, job_org; /* the loop's own: of a job that an endpoint does; or empty */
    int64_t sent_at_us;           /* the loop's own: monotonic */
    void *message;         /* the loop's own: what of the outbox it delivers; NULL: it is a call */
    struct str server_url; /* of a mail: smtp:// or smtps://; request_json is the mail (mail.h) */
    bool is_trusted;       /* the operator has named the address: no policy */
    bool wants_status;     /* nobody wants to know more of the answer */

    struct str credential;             /* whose secret went with it; or empty */
    const struct credential *token_of; /* the thread's own: it fetches a token; or NULL */

    /* What came of it: one of the two. */
    /* {status_code, headers, body}; a body that cannot be kept is null, with contentType and size */
    struct str answer_json;
    struct str error_json;  /* {code, message, class} */
    long status;            /* of the answer; 0 = there is none */
    bool is_refused;        /* of a mail: the server will never take it */
    const char *error_code; /* of the error; NULL = there is none */
};

struct effect_options {
    const struct policy *policy; /* where calls may go; must outlive it; NULL = anywhere */
    struct vault *vault;         /* what secrets are taken from; NULL = there are none */
    struct mailbox *answers;     /* where calls come back: room for EFFECT_CALLS_MAX */
};

struct effect *effect_open(const struct effect_options *options, struct err *err) MUST_USE;

/* End the thread. Calls that are in flight are given up, and nobody is notified. */
void effect_close(struct effect *e);

/* A call with its memory, to be filled. */
struct effect_call *effect_call_new(void);
void effect_call_free(struct effect_call *call);

/* Make the call. There are never more than EFFECT_CALLS_MAX in flight. */
void effect_send(struct effect *e, struct effect_call *call);

#endif
