/* decide.c - see decide.h. */
#include "planner/decide.h"
#include "base/attr.h"
#include "base/names.h"
#include "value/json.h"

/* --- roles --- */

static const char *const role_names[] = {"other",      "executor", "lead",
                                         "supervisor", "system",   "admin"};

enum actor_role actor_role_read(struct str name)
{
    for (unsigned i = ACTOR_EXECUTOR; i < ARRAY_SIZE(role_names); i++)
        if (str_eq(name, str_of(role_names[i])))
            return (enum actor_role)i;
    return ACTOR_OTHER;
}

NAMES_NAME(actor_role_name, enum actor_role, role_names)

#define MAY(role) (1u << ACTOR_##role)
#define PART(role) (256u << ACTOR_##role)

static const unsigned action_roles[] = {
#define TASK_ACTION(symbol, name, roles, needs, event) roles,
#include "planner/task_action.def"
#undef TASK_ACTION
};

static const char *const action_needs[] = {
#define TASK_ACTION(symbol, name, roles, needs, event) needs,
#include "planner/task_action.def"
#undef TASK_ACTION
};

static bool role_may(enum actor_role role, enum task_action action, bool takes_part)
{
    unsigned roles = action_roles[action];

    if (role == ACTOR_ADMIN)
        role = ACTOR_SUPERVISOR;
    return (roles >> role & 1) != 0 || (takes_part && (roles >> role >> 8 & 1) != 0);
}

/* --- people --- */

struct planner_policy planner_policy_default(void)
{
    return (struct planner_policy){
        .min_skill_to_take = 3, .self_check_min_skill = 7, .min_skill_to_invite = 8};
}

static bool person_has_trade(const struct planner_person *person, struct str trade)
{
    return trade.len == 0 || value_list_has_text(person->specializations, trade);
}

bool planner_sees_pool(const struct planner_person *person, const struct planner_policy *policy)
{
    return person->role != ACTOR_EXECUTOR || person->skill >= policy->min_skill_to_take;
}

static bool is_owner(const struct task_facts *f)
{
    return f->actor.id.len > 0 && str_eq(f->task.assigned_to, f->actor.id);
}

static bool takes_part(const struct task_facts *f)
{
    return is_owner(f) || task_has_contributor(&f->task, f->actor.id);
}

/* --- refusals --- */

const char *task_guard_name(enum task_guard guard)
{
    static const char *const names[] = {"none",  "skill",        "trade", "wip",
                                        "owner", "dependencies", "holds", "assignee"};

    return names[guard];
}

#define REFUSE(out, code, ...)                                                                     \
    ((void)err_set(&(out)->err, code, __VA_ARGS__), (out)->verdict = TASK_REFUSED, false)

#define REFUSE_FIELD(out, name, ...)                                                               \
    ((out)->field = (name), REFUSE(out, ERR_VALIDATION_ERROR, __VA_ARGS__))

#define REFUSE_GUARD(out, which, ...)                                                              \
    ((out)->guard = (which), REFUSE(out, ERR_GUARD_FAILED, __VA_ARGS__))

/* --- payload --- */

static bool check_texts(const struct task_request *r, enum task_action action,
                        struct task_decision *out)
{
    const char *needs = action_needs[action];

    while (*needs != '\0') {
        size_t len = strcspn(needs, " ");
        struct value v = value_absent();

        if (r->payload.kind == VALUE_MAP)
            v = value_map_get_str(r->payload, str_from(needs, len));
        if (v.kind != VALUE_STRING || str_trim(value_text(v)).len == 0)
            return REFUSE_FIELD(out, needs, "%s needs the text '%.*s' in its payload",
                                task_action_name(action), (int)len, needs);
        needs += len + strspn(needs + len, " ");
    }
    return true;
}

static bool check_escalation(const struct task_request *r, struct task_decision *out)
{
    static const char *const kinds[] = {"material", "access",     "conflict",
                                        "help",     "complexity", "other"};
    struct str kind = value_map_text(r->payload, STR("kind"));

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (str_eq(kind, str_of(kinds[i])))
            return true;
    return REFUSE_FIELD(out, "kind",
                        "kind is one of material, access, conflict, help, complexity, other");
}

