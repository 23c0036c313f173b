/*
 * schedules.c - when processes start by themselves: a list, pausing and going
 * on, a start at once, and when an expression would tick.
 */
#include "api/api.h"
#include "api/executions_again.h"
#include "api/lookup.h"
#include "api/repeat.h"
#include "api/view.h"
#include "base/civil.h"
#include "define/access.h"
#include "define/facts.h"
#include "define/schedule.h"
#include "store/read_schedule.h"
#include "value/json.h"
#include "value/object.h"

#include <inttypes.h>
#include <stdio.h>

enum { LIST_LIMIT = 50, LIST_PAGES_MAX = 20 };

#define SECOND_US INT64_C(1000000)

/* --- the list --- */

static void show_listed(struct buf *out, const struct listed_schedule *s)
{
    object_next(out);
    buf_char(out, '{');
    schedule_show(out, &s->schedule);
    object_text(out, "name", s->name);
    buf_char(out, '}');
}

/* The page goes on behind this one: "POSITION.CODE". */
static bool take_cursor(struct call *c, struct schedule_filter *out)
{
    struct str text = http_query(c->http, "cursor");
    int64_t dot = str_find(text, STR("."), 0);

    if (text.len == 0)
        return true;
    if (dot > 0 && str_to_int64(str_slice(text, 0, (size_t)dot), &out->after_position)) {
        out->after_code = str_slice(text, (size_t)dot + 1, text.len);
        return true;
    }
    call_refuse_text(c, ERR_BAD_REQUEST, "cursor is what an earlier page gave as nextCursor");
    return false;
}

static bool run_list(struct lookup *q, struct reader *reader, struct err *err)
{
    struct schedule_filter page = *(const struct schedule_filter *)q->args;
    int64_t wanted = page.limit, shown = 0;
    struct listed_schedules list;
    int pages = 0;
    bool is_more;

    buf_text(&q->answer, "{\"items\":[");
    do {
        page.limit = wanted - shown + 1;
        if (!read_schedules(reader, q->mem, &page, &list, err))
            return false;
        is_more = (int64_t)list.count > wanted - shown;
        for (size_t i = 0; i < list.count - is_more; i++) {
            const struct stored_schedule *s = &list.items[i].schedule;
            bool is_visible;

            page.after_code = s->code;
            page.after_position = s->position;
            if (!view_allows(q->call, q->mem, reader, s->org_id, s->code, s->version, &is_visible,
                             err))
                return false;
            if (!is_visible)
                continue;
            show_listed(&q->answer, &list.items[i]);
            shown++;
        }
    } while (is_more && shown < wanted && ++pages < LIST_PAGES_MAX);
    buf_char(&q->answer, ']');
    object_text(&q->answer, "nextCursor",
                is_more ? str_printf(q->mem, "%" PRId64 ".%.*s", page.after_position,
                                     STR_ARG(page.after_code))
                        : STR_NONE);
    buf_char(&q->answer, '}');
    return true;
}

void schedules_list(struct call *c)
{
    struct schedule_filter *filter = ARENA_NEW(c->mem, struct schedule_filter);

    *filter =
        (struct schedule_filter){.org_id = c->user.org_id, .code = http_query(c->http, "code")};
    if (take_cursor(c, filter) && call_limit(c, LIST_LIMIT, &filter->limit))
        lookup_start(c, filter, run_list, NULL);
}

/* --- acting on one --- */

struct schedule_act {
    struct uuid id;
    struct listed_schedule found;
    struct schedule_pause pause;
    struct node_schedule start;
};

/* The schedule, if the caller may see it. */
static bool read_visible(struct lookup *q, struct reader *reader, struct schedule_act *a,
                         struct err *err)
{
    const struct stored_schedule *s = &a->found.schedule;
    bool found, is_visible = false;

    if (!read_schedule(reader, q->mem, a->id, &a->found, &found, err) ||
        (found &&
         !view_allows(q->call, q->mem, reader, s->org_id, s->code, s->version, &is_visible, err)))
        return false;
    return is_visible || err_set(err, ERR_NOT_FOUND, "there is no schedule with this id");
}

/* Whether `access` of its process lets the caller do `what`. */
static bool check_access(struct lookup *q, const struct listed_schedule *s, const char *what,
                         struct err *err)
{
    struct value facts = value_map_empty();

    if (s->facts_json.len > 0 && !json_read(q->mem, s->facts_json, &facts, err))
        return false;
    return access_allows(facts_get(facts, "access"), what, q->call->user.role,
                         q->call->user.groups) ||
           err_set(err, ERR_FORBIDDEN, "'%.*s' lets others %s it, not you",
                   STR_ARG(s->schedule.code), what);
}

static struct schedule_act *new_act(struct call *c)
{
    struct schedule_act *a = ARENA_NEW(c->mem, struct schedule_act);

    *a = (struct schedule_act){0};
    if (!uuid_read(c->params[0], &a->id)) {
        call_refuse_text(c, ERR_NOT_FOUND, "there is no schedule with this id");
        return NULL;
    }
    return call_body(c, NULL, 0) ? a : NULL;
}

static bool run_pause(struct lookup *q, struct reader *reader, struct err *err)
{
    struct schedule_act *a = q->args;

    return read_visible(q, reader, a, err) && check_access(q, &a->found, "operate", err);
}

