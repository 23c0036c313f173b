/* planner_read.c - tasks and what is around them, for those who look; see planner.h. */
#include "api/api.h"
#include "api/lookup.h"
#include "api/planner.h"
#include "value/object.h"

enum { LIST_LIMIT = 50 };

/* What all of them begin with. */
struct looking {
    struct task_filter filter;
    struct planner_person person;
    struct str id; /* of the path */
    enum planner_list list;
};

static struct looking *looking_new(struct call *c)
{
    struct looking *l = ARENA_NEW(c->mem, struct looking);

    *l = (struct looking){.person = planner_actor(c),
                          .id = c->params[0],
                          .filter = {.org_id = c->user.org_id,
                                     .cursor = http_query(c->http, "cursor"),
                                     .now_us = api_now_us(c->api)}};
    return l;
}

static bool take_wanted(struct call *c, const char *name, enum wanted *out)
{
    struct str text = http_query(c->http, name);

    *out = str_eq(text, STR("true"))    ? WANTED_YES
           : str_eq(text, STR("false")) ? WANTED_NO
                                        : WANTED_ANY;
    if (text.len == 0 || *out != WANTED_ANY)
        return true;
    call_refuse_text(c, ERR_BAD_REQUEST, "%s is true or false", name);
    return false;
}

/* --- tasks --- */

static bool show_tasks(struct lookup *q, const struct looking *l, const struct tasks *tasks,
                       const struct planner_policy *policy, struct str next)
{
    buf_text(&q->answer, "{\"items\":[");
    for (size_t i = 0; i < tasks->count; i++) {
        object_next(&q->answer);
        task_show_for(q->mem, &q->answer, &tasks->items[i], &l->person, policy, l->filter.now_us);
    }
    buf_char(&q->answer, ']');
    object_text(&q->answer, "nextCursor", next);
    buf_char(&q->answer, '}');
    return true;
}

static bool run_list(struct lookup *q, struct reader *reader, struct err *err)
{
    struct looking *l = q->args;
    struct planner_policy policy;
    struct tasks tasks;
    struct str next;

    return read_person(reader, q->mem, l->filter.org_id, &l->person, &policy, err) &&
           read_tasks(reader, q->mem, &l->filter, &tasks, &next, err) &&
           show_tasks(q, l, &tasks, &policy, next);
}

/* Texts that are looked for anywhere in a title. */
static struct str like_pattern(struct arena *mem, struct str q)
{
    struct buf out;

    if (q.len == 0)
        return STR_NONE;
    buf_init_arena(&out, mem);
    buf_char(&out, '%');
    for (size_t i = 0; i < q.len; i++) {
        char ch = q.ptr[i];
        if (ch == '%' || ch == '_')
            ch = '_'; /* any one character: near enough, and the same in both databases */
        buf_char(&out, (char)(ch >= 'A' && ch <= 'Z' ? ch - 'A' + 'a' : ch));
    }
    buf_char(&out, '%');
    return buf_view(&out);
}

void tasks_list(struct call *c)
{
    struct looking *l = looking_new(c);
    enum task_status status;

    l->filter.status = http_query(c->http, "status");
    l->filter.project_id = http_query(c->http, "project_id");
    l->filter.assigned_to = http_query(c->http, "assigned_to");
    l->filter.required_trade = http_query(c->http, "required_trade");
    l->filter.q = like_pattern(c->mem, http_query(c->http, "q"));
    if (str_eq(l->filter.assigned_to, STR("me")))
        l->filter.assigned_to = c->user.id;
    if (l->filter.status.len > 0 && !task_status_read(l->filter.status, &status)) {
        call_refuse_text(c, ERR_BAD_REQUEST,
                         "status is one of blocked, available, assigned, in_progress, submitted, "
                         "done, canceled");
        return;
    }
    if (take_wanted(c, "overdue", &l->filter.is_overdue) &&
        take_wanted(c, "needs_attention", &l->filter.needs_attention) &&
        call_limit(c, LIST_LIMIT, &l->filter.limit))
        lookup_start(c, l, run_list, NULL);
}

