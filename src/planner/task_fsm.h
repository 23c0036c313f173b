/*
 * task_fsm.h - which status follows which, as data: task_fsm.def.
 *
 *     blocked <--> available --> assigned --> in_progress --> submitted --> done
 *                      ^             |             |  ^           |
 *                      +--- pool ----+-------------+  +-- reject -+
 *
 * Everything but done can become canceled. Knows neither roles nor requests.
 */
#ifndef PAWL_PLANNER_TASK_FSM_H
#define PAWL_PLANNER_TASK_FSM_H

#include "base/str.h"

enum task_status {
#define TASK_STATUS(symbol, name) TASK_##symbol,
#include "planner/task_status.def"
#undef TASK_STATUS
    TASK_STATUS_COUNT
};

enum task_action {
#define TASK_ACTION(symbol, name, roles, needs, event) TASK_ACTION_##symbol,
#include "planner/task_action.def"
#undef TASK_ACTION
    TASK_ACTION_COUNT
};

/* What a transition does beside the status; task_move() applies them. */
enum task_effect {
    EFFECT_OWNER = 1,        /* an owner, and since when */
    EFFECT_ASSIGNER = 2,     /* ... and by whom */
    EFFECT_STARTED = 4,      /* when work began */
    EFFECT_SUBMITTED = 8,    /* when it was handed in */
    EFFECT_REVIEWED = 16,    /* by whom and when it was accepted */
    EFFECT_SUCCESSORS = 32,  /* tasks that depend on it are looked at again */
    EFFECT_REJECTED = 64,    /* the reason */
    EFFECT_CLEAR = 128,      /* neither owner nor contributors any more */
    EFFECT_RECALLED = 256,   /* the reason */
    EFFECT_ESCALATION = 512, /* a record of it, and needs_attention */
    EFFECT_CANCELED = 1024,  /* the reason */
    EFFECT_CANCEL = EFFECT_CLEAR | EFFECT_CANCELED | EFFECT_SUCCESSORS,
};

const char *task_status_name(enum task_status status);
bool task_status_read(struct str name, enum task_status *out) MUST_USE;
const char *task_action_name(enum task_action action);

/* What the event about it is called, behind "task.". */
const char *task_action_event(enum task_action action);
bool task_action_read(struct str name, enum task_action *out) MUST_USE;

static inline bool task_status_is_terminal(enum task_status status)
{
    return status == TASK_DONE || status == TASK_CANCELED;
}

/* Whether the owner of such a task may own no other. */
static inline bool task_status_is_active(enum task_status status)
{
    return status == TASK_ASSIGNED || status == TASK_IN_PROGRESS || status == TASK_SUBMITTED;
}

struct task_step {
    enum task_status to;
    unsigned effects; /* of enum task_effect */
};

/*
 * What an action makes of a task; false when there is no such transition.
 * `is_free`: nothing blocks the task, so that it may go to the pool.
 */
bool task_fsm(enum task_status from, enum task_action action, bool is_free,
              struct task_step *out) MUST_USE;

#endif
