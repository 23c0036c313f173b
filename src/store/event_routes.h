/*
 * event_routes.h - who wants the events that arise in the store: a record that
 * is edited by hand, an execution or a message that is parked, a task that moves.
 *
 * The node says with a member who wants which events (member.events, filled by
 * node/outside/route.c when the change may cause some: change.announces). The store
 * writes a row of the outbox for each of them with the change itself. Who wants
 * an event is fixed when it arises, as it is for those of executions.
 *
 * why: decision 0276
 */
#ifndef PAWL_STORE_EVENT_ROUTES_H
#define PAWL_STORE_EVENT_ROUTES_H

#include "base/uuid.h"
#include "base/vec.h"
#include "engine/commit/message.h"

/* One who wants events of a name, or of all names that begin with it. */
struct event_route {
    struct str name;
    bool is_prefix;
    struct str org_id; /* whose events; empty: those of everybody */
    enum message_kind kind;
    struct str destination; /* of the row of the outbox */
};

/* Who wants what a member may tell; those of one destination follow each other. */
struct event_routes {
    VEC_OF(struct event_route);
    struct uuid seed; /* what the ids of its events are made from */

    /* filled by the store */
    int64_t notice;
    struct {
        VEC_OF(struct str);
    } lanes; /* destinations that have got a row, perhaps several times */
};

/* A dead letter as its event tells it. What is not known is empty. */
struct announced_letter {
    struct uuid id;
    struct str kind, step;
    int64_t attempts;
    struct str cause_json;
    struct str code, key; /* of the execution that it is about */
};

/* {id, kind, code, key, step, attempts, cause}: of dead_letter.created, in `mem`. */
struct str event_letter_json(struct arena *mem, const struct announced_letter *l);

/* {object, id, version, data}: of record.*, in `mem`; without data: it is deleted. */
struct str event_record_json(struct arena *mem, struct str object, struct str id, int64_t version,
                             struct str data_json);

#endif
