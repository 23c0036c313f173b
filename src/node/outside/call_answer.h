/*
 * call_answer.h - answers of calls and jobs until they are applied. Internal to
 * src/node.
 *
 *     heard --> queued at its entry --> applied, or nobody waits for it
 *                 ^          |
 *                 |          | the execution could not be read, or the store refused it
 *                 +-- kept <-+
 *
 * An answer that was heard is dropped for one reason alone: there is no such
 * execution. There are no more of them than attempts that have capacity.
 *
 * why: decision 0368
 */
#ifndef PAWL_NODE_OUTSIDE_CALL_ANSWER_H
#define PAWL_NODE_OUTSIDE_CALL_ANSWER_H

#include "base/map.h"
#include "node/chore/chore.h"
#include "node/outside/call_file.h"
#include "node/work.h"

#include <sys/queue.h>

/* What a work_answer brings. */
struct call_answer {
    struct effect_call *call; /* or NULL: there is none, as error_json says, which is constant */
    struct str error_json;
    struct call_slot about;
    bool is_lost;  /* without a call: nobody knows what became of it; else it never left */
    bool has_slot; /* in the file: */
    unsigned slot;
    unsigned kept_count; /* how often it was kept: the pauses grow */
    LIST_ENTRY(call_answer) unapplied;
};

/* Answers that are tried again after a while, by execution. */
struct kept_answers {
    struct chore chore;
    struct map by_id; /* of struct kept_execution */
    TAILQ_HEAD(, kept_execution) all;
};

void kept_answers_init(struct node *n);

/* Its execution cannot be gone on with now: it is tried again after a while. It is in no queue. */
void answer_keep(struct node *n, struct work *w);

/* To its execution; behind those of it that are kept. */
void answer_queue(struct node *n, struct work *w);

#endif
