/*
 * calls.h - calls over HTTP that executions wait for. Internal to src/node.
 *
 *     commit with a call --reserved--> durable --sent--> effect thread
 *                                                             |
 *     answered <-- commit of the answer <-- work_answer <-----+
 *
 * A call takes room from the moment its commit is a member of a batch until it
 * has come back. An execution that found no room is in the queue of the host,
 * and is woken when there is some.
 */
#ifndef PAWL_NODE_CALLS_H
#define PAWL_NODE_CALLS_H

#include "effect/effect.h"
#include "engine/advance.h"
#include "node/call_file.h"

struct entry;
struct node;
struct work;

struct calls {
    struct map hosts;  /* of struct host, by name: those with calls or with executions that wait */
    size_t total;      /* calls that have room */
    size_t queued;     /* executions that wait for room */
    size_t unanswered; /* those whose answer is not durable yet, the others included */
    struct call_room room;
    struct call_file file;
    struct effect *effect; /* or NULL: options.caller makes them */
    struct mailbox answers;
    struct call_answer *first_answer; /* those that have come and are not applied */
};

bool calls_open(struct node *n, struct err *err) MUST_USE;
void calls_close(struct node *n);

/* How many calls may leave now. */
const struct call_room *calls_room(struct node *n);

/* The state of the entry is known: should it wait for room, it is told when there is some. */
void calls_queue(struct node *n, const struct execution *x);

/* How many more calls may leave for that host. */
size_t calls_left(struct node *n, struct str host);

/* Make a call whose attempt is durable; there is room for it. */
void calls_make(struct node *n, struct effect_call *call);

/* There will be no answer to this attempt, of a call or a job; `error_json` is constant. */
void calls_lose(struct node *n, struct uuid execution, int64_t seq, struct str error_json);

/* Calls that the process before has left without an answer. */
void calls_recover(struct node *n);

#endif