static bool run_pool(struct lookup *q, struct reader *reader, struct err *err)
{
    struct looking *l = q->args;
    struct planner_policy policy;
    struct tasks tasks = {0};
    struct str next = STR_NONE;

    if (!read_person(reader, q->mem, l->filter.org_id, &l->person, &policy, err))
        return false;
    if (planner_sees_pool(&l->person, &policy) &&
        !read_task_pool(reader, q->mem, &l->person, &l->filter, &tasks, &next, err))
        return false;
    return show_tasks(q, l, &tasks, &policy, next);
}

void tasks_pool(struct call *c)
{
    struct looking *l = looking_new(c);

    l->filter.project_id = http_query(c->http, "project_id");
    if (call_limit(c, LIST_LIMIT, &l->filter.limit))
        lookup_start(c, l, run_pool, NULL);
}

/* The task of the path; false and ERR_NOT_FOUND when it is not of the organisation. */
static bool find_task(struct lookup *q, struct reader *reader, struct task *out, struct err *err)
{
    const struct looking *l = q->args;
    bool found;

    if (!read_task(reader, q->mem, l->filter.org_id, l->id, l->filter.now_us, out, &found, err))
        return false;
    return found ? true : err_set(err, ERR_NOT_FOUND, "there is no such task");
}

static bool run_get(struct lookup *q, struct reader *reader, struct err *err)
{
    struct looking *l = q->args;
    struct planner_policy policy;
    struct task t;

    if (!find_task(q, reader, &t, err) ||
        !read_person(reader, q->mem, l->filter.org_id, &l->person, &policy, err))
        return false;
    task_show_for(q->mem, &q->answer, &t, &l->person, &policy, l->filter.now_us);
    q->etag = str_printf(q->mem, "\"%lld\"", (long long)t.row_version).ptr;
    return true;
}

void tasks_get(struct call *c)
{
    lookup_start(c, looking_new(c), run_get, NULL);
}

/* --- what belongs to a task, to a deliverable or to the organisation --- */

static bool show_rows(struct lookup *q, struct reader *reader, struct str owner, struct err *err)
{
    const struct looking *l = q->args;
    struct str next;

    buf_text(&q->answer, "{\"items\":[");
    if (!read_planner_rows(reader, q->mem, l->list, owner, l->filter.cursor, l->filter.limit,
                           &q->answer, &next, err))
        return false;
    buf_char(&q->answer, ']');
    object_text(&q->answer, "nextCursor", next);
    buf_char(&q->answer, '}');
    return true;
}

static bool run_rows_of_task(struct lookup *q, struct reader *reader, struct err *err)
{
    struct task t;

    return find_task(q, reader, &t, err) && show_rows(q, reader, t.id, err);
}

static bool run_rows_of_org(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct looking *l = q->args;

    return show_rows(q, reader, l->filter.org_id, err);
}

static bool run_row_of_org(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct looking *l = q->args;
    bool found;

    if (!read_planner_row(reader, q->mem, l->list, l->filter.org_id, l->id, &q->answer, &found,
                          err))
        return false;
    return found ? true : err_set(err, ERR_NOT_FOUND, "there is no such thing");
}

