/*
 * planner.h - tasks and what is around them: how they are changed (see
 * change.h) and read (see read.h).
 *
 * Every change reads its facts, decides (planner/decide.h) and writes in the
 * transaction of its batch. Rows are locked before they are read; on
 * PostgreSQL two nodes that meet in another order are told apart by the
 * database, and one of them repeats its batch.
 */
#ifndef PAWL_STORE_PLANNER_H
#define PAWL_STORE_PLANNER_H

#include "define/define.h"
#include "planner/decide.h"
#include "store/change.h"

struct task_name {
    struct str id, org_id;
};

struct task_names {
    VEC_OF(struct task_name);
};

/*
 * One request about tasks. Which, says `change.apply`. Refused with what
 * planner_decide() says, or with ERR_NOT_FOUND for whatever is not of the
 * actor's organisation; `guard`, `field` and `current_row_version` say more.
 */
struct planner_change {
    struct change change;
    struct uuid seed;             /* what the ids of new rows are made from */
    struct str org_id;            /* the actor's */
    struct planner_person actor;  /* id, role and role_name; the rest is read */
    struct str id;                /* of the task, shift or deliverable in the path */
    struct str other_id;          /* the second one in the path */
    struct task_request request;  /* planner_move_apply, planner_split_apply */
    struct value body;            /* a map: what else was sent, its kinds checked by the caller */
    int64_t expected_row_version; /* of PATCH */

    /* out, when it is refused */
    enum task_guard guard;
    const char *field;
    int64_t current_row_version; /* of ERR_VERSION_CONFLICT */
    struct findings findings;    /* of a payload that does not fit; in the memory of the batch */

    /* out, when it was applied: for those who listen */
    struct str task_id, project_id; /* in the memory of the batch */
    enum task_status status;
    int64_t repaired; /* planner_time_apply: tasks that were not as they should be */

    const struct task_names *wrong; /* planner_time_apply: tasks to be looked at again */
};

typedef enum apply_result planner_apply_fn(struct apply *a, struct member *m,
                                           enum db_status *status);

/* Tasks: {task, transition, fix_task}; a task; a task; nothing; the task and its parts. */
planner_apply_fn planner_move_apply, planner_create_apply, planner_patch_apply,
    planner_delete_apply, planner_split_apply;

/* What tasks are connected with. */
planner_apply_fn planner_hold_apply, planner_release_apply, planner_depend_apply,
    planner_undepend_apply, planner_invite_apply, planner_leave_apply, planner_comment_apply,
    planner_acknowledge_apply;

/* Quality: defects and fixes of a task, deliverables and their inspections. */
planner_apply_fn planner_defect_apply, planner_fix_apply, planner_deliverable_apply,
    planner_inspect_apply;

/* Shifts, and the policy of an organisation. */
planner_apply_fn planner_shift_apply, planner_shift_end_apply, planner_policy_apply;

/*
 * What time brings: shifts that have ended by themselves, holds that are over,
 * tasks that are overdue, and the repair of tasks that are not as they should
 * be. Of all organisations; needs no actor.
 */
planner_apply_fn planner_time_apply;

/* The policy as a JSON object. */
void planner_policy_show(struct buf *out, const struct planner_policy *p);

/* --- reading --- */

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
    struct str status, project_id, assigned_to, required_trade, q; /* empty = any */
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
