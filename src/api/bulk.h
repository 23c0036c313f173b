/*
 * bulk.h - the same action for many: executions, dead letters, messages, tasks.
 *
 * Which they are a filter says, or a list of their ids. Works through the pages
 * of a list, newest first or as the ids come, with the requests that
 * anyone could make one by one: a page is read, its requests are made, and when
 * the last of them was answered the next page is read. So there are never more
 * than a page in flight, and each member is durable for itself. What a filter
 * finds that began after the request is not touched. An id that there is nothing
 * of counts as failed, with not_found. The answer has the counts; with `more` it
 * has the cursor from which the next call goes on.
 *
 *     start --> reserve the key --> read a page --> its requests --> counts
 *                     |                  ^               |
 *                  waits for             +---------------+
 *               who has reserved it
 *
 * A request under an Idempotency-Key reserves the key, durably, before it acts:
 * of several with one key, here or on other nodes, one acts and the others wait
 * for its answer. When the server that had reserved it is gone, whoever asks
 * again goes on in its place. Each member is asked under a key of its own, made
 * of the request's key and the member's id, so nothing is done twice then.
 *
 * One more kind of thing embeds a struct bulk as its first field, and has a
 * struct bulk_kind.
 *
 * why: decisions 0058, 0140
 */
#ifndef PAWL_API_BULK_H
#define PAWL_API_BULK_H

#include "api/call.h"
#include "store/read_node.h"
#include "store/store.h"

struct bulk;
struct bulk_member;

struct bulk_kind {
    const char *name; /* in the audit log: "execution" */
    /* The member of an error that says whose it is: "executionId". */
    const char *id_name;
    /*
     * On a reader thread: the next page, from b->cursor on, of those that the
     * caller may act on and that were there at b->asked_at_us, b->page_limit at
     * most; in b->page_mem, and what comes behind it in b->next.
     */
    bool (*read)(struct bulk *b, struct reader *reader, size_t *count, struct err *err);
    /* For ids: on a reader thread, a page without members begins. */
    void (*clear)(struct bulk *b);
    /*
     * For ids: on a reader thread, add the one with this id to the page. *bytes is
     * about what it takes in b->page_mem; 0: there is none, or the caller may not act on it.
     */
    bool (*add)(struct bulk *b, struct reader *reader, struct uuid id, size_t *bytes,
                struct err *err);
    /* On a reader thread, read what else the action needs of the page; or NULL. */
    bool (*complete)(struct bulk *b, struct reader *reader, size_t count, struct err *err);
    struct uuid (*id)(const struct bulk *b, size_t i);
    /* Whether the action makes sense for it as it was read; NULL: for all of them. */
    bool (*allows)(const struct bulk *b, size_t i);
    /* Ask for it, with bulk_ask() or in another way that ends with bulk_member_done(). */
    void (*act)(struct bulk *b, size_t i, struct bulk_member *m);
    /* Whether a dry run asks for it too, so that nothing is changed; NULL: it does not. */
    bool (*is_tried)(const struct bulk *b);
    /* Whether a refusal says that the action made no sense any more; NULL: none does. */
    bool (*is_skipped)(const struct bulk *b, const struct err *err);
    /* Append more members to an error, or NULL. */
    void (*show_error)(struct buf *out, struct uuid about);
};

/* One that is acted on; in b->page_mem. */
struct bulk_member {
    struct bulk *bulk;
    struct uuid id;
    struct uuid about; /* for show_error */
    struct idempotency idempotency;
    struct node_request request;
};

struct bulk_ids {
    VEC_OF(struct uuid);
};

enum { BULK_ERRORS_MAX = 10 };

struct bulk {
    const struct bulk_kind *kind;
    struct call *call;
    const char *action;     /* "retry" */
    struct str filter_json; /* or: */
    const struct uuid *ids; /* NULL: a filter says which */
    size_t id_count;
    struct str cursor; /* where the next page begins */
    bool is_dry_run;
    bool makes_space; /* it deletes: noting that may use the reserve of a full volume */
    int64_t limit;    /* of all */

    /* its own */
    struct idempotency idempotency;
    int64_t asked_at_us;    /* what began later is left alone */
    struct str holder;      /* another node that has reserved the key; or empty */
    bool is_reserved;       /* by an earlier request or by this one */
    bool goes_on;           /* in the place of an earlier request */
    struct bulk *next_bulk; /* of struct bulks */
    struct bulk *waiters;   /* same key; by next_waiter */
    struct bulk *next_waiter;
    int64_t look_at_us; /* monotonic; when to look again for the holder's answer; 0 = not */
    struct stored_answer kept;
    bool holder_is_gone;

    int64_t matched, done, failed, skipped;
    struct bulk_error {
        struct uuid id, about;
        struct err err;
    } errors[BULK_ERRORS_MAX]; /* the first that failed */

    /* the page */
    struct node_read read;
    struct arena page_mem;
    int64_t page_limit;
    size_t page_count;
    struct bulk_ids missing; /* ids of the page that there is nothing of */
    bool *done_before;       /* under the same key */
    struct str next;
    bool read_ok;
    struct err err;
    size_t in_flight;
    int pages; /* that were read */
};

/* The members of a body that every bulk request has: a filter or ids; what follows may be absent. */
struct bulk_body {
    struct value action, filter, ids, dry_run, limit, cursor;
};

enum { BULK_FIELD_COUNT = 6 };

#define BULK_FIELDS(body)                                                                          \
    {"action", BODY_TEXT, true, .out = &(body).action},                                            \
        {"filter", BODY_OBJECT, false, .out = &(body).filter},                                     \
        {"ids", BODY_ANY, false, .out = &(body).ids},                                              \
        {"dryRun", BODY_BOOL, false, .out = &(body).dry_run},                                      \
        {"limit", BODY_INT, false, .out = &(body).limit},                                          \
    {                                                                                              \
        "cursor", BODY_TEXT, false, .out = &(body).cursor                                          \
    }

/*
 * Take a body that was read; with b->ids the kind needs no filter. False: its limit is
 * out of bounds, its ids are none or too many, or it has a filter beside them or neither;
 * the call was refused.
 */
bool bulk_take(struct bulk *b, struct call *c, const struct bulk_body *body) MUST_USE;

/* Go; the call is answered when all is done. The caller has filled the upper part. */
void bulk_start(struct bulk *b);

/* Hand over m->request, which the kind has filled but for user, memory and callback. */
void bulk_ask(struct bulk_member *m);

/* The member is dealt with. */
void bulk_member_done(struct bulk_member *m, bool ok, const struct err *err);

/* --- those in flight --- */

/* The requests under a key that are in flight on this node. */
struct bulks {
    struct bulk *first;
};

/* Look again for the answers of other nodes; `timeout_ms` is lowered to when that is due. */
void bulks_tick(struct bulks *all, int64_t mono_us, int *timeout_ms);

#endif
