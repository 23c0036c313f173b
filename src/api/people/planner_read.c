/* planner_read.c - tasks and what is around them, for those who look; see planner.h. */
#include "api/api.h"
#include "api/filter.h"
#include "api/list.h"
#include "api/people/planner.h"
#include "base/text/fold.h"
#include "store/read_planner.h"
#include "value/object.h"

/* The arguments of every read. */
struct looking {
    struct list_page list;
    struct task_filter filter;
    struct planner_person person;
    struct str id; /* of the path */
    enum planner_list rows;
    /* lists of tasks */
    bool is_pool;
    struct planner_policy policy;
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
    return text.len == 0 || *out != WANTED_ANY ||
           call_refuse_text(c, ERR_BAD_REQUEST, "%s is true or false", name);
}

/* --- tasks --- */

static bool tasks_read(struct list_page *l)
{
    struct looking *k = (struct looking *)l;
    struct tasks tasks = {0};
    bool ok = true;

    k->filter.cursor = l->cursor;
    k->filter.limit = l->limit;
    if (!read_person(l->reader, l->mem, k->filter.org_id, &k->person, &k->policy, l->err))
        return false;
    if (!k->is_pool)
        ok = read_tasks(l->reader, l->mem, &k->filter, &tasks, &l->next, l->err);
    else if (planner_sees_pool(&k->person, &k->policy))
        ok = read_task_pool(l->reader, l->mem, &k->person, &k->filter, &tasks, &l->next, l->err);
    LIST_ROWS(l, &tasks);
    return ok;
}

static bool tasks_show(struct list_page *l, const void *row)
{
    const struct looking *k = (struct looking *)l;

    task_show_for(l->mem, l->out, row, &k->person, &k->policy, k->filter.now_us);
    return true;
}

static const struct list_kind tasks_kind = {.read = tasks_read, .show = tasks_show};

enum { ID_END_MIN = 6 };

/* A text that is looked for anywhere in a title, or at the end of an id. */
static struct str like_pattern(struct arena *mem, struct str q, const char *behind)
{
    struct buf out;

    if (q.len == 0)
        return STR_NONE;
    q = fold_copy(mem, q);
    buf_init_arena(&out, mem);
    buf_char(&out, '%');
    for (size_t i = 0; i < q.len; i++) {
        /* Any one character: near enough, and the same in both databases. */
        bool is_special = q.ptr[i] == '%' || q.ptr[i] == '_' || q.ptr[i] == '\\';

        buf_char(&out, is_special ? '_' : q.ptr[i]);
    }
    buf_text(&out, behind);
    return buf_view(&out);
}

static const char *task_status_of(unsigned i)
{
    return task_status_name((enum task_status)i);
}

void tasks_list(struct call *c)
{
    struct looking *l = looking_new(c);
    enum task_status status;

    l->filter.status = http_query(c->http, "status");
    l->filter.project_id = http_query(c->http, "project_id");
    l->filter.assigned_to = http_query(c->http, "assigned_to");
    l->filter.required_trade = http_query(c->http, "required_trade");
    l->filter.q = like_pattern(c->mem, http_query(c->http, "q"), "%");
    /* Less would be the end of many ids. */
    if (http_query(c->http, "q").len >= ID_END_MIN)
        l->filter.id_end = like_pattern(c->mem, http_query(c->http, "q"), "");
    if (str_eq(l->filter.assigned_to, STR("me")))
        l->filter.assigned_to = c->user.id;
    if (l->filter.status.len > 0 && !task_status_read(l->filter.status, &status)) {
        struct str names = filter_names(c->mem, task_status_of, TASK_STATUS_COUNT);

        call_refuse_text(c, ERR_BAD_REQUEST, "status is one of %.*s", STR_ARG(names));
        return;
    }
    if (take_wanted(c, "overdue", &l->filter.is_overdue) &&
        take_wanted(c, "needs_attention", &l->filter.needs_attention))
        list_start(c, &l->list, &tasks_kind);
}

void tasks_pool(struct call *c)
{
    struct looking *l = looking_new(c);

    l->is_pool = true;
    l->filter.project_id = http_query(c->http, "project_id");
    list_start(c, &l->list, &tasks_kind);
}

