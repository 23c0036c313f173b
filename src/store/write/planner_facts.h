/*
 * planner_facts.h - what the transitions of a batch are decided on, as the writer
 * gathers, writes and forgets it; what it is stands in planner/facts.h, which
 * implements this.
 */
#ifndef PAWL_STORE_WRITE_PLANNER_FACTS_H
#define PAWL_STORE_WRITE_PLANNER_FACTS_H

#include "store/write/apply.h"

/* Ask for what a member is decided on, if it is a transition. */
enum db_status facts_ask(struct apply *a, const struct member *m);

/* After the flush. */
enum db_status facts_take(struct apply *a);

/* Forget what was gathered, and ask for this member alone. Nothing waits to be written. */
enum db_status facts_ask_again(struct apply *a, const struct member *m);

/* Forget all of it; what is changed must have been put. */
void facts_forget(struct apply *a);

/* Give what was changed to db_put(). */
enum db_status facts_put(struct apply *a);

/* Whether what a member is decided on was gathered and still holds. */
bool facts_are_gathered(const struct apply *a, const struct member *m);

#endif