static bool check_reject(const struct task_request *r, struct task_decision *out)
{
    struct value defect = value_map_get_str(r->payload, STR("defect"));
    struct value fix = value_map_get_str(r->payload, STR("create_fix"));

    if (defect.kind != VALUE_ABSENT && defect.kind != VALUE_NULL &&
        (defect.kind != VALUE_MAP || value_map_text(defect, STR("description")).len == 0))
        return REFUSE_FIELD(out, "defect", "defect is an object with description and what_to_fix");
    if (fix.kind != VALUE_ABSENT && fix.kind != VALUE_NULL && fix.kind != VALUE_BOOL)
        return REFUSE_FIELD(out, "create_fix", "create_fix is true or false");
    out->makes_fix = value_is_true(fix);
    out->makes_defect = out->makes_fix || defect.kind == VALUE_MAP;
    return true;
}

static bool check_payload(const struct task_facts *f, const struct task_request *r,
                          enum task_action action, struct task_decision *out)
{
    if (!check_texts(r, action, out))
        return false;
    if (action == TASK_ACTION_ESCALATE)
        return check_escalation(r, out);
    if (action == TASK_ACTION_REVIEW_REJECT)
        return check_reject(r, out);
    if (action == TASK_ACTION_SUBMIT && f->misfit.text.len > 0)
        return REFUSE(out, ERR_VALIDATION_ERROR, "%pS", SENTENCE_ARG(f->misfit));
    if (action == TASK_ACTION_SUBMIT && f->task.is_fix &&
        str_trim(value_map_text(r->payload, STR("how_fixed"))).len == 0)
        return REFUSE_FIELD(out, "how_fixed",
                            "submitting a fix needs the text 'how_fixed' in its payload");
    return true;
}

/* --- guards --- */

static bool guard_owner(const struct task_facts *f, struct task_decision *out)
{
    return is_owner(f) || REFUSE_GUARD(out, GUARD_OWNER, "only the owner of the task may do that");
}

static bool guard_take(const struct task_facts *f, struct task_decision *out)
{
    const struct planner_person *p = &f->actor;

    if (p->skill < f->policy.min_skill_to_take)
        return REFUSE_GUARD(out, GUARD_SKILL, "taking tasks needs skill %lld; yours is %lld",
                            (long long)f->policy.min_skill_to_take, (long long)p->skill);
    if (p->skill < f->task.min_skill)
        return REFUSE_GUARD(out, GUARD_SKILL, "this task needs skill %lld; yours is %lld",
                            (long long)f->task.min_skill, (long long)p->skill);
    if (!person_has_trade(p, f->task.required_trade))
        return REFUSE_GUARD(out, GUARD_TRADE, "this task is for the trade %.*s",
                            STR_ARG(f->task.required_trade));
    if (p->active_tasks > 0)
        return REFUSE_GUARD(out, GUARD_WIP, "you own a task already; finish or hand it in first");
    return true;
}

/* `already`: active tasks of the target that this request itself takes away. */
static bool guard_assignee(const struct task_facts *f, int64_t already, struct task_decision *out)
{
    const struct planner_person *p = &f->target;

    if (!p->is_known || p->role != ACTOR_EXECUTOR)
        return REFUSE_GUARD(out, GUARD_ASSIGNEE, "assign_to is no executor of this organisation");
    if (!f->policy.allow_trade_override && !person_has_trade(p, f->task.required_trade))
        return REFUSE_GUARD(out, GUARD_TRADE, "this task is for the trade %.*s",
                            STR_ARG(f->task.required_trade));
    if (p->active_tasks > already)
        return REFUSE_GUARD(out, GUARD_WIP, "that executor owns another task");
    return true;
}

static bool guard_free(const struct task_facts *f, struct task_decision *out)
{
    if (f->task.unmet_dependencies > 0)
        return REFUSE_GUARD(out, GUARD_DEPENDENCIES, "the task depends on %lld that are not done",
                            (long long)f->task.unmet_dependencies);
    if (f->task.open_holds > 0)
        return REFUSE_GUARD(out, GUARD_HOLDS, "the task has %lld holds",
                            (long long)f->task.open_holds);
    return true;
}

