/*
 * relay.h - delivers the messages of the outbox. Internal to src/node.
 *
 *     commit with messages --route_commit()--> rows of the outbox
 *     lane: due --page read--> messages --sent--> effect thread
 *                                                      |
 *           due <-- settled by one change <-- answers <+
 *
 * A lane is a destination: a subscription, the mail server, a gateway. Of each
 * execution one message is in flight to a lane at a time, the first that is
 * pending: that is what the page holds. What was answered is settled together,
 * whatever the lane: confirmed rows go, the others wait for their next attempt,
 * and after ATTEMPTS_MAX they are parked. Lanes do not wait for each other; how
 * many messages and bytes are in memory is bounded for each and for all.
 *
 * Where nodes share a store, a lane belongs to the node that has its lease.
 * Everything that is not settled when a node dies is sent again, under the same
 * id.
 *
 * why: decision 0220
 */
#ifndef PAWL_NODE_OUTSIDE_RELAY_H
#define PAWL_NODE_OUTSIDE_RELAY_H

#include "define/subscription.h"
#include "effect/effect.h"
#include "engine/commit/message.h"
#include "node/node.h"
#include "node/request.h"
#include "store/read.h"

struct broker_message;
struct commit;

struct due_message;
struct stored_definitions;

/* What the destination of a subscription begins with. */
#define RELAY_SUBSCRIPTION "subscription:"

struct node;
struct relayed;

struct subscriptions {
    VEC_OF(struct subscription);
};

struct routes {
    struct arena mem;
    struct subscriptions subscriptions;
};

/* --- route.c --- */

/*
 * These are all that are stored; they are copied. One whose secret cannot be
 * opened stays as it was, or is locked.
 */
void route_install(struct node *n, const struct stored_definitions *all);

/* One was saved, or, without a text, removed. */
void route_changed(struct node *n, struct str code, struct str text);

const struct subscription *route_subscription(const struct node *n, struct str code);

/* Fill commit->outbox; in `mem`. */
void route_commit(struct node *n, struct arena *mem, struct commit *commit);

/*
 * Who wants events whose names begin so, in `mem`; NULL: nobody. The store
 * writes their rows with the change that tells them: store/event_routes.h.
 */
struct event_routes *route_events(struct node *n, struct arena *mem, const char *begin);

/* --- relay.c --- */

/* A commit with messages is durable. */
void relay_note(struct node *n, const struct commit *commit);

/* A member that has written events is durable. */
void relay_note_events(struct node *n, const struct event_routes *events);

/* What is waited for may have become due: look for it now. */
void relay_look(struct node *n);

/* A message has come back. */
void relay_answered(struct node *n, struct effect_call *call);

/* The same of one that went to the broker, with what came of it. */
void relay_published(struct node *n, struct relayed *m, const struct broker_message *sent);

/*
 * What a trigger came to: it is settled now, or the start has settled it
 * (is_taken).
 */
void relay_fired(struct node *n, struct relayed *m, bool is_taken);

/* Whether nothing is in flight that is worth waiting for before the node ends. */
bool relay_is_idle(const struct node *n);

/* --- addressees.c --- */

/* On a reader thread: users and groups that a mail is for become addresses. */
bool addressees_resolve(struct reader *reader, struct arena *mem, struct due_message *m,
                        struct err *err) MUST_USE;

/* --- relay_send.c --- */

struct relayed {
    int64_t row, execution;
    struct uuid id;
    enum message_kind kind;
    struct str name, body_json, org_id;
    struct str lane_name;
    struct str nobody; /* as struct due_message has it */
    int64_t attempts;  /* so far */
    bool is_late;
    struct lane *lane;
    struct arena mem;
    struct relayed *next; /* of those that are to be settled */
    struct node *node;
    struct node_request start; /* of a trigger: what is in flight */
    /* how it went */
    bool is_delivered, is_final; /* final: another attempt would be in vain */
    struct str error_json;
};

/* Whether messages can be sent there now. */
bool relay_can_send(const struct node *n, struct str destination);

/*
 * The call that delivers the message, or NULL: then m->error_json says why
 * there is none.
 */
struct effect_call *relay_make_call(const struct node *n, struct str destination,
                                    struct relayed *m);

/* It was not delivered, and why; final: another attempt would be in vain. */
void relay_refuse(struct relayed *m, bool is_final, const char *code, const char *message);

/* Fill in how it went. */
void relay_judge(struct relayed *m, const struct effect_call *call);

#endif
