/*
 * subscription.h - who is told of events: a URL, and the names of events.
 *
 *     {"url": "https://shop.example/hooks", "events": ["OrderStatusChanged", "execution.*"],
 *      "secret": "..."}
 *
 * A name that ends in '*' stands for all that begin like it.
 */
#ifndef PAWL_DEFINE_SUBSCRIPTION_H
#define PAWL_DEFINE_SUBSCRIPTION_H

#include "define/findings.h"

enum { SUBSCRIPTION_EVENTS_MAX = 100 };

struct subscription {
    struct str code;
    struct str url;
    struct str secret; /* deliveries are signed with it; or empty */
    bool is_locked;    /* its secret cannot be opened here: nothing may leave unsigned */
    struct str org_id; /* whose events; empty: those of the default organisation */
    const struct str *events;
    uint32_t event_count;
};

/* Check a subscription as it is written. */
void subscription_check(struct arena *mem, struct value definition, struct findings *findings);

/* One that was checked before. Its texts are those of `definition`. */
void subscription_read(struct arena *mem, struct str code, struct value definition,
                       struct subscription *out);

/* Whether it is about events of this name. */
bool subscription_wants(const struct subscription *s, struct str event);

#endif
