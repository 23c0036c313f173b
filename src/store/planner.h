/*
 * planner.h - tasks and what is around them: how they are changed. See change.h;
 * reading them: read_planner.h.
 *
 * Every change reads its facts, decides (planner/decide.h) and writes in the
 * transaction of its batch. Rows are locked before they are read, with all that
 * the batch writes (write/row_locks.h).
 */
#ifndef PAWL_STORE_PLANNER_H
#define PAWL_STORE_PLANNER_H

#include "define/findings.h"
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

/* A transition of a task. Answers {task, transition, fix_task}. */
change_apply_fn planner_move_apply;

/* Make a task, or change its fields. Answer the task. */
change_apply_fn planner_create_apply, planner_patch_apply;

/* Delete a task. Answers nothing. */
change_apply_fn planner_delete_apply;

/* Split a task into parts. Answers the task and its parts. */
change_apply_fn planner_split_apply;

/* What tasks are connected with. */
change_apply_fn planner_hold_apply, planner_release_apply, planner_depend_apply,
    planner_undepend_apply, planner_invite_apply, planner_leave_apply, planner_comment_apply,
    planner_acknowledge_apply;

/* Quality: defects and fixes of a task, deliverables and their inspections. */
change_apply_fn planner_defect_apply, planner_fix_apply, planner_deliverable_apply,
    planner_inspect_apply;

/* Shifts, and the policy of an organisation. */
change_apply_fn planner_shift_apply, planner_shift_end_apply, planner_policy_apply;

/*
 * What time brings: shifts that have ended by themselves, holds that are over,
 * tasks that are overdue, and the repair of tasks that are not as they should
 * be. Of all organisations; needs no actor.
 */
change_apply_fn planner_time_apply;

/* The policy as a JSON object. */
void planner_policy_show(struct buf *out, const struct planner_policy *p);

#endif
