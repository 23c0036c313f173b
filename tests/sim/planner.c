/* planner.c - see planner.h. */
#include "sim/planner.h"

#include "store/planner.h"
#include "value/json.h"

enum { PLAN_OPEN = 8, PLAN_MAX = 120, REQUESTS_KEPT = 12 };

/* --- who there is --- */

static const struct {
    const char *id;
    enum actor_role role;
    int64_t skill;
    const char *trades;
} people[] = {
    {"e0", ACTOR_EXECUTOR, 2, "[]"},
    {"e1", ACTOR_EXECUTOR, 5, "[\"weld\"]"},
    {"e2", ACTOR_EXECUTOR, 8, "[\"weld\",\"wood\"]"},
    {"e3", ACTOR_EXECUTOR, 9, "[]"},
    {"lead", ACTOR_LEAD, 0, "[]"},
    {"super", ACTOR_SUPERVISOR, 0, "[]"},
    {"system", ACTOR_SYSTEM, 0, "[]"},
};
enum { EXECUTORS = 4, PEOPLE = sizeof(people) / sizeof(people[0]) };

struct plan_task {
    struct task now, first;
    const struct plan_task *after; /* whom it depends on, or NULL */
    struct {
        VEC_OF(struct task_transition);
    } log;
};

/* A request, to be sent again. */
struct plan_request {
    struct plan_task *of;
    struct str event_id, action, payload_json;
    unsigned actor;
    int64_t version;
    unsigned sent;
};

struct plan_event {
    const struct plan_task *of;
    struct str id;
    struct task_event event;
};

struct plan {
    struct {
        VEC_OF(struct plan_task *);
    } tasks;
    struct {
        VEC_OF(struct plan_event);
    } events;
    struct plan_request kept[REQUESTS_KEPT];
    unsigned requests;
};

static struct value read_constant(struct arena *mem, struct str json)
{
    struct value v = value_null();
    struct err err;

    if (!json_read(mem, json, &v, &err))
        PANIC("a constant is no JSON");
    return v;
}

static bool owns(const struct plan_task *t, struct str id)
{
    return task_status_is_active(t->now.status) && str_eq(t->now.assigned_to, id);
}

static int64_t tasks_of(const struct plan *plan, struct str id)
{
    int64_t count = 0;

    for (size_t i = 0; i < plan->tasks.count; i++)
        count += owns(plan->tasks.items[i], id);
    return count;
}

static struct planner_person person_of(struct sim *sim, struct str id)
{
    for (unsigned i = 0; i < PEOPLE; i++)
        if (str_eq(str_of(people[i].id), id))
            return (struct planner_person){
                .id = str_of(people[i].id),
                .role = people[i].role,
                .skill = people[i].skill,
                .specializations = read_constant(&sim->disk.mem, str_of(people[i].trades)),
                .active_tasks = tasks_of(sim->disk.plan, id),
                .is_known = people[i].role == ACTOR_EXECUTOR};
    return (struct planner_person){.id = id};
}

/* --- what must hold of every row --- */

static const struct {
    const char *from, *action, *to;
} moves[] = {
    {"blocked", "unblock", "available"},      {"available", "block", "blocked"},
    {"available", "self_assign", "assigned"}, {"available", "assign", "assigned"},
    {"assigned", "start", "in_progress"},     {"in_progress", "submit", "submitted"},
    {"submitted", "review_approve", "done"},  {"submitted", "review_reject", "in_progress"},
    {"assigned", "shift_release", "pool"},    {"in_progress", "shift_release", "pool"},
    {"assigned", "recall_to_pool", "pool"},   {"in_progress", "recall_to_pool", "pool"},
    {"blocked", "escalate", "blocked"},       {"available", "escalate", "available"},
    {"assigned", "escalate", "assigned"},     {"in_progress", "escalate", "in_progress"},
    {"submitted", "escalate", "submitted"},   {"blocked", "cancel", "canceled"},
    {"available", "cancel", "canceled"},      {"assigned", "cancel", "canceled"},
    {"in_progress", "cancel", "canceled"},    {"submitted", "cancel", "canceled"},
};

static bool is_move(const struct task_transition *row)
{
    const char *from = task_status_name(row->from), *to = task_status_name(row->to);

    for (size_t i = 0; i < ARRAY_SIZE(moves); i++)
        if (strcmp(moves[i].from, from) == 0 &&
            strcmp(moves[i].action, task_action_name(row->action)) == 0)
            return strcmp(moves[i].to, to) == 0 ||
                   (strcmp(moves[i].to, "pool") == 0 &&
                    (row->to == TASK_AVAILABLE || row->to == TASK_BLOCKED));
    return false;
}