static bool run_inspections(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct looking *l = q->args;
    struct buf unused;
    bool found;

    buf_init_arena(&unused, q->mem);
    if (!read_planner_row(reader, q->mem, PLANNER_DELIVERABLES, l->filter.org_id, l->id, &unused,
                          &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, "there is no such deliverable");
    return show_rows(q, reader, l->id, err);
}

static void list_rows(struct call *c, enum planner_list list, lookup_run_fn *run)
{
    struct looking *l = looking_new(c);

    l->list = list;
    if (call_limit(c, LIST_LIMIT, &l->filter.limit))
        lookup_start(c, l, run, NULL);
}

/* Ids that a task has, a page of them in their order; each is an object with this one member. */
static bool show_ids(struct lookup *q, struct value ids, const char *member, struct err *err)
{
    const struct looking *l = q->args;
    struct str last = l->filter.cursor;
    int64_t count = 0;
    struct uuid id;

    if (last.len > 0 && !uuid_read(last, &id))
        return err_set(err, ERR_BAD_REQUEST, "this cursor is not one of ours");
    buf_text(&q->answer, "{\"items\":[");
    for (uint32_t i = 0; i < ids.len; i++) {
        struct str text = value_text(ids.items[i]);

        if (str_cmp(text, l->filter.cursor) <= 0)
            continue;
        if (count++ == l->filter.limit)
            break;
        object_next(&q->answer);
        buf_char(&q->answer, '{');
        object_text(&q->answer, member, text);
        buf_char(&q->answer, '}');
        last = text;
    }
    buf_char(&q->answer, ']');
    object_text(&q->answer, "nextCursor", count > l->filter.limit ? last : STR_NONE);
    buf_char(&q->answer, '}');
    return true;
}

static bool run_dependencies(struct lookup *q, struct reader *reader, struct err *err)
{
    struct task t;

    return find_task(q, reader, &t, err) && show_ids(q, t.depends_on, "depends_on", err);
}

static bool run_contributors(struct lookup *q, struct reader *reader, struct err *err)
{
    struct task t;

    return find_task(q, reader, &t, err) && show_ids(q, t.contributors, "user_id", err);
}

static void list_ids(struct call *c, lookup_run_fn *run)
{
    struct looking *l = looking_new(c);

    if (call_limit(c, LIST_LIMIT, &l->filter.limit))
        lookup_start(c, l, run, NULL);
}

void tasks_dependencies(struct call *c)
{
    list_ids(c, run_dependencies);
}

void tasks_contributors(struct call *c)
{
    list_ids(c, run_contributors);
}

void tasks_transitions(struct call *c)
{
    list_rows(c, PLANNER_TRANSITIONS, run_rows_of_task);
}

void tasks_holds(struct call *c)
{
    list_rows(c, PLANNER_HOLDS, run_rows_of_task);
}

void tasks_escalations(struct call *c)
{
    list_rows(c, PLANNER_ESCALATIONS, run_rows_of_task);
}

void tasks_comments(struct call *c)
{
    list_rows(c, PLANNER_COMMENTS, run_rows_of_task);
}

void tasks_defects(struct call *c)
{
    list_rows(c, PLANNER_DEFECTS_OF_TASK, run_rows_of_task);
}

void defects_list(struct call *c)
{
    list_rows(c, PLANNER_DEFECTS, run_rows_of_org);
}

void deliverables_list(struct call *c)
{
    list_rows(c, PLANNER_DELIVERABLES, run_rows_of_org);
}

void deliverables_inspections(struct call *c)
{
    list_rows(c, PLANNER_INSPECTIONS, run_inspections);
}

void shifts_list(struct call *c)
{
    list_rows(c, PLANNER_SHIFTS, run_rows_of_org);
}

static void get_row(struct call *c, enum planner_list list)
{
    struct looking *l = looking_new(c);

    l->list = list;
    lookup_start(c, l, run_row_of_org, NULL);
}

void defects_get(struct call *c)
{
    get_row(c, PLANNER_DEFECTS);
}

void deliverables_get(struct call *c)
{
    get_row(c, PLANNER_DELIVERABLES);
}

void shifts_get(struct call *c)
{
    get_row(c, PLANNER_SHIFTS);
}

/* --- policy --- */

static bool run_policy(struct lookup *q, struct reader *reader, struct err *err)
{
    struct looking *l = q->args;
    struct planner_policy policy;

    if (!read_person(reader, q->mem, l->filter.org_id, &l->person, &policy, err))
        return false;
    planner_policy_show(&q->answer, &policy);
    return true;
}

void planner_policy_get(struct call *c)
{
    lookup_start(c, looking_new(c), run_policy, NULL);
}
