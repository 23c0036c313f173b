/*
 * planner.h - the task pool in the simulator: people who move tasks, and the rules of the
 * contract that their log is held against; see sim.h. What executions ask of tasks: tasks.c.
 *
 * What is decided is decided by planner/decide.h, in the transaction that applies it, as
 * store/planner does. The table of transitions that it is held against is one of its own.
 */
#ifndef PAWL_TESTS_SIM_PLANNER_H
#define PAWL_TESTS_SIM_PLANNER_H

#include "sim/sim.h"

void plan_begin(struct sim *sim);
void plan_act(struct sim *sim); /* somebody wants something of a task, or holds one up */
bool plan_change(struct sim *sim, struct member *m); /* whether the change is one of a task */
void plan_check(struct sim *sim);                    /* the log rebuilds every task */

#endif
