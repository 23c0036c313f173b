/*
 * decide.h - what becomes of a request about a task: planner_decide().
 *
 * Pure: everything it knows is in the facts, which the store has read in the
 * transaction that will apply the decision. The order of the checks is part of
 * the contract:
 *
 *     known event -> action -> role -> version -> transition -> payload -> guards
 *
 * why: decision 0260
 */
#ifndef PAWL_PLANNER_DECIDE_H
#define PAWL_PLANNER_DECIDE_H

#include "planner/task.h"

enum actor_role {
    ACTOR_OTHER,
    ACTOR_EXECUTOR,
    ACTOR_LEAD,
    ACTOR_SUPERVISOR,
    ACTOR_SYSTEM,
    ACTOR_ADMIN
};

enum actor_role actor_role_read(struct str name);
const char *actor_role_name(enum actor_role role);

/* Whether the role manages tasks: lead, supervisor, admin. */
static inline bool actor_manages(enum actor_role role)
{
    return role == ACTOR_LEAD || role == ACTOR_SUPERVISOR || role == ACTOR_ADMIN;
}

struct planner_policy {
    int64_t min_skill_to_take, self_check_min_skill, min_skill_to_invite;
    bool allow_trade_override;
};

struct planner_policy planner_policy_default(void);

struct planner_person {
    struct str id;
    enum actor_role role;
    struct str role_name;         /* as it is logged; empty: that of `role` */
    int64_t skill;                /* 0: none is known */
    struct value specializations; /* a list of texts, or absent */
    int64_t active_tasks;         /* how many this person owns */
    bool is_known;                /* active, and of the organisation of the task */
};

/* A request under this client_event_id that was accepted before. */
struct task_event {
    struct str actor_id, action;
    struct str payload_json; /* normalised */
};

struct task_request {
    struct str action; /* as it was sent */
    struct str client_event_id;
    int64_t expected_row_version;
    struct value payload; /* a map; or absent */
};

struct task_facts {
    struct task task;
    struct planner_person actor;
    struct planner_person
        target; /* payload.assign_to; is_known is false when nobody may be assigned by it */
    struct planner_policy policy;
    struct task_event event; /* action is empty: the event is new */
    struct sentence misfit;  /* why the payload does not fit the form of the task, or empty */
    struct value filled;     /* the payload with the defaults of the form; absent without a form */
    int64_t now_us;
};

enum task_verdict { TASK_ACCEPTED, TASK_REPEATED, TASK_REFUSED };

enum task_guard {
    GUARD_NONE,
    GUARD_SKILL,
    GUARD_TRADE,
    GUARD_WIP,
    GUARD_OWNER,
    GUARD_DEPENDENCIES,
    GUARD_HOLDS,
    GUARD_ASSIGNEE,
};

const char *task_guard_name(enum task_guard guard);

struct task_decision {
    enum task_verdict verdict;

    /* Refused. */
    enum task_guard guard; /* of ERR_GUARD_FAILED */
    const char *field;     /* of ERR_VALIDATION_ERROR: of the payload */
    struct err err;

    /* Accepted: one row for the log, or two for a reassignment; their ids are the caller's. */
    struct task_transition rows[2];
    size_t count;
    struct task after;
    unsigned effects;             /* of enum task_effect, of all rows */
    bool makes_defect, makes_fix; /* of a rejected task */
};

/* An action that somebody may ask for: ERR_UNKNOWN_ACTION, ERR_ACTION_FORBIDDEN. */
bool planner_read_action(struct str name, enum task_action *out, struct err *err) MUST_USE;

/* Decide. Texts of the decision live in `mem` or in the facts and the request. */
void planner_decide(struct arena *mem, const struct task_facts *facts,
                    const struct task_request *request, struct task_decision *out);

/* The same for a new task that the system assigns at once: the guards of `assign` hold. */
void planner_decide_new(const struct task_facts *facts, const struct task_request *request,
                        struct task_decision *out);

/* The row by which the system cancels a task that has not ended; the payload has the reason. */
struct task_transition planner_cancel(const struct task *task, struct value payload,
                                      int64_t now_us);

/* Which actions the actor could take now, if their payload is right: one bit for each. */
unsigned planner_actions(struct arena *mem, const struct task_facts *facts);

/* The row by which the planner itself blocks or opens a task, unless it is right as it is. */
bool planner_reexamine(const struct task *task, int64_t now_us,
                       struct task_transition *out) MUST_USE;

/* What an executor sees of the pool. */
bool planner_sees_pool(const struct planner_person *person, const struct planner_policy *policy);

#endif
