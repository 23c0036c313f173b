/* planner.c - calls that change tasks and what is around them; see planner.h. */
#include "api/planner.h"
#include "api/api.h"
#include "api/events.h"
#include "api/repeat.h"
#include "value/json.h"
#include "value/object.h"

struct planner_person planner_actor(const struct call *c)
{
    struct str role = str_of(role_name(c->role));

    return (struct planner_person){
        .id = c->user.id, .role = actor_role_read(role), .role_name = role};
}

struct planner_change *planner_change_new(struct call *c, planner_apply_fn *apply)
{
    struct planner_change *p = ARENA_NEW(c->mem, struct planner_change);

    *p = (struct planner_change){.change = {.apply = apply, .tells = "task."},
                                 .org_id = c->user.org_id,
                                 .actor = planner_actor(c),
                                 .id = c->params[0],
                                 .other_id = c->params[1],
                                 .body = value_map_empty()};
    if (!uuid_read(api_new_id(c->api, c->mem), &p->seed))
        PANIC("an id of our own is no UUID");
    return p;
}

static void refuse(struct call *c, const struct node_request *r)
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
                     str_of(r->err.message));
    repeat_or_refuse(c, &r->idempotency, &r->err, &findings, buf_view(&more));
}

/* Who listens is told, and what time brings may come sooner. */
void planner_applied(struct call *c, const struct planner_change *p)
{
    node_planner_nudge(c->node);
    if (p->task_id.len > 0)
        events_hear_task(api_events(c->api),
                         &(struct task_news){.id = p->task_id,
                                             .org_id = p->org_id,
                                             .project_id = p->project_id,
                                             .status = str_of(task_status_name(p->status)),
                                             .at_us = p->change.now_us});
}

static void changed(struct node_request *r)
{
    struct call *c = r->owner;

    if (r->ok)
        planner_applied(c, (const struct planner_change *)r->change);
    if (!r->ok)
        refuse(c, r);
    else if (r->stored_status != 0)
        call_answer_again(c, r->stored_status, r->stored_answer);
    else if (r->change->answer_status == 204)
        call_answer_nothing(c);
    else
        call_answer(c, r->change->answer_status, r->change->answer_json);
}

void planner_submit(struct call *c, struct planner_change *p, const char *audit)
{
    struct node_request *r = call_change(c, &p->change, changed);

    if (r == NULL)
        return;
    if (audit != NULL)
        call_audit(c, r, audit, p->id.len > 0 ? p->id : p->org_id, STR_NONE);
    call_submit(c, r);
}

static void planner_call(struct call *c, planner_apply_fn *apply, const char *audit,
                         const struct planner_field *fields)
{
    struct planner_change *p = planner_change_new(c, apply);

    if (planner_body(c, fields, &p->body))
        planner_submit(c, p, audit);
}

#define PLANNER_CALL(handler, apply, audit, ...)                                                   \
    void handler(struct call *c);                                                                  \
    void handler(struct call *c)                                                                   \
    {                                                                                              \
        static const struct planner_field fields[] = {__VA_ARGS__};                                \
        planner_call(c, apply, audit, fields);                                                     \
    }
#include "api/planner.def"
#undef PLANNER_CALL

/* --- tasks --- */

void tasks_create(struct call *c)
{
    struct planner_change *p = planner_change_new(c, planner_create_apply);

    if (planner_body(c, planner_task_fields, &p->body))
        planner_submit(c, p, "task.create");
}

/* client_event_id and expected_row_version, which every move needs. */
static bool take_event(struct call *c, struct planner_change *p)
{
    struct value event = value_map_get_str(p->body, STR("client_event_id"));

    p->request.client_event_id = value_text(event);
    p->request.expected_row_version = value_map_get_str(p->body, STR("expected_row_version")).i;
    if (p->request.client_event_id.len <= 200)
        return true;
    call_refuse_field(c, "client_event_id", "bad_value", "client_event_id has at most 200 bytes");
    return false;
}

#define EVENT_FIELDS                                                                               \
    {"client_event_id", .kind = TAKES_TEXT, .is_required = true, .max = 200},                      \
    {                                                                                              \
        "expected_row_version", .kind = TAKES_INT, .is_required = true, .max = INT64_MAX           \
    }

void tasks_move(struct call *c)
{
    static const struct planner_field fields[] = {
        EVENT_FIELDS,
        {"action", .kind = TAKES_TEXT, .is_required = true, .max = 100},
        {"payload", .kind = TAKES_OBJECT},
        {0}};
    struct planner_change *p = planner_change_new(c, planner_move_apply);

    if (!planner_body(c, fields, &p->body) || !take_event(c, p))
        return;
    p->request.action = value_text(value_map_get_str(p->body, STR("action")));
    p->request.payload = value_map_get_str(p->body, STR("payload"));
    if (p->request.payload.kind != VALUE_MAP)
        p->request.payload = value_map_empty();
    planner_submit(c, p, NULL);
}

void tasks_split(struct call *c)
{
    static const struct planner_field fields[] = {
        EVENT_FIELDS, {"subtasks", .kind = TAKES_TASKS, .is_required = true}, {0}};
    struct planner_change *p = planner_change_new(c, planner_split_apply);

    if (!planner_body(c, fields, &p->body) || !take_event(c, p))
        return;
    p->request.payload = value_map_empty();
    planner_submit(c, p, "task.split");
}

/* Whatever else is wrong with the body. */
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
    struct value_entry *entry = ARENA_NEW(mem, struct value_entry);
    size_t duplicate;

    *entry = (struct value_entry){value_key(STR("status")), value_null()};
    return value_map_make(mem, entry, 1, &duplicate);
}

void tasks_patch(struct call *c)
{
    static const struct planner_field fields[] = {
        {"expected_row_version", .kind = TAKES_INT, .is_required = true, .max = INT64_MAX},
        {"title", .kind = TAKES_TEXT, .max = 500},
        {"project_id", .kind = TAKES_TEXT, .max = 200},
        {"description", .kind = TAKES_TEXT, .max = 20000},
        {"required_trade", .kind = TAKES_TEXT, .max = 200},
        {"min_skill", .kind = TAKES_INT, .max = 10},
        {"priority", .kind = TAKES_SIGNED},
        {"deliverable_id", .kind = TAKES_TEXT, .max = 200},
        {"due_at", .kind = TAKES_TIME},
        {0}};
    struct planner_change *p = planner_change_new(c, planner_patch_apply);
    struct value title;

    if (names_status(c)) {
        p->body = status_alone(c->mem);
        planner_submit(c, p, NULL);
        return;
    }
    if (!planner_body(c, fields, &p->body))
        return;
    title = value_map_get_str(p->body, STR("title"));
    if (title.kind == VALUE_NULL || (title.kind == VALUE_STRING && title.len == 0)) {
        call_refuse_field(c, "title", "bad_value", "a task has a title");
        return;
    }
    p->expected_row_version = value_map_get_str(p->body, STR("expected_row_version")).i;
    planner_submit(c, p, "task.patch");
}
