/*
 * inbox.h - people who answer waits in the simulator: at once, late, and two of them the same
 * one; see sim.h.
 *
 * Of the answers to one wait one is acknowledged, and the step ends with that one: it neither
 * times out nor takes another. Who is not asked is refused. Reminders come while it waits, no
 * more of them than it says.
 */
#ifndef PAWL_TESTS_SIM_INBOX_H
#define PAWL_TESTS_SIM_INBOX_H

#include "sim/sim.h"

enum { REMINDERS_MAX = 3 }; /* of one wait: generate_special.c */

/* A commit opens waits that people answer. */
void inbox_opened(struct sim *sim, struct disk_execution *x, const struct commit *c);
void inbox_act(struct sim *sim);   /* somebody answers */
void inbox_check(struct sim *sim); /* when nothing is in flight */

#endif
