/* planner.c - calls that change tasks and what is around them; see planner.h. */
#include "api/people/planner.h"
#include "api/api.h"
#include "api/repeat.h"
#include "api/stream/events.h"
#include "value/json.h"
#include "value/object.h"

static const struct body_field planner_task_fields[] = {
#define TASK_FIELD(symbol, name, field_kind, required, field_max)                                  \
    {name, .kind = BODY_##field_kind, .is_required = required, .max = field_max},
#include "define/catalog/task_fields.def"
#undef TASK_FIELD
    {0},
};

struct planner_person planner_actor(const struct call *c)
{
    struct str role = str_of(role_name(c->role));

    return (struct planner_person){
        .id = c->user.id, .role = actor_role_read(role), .role_name = role};
}

/* A change with all that the call says. */
static struct planner_change *planner_change_new(struct call *c, change_apply_fn *apply)
{
    struct planner_change *p = ARENA_NEW(c->mem, struct planner_change);

    *p = (struct planner_change){.change = {.apply = apply, .announces = "task."},
                                 .org_id = c->user.org_id,
                                 .actor = planner_actor(c),
                                 .id = c->params[0],
                                 .other_id = c->params[1],
                                 .body = value_map_empty()};
    if (!uuid_read(api_new_id(c->api, c->mem), &p->seed))
        PANIC("an id of our own is no UUID");
    return p;
}

static void planner_refuse(struct call *c, const struct node_request *r)
{
    const struct planner_change *p = (const struct planner_change *)r->change;
    struct findings findings = {0};
    struct buf more;

    buf_init_arena(&more, c->mem);
    if (r->err.code == ERR_GUARD_FAILED)
        object_text(&more, "guard", str_of(task_guard_name(p->guard)));
    if (r->err.code == ERR_VERSION_CONFLICT)
        object_int(&more, "current_row_version", p->current_row_version);
    if (r->err.code == ERR_VALIDATION_ERROR)
        findings = p->findings;
    if (r->err.code == ERR_VALIDATION_ERROR && p->field != NULL)
        body_finding(c->mem, &findings,
                     str_copy(c->mem, str_from(p->field, strcspn(p->field, " "))).ptr, "bad_value",
                     "%pS", ERR_ARG(&r->err));
    repeat_or_refuse(c, &r->idempotency, &r->err, &findings, buf_view(&more));
}

/* Listeners are notified, and the planner looks again when something is due. */
static void planner_applied(struct call *c, const struct planner_change *p)
{
    node_tasks_changed(c->node);
    if (p->task_id.len > 0)
        events_hear_task(api_parts(c->api)->events,
                         &(struct task_news){.id = p->task_id,
                                             .org_id = p->org_id,
                                             .project_id = p->project_id,
                                             .status = str_of(task_status_name(p->status)),
                                             .at_us = p->change.now_us});
}

static void planner_changed(struct node_request *r)
{
    struct call *c = r->owner;

    if (!r->ok) {
        planner_refuse(c, r);
        return;
    }
    planner_applied(c, (const struct planner_change *)r->change);
    repeat_changed(r);
}

/* Ask the store for the change; answers the call. `audit` may be NULL. */
static void planner_submit(struct call *c, struct planner_change *p, const char *audit)
{
    call_submit_change(c, &p->change, planner_changed, audit, p->id.len > 0 ? p->id : p->org_id,
                       STR_NONE);
}

static void planner_call(struct call *c, change_apply_fn *apply, const char *audit,
                         const struct body_field *fields)
{
    struct planner_change *p = planner_change_new(c, apply);

    if (call_body_bounded(c, fields, &p->body))
        planner_submit(c, p, audit);
}

#define PLANNER_CALL(handler, apply, audit, ...)                                                   \
    void handler(struct call *c)                                                                   \
    {                                                                                              \
        static const struct body_field fields[] = {__VA_ARGS__};                                   \
        planner_call(c, apply, audit, fields);                                                     \
    }
#include "api/people/planner.def"
#undef PLANNER_CALL

/* --- tasks --- */

void tasks_create(struct call *c)
{
    planner_call(c, planner_create_apply, "task.create", planner_task_fields);
}

/* client_event_id and expected_row_version, which every move needs. */
static bool take_event(struct call *c, struct planner_change *p)
{
    struct value event = value_map_get_str(p->body, STR("client_event_id"));

    p->request.client_event_id = value_text(event);
    p->request.expected_row_version = value_map_get_str(p->body, STR("expected_row_version")).i;
    return p->request.client_event_id.len <= 200 ||
           call_refuse_field(c, "client_event_id", "bad_value",
                             "client_event_id has at most 200 bytes");
}

#define EVENT_FIELDS                                                                               \
    {"client_event_id", .kind = BODY_TEXT, .is_required = true, .max = 200},                       \
    {                                                                                              \
        "expected_row_version", .kind = BODY_INT, .is_required = true, .max = INT64_MAX            \
    }

void tasks_move(struct call *c)
{
    static const struct body_field fields[] = {
        EVENT_FIELDS,
        {"action", .kind = BODY_TEXT, .is_required = true, .max = 100},
        {"payload", .kind = BODY_OBJECT},
        {0}};
    struct planner_change *p = planner_change_new(c, planner_move_apply);

    if (!call_body_bounded(c, fields, &p->body) || !take_event(c, p))
        return;
    p->request.action = value_text(value_map_get_str(p->body, STR("action")));
    p->request.payload = value_map_get_str(p->body, STR("payload"));
    if (p->request.payload.kind != VALUE_MAP)
        p->request.payload = value_map_empty();
    planner_submit(c, p, NULL);
}

void tasks_split(struct call *c)
{
    static const struct body_field fields[] = {
        EVENT_FIELDS,
        {"subtasks", .kind = BODY_OBJECTS, .is_required = true, .of = planner_task_fields},
        {0}};
    struct planner_change *p = planner_change_new(c, planner_split_apply);

    if (!call_body_bounded(c, fields, &p->body) || !take_event(c, p))
        return;
    p->request.payload = value_map_empty();
    planner_submit(c, p, "task.split");
}

/* Whether the body has a status, also where other members are wrong. */
static bool names_status(const struct call *c)
{
    struct value body;
    struct err err;

    return json_read(c->mem, c->http->body, &body, &err) && body.kind == VALUE_MAP &&
           value_map_get_str(body, STR("status")).kind != VALUE_ABSENT;
}

/* A patch that the store refuses, to whom may patch at all. */
static struct value status_alone(struct arena *mem)
{
    return value_map_of(mem, VALUE_ENTRIES({value_key(STR("status")), value_null()}));
}

void tasks_patch(struct call *c)
{
    static const struct body_field fields[] = {
        {"expected_row_version", .kind = BODY_INT, .is_required = true, .max = INT64_MAX},
        {"title", .kind = BODY_TEXT, .max = 500},
        {"project_id", .kind = BODY_TEXT, .max = 200},
        {"description", .kind = BODY_TEXT, .max = 20000},
        {"required_trade", .kind = BODY_TEXT, .max = 200},
        {"min_skill", .kind = BODY_INT, .max = 10},
        {"priority", .kind = BODY_SIGNED},
        {"deliverable_id", .kind = BODY_TEXT, .max = 200},
        {"due_at", .kind = BODY_TIME},
        {0}};
    struct planner_change *p = planner_change_new(c, planner_patch_apply);
    struct value title;

    if (names_status(c)) {
        p->body = status_alone(c->mem);
        planner_submit(c, p, NULL);
        return;
    }
    if (!call_body_bounded(c, fields, &p->body))
        return;
    title = value_map_get_str(p->body, STR("title"));
    if (title.kind == VALUE_NULL || (title.kind == VALUE_STRING && title.len == 0)) {
        call_refuse_field(c, "title", "bad_value", "a task has a title");
        return;
    }
    p->expected_row_version = value_map_get_str(p->body, STR("expected_row_version")).i;
    planner_submit(c, p, "task.patch");
}
