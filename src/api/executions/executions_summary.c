/*
 * executions_summary.c - how many executions there are: by code, status, step, version or error.
 *
 * What lives is counted whole, from an index of its own. What has ended is in
 * no such index: by status it comes from the counters of the store, when the
 * caller may see everything that these count; else of the last day.
 */
#include "api/api.h"
#include "api/filter.h"
#include "api/lookup.h"
#include "api/view.h"
#include "base/map.h"
#include "base/text/ascii.h"
#include "store/org.h"
#include "store/read_executions.h"
#include "value/object.h"

#include <stdlib.h>

enum { ITEMS_MAX = 500, SERVICE_LEN_MAX = 64 };

#define RECENT_US INT64_C(86400000000)

enum summary_by { BY_CODE, BY_STATUS, BY_STEP, BY_ERROR, BY_VERSION, BY_COUNT };

static const char *const by_names[] = {"code", "status", "step", "error", "version"};

struct summary {
    enum summary_by by;
    struct str code;
    uint32_t statuses; /* 0 = any */
    bool is_held;      /* those alone that wait for an operator's decision */
    int64_t now_us;
    /* what was counted */
    struct map found; /* struct execution_group, by status and value */
    struct {
        VEC_OF(struct execution_group *);
    } groups;
    bool is_partial;
    int64_t since_us;
};

/* --- counting --- */

/* Add a group to those that the answer has. */
static void summary_add(struct summary *s, struct arena *mem, struct str value, struct str service,
                        enum execution_status status, int64_t count)
{
    struct execution_group *g;
    struct str key;

    if (count == 0 || (s->statuses != 0 && (s->statuses & STATUS_BIT(status)) == 0))
        return;
    key = str_printf(mem, "%s %.*s\n%.*s", status_name(status), STR_ARG(value), STR_ARG(service));
    g = map_get(&s->found, key);
    if (g == NULL) {
        g = ARENA_NEW(mem, struct execution_group);
        *g = (struct execution_group){.value = value, .service = service, .status = status};
        map_put(&s->found, key, g);
        *VEC_ADD(mem, &s->groups) = g;
    }
    g->count += count;
}

/* The member of an execution that groups are made of. */
static struct str group_value(struct arena *mem, enum summary_by by,
                              const struct execution_group *g)
{
    switch (by) {
    case BY_CODE:
        return g->code;
    case BY_STATUS:
        return str_of(status_name(g->status));
    case BY_VERSION:
        return str_printf(mem, "%lld", (long long)g->version);
    case BY_STEP:
    case BY_ERROR:
    case BY_COUNT:
        break;
    }
    return g->value;
}

/* A service may say anything: what does not look like a code is not shown to those who only count. */
static struct str service_code(struct str text)
{
    return ascii_is_dotted_name(text, SERVICE_LEN_MAX) && ascii_is_letter(text.ptr[0]) ? text
                                                                                       : STR_NONE;
}

/* Add what the caller may see of what was read. */
static bool add_groups(struct lookup *q, struct reader *reader,
                       const struct execution_groups *groups, struct err *err)
{
    struct summary *s = q->args;

    for (size_t i = 0; i < groups->count; i++) {
        const struct execution_group *g = &groups->items[i];
        struct str value = group_value(q->mem, s->by, g);
        bool is_visible;

        if (value.len == 0 || (s->code.len > 0 && !str_eq(s->code, g->code)))
            continue;
        if (!view_allows(q->call, q->mem, reader, g->org_id, g->code, g->version, &is_visible, err))
            return false;
        if (is_visible)
            summary_add(s, q->mem, value, s->by == BY_ERROR ? service_code(g->service) : STR_NONE,
                        g->status, g->count);
    }
    return true;
}

/* Whether the caller may see all that the counters count. */
static bool sees_all(struct lookup *q, struct reader *reader, bool *out, struct err *err)
{
    bool has_others;

    *out = q->call->role == ROLE_ADMIN && str_eq(q->call->user.org_id, ORG_DEFAULT);
    if (!*out)
        return true;
    if (!read_has_other_orgs(reader, &has_others, err))
        return false;
    *out = !has_others;
    return true;
}

