/*
 * task_act.h - what a commit asks the planner for, and what the planner answers.
 *
 * The store applies the acts in the transaction of the commit. An answer is a
 * row of execution_events for the same execution (NOTICE_TASK), written by
 * whoever's transaction decided: that of the commit, or the one in which the
 * task has ended.
 *
 * why: decision 0295
 */
#ifndef PAWL_ENGINE_TASK_ACT_H
#define PAWL_ENGINE_TASK_ACT_H

#include "base/vec.h"
#include "value/value.h"

enum task_act_kind {
    TASK_ACT_CREATE, /* answered when it is refused, when nobody waits, or when it has ended */
    TASK_ACT_EXPIRE, /* the time of the wait is up: canceled unless it is kept; answered at once */
    TASK_ACT_LOOK,   /* answered if it has ended */
    TASK_ACT_CANCEL, /* nobody waits for it any more; not answered */
};

struct task_act {
    enum task_act_kind kind;
    struct str id;        /* of the task */
    struct str reason;    /* EXPIRE, CANCEL */
    bool keeps;           /* EXPIRE: the task stays as it is */
    bool waits;           /* CREATE: the step goes on when the task has ended */
    struct value body;    /* CREATE: fields of task_fields.def, times as NAME_us; assign_to */
    struct str form_json; /* CREATE: what the payload of a submission must be, or empty */
};

struct task_acts {
    VEC_OF(struct task_act);
};

/* What a step that has asked for a task is answered. */
struct task_answer {
    struct str id;
    struct value output; /* the task; or absent: then error says {code, message, class} */
    struct value error;
    bool has_expired; /* the task had not ended when its time was up */
};

struct task_answers {
    VEC_OF(struct task_answer);
};

#endif
