/*
 * call.h - one request on its way through the API.
 *
 * A handler reads what it needs, then answers with exactly one of the
 * functions below, now or from a callback of the node. Everything of a call
 * lives in its request's memory.
 *
 * why: decision 0400
 */
#ifndef PAWL_API_CALL_H
#define PAWL_API_CALL_H

#include "api/access/pass.h"
#include "api/body.h"
#include "api/router.h"
#include "http/request.h"
#include "node/request.h"
#include "words/language.h"

struct api;

/* Seconds after which one who found the store away may ask again. */
#define STORE_RETRY_AFTER "5"

/* How far a request has come when its headers are there. */
enum call_gate {
    GATE_OPEN,       /* to its handler */
    GATE_UNKNOWN,    /* the caller is not known */
    GATE_NOWHERE,    /* there is no such path */
    GATE_METHOD,     /* the path takes other methods */
    GATE_CROSS_SITE, /* it comes from another site's page */
    GATE_RIGHT,      /* who asks may not do this */
    GATE_PATH,       /* its path is not text */
    GATE_RATE,       /* its address has called too often */
};

struct call {
    struct api *api;
    struct node *node;
    struct http_request *http;
    struct arena *mem;
    const struct route *route; /* NULL when there is none */
    struct str params[ROUTE_PARAMS_MAX];
    struct node_user user; /* who asks; empty on routes that are open */
    enum role role;
    struct pass pass;   /* by what the user came in */
    bool is_known;      /* there is a user */
    struct err unknown; /* !is_known: why the caller is not known */
    enum call_gate gate;
    int64_t retry_after_s; /* GATE_RATE: when to call again */
    struct str allow;      /* the methods that the path takes, when it does not take this one */
    /* Called before a refusal leaves, for who keeps it in mind; or NULL. */
    void (*on_refused)(struct call *c, const struct err *err, const struct findings *findings);
    void *noted;  /* ... what is kept */
    bool is_kept; /* the answer needs no storing under the key: call_keeps_no_answer() */
};

/* Whether who asks has a right; those of the installation belong to the default organisation. */
bool call_has_right(const struct call *c, enum right right);

/* --- answering --- */

/*
 * An answer with JSON, which lives in c->mem, and up to HTTP_HEADERS_MAX headers. One
 * with 2xx to a change under an Idempotency-Key that was not stored with the change,
 * because nothing had to be changed, is stored before it leaves.
 */
void call_answer(struct call *c, int status, struct str json);
void call_answer_headers(struct call *c, int status, struct str json,
                         const struct http_header *headers, size_t count);

/* An answer without content: 204. */
void call_answer_nothing(struct call *c);

/* This request is a trial (dryRun), or has stored its answer itself: it is not stored again. */
void call_keeps_no_answer(struct call *c);

/* The answer that was stored under the Idempotency-Key. */
void call_answer_again(struct call *c, int status, struct str text);

/*
 * Whether this refusal is kept under the Idempotency-Key: it says something of
 * the state that the request met, and a user has asked for a change under a key.
 */
bool call_keeps_refusal(const struct call *c, const struct err *err);

/*
 * A refusal as application/problem+json. One that is kept leaves when it is
 * durable, unless the request was answered before: then that is repeated. `findings` and `more`, further members
 * of the object as JSON text (`"executionId":"..."`), may be NULL and empty.
 * This and all other refusals answer false, for who reads a part of the request.
 */
bool call_refuse(struct call *c, const struct err *err);
bool call_refuse_with(struct call *c, const struct err *err, const struct findings *findings,
                      struct str more);

/* A refusal with a header of its own. */
bool call_refuse_header(struct call *c, const struct err *err, const char *name, const char *value);

/* A refusal with a code and a sentence. */
bool call_refuse_text(struct call *c, enum err_code code, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* 422 with what is wrong, the first in words. */
bool call_refuse_findings(struct call *c, const struct findings *findings);

/* 422 with one finding about a field of the body. */
bool call_refuse_field(struct call *c, const char *field, const char *code, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* --- reading --- */

/*
 * ?wait=10s in microseconds; 0 without it, ten seconds for `?wait` alone. When
 * it is no duration the call is refused and the answer is false.
 */
bool call_wait(struct call *c, int64_t *out_us) MUST_USE;

/* ?limit, else `fallback`; refused unless it is 1 to 500. */
bool call_limit(struct call *c, int64_t fallback, int64_t *out) MUST_USE;

/* ?from, ?to and the like: a time or a day, or 0; refused when it is neither. */
bool call_time(struct call *c, const char *name, int64_t *out_us) MUST_USE;

/* The id in params[0]; refused as not found when it is none. */
bool call_execution_id(struct call *c, struct uuid *out) MUST_USE;

/*
 * The Idempotency-Key of the request and what it belongs to; key.len is 0
 * without one, and where strangers may call. A key that is too long is refused.
 */
bool call_idempotency(struct call *c, struct idempotency *out) MUST_USE;

/* The body by its fields; refused when it does not fit them. */
bool call_body(struct call *c, const struct body_field *fields, size_t count) MUST_USE;

/* The same with bounds: see body_read_bounded(). */
bool call_body_bounded(struct call *c, const struct body_field *fields, struct value *out) MUST_USE;

/* The language of what the answer says to people: that of Accept-Language. */
enum language call_language(const struct call *c);

/*
 * The organisation whose users and log the caller may see and change: the
 * caller's own; empty, for all, when that is the default one.
 */
struct str call_scope(const struct call *c);
/* {id, name} of the caller. */
struct value call_by(struct call *c);
/* $.user of what the caller starts or tries: {id, name, email, role}. */
struct value call_user(const struct call *c, struct arena *mem);

/* The traceparent and tracestate that the request has, for the execution that it starts; empty: none that is one. */
struct str call_trace(const struct call *c);

/* --- asking the node --- */

/*
 * A request to the node with user, memory and Idempotency-Key filled; NULL
 * after a refusal. `done` is not called when a refusal is repeated.
 */
struct node_request *call_request(struct call *c, enum node_request_kind kind,
                                  void (*done)(struct node_request *r));

/* call_request() for an event of an execution. */
struct node_request *call_event(struct call *c, enum event_kind kind,
                                void (*done)(struct node_request *r));

/*
 * Say what the request does, for the audit log: "scenario.publish" and what it
 * is done to. `details_json` may be empty.
 */
void call_audit(const struct call *c, struct node_request *r, const char *action, struct str target,
                struct str details_json);

/* call_audit() of a signal: its execution or its correlation, and its type, as the request has them. */
void call_audit_signal(const struct call *c, struct node_request *r);

/*
 * Ask for a change of store/change.h; `change` lives in c->mem. `done` finds
 * the answer in r->change.
 */
struct node_request *call_change(struct call *c, struct change *change,
                                 void (*done)(struct node_request *r));

/* call_change(), call_audit() unless `action` is NULL, and call_submit() in one. */
void call_submit_change(struct call *c, struct change *change, void (*done)(struct node_request *r),
                        const char *action, struct str target, struct str details_json);

/* Hand it over; refuses the call when the node does. */
void call_submit(struct call *c, struct node_request *r);

#endif
