/*
 * task.h - a task as data, and what a transition makes of it.
 *
 * Times are microseconds since 1970, 0 for none; texts that are empty are none.
 */
#ifndef PAWL_PLANNER_TASK_H
#define PAWL_PLANNER_TASK_H

#include "base/buf.h"
#include "planner/task_fsm.h"
#include "value/value.h"

struct task {
    struct str id, org_id;

    /* What people write. */
    struct str project_id, title, description, required_trade, deliverable_id;
    int64_t min_skill, priority, due_at_us;

    /* What transitions alone change. */
    enum task_status status;
    int64_t row_version;
    struct str assigned_to, assigned_by, reviewed_by;
    int64_t assigned_at_us, started_at_us, submitted_at_us, reviewed_at_us;
    struct str reject_reason, recall_reason, cancel_reason, handover_note;
    bool self_checked;
    bool had_owner;      /* at any time */
    struct value result; /* the payload of the last submission, a map; or absent */

    bool needs_attention; /* escalated, and nobody has acknowledged it */

    /* Where it comes from. */
    struct str fix_of_task_id, parent_task_id, execution_id, created_by;
    struct str form_json; /* what the payload of a submission must be, or empty */
    bool is_awaited;      /* the execution goes on when the task has ended */
    int64_t created_at_us, updated_at_us;

    /* What it is connected with, read beside it. */
    struct value depends_on, contributors; /* lists of ids */
    int64_t unmet_dependencies, open_holds;
    bool is_fix; /* a defect says that this task mends it */
};

/* One row of the log. */
struct task_transition {
    struct str id, task_id;
    enum task_action action;
    enum task_status from, to;
    struct str actor_id, actor_role;
    struct value payload;
    struct str client_event_id;
    int64_t expected_row_version, result_row_version, created_at_us;
};

/* Whether nothing keeps it from being in the pool. */
static inline bool task_is_free(const struct task *t)
{
    return t->unmet_dependencies == 0 && t->open_holds == 0;
}

bool task_has_contributor(const struct task *t, struct str user_id);

/*
 * Apply one row of the log: status, version and the fields that its action
 * sets. This is all that changes those fields, so the log rebuilds them.
 */
void task_move(struct task *t, const struct task_transition *row);

/* The members of the JSON object that shows it, without the braces. */
void task_show(struct buf *out, const struct task *t);
bool task_transition_show(struct buf *out, const struct task_transition *t,
                          struct err *err) MUST_USE;

/*
 * The payload as requests are compared: keys in order, without nulls and
 * without what the server has put there. In `mem`.
 */
struct value payload_normalise(struct arena *mem, struct value payload);

#endif