static bool add_counters(struct lookup *q, struct reader *reader, struct err *err)
{
    int64_t counts[STATUS_COUNT];

    if (!read_counts(reader, counts, err))
        return false;
    for (unsigned i = 0; i < STATUS_COUNT; i++)
        summary_add(q->args, q->mem, str_of(status_name((enum execution_status)i)), STR_NONE,
                    (enum execution_status)i, counts[i]);
    return true;
}

static bool add_ended(struct lookup *q, struct reader *reader, struct err *err)
{
    struct summary *s = q->args;
    struct execution_groups ended = {0};

    if (!read_ended_groups(reader, q->mem, s->now_us - RECENT_US, s->by == BY_ERROR, &ended, err))
        return false;
    s->is_partial = true;
    s->since_us = ended.since_us;
    return add_groups(q, reader, &ended, err);
}

static bool count_all(struct lookup *q, struct reader *reader, struct err *err)
{
    struct summary *s = q->args;
    struct execution_groups live = {0};
    bool has_counters = false;

    if (s->by == BY_STATUS && s->code.len == 0 && !sees_all(q, reader, &has_counters, err))
        return false;
    if (has_counters)
        return add_counters(q, reader, err);
    if (!(s->by == BY_ERROR ? read_held_groups(reader, q->mem, &live, err)
                            : read_live_groups(reader, q->mem, &live, err)) ||
        !add_groups(q, reader, &live, err))
        return false;
    /* Executions that have ended stand at no step and need no version. */
    return s->by == BY_STEP || s->by == BY_VERSION || s->is_held || add_ended(q, reader, err);
}

/* --- the answer --- */

static int by_count_falling(const void *a, const void *b)
{
    const struct execution_group *x = *(struct execution_group *const *)a;
    const struct execution_group *y = *(struct execution_group *const *)b;
    int order = (x->count < y->count) - (x->count > y->count);

    if (order == 0)
        order = str_cmp(x->value, y->value);
    if (order == 0)
        order = str_cmp(x->service, y->service);
    return order != 0 ? order : (int)x->status - (int)y->status;
}

static bool run_summary(struct lookup *q, struct reader *reader, struct err *err)
{
    struct summary *s = q->args;

    map_init(&s->found, q->mem);
    if (!count_all(q, reader, err))
        return false;
    if (s->groups.count > 1)
        qsort(s->groups.items, s->groups.count, sizeof(*s->groups.items), by_count_falling);
    buf_text(&q->answer, "{\"items\":[");
    for (size_t i = 0; i < s->groups.count && i < ITEMS_MAX; i++) {
        const struct execution_group *g = s->groups.items[i];

        object_item(&q->answer);
        object_text(&q->answer, "value", g->value);
        if (g->service.len > 0)
            object_text(&q->answer, "serviceCode", g->service);
        if (s->by != BY_STATUS)
            object_text(&q->answer, "status", str_of(status_name(g->status)));
        object_int(&q->answer, "count", g->count);
        buf_char(&q->answer, '}');
    }
    buf_char(&q->answer, ']');
    object_bool(&q->answer, "partial", s->is_partial || s->groups.count > ITEMS_MAX);
    object_time(&q->answer, "since", s->since_us);
    buf_char(&q->answer, '}');
    return true;
}

void executions_summary(struct call *c)
{
    struct summary *s = ARENA_NEW(c->mem, struct summary);
    struct str by = http_query(c->http, "by"), waiting = http_query(c->http, "waiting");

    s->is_held = str_eq(waiting, STR("incident"));
    s->code = http_query(c->http, "code");
    s->now_us = api_now_us(c->api);
    while (s->by < BY_COUNT && !str_eq(by, str_of(by_names[s->by])))
        s->by++;
    if (s->by == BY_COUNT)
        call_refuse_text(c, ERR_BAD_REQUEST, "by is code, status, step, version or error");
    else if (s->by == BY_VERSION && s->code.len == 0)
        call_refuse_text(c, ERR_BAD_REQUEST, "by version needs a code: the versions of what");
    else if (waiting.len > 0 && (!s->is_held || s->by != BY_ERROR))
        call_refuse_text(c, ERR_BAD_REQUEST,
                         "waiting is incident, by error: which errors hold how many");
    else if (filter_statuses(c, &s->statuses))
        lookup_start_long(c, s, run_summary, NULL);
}
