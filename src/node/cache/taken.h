/*
 * taken.h - who waits for the step that takes a signal. Internal to src/node.
 *
 * Such a waiter stands among those of its entry with signal_seq set, its
 * signal being durable. It is answered with the commit whose history has the
 * row of that step.
 */
#ifndef PAWL_NODE_TAKEN_H
#define PAWL_NODE_TAKEN_H

#include "node/cache/entry.h"

/* Whether a step of this commit took the signal that `r` waits for: then the answer is filled. */
bool taken_find(struct node_request *r, const struct commit *commit);

/* Answer those who wait for a signal that this commit took. */
void taken_answer(struct node *n, struct entry *e, const struct commit *commit);

/* Whether nobody has taken the signal, as the state has it. */
bool taken_not_yet(const struct execution *x, int64_t signal_seq);

/* The state was loaded: answer those whose signal was taken meanwhile. */
void taken_loaded(struct node *n, struct entry *e);

#endif