static void schedule_paused(struct node_request *r)
{
    struct call *c = r->owner;

    if (!r->ok) {
        repeat_or_refuse(c, &r->idempotency, &r->err, &r->findings, STR_NONE);
        return;
    }
    node_schedules_nudge(c->node);
    if (r->stored_status != 0)
        call_answer_again(c, r->stored_status, r->stored_answer);
    else
        call_answer(c, r->change->answer_status, r->change->answer_json);
}

static void then_pause(struct lookup *q)
{
    struct schedule_act *a = q->args;
    struct node_request *r = call_change(q->call, &a->pause.change, schedule_paused);

    if (r == NULL)
        return;
    call_audit(q->call, r, a->pause.pauses ? "schedule.pause" : "schedule.resume",
               a->found.schedule.code,
               str_printf(q->mem, "{\"schedule\":\"%.*s\"}", STR_ARG(q->call->params[0])));
    call_submit(q->call, r);
}

static void pause_or_resume(struct call *c, bool pauses)
{
    struct schedule_act *a = new_act(c);

    if (a == NULL)
        return;
    a->pause = (struct schedule_pause){
        .change = {.apply = schedule_pause_apply, .leaves_executions = true},
        .id = a->id,
        .org_id = c->user.org_id,
        .pauses = pauses,
        .user_id = c->user.id,
    };
    lookup_start(c, a, run_pause, then_pause);
}

void schedules_pause(struct call *c)
{
    pause_or_resume(c, true);
}

void schedules_resume(struct call *c)
{
    pause_or_resume(c, false);
}

/* --- a start at once --- */

static bool run_start(struct lookup *q, struct reader *reader, struct err *err)
{
    struct schedule_act *a = q->args;

    return read_visible(q, reader, a, err) && check_access(q, &a->found, "start", err);
}

/* It is like a tick of this moment, but that the ticks to come stay as they are. */
static void then_start(struct lookup *q)
{
    struct schedule_act *a = q->args;
    struct call *c = q->call;
    struct node_request *r = call_request(c, NODE_START, executions_started);

    if (r == NULL || !call_wait(c, &r->wait_us))
        return;
    a->start = (struct node_schedule){.id = c->params[0],
                                      .position = a->found.schedule.position,
                                      .cron = a->found.schedule.cron,
                                      .timezone = a->found.schedule.timezone,
                                      .at_us = api_now_us(c->api)};
    r->schedule = &a->start;
    r->code = a->found.schedule.code;
    r->version = a->found.schedule.version;
    r->user = node_system_user(a->found.schedule.org_id);
    r->trace = call_trace(c);
    call_audit(c, r, "schedule.run", a->found.schedule.code,
               str_printf(q->mem, "{\"schedule\":\"%.*s\"}", STR_ARG(c->params[0])));
    call_submit(c, r);
}

void schedules_run_now(struct call *c)
{
    struct schedule_act *a = new_act(c);

    if (a != NULL)
        lookup_start(c, a, run_start, then_start);
}

/* --- when an expression would tick --- */

static void refuse_cron(struct call *c, const struct cron_mistake *mistake)
{
    struct findings findings = {0};
    struct err err;

    *VEC_ADD(c->mem, &findings) = (struct finding){
        .pointer = STR("/cron"),
        .code = STR("bad_cron"),
        .message = str_printf(c->mem, "%s", mistake->message),
        .column = mistake->column,
        .hint = str_printf(c->mem, "%s", mistake->hint),
    };
    (void)err_set(&err, ERR_INVALID, "the cron expression cannot be read: %s", mistake->message);
    call_refuse_with(c, &err, &findings, STR_NONE);
}

/* As the clock on the wall shows it: 2026-03-29T03:00:00+02:00. */
static struct str local_time(struct arena *mem, struct tz tz, int64_t at)
{
    int32_t offset = tz_offset(tz, at), minutes = (offset < 0 ? -offset : offset) / 60;
    struct civil c = civil_from_seconds(at + offset);

    return str_printf(mem, "%04d-%02d-%02dT%02d:%02d:%02d%c%02d:%02d", c.year, c.month, c.day,
                      c.hour, c.minute, c.second, offset < 0 ? '-' : '+', minutes / 60,
                      minutes % 60);
}

void schedules_preview(struct call *c)
{
    struct str text = http_query(c->http, "cron"), name = http_query(c->http, "timezone");
    int64_t at = api_now_us(c->api) / SECOND_US;
    struct cron_mistake mistake;
    struct cron cron;
    struct buf out;
    struct tz tz;

    if (!cron_read(text, &cron, &mistake)) {
        refuse_cron(c, &mistake);
        return;
    }
    if (!tz_find(name, &tz)) {
        call_refuse_field(c, "timezone", "bad_value",
                          "there is no time zone of this name; one is Europe/Berlin, or +02:00");
        return;
    }
    buf_init_arena(&out, c->mem);
    buf_char(&out, '{');
    object_text(&out, "cron", text);
    object_text(&out, "timezone", name.len > 0 ? name : STR("UTC"));
    object_name(&out, "items");
    buf_char(&out, '[');
    for (int i = 0; i < SCHEDULE_PREVIEW_COUNT && cron_next(&cron, tz, at, &at); i++) {
        object_next(&out);
        buf_char(&out, '{');
        object_time(&out, "at", at * SECOND_US);
        object_text(&out, "local", local_time(c->mem, tz, at));
        buf_char(&out, '}');
    }
    buf_text(&out, "]}");
    call_answer(c, 200, buf_view(&out));
}
