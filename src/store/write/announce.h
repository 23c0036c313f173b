/*
 * announce.h - events that arise in the store, written to the outbox. See
 * event_routes.h.
 *
 *     event_announce(a, m, &(struct announced_event){.name = STR("task.done"), ...})
 */
#ifndef PAWL_STORE_WRITE_ANNOUNCE_H
#define PAWL_STORE_WRITE_ANNOUNCE_H

#include "store/event_routes.h"
#include "store/write/apply.h"

/* Something has happened. */
struct announced_event {
    struct str name;
    struct str org_id; /* empty: the default one */
    struct str key;    /* or empty */
    struct str payload_json;
    /* Whose doing it is, or about whom; it comes in order with what that sends itself. */
    bool has_execution;
    struct uuid execution;
    /* Without an execution: events about the same come in order, "task/ID". */
    struct str about;
    int64_t now_us;
};

/*
 * Write a row of the outbox for everybody who wants it; nothing when nobody
 * does. Before it, all that can refuse the member was looked at. False: *status
 * says why.
 */
bool event_announce(struct apply *a, const struct member *m,
                    const struct announced_event *e) MUST_USE;

/* Whether anybody wants it: then its payload is worth making. */
bool event_is_wanted(const struct member *m, struct str name, struct str org_id);

#endif
