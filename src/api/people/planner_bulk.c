/*
 * planner_bulk.c - many tasks are assigned, recalled or canceled at once.
 *
 * Each is moved for itself, as if it had been asked for alone, on the version
 * that was read: who was faster keeps the task. `assign_to` may be a list, whose
 * people get one task each, in turn.
 */
#include "api/api.h"
#include "api/bulk.h"
#include "api/people/planner.h"
#include "store/read_planner.h"

struct planner_bulk {
    struct bulk bulk; /* first: see bulk.h */
    struct task_filter filter;
    enum task_action action;
    struct value payload;
    size_t assigned;    /* how many tasks were given to people of the list */
    struct tasks tasks; /* the page */
};

static struct planner_bulk *tasks_of_bulk(const struct bulk *b)
{
    return (struct planner_bulk *)b;
}

static bool tasks_read_page(struct bulk *b, struct reader *reader, size_t *count, struct err *err)
{
    struct planner_bulk *p = tasks_of_bulk(b);
    struct task_filter filter = p->filter;
    struct tasks all;

    p->tasks = (struct tasks){0};
    filter.cursor = b->cursor;
    filter.limit = b->page_limit;
    if (!read_tasks(reader, &b->page_mem, &filter, &all, &b->next, err))
        return false;
    for (size_t i = 0; i < all.count; i++)
        if (all.items[i].created_at_us <= b->asked_at_us)
            *VEC_ADD(&b->page_mem, &p->tasks) = all.items[i];
    *count = p->tasks.count;
    return true;
}

static void tasks_clear(struct bulk *b)
{
    tasks_of_bulk(b)->tasks = (struct tasks){0};
}

static bool tasks_add(struct bulk *b, struct reader *reader, struct uuid id, size_t *bytes,
                      struct err *err)
{
    struct planner_bulk *p = tasks_of_bulk(b);
    struct task t;
    bool found;

    *bytes = 0;
    if (!read_task(reader, &b->page_mem, p->filter.org_id, uuid_text(&b->page_mem, id),
                   p->filter.now_us, &t, &found, err))
        return false;
    if (!found)
        return true;
    *VEC_ADD(&b->page_mem, &p->tasks) = t;
    *bytes = sizeof(t) + t.title.len + t.description.len;
    return true;
}

static struct uuid task_uuid(const struct bulk *b, size_t i)
{
    struct uuid id = {{0}};

    return uuid_read(tasks_of_bulk(b)->tasks.items[i].id, &id) ? id : (struct uuid){{0}};
}

static bool task_allows(const struct bulk *b, size_t i)
{
    struct task_step step;

    return task_fsm(tasks_of_bulk(b)->tasks.items[i].status, tasks_of_bulk(b)->action, true, &step);
}

/* The payload of one member: of a list of people the next one. */
static struct value payload_of(struct planner_bulk *p)
{
    struct value people = value_map_get_str(p->payload, STR("assign_to"));
    struct value_entry *entries;
    size_t duplicate;

    if (people.kind != VALUE_LIST)
        return p->payload;
    entries = ARENA_ARRAY(&p->bulk.page_mem, p->payload.len, struct value_entry);
    for (uint32_t i = 0; i < p->payload.len; i++) {
        entries[i] = p->payload.map->entries[i];
        if (str_eq(value_text(entries[i].key), STR("assign_to")))
            entries[i].value = p->assigned < people.len ? people.items[p->assigned] : value_null();
    }
    p->assigned++;
    return value_map_make(&p->bulk.page_mem, entries, p->payload.len, &duplicate);
}

static void task_act(struct bulk *b, size_t i, struct bulk_member *m)
{
    struct planner_bulk *p = tasks_of_bulk(b);
    const struct task *t = &p->tasks.items[i];
    struct planner_change *change = ARENA_NEW(&b->page_mem, struct planner_change);

    *change = (struct planner_change){.change = {.apply = planner_move_apply,
                                                 .announces = "task.",
                                                 .now_us = api_now_us(b->call->api)},
                                      .org_id = p->filter.org_id,
                                      .actor = planner_actor(b->call),
                                      .id = t->id,
                                      .request = {.action = str_of(task_action_name(p->action)),
                                                  .expected_row_version = t->row_version,
                                                  .payload = payload_of(p)}};
    if (!uuid_read(api_new_id(b->call->api, &b->page_mem), &change->seed))
        PANIC("an id of our own is no UUID");
    change->request.client_event_id =
        str_printf(&b->page_mem, "bulk-%s", UUID_STR(change->seed).ptr);
    m->request.kind = NODE_CHANGE;
    m->request.change = &change->change;
    bulk_ask(m);
}

