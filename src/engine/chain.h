/*
 * chain.h - the triggers that led to an execution, one after the other.
 *
 * An event that an execution causes may start others through their triggers.
 * Each of these has the triggers of the first one and its own, and so have
 * executions that it starts itself. No trigger fires twice in one chain, so
 * processes that trigger each other come to an end.
 *
 *     "order_paid/0 invoice/1": CODE "/" POSITION, with spaces between them
 */
#ifndef PAWL_ENGINE_CHAIN_H
#define PAWL_ENGINE_CHAIN_H

#include "base/str.h"

enum { CHAIN_MAX = 100 }; /* triggers in one chain */

bool chain_has(struct str chain, struct str trigger);

/* The chain with one more, in `mem`. */
struct str chain_add(struct arena *mem, struct str chain, struct str trigger);

unsigned chain_length(struct str chain);

#endif
