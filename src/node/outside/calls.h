/*
 * calls.h - calls over HTTP that executions wait for. Internal to src/node.
 *
 *     commit with a call --reserved--> durable --sent--> effect thread
 *                                                             |
 *     answered <-- commit of the answer <-- work_answer <-----+
 *
 * A call takes capacity from the moment its commit is a member of a batch until it
 * has come back. An execution that found no capacity is in the queue of the host,
 * and is woken when there is some.
 */
#ifndef PAWL_NODE_OUTSIDE_CALLS_H
#define PAWL_NODE_OUTSIDE_CALLS_H

#include "effect/effect.h"
#include "engine/commit/call_capacity.h"
#include "node/outside/call_answer.h"
#include "node/outside/call_file.h"

#include <sys/queue.h>

struct execution;

struct node;

struct calls {
    struct map hosts;  /* of struct host, by name: those with calls or with executions that wait */
    size_t total;      /* calls that have capacity */
    size_t queued;     /* executions that wait for capacity */
    size_t unanswered; /* those whose answer is not durable yet, the others included */
    struct call_capacity capacity;
    struct map attempts; /* of struct own_attempt: those that this node alone may end */
    struct kept_answers kept;
    struct call_file file;
    struct effect *effect; /* or NULL: options.caller makes them */
    struct effect *mails;  /* a thread for mails alone: it may have to wait for a mail server */
    struct mailbox answers;
    LIST_HEAD(, call_answer) unapplied; /* answers that have come and are not applied */
};

bool calls_open(struct node *n, struct err *err) MUST_USE;
void calls_close(struct node *n);

/* How many calls may leave now. */
const struct call_capacity *calls_capacity(struct node *n);

/* The state of the entry is known: should it wait for capacity, it is woken when there is some. */
void calls_queue(struct node *n, const struct execution *x);

/* How many more calls may leave for that host. */
size_t calls_left(struct node *n, struct str host);

/* Hold capacity for calls that may follow; give back what was not used. */
void calls_hold(struct node *n, struct str host, size_t count);
void calls_unhold(struct node *n, struct str host, size_t count);

/* Make a call whose attempt is durable, with capacity that is held for its host. */
void calls_make(struct node *n, struct effect_call *call);

/* There will be no answer to this attempt, of a call or a job; `error_json` is constant. */
void calls_lose(struct node *n, struct uuid execution, int64_t seq, struct str error_json);

/* Calls that the process before has left without an answer. */
void calls_recover(struct node *n);

#endif