static void check_row(struct sim *sim, const struct plan_task *t, const struct task_transition *row)
{
    SIM_CHECK(sim, row->from == t->now.status && is_move(row),
              "task %.*s is %s, and %s takes it from %s to %s", STR_ARG(t->now.id),
              task_status_name(t->now.status), task_action_name(row->action),
              task_status_name(row->from), task_status_name(row->to));
    SIM_CHECK(sim, row->result_row_version == t->now.row_version + 1,
              "a row of the log of a task is of version %lld, after %lld",
              (long long)row->result_row_version, (long long)t->now.row_version);
}

static void check_pool(struct sim *sim)
{
    const struct plan *plan = sim->disk.plan;

    for (unsigned i = 0; i < PEOPLE; i++)
        SIM_CHECK(sim, tasks_of(plan, str_of(people[i].id)) <= 1, "%s owns two tasks at once",
                  people[i].id);
    for (size_t i = 0; i < plan->tasks.count; i++)
        SIM_CHECK(sim,
                  plan->tasks.items[i]->now.status != TASK_AVAILABLE ||
                      task_is_free(&plan->tasks.items[i]->now),
                  "a task is available that something holds up");
}

/* --- applying --- */

static void add_row(struct sim *sim, struct plan_task *t, const struct task_transition *row)
{
    check_row(sim, t, row);
    *VEC_ADD(&sim->disk.mem, &t->log) = *row;
    task_move(&t->now, row);
    sim->disk.tasks_moved++;
    sim_note(sim, (uint64_t)row->result_row_version * 32 + row->action);
}

static void look_again(struct sim *sim, struct plan_task *t)
{
    struct task_transition row;

    t->now.unmet_dependencies = t->after != NULL && t->after->now.status != TASK_DONE;
    if (planner_reexamine(&t->now, sim_wall_us(sim), &row))
        add_row(sim, t, &row);
}

static void look_at_successors(struct sim *sim, const struct plan_task *of)
{
    struct plan *plan = sim->disk.plan;

    for (size_t i = 0; i < plan->tasks.count; i++)
        if (plan->tasks.items[i]->after == of)
            look_again(sim, plan->tasks.items[i]);
}

static struct plan_event *event_find(const struct plan *plan, const struct plan_task *of,
                                     struct str id)
{
    for (size_t i = 0; i < plan->events.count; i++)
        if (plan->events.items[i].of == of && str_eq(plan->events.items[i].id, id))
            return &plan->events.items[i];
    return NULL;
}

static struct plan_task *task_of(const struct plan *plan, struct str id)
{
    for (size_t i = 0; i < plan->tasks.count; i++)
        if (str_eq(plan->tasks.items[i]->now.id, id))
            return plan->tasks.items[i];
    PANIC("there is no such task");
}

static void keep_event(struct sim *sim, const struct plan_task *t, const struct planner_change *c)
{
    struct arena *mem = &sim->disk.mem;
    struct buf json;
    struct err err;

    buf_init_arena(&json, mem);
    if (!json_write(&json, payload_normalise(mem, c->request.payload), &err))
        PANIC("a payload has no JSON form");
    *VEC_ADD(mem, &sim->disk.plan->events) = (struct plan_event){
        .of = t,
        .id = c->request.client_event_id,
        .event = {
            .actor_id = c->actor.id, .action = c->request.action, .payload_json = buf_view(&json)}};
}

/* What was accepted rests on the version that was asked for. */
static void move_write(struct sim *sim, struct plan_task *t, const struct planner_change *c,
                       const struct task_decision *d)
{
    SIM_CHECK(sim, c->request.expected_row_version == t->now.row_version,
              "a transition was accepted for version %lld, and %lld is there",
              (long long)c->request.expected_row_version, (long long)t->now.row_version);
    for (size_t i = 0; i < d->count; i++)
        add_row(sim, t, &d->rows[i]);
    SIM_CHECK(sim,
              t->now.status == d->after.status && t->now.row_version == d->after.row_version &&
                  str_eq(t->now.assigned_to, d->after.assigned_to),
              "the rows of a decision do not make the task that it says");
    keep_event(sim, t, c);
    look_again(sim, t);
    look_at_successors(sim, t);
    check_pool(sim);
}

