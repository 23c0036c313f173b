/*
 * crash.h - counting the crashes of which the poison file tells. Internal to src/node.
 *
 *     found in the file --> asked for --> counted, or the execution is gone
 *                              |  ^
 *            its row is locked  v  | it has rested: see locked.h
 *                             rests
 *
 * An execution whose crash is not counted is neither loaded nor advanced: it may
 * end the process again, and nobody would know how often. Nothing at all is
 * advanced before each count has been asked for once: mostly they are durable then.
 * One whose row another session has locked holds up itself alone.
 *
 * why: decisions 0160, 0433
 */
#ifndef PAWL_NODE_CRASH_H
#define PAWL_NODE_CRASH_H

#include "node/guard/poison.h"

struct node;
struct work;

struct crashes {
    struct work *works[POISON_SLOTS]; /* that are not counted */
    unsigned count;
};

/* It was worked on when the process died: count that. */
void crash_count(struct node *n, struct poison_left left);

/* Whether nothing may be advanced yet. */
bool crash_holds_all(const struct node *n);

/* Whether this one may not be loaded yet; load_entry() is called when it may. */
bool crash_holds(const struct node *n, struct uuid id);

#endif
