/*
 * outbox.c - messages that wait for their delivery: a list, and trying one now.
 *
 * What they say is not shown here: a message that was given up has a dead
 * letter, which shows it to who may see its execution.
 */
#include "api/api.h"
#include "api/filter.h"
#include "api/lookup.h"
#include "api/repeat.h"
#include "api/view.h"
#include "store/change_outbox.h"
#include "value/object.h"

enum { LIST_LIMIT = 50, LIST_PAGES_MAX = 20 };

static const char *flag_of(enum message_kind kind)
{
    switch (kind) {
    case MESSAGE_EMAIL:
        return "smtp";
    case MESSAGE_SMS:
        return "sms-gateway";
    case MESSAGE_PUSH:
        return "push-gateway";
    case MESSAGE_EVENT:
    case MESSAGE_TRIGGER:
    case MESSAGE_KIND_COUNT:
        break;
    }
    return NULL;
}

/* Why it is not delivered: the last attempt, or that there is nobody to hand it to. */
static void show_error(struct buf *out, const struct stored_message *m, bool is_unserved)
{
    if (!is_unserved || m->is_parked) {
        object_json(out, "error", m->error_json);
        return;
    }
    object_name(out, "error");
    buf_char(out, '{');
    object_text(out, "code", STR("not_configured"));
    object_name(out, "message");
    buf_printf(out, "\"it waits: the server was started without --%s\"", flag_of(m->kind));
    buf_char(out, '}');
}

static void show_message(struct buf *out, const struct stored_message *m, bool is_unserved)
{
    bool has_next = !m->is_parked && !is_unserved && m->next_at_us > 0;

    object_next(out);
    buf_char(out, '{');
    object_id(out, "id", m->id);
    object_text(out, "kind", str_of(message_kind_name(m->kind)));
    object_text(out, "destination", m->destination);
    object_text(out, "name", m->name);
    if (m->has_execution)
        object_id(out, "executionId", m->execution);
    else
        object_json(out, "executionId", STR_NONE);
    object_int(out, "attempts", m->attempts);
    object_time(out, "nextAttemptAt", has_next ? m->next_at_us : 0);
    show_error(out, m, is_unserved);
    object_text(out, "status", m->is_parked ? STR("parked") : STR("pending"));
    object_bool(out, "outOfOrder", m->is_late);
    object_text(out, "deadLetterId", m->letter);
    object_time(out, "createdAt", m->created_at_us);
    buf_char(out, '}');
}

struct listing {
    struct message_filter filter;
    bool is_unserved[MESSAGE_KIND_COUNT];
};

static bool show_visible(struct lookup *q, struct reader *reader,
                         const struct stored_messages *list, int64_t *shown, struct err *err)
{
    const struct listing *a = q->args;

    for (size_t i = 0; i < list->count; i++) {
        const struct stored_message *m = &list->items[i];
        bool is_visible;

        if (!view_allows(q->call, q->mem, reader, m->org_id, m->code, m->version, &is_visible, err))
            return false;
        if (!is_visible)
            continue;
        show_message(&q->answer, m, a->is_unserved[m->kind]);
        ++*shown;
    }
    return true;
}

static bool run_list(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct listing *a = q->args;
    struct message_filter page = a->filter;
    struct stored_messages list;
    struct str next;
    int64_t shown = 0, before;
    int pages = 0;

    buf_text(&q->answer, "{\"items\":[");
    do {
        before = shown;
        page.limit = a->filter.limit - shown;
        if (!read_messages(reader, q->mem, &page, &list, &next, err) ||
            !show_visible(q, reader, &list, &shown, err))
            return false;
        page.cursor = next;
    } while (shown - before < (int64_t)list.count && next.len > 0 && ++pages < LIST_PAGES_MAX);
    buf_char(&q->answer, ']');
    object_text(&q->answer, "nextCursor", next);
    buf_char(&q->answer, '}');
    return true;
}

static bool take_status(struct call *c, struct message_filter *out)
{
    struct str text = http_query(c->http, "status");

    out->has_status = text.len > 0 && !str_eq(text, STR("all"));
    out->is_parked = str_eq(text, STR("parked"));
    if (!out->has_status || out->is_parked || str_eq(text, STR("pending")))
        return true;
    call_refuse_text(c, ERR_BAD_REQUEST, "status is one of pending, parked, all");
    return false;
}

static bool take_kind(struct call *c, struct message_filter *out)
{
    enum message_kind kind;

    out->kind = http_query(c->http, "kind");
    if (out->kind.len == 0 || message_kind_read(out->kind, &kind))
        return true;
    call_refuse_text(c, ERR_BAD_REQUEST, "kind is one of event, email, sms, push, trigger");
    return false;
}

static struct listing *new_listing(struct call *c)
{
    struct listing *a = ARENA_NEW(c->mem, struct listing);

    for (unsigned i = 0; i < MESSAGE_KIND_COUNT; i++)
        a->is_unserved[i] = !node_can_deliver(c->node, (enum message_kind)i);
    a->filter = (struct message_filter){.org_id = call_scope(c),
                                        .destination = http_query(c->http, "destination"),
                                        .cursor = http_query(c->http, "cursor")};
    return a;
}

void outbox_list(struct call *c)
{
    struct listing *a = new_listing(c);

    if (take_status(c, &a->filter) && take_kind(c, &a->filter) &&
        filter_execution(c, &a->filter.has_execution, &a->filter.execution) &&
        call_limit(c, LIST_LIMIT, &a->filter.limit))
        lookup_start(c, a, run_list, NULL);
}

/* --- trying one now --- */

static bool run_retry(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct outbox_retry *a = q->args;
    struct stored_message m;
    bool found, is_visible = false;

    if (!read_message(reader, q->mem, a->id, &m, &found, err) ||
        (found &&
         !view_allows(q->call, q->mem, reader, m.org_id, m.code, m.version, &is_visible, err)))
        return false;
    if (!is_visible)
        return err_set(err, ERR_NOT_FOUND,
                       "there is no such message: it was delivered, or dropped");
    return !m.has_execution || view_check_acting(q->call, q->mem, reader, m.execution, err);
}

static void outbox_retried(struct node_request *r)
{
    if (r->ok)
        call_answer(r->owner, 202, STR("{}"));
    else
        repeat_or_refuse(r->owner, &r->idempotency, &r->err, &r->findings, STR_NONE);
}

static void then_retry(struct lookup *q)
{
    struct outbox_retry *a = q->args;
    struct node_request *r = call_request(q->call, NODE_CHANGE, outbox_retried);

    if (r == NULL)
        return;
    r->change = &a->change;
    r->idempotency.status = 202;
    r->idempotency.answer = STR("{}");
    call_audit(q->call, r, "outbox.retry", q->call->params[0], STR_NONE);
    call_submit(q->call, r);
}

void outbox_retry_one(struct call *c)
{
    struct outbox_retry *a = ARENA_NEW(c->mem, struct outbox_retry);

    *a = (struct outbox_retry){
        .change = {.apply = outbox_retry_apply, .now_us = api_now_us(c->api)},
        .user_id = c->user.id,
    };
    if (!uuid_read(c->params[0], &a->id))
        call_refuse_text(c, ERR_NOT_FOUND, "there is no message with this id");
    else if (call_body(c, NULL, 0))
        lookup_start(c, a, run_retry, then_retry);
}