static bool check_guards(const struct task_facts *f, enum task_action action,
                         struct task_decision *out)
{
    switch (action) {
    case TASK_ACTION_UNBLOCK:
        return guard_free(f, out);
    case TASK_ACTION_SELF_ASSIGN:
        return guard_take(f, out);
    case TASK_ACTION_ASSIGN:
        return guard_assignee(f, 0, out);
    case TASK_ACTION_REASSIGN:
        if (!guard_free(f, out))
            return false;
        return guard_assignee(f, str_eq(f->target.id, f->task.assigned_to) ? 1 : 0, out);
    case TASK_ACTION_START:
    case TASK_ACTION_SUBMIT:
        return guard_owner(f, out);
    case TASK_ACTION_REVIEW_APPROVE:
        if (actor_manages(f->actor.role))
            return true;
        if (!guard_owner(f, out))
            return false;
        return f->actor.skill >= f->policy.self_check_min_skill ||
               REFUSE_GUARD(out, GUARD_SKILL, "accepting your own work needs skill %lld",
                            (long long)f->policy.self_check_min_skill);
    case TASK_ACTION_ESCALATE:
        return takes_part(f) ||
               REFUSE_GUARD(out, GUARD_OWNER, "only those who take part in the task may escalate");
    case TASK_ACTION_REVIEW_REJECT:
    case TASK_ACTION_SHIFT_RELEASE:
    case TASK_ACTION_RECALL_TO_POOL:
    case TASK_ACTION_CANCEL:
    case TASK_ACTION_BLOCK:
    case TASK_ACTION_COUNT:
        break;
    }
    return true;
}

/* --- the order of the checks --- */

static bool is_repeated(struct arena *mem, const struct task_facts *f, const struct task_request *r,
                        struct task_decision *out)
{
    struct buf json;
    struct err err;

    buf_init_arena(&json, mem);
    if (!json_write(&json, payload_normalise(mem, r->payload), &err))
        return REFUSE(out, ERR_VALIDATION_ERROR, "%pS", ERR_ARG(&err));
    if (str_eq(f->event.actor_id, f->actor.id) && str_eq(f->event.action, r->action) &&
        str_eq(f->event.payload_json, buf_view(&json))) {
        out->verdict = TASK_REPEATED;
        return true;
    }
    return REFUSE(out, ERR_IDEMPOTENCY_CONFLICT,
                  "this client_event_id was used for another request about this task");
}

bool planner_read_action(struct str name, enum task_action *out, struct err *err)
{
    if (str_starts_with(name, STR("qc_")))
        return err_set(err, ERR_ACTION_FORBIDDEN,
                       "quality control inspects deliverables; it never moves a task");
    if (!task_action_read(name, out) || *out == TASK_ACTION_BLOCK)
        return err_set(err, ERR_UNKNOWN_ACTION, "there is no action '%.*s'",
                       (int)(name.len < 60 ? name.len : 60), name.ptr);
    return true;
}

static bool check_action(const struct task_request *r, enum task_action *action,
                         struct task_decision *out)
{
    if (planner_read_action(r->action, action, &out->err))
        return true;
    out->verdict = TASK_REFUSED;
    return false;
}

/* A reassignment is a recall and an assignment. */
static bool may_move(const struct task *task, enum task_action action)
{
    struct task_step step;

    return task_fsm(task->status,
                    action == TASK_ACTION_REASSIGN ? TASK_ACTION_RECALL_TO_POOL : action, true,
                    &step);
}

static bool check_all(const struct task_facts *f, const struct task_request *r,
                      enum task_action action, struct task_decision *out)
{
    if (!role_may(f->actor.role, action, takes_part(f)))
        return REFUSE(out, ERR_FORBIDDEN, "the role %.*s may not %s", STR_ARG(f->actor.role_name),
                      task_action_name(action));
    if (r->expected_row_version != f->task.row_version)
        return REFUSE(out, ERR_VERSION_CONFLICT, "the task has row_version %lld now",
                      (long long)f->task.row_version);
    if (!may_move(&f->task, action))
        return REFUSE(out, ERR_TRANSITION_NOT_ALLOWED, "a task that is %s cannot %s",
                      task_status_name(f->task.status), task_action_name(action));
    return check_payload(f, r, action, out) && check_guards(f, action, out);
}

