/* task_fsm.c - see task_fsm.h. */
#include "planner/task_fsm.h"
#include "base/attr.h"
#include "base/names.h"

static const char *const status_names[] = {
#define TASK_STATUS(symbol, name) name,
#include "planner/task_status.def"
#undef TASK_STATUS
};

static const char *const action_names[] = {
#define TASK_ACTION(symbol, name, roles, needs, event) name,
#include "planner/task_action.def"
#undef TASK_ACTION
};

static const char *const action_events[] = {
#define TASK_ACTION(symbol, name, roles, needs, event) event,
#include "planner/task_action.def"
#undef TASK_ACTION
};

NAMES_NAME(task_action_event, enum task_action, action_events)

NAMES_NAME(task_status_name, enum task_status, status_names)
NAMES_READ(task_status_read, enum task_status, status_names)

NAMES_NAME(task_action_name, enum task_action, action_names)
NAMES_READ(task_action_read, enum task_action, action_names)

/* Beside the statuses themselves. */
enum { TASK_SAME = TASK_STATUS_COUNT, TASK_POOL };

static const struct transition {
    enum task_status from;
    enum task_action action;
    int to; /* a status, TASK_SAME or TASK_POOL */
    unsigned effects;
} transitions[] = {
#define TRANSITION(from, action, to, effects)                                                      \
    {TASK_##from, TASK_ACTION_##action, TASK_##to, effects},
#include "planner/task_fsm.def"
#undef TRANSITION
};

bool task_fsm(enum task_status from, enum task_action action, bool is_free, struct task_step *out)
{
    for (size_t i = 0; i < ARRAY_SIZE(transitions); i++) {
        const struct transition *t = &transitions[i];

        if (t->from != from || t->action != action)
            continue;
        out->effects = t->effects;
        if (t->to == TASK_SAME)
            out->to = from;
        else if (t->to == TASK_POOL)
            out->to = is_free ? TASK_AVAILABLE : TASK_BLOCKED;
        else
            out->to = (enum task_status)t->to;
        return true;
    }
    return false;
}