/* The task of the path; false and ERR_NOT_FOUND when it is not of the organisation. */
static bool find_task(struct lookup *q, struct reader *reader, struct task *out, struct err *err)
{
    const struct looking *l = q->args;
    bool found;

    if (!read_task(reader, q->mem, l->filter.org_id, l->id, l->filter.now_us, out, &found, err))
        return false;
    return found || err_set(err, ERR_NOT_FOUND, "there is no such task");
}

static bool task_run_get(struct lookup *q, struct reader *reader, struct err *err)
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
    lookup_start(c, looking_new(c), task_run_get, NULL);
}

/* --- what belongs to a task, to a deliverable or to the organisation --- */

static bool show_rows(struct lookup *q, struct reader *reader, struct str owner, struct err *err)
{
    const struct looking *l = q->args;
    struct str next;

    list_open(&q->answer);
    if (!read_planner_rows(reader, q->mem, l->rows, owner, l->filter.cursor, l->filter.limit,
                           &q->answer, &next, err))
        return false;
    list_close(&q->answer, next);
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

    if (!read_planner_row(reader, q->mem, l->rows, l->filter.org_id, l->id, &q->answer, &found,
                          err))
        return false;
    return found || err_set(err, ERR_NOT_FOUND, "there is no such thing");
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

/* Ids that a task has, a page of them in their order; each is an object with this one member. */
static bool show_ids(struct lookup *q, struct value ids, const char *member, struct err *err)
{
    const struct looking *l = q->args;
    struct str last = l->filter.cursor;
    int64_t count = 0;

    if (!list_cursor_id(last, err))
        return false;
    list_open(&q->answer);
    for (uint32_t i = 0; i < ids.len; i++) {
        struct str text = value_text(ids.items[i]);

        if (str_cmp(text, l->filter.cursor) <= 0)
            continue;
        if (count++ == l->filter.limit)
            break;
        object_item(&q->answer);
        object_text(&q->answer, member, text);
        buf_char(&q->answer, '}');
        last = text;
    }
    list_close(&q->answer, count > l->filter.limit ? last : STR_NONE);
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

static struct looking *looking_at(struct call *c, enum planner_list rows)
{
    struct looking *l = looking_new(c);

    l->rows = rows;
    return l;
}

static void start_page(struct call *c, struct looking *l, lookup_run_fn *run)
{
    if (call_limit(c, LIST_LIMIT, &l->filter.limit))
        lookup_start(c, l, run, NULL);
}

void tasks_dependencies(struct call *c)
{
    start_page(c, looking_new(c), run_dependencies);
}

void tasks_contributors(struct call *c)
{
    start_page(c, looking_new(c), run_contributors);
}

#define PLANNER_ROWS(handler, rows, run)                                                           \
    void handler(struct call *c)                                                                   \
    {                                                                                              \
        start_page(c, looking_at(c, PLANNER_##rows), run);                                         \
    }
#define PLANNER_ROW(handler, rows)                                                                 \
    void handler(struct call *c)                                                                   \
    {                                                                                              \
        lookup_start(c, looking_at(c, PLANNER_##rows), run_row_of_org, NULL);                      \
    }
PLANNER_ROWS(tasks_transitions, TRANSITIONS, run_rows_of_task)
PLANNER_ROWS(tasks_holds, HOLDS, run_rows_of_task)
PLANNER_ROWS(tasks_escalations, ESCALATIONS, run_rows_of_task)
PLANNER_ROWS(tasks_comments, COMMENTS, run_rows_of_task)
PLANNER_ROWS(tasks_defects, DEFECTS_OF_TASK, run_rows_of_task)
PLANNER_ROWS(defects_list, DEFECTS, run_rows_of_org)
PLANNER_ROWS(deliverables_list, DELIVERABLES, run_rows_of_org)
PLANNER_ROWS(deliverables_inspections, INSPECTIONS, run_inspections)
PLANNER_ROWS(shifts_list, SHIFTS, run_rows_of_org)
PLANNER_ROW(defects_get, DEFECTS)
PLANNER_ROW(deliverables_get, DELIVERABLES)
PLANNER_ROW(shifts_get, SHIFTS)

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
