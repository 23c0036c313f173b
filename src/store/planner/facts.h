/*
 * facts.h - what the transitions of a batch are decided on, read for all of them
 * at once. Internal to src/store.
 *
 * On a database that is a round trip away (db->has_sets) gather() asks for the
 * tasks, those that depend on them, people, policies and known events that the
 * transitions of a batch name, behind the locks and in the same round trip. The
 * functions of planner_rows.h then find them here, and a task is written once, with
 * the rows that wait for the commit, however many transitions it made: a later
 * member sees what an earlier one has changed. So a transition costs no round trip.
 *
 * So does a new task that names no other.
 *
 * Only these two keep it up to date. Any other change of the planner begins with what
 * waits written and nothing gathered (apply_change(), gather_forget()), and asks the
 * database; a transition behind it asks again, for itself.
 *
 * why: decision 0391
 */
#ifndef PAWL_STORE_PLANNER_FACTS_H
#define PAWL_STORE_PLANNER_FACTS_H

#include "store/planner/planner_rows.h"
#include "store/write/planner_facts.h"

struct cached_task {
    struct task task;
    bool is_found;
    bool is_changed;        /* it is not written yet */
    int64_t stored_version; /* the row_version in the database */
    bool has_successors;    /* they were asked for: */
    struct task_names successors;
};

struct cached_event {
    bool is_known;
    struct task_event event;
    struct str answer;
};

/* NULL, or false, of these: it was not gathered. */
struct cached_task *facts_task(const struct apply *a, struct str id);
bool facts_person(const struct apply *a, struct str org_id, struct planner_person *person);
bool facts_policy(const struct apply *a, struct str org_id, struct planner_policy *out);
struct cached_event *facts_event(const struct apply *a, struct str task_id, struct str event_id);

/* A transition leaves the task like this: what others are decided on follows. */
void facts_move(struct apply *a, struct cached_task *cached, const struct task *after);

#endif
