/*
 * automatic.h - processes that start by themselves, in the simulator: t0, t1 ... with
 * schedules and triggers of type event; see sim.h.
 *
 *     automatic.c  what they look like, and who publishes them
 *     ticks.c      schedules on the disk, as store/change_schedule.h has them
 *     events.c     triggers of type event, and the messages that fire them
 *
 * Nobody else starts these processes, and what they start says why in its input:
 * so every execution of them is held against the tick or the message that it rests on.
 */
#ifndef PAWL_TESTS_SIM_AUTOMATIC_H
#define PAWL_TESTS_SIM_AUTOMATIC_H

#include "sim/sim.h"

enum { AUTOMATIC_COUNT = 3 };

/* Whether a process of this code is one of them. */
bool automatic_is(const struct sim *sim, struct str code);

/* All of them are published; later, somebody publishes one anew, or pauses a schedule. */
void automatic_begin(struct sim *sim);
void automatic_act(struct sim *sim);

/* The published version is another: so are its schedules. */
void ticks_derive(struct sim *sim, const struct disk_definition *def);

/* Whether the member rests on a tick or a message that is gone: m->result says so. */
bool ticks_refuse(struct sim *sim, struct member *m);
bool events_refuse(struct sim *sim, struct member *m);

/* The execution begins, by whom the member says; an operator's change of a schedule. */
void ticks_started(struct sim_node *at, const struct member *m, const struct disk_execution *x);
void events_started(struct sim *sim, const struct member *m, const struct disk_execution *x);
bool ticks_change(struct sim_node *at, struct member *m);

/* Let a day pass: no schedule is late. From then on there are none. */
void ticks_come_to_rest(struct sim *sim);

/* An event that a commit publishes is addressed to every trigger that wants it. */
void events_check_routes(struct sim *sim, const struct commit *c);

/* Of a message to a trigger: which version of the process is published; else 0. */
int64_t events_version(const struct disk *d, const struct disk_message *m);

/* A message to a trigger has started nothing, and is done with. */
void events_check_quiet(struct sim *sim, const struct disk_message *m);

#endif
