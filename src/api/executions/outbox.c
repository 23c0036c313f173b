/*
 * outbox.c - messages that wait for their delivery: a list, and trying one now.
 *
 * What they say is not shown here: a message that was given up has a dead
 * letter, which shows it to who may see its execution.
 */
#include "api/api.h"
#include "api/filter.h"
#include "api/list.h"
#include "api/repeat.h"
#include "api/view.h"
#include "node/deliver.h"
#include "node/node.h"
#include "store/change_outbox.h"
#include "store/read_execution.h"
#include "store/read_outbox.h"
#include "value/object.h"

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
static void show_error(struct list_page *l, const struct mask *mask, const struct stored_message *m,
                       bool is_unserved)
{
    struct buf *out = l->out;

    if (!is_unserved || m->is_parked) {
        object_json(out, "error", mask_json(l->mem, mask, m->error_json));
        return;
    }
    object_nested(out, "error");
    object_text(out, "code", STR("not_configured"));
    object_name(out, "message");
    buf_printf(out, "\"it waits: the server was started without --%s\"", flag_of(m->kind));
    buf_char(out, '}');
}

struct outbox_page {
    struct list_page list;
    struct message_filter filter;
    bool is_unserved[MESSAGE_KIND_COUNT];
};

static bool outbox_show(struct list_page *l, const void *row)
{
    const struct stored_message *m = row;
    bool is_unserved = ((struct outbox_page *)l)->is_unserved[m->kind];
    bool has_next = !m->is_parked && !is_unserved && m->next_at_us > 0;
    struct buf *out = l->out;
    struct mask mask = {0};

    if (m->has_execution && !read_mask(l->reader, l->mem, m->execution, &mask, l->err))
        return false;
    buf_char(out, '{');
    object_id(out, "id", m->id);
    object_text(out, "kind", str_of(message_kind_name(m->kind)));
    object_text(out, "destination", m->destination);
    object_text(out, "name", mask_text(l->mem, &mask, m->name));
    if (m->has_execution)
        object_id(out, "executionId", m->execution);
    else
        object_json(out, "executionId", STR_NONE);
    object_int(out, "attempts", m->attempts);
    object_time(out, "nextAttemptAt", has_next ? m->next_at_us : 0);
    show_error(l, &mask, m, is_unserved);
    object_text(out, "status", m->is_parked ? STR("parked") : STR("pending"));
    object_bool(out, "outOfOrder", m->is_late);
    object_text(out, "deadLetterId", m->letter);
    object_time(out, "createdAt", m->created_at_us);
    buf_char(out, '}');
    return true;
}

static bool outbox_read(struct list_page *l)
{
    struct message_filter *filter = &((struct outbox_page *)l)->filter;
    struct stored_messages rows;

    filter->cursor = l->cursor;
    filter->limit = l->limit;
    if (!read_messages(l->reader, l->mem, filter, &rows, &l->next, l->err))
        return false;
    LIST_ROWS(l, &rows);
    return true;
}

static const struct list_kind outbox_kind = {
    .read = outbox_read,
    .show = outbox_show,
    .owner = LIST_OWNER(struct stored_message, org_id, code, version),
};

static bool outbox_take_status(struct call *c, struct message_filter *out)
{
    struct str text = http_query(c->http, "status");

    out->has_status = text.len > 0 && !str_eq(text, STR("all"));
    out->is_parked = str_eq(text, STR("parked"));
    return !out->has_status || out->is_parked || str_eq(text, STR("pending")) ||
           call_refuse_text(c, ERR_BAD_REQUEST, "status is one of pending, parked, all");
}

static const char *message_kind_of(unsigned i)
{
    return message_kind_name((enum message_kind)i);
}

static bool outbox_take_kind(struct call *c, struct message_filter *out)
{
    enum message_kind kind;
    struct str names;

    out->kind = http_query(c->http, "kind");
    if (out->kind.len == 0 || message_kind_read(out->kind, &kind))
        return true;
    names = filter_names(c->mem, message_kind_of, MESSAGE_KIND_COUNT);
    return call_refuse_text(c, ERR_BAD_REQUEST, "kind is one of %.*s", STR_ARG(names));
}

void outbox_list(struct call *c)
{
    struct outbox_page *p = ARENA_NEW(c->mem, struct outbox_page);

    for (unsigned i = 0; i < MESSAGE_KIND_COUNT; i++)
        p->is_unserved[i] = !node_can_deliver(c->node, (enum message_kind)i);
    p->filter.org_id = call_scope(c);
    p->filter.destination = http_query(c->http, "destination");
    if (outbox_take_status(c, &p->filter) && outbox_take_kind(c, &p->filter) &&
        filter_execution(c, &p->filter.has_execution, &p->filter.execution))
        list_start(c, &p->list, &outbox_kind);
}

/* --- trying one now --- */

static bool outbox_run_retry(struct lookup *q, struct reader *reader, struct err *err)
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

static void outbox_then_retry(struct lookup *q)
{
    struct outbox_retry *a = q->args;
    struct node_request *r = call_request(q->call, NODE_CHANGE, repeat_accepted);

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
        lookup_start(c, a, outbox_run_retry, outbox_then_retry);
}
