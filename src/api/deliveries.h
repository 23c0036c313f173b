/*
 * deliveries.h - the latest requests to each webhook, and what became of them.
 *
 * In memory, for people who look why a webhook does nothing: strangers leave nothing
 * in the store. Each node has those that it has answered, and a restart forgets them.
 * Only webhooks that there are have any. Bounded: DELIVERIES_MAX of one webhook, those
 * of which nobody has proven who sent them apart, DELIVERIES_BYTES_MAX of all, a day.
 * The oldest go first.
 *
 * Runs on the loop.
 *
 * why: decision 0402
 */
#ifndef PAWL_API_DELIVERIES_H
#define PAWL_API_DELIVERIES_H

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

enum {
    DELIVERIES_MAX = 100,
    DELIVERIES_UNPROVEN_MAX = 20,
    DELIVERY_BODY_MAX = 8 << 10, /* a longer one is not kept */
    DELIVERIES_BYTES_MAX = 16 << 20,
};

/* One of them. Texts may be empty. */
struct hook_delivery {
    int64_t number; /* the order of all, from 1 on; set by deliveries_add() */
    int64_t at_us;
    struct str topic;   /* of the webhook: trigger_webhook_topic() */
    struct str code;    /* of the process; empty: there is no such webhook, and nothing is kept */
    int64_t version;    /* ... */
    bool is_proven;     /* it is signed as the trigger demands, or that demands nothing */
    struct str address; /* where it came from */
    struct str request_id;
    int status;              /* that it was answered */
    struct str outcome;      /* started, joined, signalled, ignored, repeated or refused */
    struct str id;           /* of the execution or the signal */
    struct str error, why;   /* refused: code and message */
    struct str body;         /* as it came, unless it is too long */
    struct str headers_json; /* without those that let somebody in */
    struct str query;        /* as it came */
    size_t body_bytes;       /* how long it was */
};

struct delivery_list {
    VEC_OF(struct hook_delivery);
};

struct deliveries;

struct deliveries *deliveries_new(void);
void deliveries_free(struct deliveries *all);

/* Keep a copy of it. */
void deliveries_add(struct deliveries *all, const struct hook_delivery *d);

/* Those of a webhook, copied into `mem`, newest first. */
void deliveries_of(struct deliveries *all, struct arena *mem, struct str topic, int64_t now_us,
                   struct delivery_list *out);

#endif
