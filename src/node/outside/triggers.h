/*
 * triggers.h - triggers of type event: what has happened starts processes.
 * Internal to src/node.
 *
 *     event --route.c, store/event_routes.h--> row of the outbox for each trigger
 *     row --relay.c--> triggers_start() --> the start, which takes the row away
 *
 * The triggers of published processes are in memory, by the name of the event:
 * they are read with the config, and again before a change of a process is
 * answered. `when`, `input` and `key` are evaluated with the version that is
 * published when the row is taken. The start and the end of the row are one
 * transaction, so an event starts one execution for each trigger, whenever a
 * node is killed. What cannot be evaluated or started is parked, with a dead
 * letter.
 *
 * why: decisions 0277, 0451
 */
#ifndef PAWL_NODE_OUTSIDE_TRIGGERS_H
#define PAWL_NODE_OUTSIDE_TRIGGERS_H

#include "base/map.h"
#include "store/store.h"
#include "value/value.h"

struct program;

struct stored_triggers;

struct node;
struct node_request;
struct relayed;

struct event_trigger {
    struct str name; /* "CODE/POSITION" */
    const struct event_trigger *next;
};

struct event_triggers {
    struct arena mem;
    struct map by_event; /* of struct event_trigger */
};

/* A start by a trigger. */
struct event_start {
    struct str name; /* of the event */
    uint32_t position;
    struct value event; /* $.event */
    struct str chain;   /* of the execution, see engine/chain.h */
    struct taken_message message;
    bool is_quiet; /* out: `when` does not hold, or there is no such trigger any more */
};

void triggers_open(struct node *n);
void triggers_close(struct node *n);

/* These are all; they are copied. */
void triggers_install(struct node *n, const struct stored_triggers *all);

/* Whether triggers may be others after these changes. */
bool triggers_have_changed(const struct definition_change *first);

/* Read them; then the request is done. */
void triggers_read_again(struct node *n, struct node_request *r);

/* Those that an event of this name fires, one after the other; or NULL. */
const struct event_trigger *triggers_of(const struct node *n, struct str event);

/* Add routes to those of events that begin so. */
void triggers_add_routes(const struct node *n, struct arena *mem, struct str begin,
                         struct event_routes *out);

/* Fire the trigger that a message is for; relay_fired() follows. */
void triggers_start(struct node *n, struct relayed *m);

/*
 * The program of the process is at hand: fill in the input and the key. False:
 * there is nothing to start, or r->err says why it cannot be.
 */
bool triggers_fire(struct node *n, struct node_request *r, const struct program *p) MUST_USE;

#endif