bool plan_change(struct sim *sim, struct member *m)
{
    struct planner_change *c = (struct planner_change *)(void *)m->change;
    struct task_decision d;
    struct task_facts facts;
    struct plan_event *known;
    struct plan_task *t;

    if (m->change->apply != planner_move_apply)
        return false;
    t = task_of(sim->disk.plan, c->id);
    known = event_find(sim->disk.plan, t, c->request.client_event_id);
    facts = (struct task_facts){
        .task = t->now,
        .actor = person_of(sim, c->actor.id),
        .target = person_of(sim, value_map_text(c->request.payload, STR("assign_to"))),
        .policy = planner_policy_default(),
        .now_us = c->change.now_us};
    if (known != NULL)
        facts.event = known->event;
    planner_decide(&sim->disk.mem, &facts, &c->request, &d);
    m->result = d.verdict == TASK_REFUSED ? MEMBER_FAILED : MEMBER_APPLIED;
    if (d.verdict == TASK_REFUSED)
        m->err = d.err;
    if (d.verdict == TASK_ACCEPTED)
        move_write(sim, t, c, &d);
    sim_note(sim, 9100 + d.verdict);
    return true;
}

/* --- asking --- */

static unsigned rows_of_event(const struct plan_task *t, struct str id)
{
    unsigned count = 0;

    for (size_t i = 0; i < t->log.count; i++)
        count += str_eq(t->log.items[i].client_event_id, id);
    return count;
}

static void move_answered(struct sim *sim, const struct sim_request *q)
{
    const struct planner_change *c = (const struct planner_change *)(const void *)q->r.change;
    const struct plan_task *t = task_of(sim->disk.plan, c->id);
    unsigned rows = rows_of_event(t, c->request.client_event_id);
    unsigned wanted = str_eq(c->request.action, STR("reassign")) ? 2 : 1;

    SIM_CHECK(sim, !q->r.ok || rows == wanted, "I9: a transition was acknowledged and has %u rows",
              rows);
    if (q->r.ok || q->r.err.code == ERR_OUTCOME_UNKNOWN)
        return;
    SIM_CHECK(sim, q->was_sent_again || rows == 0,
              "a transition was refused and has changed the task: %s", q->r.err.message);
    SIM_CHECK(sim,
              q->r.err.code != ERR_VERSION_CONFLICT ||
                  c->request.expected_row_version != t->now.row_version,
              "a transition was refused for its version, which is right");
}

static struct str payload_of(struct sim *sim, struct str action)
{
    if (str_eq(action, STR("assign")) || str_eq(action, STR("reassign")))
        return str_printf(&sim->mem, "{\"assign_to\":\"%s\",\"reason\":\"r\"}",
                          people[dice_roll(&sim->dice, PEOPLE)].id);
    if (str_eq(action, STR("escalate")))
        return STR("{\"kind\":\"help\",\"message\":\"m\"}");
    return dice_roll(&sim->dice, 8) == 0 ? STR("{}") : STR("{\"reason\":\"r\"}");
}

/* Mostly what comes next, by who may. */
static void fill_request(struct sim *sim, struct plan_request *p)
{
    static const char *const actions[] = {
        "self_assign",   "assign",         "start",    "submit", "review_approve", "review_reject",
        "shift_release", "recall_to_pool", "escalate", "cancel", "reassign",       "unblock"};
    static const char *const next[TASK_STATUS_COUNT] = {
        [TASK_BLOCKED] = "unblock",          [TASK_AVAILABLE] = "self_assign",
        [TASK_ASSIGNED] = "start",           [TASK_IN_PROGRESS] = "submit",
        [TASK_SUBMITTED] = "review_approve", [TASK_DONE] = "cancel",
        [TASK_CANCELED] = "escalate"};
    struct plan *plan = sim->disk.plan;
    struct dice *d = &sim->dice;

    *p = (struct plan_request){.of = plan->tasks.items[dice_roll(d, (unsigned)plan->tasks.count)],
                               .event_id = str_printf(&sim->mem, "ev%u", ++plan->requests),
                               .actor = dice_roll(d, PEOPLE)};
    p->action = str_of(dice_roll(d, 3) > 0 ? next[p->of->now.status]
                                           : actions[dice_roll(d, ARRAY_SIZE(actions))]);
    for (unsigned i = 0; i < EXECUTORS && dice_roll(d, 3) > 0; i++)
        if (owns(p->of, str_of(people[i].id)))
            p->actor = i;
    p->payload_json = payload_of(sim, p->action);
    p->version = p->of->now.row_version - (dice_roll(d, 5) == 0 && p->of->now.row_version > 1);
}

/* One of those that were sent before, as it was or saying something else; or a new one. */
static struct plan_request *some_request(struct sim *sim)
{
    struct plan *plan = sim->disk.plan;
    struct plan_request *p = &plan->kept[dice_roll(&sim->dice, REQUESTS_KEPT)];

