/* read_planner.h - reading tasks and what is around them; see planner.h and read.h. */
#ifndef PAWL_STORE_READ_PLANNER_H
#define PAWL_STORE_READ_PLANNER_H

#include "base/buf.h"
#include "planner/decide.h"
#include "store/planner.h"
#include "store/read.h"

/* What time will bring, and has brought. */
struct planner_due {
    int64_t now_us;
    bool sweeps;       /* look at a window of tasks, too */
    int64_t after_row; /* where it begins; moved on */

    /* out */
    int64_t next_at_us;      /* when something is due; 0 = nothing is */
    bool is_due;             /* ... now */
    bool is_sweep_over;      /* there are no tasks behind the window */
    struct task_names wrong; /* tasks in the window that are not as they should be */
};

bool read_planner_due(struct reader *r, struct arena *mem, struct planner_due *due,
                      struct err *err) MUST_USE;

/* Lists of rows that are shown as they are stored. */
enum planner_list {
    PLANNER_TRANSITIONS,
    PLANNER_HOLDS,
    PLANNER_ESCALATIONS,
    PLANNER_COMMENTS,
    PLANNER_DEFECTS,
    PLANNER_DEFECTS_OF_TASK,
    PLANNER_DELIVERABLES,
    PLANNER_INSPECTIONS,
    PLANNER_SHIFTS,
};

/* A page of them as the items of a JSON list, newest first; *next is the cursor or empty. */
bool read_planner_rows(struct reader *r, struct arena *mem, enum planner_list list,
                       struct str owner, struct str cursor, int64_t limit, struct buf *out,
                       struct str *next, struct err *err) MUST_USE;

/* One of them as a JSON object. */
bool read_planner_row(struct reader *r, struct arena *mem, enum planner_list list, struct str owner,
                      struct str id, struct buf *out, bool *found, struct err *err) MUST_USE;

/* What a list wants of a yes or no. */
enum wanted { WANTED_ANY, WANTED_NO, WANTED_YES };

struct task_filter {
    struct str org_id;
    struct str status, project_id, assigned_to, required_trade; /* empty = any */
    struct str q, id_end; /* patterns of LIKE: for folded titles, or for ids; empty: any */
    enum wanted needs_attention, is_overdue;
    struct str cursor;
    int64_t limit, now_us;
};

struct tasks {
    VEC_OF(struct task);
};

/* A task that was made or has moved. */
struct task_change {
    struct str id, org_id, project_id;
    enum task_status status;
    int64_t at_us;
};

/*
 * What the log and the tasks have gained. The first read finds their end.
 * A little of what was found before is found again: on PostgreSQL rows become
 * visible in another order than that of their numbers.
 */
struct task_changes {
    VEC_OF(struct task_change);
    int64_t log_row, task_row; /* the last that were found */
    bool has_begun;
};

bool read_task_changes(struct reader *r, struct arena *mem, struct task_changes *changes,
                       struct err *err) MUST_USE;

bool read_tasks(struct reader *r, struct arena *mem, const struct task_filter *filter,
                struct tasks *out, struct str *next, struct err *err) MUST_USE;

/* The pool as a person sees it: by priority, then the oldest. */
bool read_task_pool(struct reader *r, struct arena *mem, const struct planner_person *person,
                    const struct task_filter *filter, struct tasks *out, struct str *next,
                    struct err *err) MUST_USE;

bool read_task(struct reader *r, struct arena *mem, struct str org_id, struct str id,
               int64_t now_us, struct task *out, bool *found, struct err *err) MUST_USE;

/* What decides about the actions of a person: skill, trades, own tasks; and the policy. */
bool read_person(struct reader *r, struct arena *mem, struct str org_id,
                 struct planner_person *person, struct planner_policy *policy,
                 struct err *err) MUST_USE;

/* A task as a JSON object with the actions that a person may take. */
void task_show_for(struct arena *mem, struct buf *out, const struct task *task,
                   const struct planner_person *person, const struct planner_policy *policy,
                   int64_t now_us);

#endif