/* --- what is accepted --- */

static void add_row(const struct task_facts *f, const struct task_request *r,
                    enum task_action action, struct task_decision *out)
{
    struct task_transition *row = &out->rows[out->count++];
    struct value payload =
        action == TASK_ACTION_SUBMIT && f->filled.kind == VALUE_MAP ? f->filled : r->payload;
    struct task_step step;

    if (!task_fsm(out->after.status, action, task_is_free(&f->task), &step))
        PANIC("a transition that was checked does not exist");
    *row = (struct task_transition){
        .task_id = f->task.id,
        .action = action,
        .from = out->after.status,
        .to = step.to,
        .actor_id = f->actor.id,
        .actor_role = f->actor.role_name,
        .payload = payload.kind == VALUE_MAP ? payload : value_map_empty(),
        .client_event_id = r->client_event_id,
        .expected_row_version = out->after.row_version,
        .result_row_version = out->after.row_version + 1,
        .created_at_us = f->now_us,
    };
    task_move(&out->after, row);
    out->effects |= step.effects;
}

void planner_decide(struct arena *mem, const struct task_facts *facts,
                    const struct task_request *request, struct task_decision *out)
{
    enum task_action action;

    *out = (struct task_decision){.after = facts->task};
    if (facts->event.action.len > 0) {
        (void)is_repeated(mem, facts, request, out);
        return;
    }
    if (!check_action(request, &action, out) || !check_all(facts, request, action, out))
        return;
    out->verdict = TASK_ACCEPTED;
    if (action == TASK_ACTION_REASSIGN) {
        add_row(facts, request, TASK_ACTION_RECALL_TO_POOL, out);
        action = TASK_ACTION_ASSIGN;
    }
    add_row(facts, request, action, out);
}

void planner_decide_new(const struct task_facts *facts, const struct task_request *request,
                        struct task_decision *out)
{
    *out = (struct task_decision){.after = facts->task};
    if (!guard_free(facts, out) || !guard_assignee(facts, 0, out))
        return;
    out->verdict = TASK_ACCEPTED;
    add_row(facts, request, TASK_ACTION_ASSIGN, out);
}

/* A row that nobody has asked for. */
static struct task_transition row_of_system(const struct task *task, enum task_action action,
                                            enum task_status to, int64_t now_us)
{
    return (struct task_transition){
        .task_id = task->id,
        .action = action,
        .from = task->status,
        .to = to,
        .actor_role = STR("system"),
        .payload = value_map_empty(),
        .expected_row_version = task->row_version,
        .result_row_version = task->row_version + 1,
        .created_at_us = now_us,
    };
}

struct task_transition planner_cancel(const struct task *task, struct value payload, int64_t now_us)
{
    struct task_transition row = row_of_system(task, TASK_ACTION_CANCEL, TASK_CANCELED, now_us);

    row.payload = payload;
    return row;
}

unsigned planner_actions(struct arena *mem, const struct task_facts *facts)
{
    struct task_facts f = *facts;
    unsigned actions = 0;

    (void)mem;
    /* Whom a task may be given to is not asked here. */
    f.target = (struct planner_person){.id = STR("?"), .role = ACTOR_EXECUTOR, .is_known = true};
    f.policy.allow_trade_override = true;
    for (unsigned i = 0; i < TASK_ACTION_COUNT; i++) {
        enum task_action action = (enum task_action)i;
        struct task_decision out = {0};

        if (action != TASK_ACTION_BLOCK && role_may(f.actor.role, action, takes_part(&f)) &&
            may_move(&f.task, action) && check_guards(&f, action, &out))
            actions |= 1u << i;
    }
    return actions;
}

bool planner_reexamine(const struct task *task, int64_t now_us, struct task_transition *out)
{
    bool is_free = task_is_free(task);
    enum task_action action;

    if (task->status == TASK_AVAILABLE && !is_free)
        action = TASK_ACTION_BLOCK;
    else if (task->status == TASK_BLOCKED && is_free)
        action = TASK_ACTION_UNBLOCK;
    else
        return false;
    *out = row_of_system(task, action, action == TASK_ACTION_BLOCK ? TASK_BLOCKED : TASK_AVAILABLE,
                         now_us);
    return true;
}
