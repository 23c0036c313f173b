/* disk.h - the parts of the disk of the simulator; for disk*.c alone, see sim.h. */
#ifndef PAWL_TESTS_SIM_DISK_H
#define PAWL_TESTS_SIM_DISK_H

#include "sim/sim.h"

/* "a/b", written to `out`. */
struct str disk_join(char *out, struct str a, struct str b);
struct str disk_live_key(struct arena *mem, const struct execution *x);
/* Add a row for a new execution, of which nothing is known but its identity. */
struct disk_execution *disk_add_execution(struct sim *sim, const struct execution *x);

/* The state after a commit becomes that of the row. */
void disk_keep_state(struct sim *sim, struct disk_execution *x, const struct commit *c);

/* disk_record.c */
bool disk_has_stale_record(struct disk *d, const struct commit *c);
void disk_write_records(struct sim *sim, const struct commit *c);

/* disk_letter.c: dead letters */
void disk_write_letters(struct sim *sim, struct disk_execution *x, const struct commit *c);
/* What is held has one open letter for each strand that is, and nothing else has one. */
void disk_check_incident(struct sim *sim, const struct disk_execution *x,
                         const struct execution *after);
/* A rollback that was given up has one letter, and no other rollback has any. */
void disk_check_compensations(struct sim *sim, const struct disk_execution *x);

/* disk_child.c: executions that others start */
/* Whether the key of a child is taken since it was read: m->result says so. */
bool disk_refuses_children(struct disk *d, struct arena *mem, struct member *m);
void disk_start_children(struct sim *sim, const struct commit *c);
/* Write what others are told, and drop what the execution has applied. */
void disk_notify(struct sim *sim, const struct notices *notices);
void disk_consume(struct sim *sim, struct disk_execution *x, const struct notice_numbers *numbers);
/* One that has ended drops what is addressed to it, but for who waits for its end. */
void disk_drop_notices(struct sim *sim, const struct disk_execution *x);
/*
 * I11: rolling back keeps its order across the boundary, and nobody who rolls back, or is
 * cancelled, is over before those whom it has started and waited for.
 */
void disk_check_boundary(struct sim *sim, const struct disk_execution *x, const struct commit *c);
/* The execution has ended for the first time, if it has. */
void disk_note_end(struct sim *sim, struct disk_execution *x);
/* Parents and children agree about each other. */
void disk_check_family(struct sim *sim, const struct disk_execution *x);
/* Whether a step waits for a child that has ended, as it should know: its id in *child. */
bool disk_missed_child(struct sim *sim, const struct disk_execution *x, struct uuid *child);
/* Whether it has ended just now, so that those who have joined it need not know. */
bool disk_may_tell_joiners_yet(const struct sim *sim, const struct disk_execution *x);

/* outbox.c: messages that a commit sends */
void disk_write_outbox(struct sim *sim, struct disk_execution *x, const struct commit *c);

/* tasks.c */
void disk_write_tasks(struct sim *sim, struct disk_execution *x, const struct commit *c);

/* jobs.c */
/* Whether somebody has begun what a commit says that nobody has: m->result says so. */
bool disk_refuses_jobs(struct sim *sim, const struct disk_execution *x, struct member *m);
void disk_write_jobs(struct sim *sim, struct disk_execution *x, const struct commit *c);
bool disk_change_jobs(struct sim *sim, struct member *m); /* whether the change is one of jobs */

/* disk_delete.c */
void disk_delete(struct sim *sim, struct member *m);

/* disk_check.c */
/* What an advance may never say, whatever the store makes of it. */
void disk_check_commit(struct sim *sim, const struct commit *c, const struct disk_execution *x);
/* Every attempt of a visit is recorded once, and nothing follows its completion. */
void disk_check_row(struct sim *sim, const struct disk_execution *x, const struct history_row *row);
/* I4: what was stored restores to the state that the engine went on with. */
void disk_check_restores(struct sim *sim, struct arena *mem, const struct disk_execution *x,
                         struct disk_checkpoint before, const struct execution *after);

#endif
