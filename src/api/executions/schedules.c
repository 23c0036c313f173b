/*
 * schedules.c - when processes start by themselves: a list, pausing and going
 * on, a start at once, and when an expression would tick.
 */
#include "api/api.h"
#include "api/executions/executions_start.h"
#include "api/list.h"
#include "api/repeat.h"
#include "api/view.h"
#include "base/time/civil.h"
#include "define/access.h"
#include "define/facts.h"
#include "define/schedule.h"
#include "node/node.h"
#include "store/read_schedule.h"
#include "value/json.h"
#include "value/object.h"

#include <inttypes.h>

#define SECOND_US INT64_C(1000000)

/* --- the list --- */

struct schedules_page {
    struct list_page list;
    struct schedule_filter filter;
};

/* The page begins behind this one: "POSITION.CODE". */
static bool schedules_take_cursor(struct str cursor, struct schedule_filter *out, struct err *err)
{
    int64_t dot = str_find(cursor, STR("."), 0);

    if (cursor.len == 0)
        return true;
    if (dot <= 0 || !str_to_int64(str_slice(cursor, 0, (size_t)dot), &out->after_position))
        return list_bad_cursor(err);
    out->after_code = str_slice(cursor, (size_t)dot + 1, cursor.len);
    return true;
}

static bool schedules_read(struct list_page *l)
{
    struct schedule_filter *filter = &((struct schedules_page *)l)->filter;
    const struct listed_schedule *last;
    struct listed_schedules rows;

    filter->limit = l->limit + 1;
    if (!schedules_take_cursor(l->cursor, filter, l->err) ||
        !read_schedules(l->reader, l->mem, filter, &rows, l->err))
        return false;
    last = LIST_ROWS(l, &rows);
    if (last != NULL)
        l->next = str_printf(l->mem, "%" PRIu32 ".%.*s", last->schedule.position,
                             STR_ARG(last->schedule.code));
    return true;
}

static void schedules_show(struct list_page *l, const void *row)
{
    const struct listed_schedule *s = row;

    schedule_show(l->out, &s->schedule);
    object_text(l->out, "name", s->name);
}

static const struct list_kind schedules_kind = {
    .read = schedules_read,
    .show_members = schedules_show,
    .owner = LIST_OWNER(struct listed_schedule, schedule.org_id, schedule.code, schedule.version),
};

void schedules_list(struct call *c)
{
    struct schedules_page *p = ARENA_NEW(c->mem, struct schedules_page);

    p->filter.org_id = c->user.org_id;
    p->filter.code = http_query(c->http, "code");
    list_start(c, &p->list, &schedules_kind);
}

/* --- acting on one --- */

struct schedule_act {
    struct uuid id;
    const char *access; /* what `access` of its process must allow */
    struct listed_schedule found;
    struct schedule_pause pause;
    struct node_schedule start;
};

/* The schedule, if the caller may see it. */
static bool schedule_read_visible(struct lookup *q, struct reader *reader, struct schedule_act *a,
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

static struct schedule_act *new_act(struct call *c, const char *access)
{
    struct schedule_act *a = ARENA_NEW(c->mem, struct schedule_act);

    *a = (struct schedule_act){.access = access};
    if (!uuid_read(c->params[0], &a->id))
        call_refuse_text(c, ERR_NOT_FOUND, "there is no schedule with this id");
    else if (call_body(c, NULL, 0))
        return a;
    return NULL;
}

static bool schedule_run_check(struct lookup *q, struct reader *reader, struct err *err)
{
    struct schedule_act *a = q->args;

    return schedule_read_visible(q, reader, a, err) && check_access(q, &a->found, a->access, err);
}

/* For the audit log. */
static struct str schedule_details(const struct call *c)
{
    return str_printf(c->mem, "{\"schedule\":\"%.*s\"}", STR_ARG(c->params[0]));
}

static void schedule_paused(struct node_request *r)
{
    struct call *c = r->owner;

    if (r->ok)
        node_schedules_changed(c->node);
    repeat_changed(r);
}

static void schedule_then_pause(struct lookup *q)
{
    struct schedule_act *a = q->args;

    call_submit_change(q->call, &a->pause.change, schedule_paused,
                       a->pause.pauses ? "schedule.pause" : "schedule.resume",
                       a->found.schedule.code, schedule_details(q->call));
}

static void pause_or_resume(struct call *c, bool pauses)
{
    struct schedule_act *a = new_act(c, "operate");

    if (a == NULL)
        return;
    a->pause = (struct schedule_pause){
        .change = {.apply = schedule_pause_apply, .leaves_executions = true},
        .id = a->id,
        .org_id = c->user.org_id,
        .pauses = pauses,
        .user_id = c->user.id,
    };
    lookup_start(c, a, schedule_run_check, schedule_then_pause);
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

/* A start like that of a tick of this moment; the ticks of the schedule stay as they are. */
static void schedule_then_start(struct lookup *q)
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
    call_audit(c, r, "schedule.run", a->found.schedule.code, schedule_details(c));
    call_submit(c, r);
}

void schedules_run_now(struct call *c)
{
    struct schedule_act *a = new_act(c, "start");

    if (a != NULL)
        lookup_start(c, a, schedule_run_check, schedule_then_start);
}

/* --- when an expression would tick --- */

static void refuse_cron(struct call *c, const struct err *mistake)
{
    struct sentence said = sentence_copy(c->mem, err_sentence(mistake));
    struct findings findings = {0};
    struct err err;

    *VEC_ADD(c->mem, &findings) = (struct finding){
        .pointer = STR("/cron"),
        .code = STR("bad_cron"),
        .message = sentence_plain(said),
        .column = mistake->column,
        .hint = sentence_hint(said),
    };
    (void)err_set(&err, ERR_INVALID, "the cron expression cannot be read: %pS",
                  SENTENCE_ARG(sentence_plain(said)));
    call_refuse_with(c, &err, &findings, STR_NONE);
}

/* As the clock on the wall shows it: 2026-03-29T03:00:00+02:00. */
static struct str schedule_local_time(struct arena *mem, struct tz tz, int64_t at)
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
    struct err mistake;
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
    object_begin(&out, c->mem);
    object_text(&out, "cron", text);
    object_text(&out, "timezone", name.len > 0 ? name : STR("UTC"));
    object_list(&out, "items");
    for (int i = 0; i < SCHEDULE_PREVIEW_COUNT && cron_next(&cron, tz, at, &at); i++) {
        object_item(&out);
        object_time(&out, "at", at * SECOND_US);
        object_text(&out, "local", schedule_local_time(c->mem, tz, at));
        buf_char(&out, '}');
    }
    buf_text(&out, "]}");
    call_answer(c, 200, buf_view(&out));
}