    if (p->of == NULL || dice_roll(&sim->dice, 3) > 0)
        fill_request(sim, p);
    else if (dice_roll(&sim->dice, 5) == 0)
        p->payload_json = STR("{\"reason\":\"another\"}");
    p->sent++;
    return p;
}

static void ask_move(struct sim *sim)
{
    struct plan_request *p = some_request(sim);
    struct sim_request *q = client_new(sim, NODE_CHANGE);
    struct planner_change *c = ARENA_NEW(&sim->mem, struct planner_change);

    *c = (struct planner_change){
        .change = {.apply = planner_move_apply,
                   .announces = "task.",
                   .now_us = clock_wall_us(&q->at->clock.clock)},
        .actor = {.id = str_of(people[p->actor].id), .role = people[p->actor].role},
        .id = p->of->now.id,
        .request = {.action = p->action,
                    .client_event_id = p->event_id,
                    .expected_row_version = p->version,
                    .payload = read_constant(&sim->mem, p->payload_json)},
        .body = value_map_empty()};
    q->r.change = &c->change;
    q->check = move_answered;
    q->was_sent_again = p->sent > 1;
    /* The answer to the one that was sent first says nothing about those behind it. */
    for (size_t i = 0; i < sim->clients.pending.count; i++) {
        struct sim_request *o = sim->clients.pending.items[i];

        if (o->check == move_answered &&
            str_eq(
                ((const struct planner_change *)(const void *)o->r.change)->request.client_event_id,
                p->event_id))
            o->was_sent_again = true;
    }
    (void)client_submit(sim, q);
}

static void add_task(struct sim *sim)
{
    struct plan *plan = sim->disk.plan;
    struct plan_task *t = ARENA_NEW(&sim->disk.mem, struct plan_task);
    struct dice *d = &sim->dice;

    t->now = (struct task){
        .id = str_printf(&sim->disk.mem, "task%zu", plan->tasks.count),
        .org_id = STR("o"),
        .title = STR("t"),
        .required_trade = dice_roll(d, 3) == 0 ? STR("weld") : STR_NONE,
        .min_skill = dice_roll(d, 7),
        .row_version = 1,
        .depends_on = value_absent(),
        .contributors = value_absent(),
        .result = value_absent(),
    };
    if (plan->tasks.count > 0 && dice_roll(d, 3) == 0)
        t->after = plan->tasks.items[plan->tasks.count - 1];
    t->now.unmet_dependencies = t->after != NULL && t->after->now.status != TASK_DONE;
    t->now.status = task_is_free(&t->now) ? TASK_AVAILABLE : TASK_BLOCKED;
    t->first = t->now;
    *VEC_ADD(&sim->disk.mem, &plan->tasks) = t;
}

void plan_begin(struct sim *sim)
{
    if ((sim->config.mix & MIX_OF(PLANNER)) == 0)
        return;
    sim->disk.plan = ARENA_NEW(&sim->disk.mem, struct plan);
    for (unsigned i = 0; i < PLAN_OPEN; i++)
        add_task(sim);
}

/* Somebody puts a hold on a task, or takes it off: the planner looks at it in the same breath. */
static void hold_some(struct sim *sim)
{
    struct plan *plan = sim->disk.plan;
    struct plan_task *t = plan->tasks.items[dice_roll(&sim->dice, (unsigned)plan->tasks.count)];

    t->now.open_holds = t->now.open_holds == 0;
    look_again(sim, t);
    check_pool(sim);
}

void plan_act(struct sim *sim)
{
    struct plan *plan = sim->disk.plan;
    unsigned open = 0;

    if (plan == NULL)
        return;
    for (size_t i = 0; i < plan->tasks.count; i++)
        open += !task_status_is_terminal(plan->tasks.items[i]->now.status);
    if (open < PLAN_OPEN && plan->tasks.count < PLAN_MAX)
        add_task(sim);
    if (dice_roll(&sim->dice, 10) == 0)
        hold_some(sim);
    else
        ask_move(sim);
}

void plan_check(struct sim *sim)
{
    const struct plan *plan = sim->disk.plan;

    for (size_t i = 0; plan != NULL && i < plan->tasks.count; i++) {
        const struct plan_task *t = plan->tasks.items[i];
        struct task built = t->first;

        for (size_t k = 0; k < t->log.count; k++)
            task_move(&built, &t->log.items[k]);
        SIM_CHECK(sim,
                  built.status == t->now.status && built.row_version == t->now.row_version &&
                      str_eq(built.assigned_to, t->now.assigned_to) &&
                      built.started_at_us == t->now.started_at_us &&
                      built.reviewed_at_us == t->now.reviewed_at_us,
                  "the log of task %.*s does not rebuild it", STR_ARG(t->now.id));
    }
}