/* Somebody else has moved the task first: it is skipped. */
static bool task_is_skipped(const struct bulk *b, const struct err *err)
{
    (void)b;
    return err->code == ERR_TRANSITION_NOT_ALLOWED;
}

static const struct bulk_kind tasks_kind = {
    .name = "task",
    .id_name = "id",
    .read = tasks_read_page,
    .clear = tasks_clear,
    .add = tasks_add,
    .id = task_uuid,
    .allows = task_allows,
    .act = task_act,
    .is_skipped = task_is_skipped,
};

static bool take_action(struct planner_bulk *p, struct call *c, struct value action)
{
    struct err err;

    if (!planner_read_action(value_text(action), &p->action, &err))
        return call_refuse(c, &err);
    if (p->action == TASK_ACTION_ASSIGN || p->action == TASK_ACTION_RECALL_TO_POOL ||
        p->action == TASK_ACTION_CANCEL) {
        p->bulk.action = task_action_name(p->action);
        return true;
    }
    return call_refuse_field(c, "action", "bad_value",
                             "action is assign, recall_to_pool or cancel");
}

static enum wanted wanted_of(struct value v)
{
    return v.kind != VALUE_BOOL ? WANTED_ANY : value_is_true(v) ? WANTED_YES : WANTED_NO;
}

/* A filter with what GET /tasks takes. */
static bool tasks_take_filter(struct planner_bulk *p, struct call *c, struct value filter)
{
    static const struct body_field fields[] = {{"status", .kind = BODY_TEXT},
                                               {"project_id", .kind = BODY_TEXT},
                                               {"assigned_to", .kind = BODY_TEXT},
                                               {"required_trade", .kind = BODY_TEXT},
                                               {"overdue", .kind = BODY_BOOL},
                                               {"needs_attention", .kind = BODY_BOOL},
                                               {0}};
    struct findings findings = {0};
    struct value checked;
    enum task_status status;
    struct err err;

    if (!body_object_bounded(c->mem, filter, fields, &checked, &findings, &err))
        return call_refuse_with(c, &err, &findings, STR_NONE);
    p->filter.status = value_map_text(checked, STR("status"));
    p->filter.project_id = value_map_text(checked, STR("project_id"));
    p->filter.assigned_to = value_map_text(checked, STR("assigned_to"));
    p->filter.required_trade = value_map_text(checked, STR("required_trade"));
    p->filter.is_overdue = wanted_of(value_map_get_str(checked, STR("overdue")));
    p->filter.needs_attention = wanted_of(value_map_get_str(checked, STR("needs_attention")));
    return p->filter.status.len == 0 || task_status_read(p->filter.status, &status) ||
           call_refuse_field(c, "filter", "bad_value", "filter.status is no status of a task");
}

void tasks_bulk(struct call *c)
{
    struct planner_bulk *p = ARENA_NEW(c->mem, struct planner_bulk);
    struct value payload;
    struct bulk_body body = {0};
    const struct body_field fields[] = {
        BULK_FIELDS(body),
        {"payload", BODY_OBJECT, false, .out = &payload},
    };

    *p = (struct planner_bulk){
        .bulk = {.kind = &tasks_kind},
        .filter = {.org_id = c->user.org_id, .now_us = api_now_us(c->api)},
    };
    if (!call_body(c, fields, ARRAY_SIZE(fields)) || !take_action(p, c, body.action) ||
        (body.filter.kind == VALUE_MAP && !tasks_take_filter(p, c, body.filter)))
        return;
    p->payload = payload.kind == VALUE_MAP ? payload : value_map_empty();
    if (bulk_take(&p->bulk, c, &body))
        bulk_start(&p->bulk);
}
