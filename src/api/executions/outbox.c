/*
 * outbox.c - reading messages that wait for their delivery: one, a list.
 *
 * What a message says is shown of one alone, to who may see its execution.
 */
#include "api/executions/outbox.h"

#include "api/filter.h"
#include "api/list.h"
#include "api/view.h"
#include "node/deliver.h"
#include "node/node.h"
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
    case MESSAGE_BROKER:
    case MESSAGE_EVENT:
    case MESSAGE_TRIGGER:
    case MESSAGE_KIND_COUNT:
        break;
    }
    return NULL;
}

/* Why it is not delivered: the last attempt, or that there is nobody to hand it to. */
static void show_error(struct arena *mem, struct buf *out, const struct mask *mask,
                       const struct stored_message *m, bool is_unserved)
{
    if (!is_unserved || m->is_parked) {
        object_json(out, "error", mask_json(mem, mask, m->error_json));
        return;
    }
    object_nested(out, "error");
    object_text(out, "code", STR("not_configured"));
    object_name(out, "message");
    if (flag_of(m->kind) != NULL)
        buf_printf(out, "\"it waits: the server was started without --%s\"", flag_of(m->kind));
    else
        buf_text(out, "\"it waits: there is no message broker\"");
    buf_char(out, '}');
}

/* Which kinds of messages nobody takes on this server. */
struct unserved {
    bool at[MESSAGE_KIND_COUNT];
};

static struct unserved unserved_of(struct node *node)
{
    struct unserved u;

    for (unsigned i = 0; i < MESSAGE_KIND_COUNT; i++)
        u.at[i] = !node_can_deliver(node, (enum message_kind)i);
    return u;
}

/* The members of a message, but for what it says. */
static void outbox_show_members(struct arena *mem, struct buf *out, const struct mask *mask,
                                const struct stored_message *m, const struct unserved *unserved)
{
    bool is_unserved = unserved->at[m->kind];
    bool has_next = !m->is_parked && !is_unserved && m->next_at_us > 0;

    object_id(out, "id", m->id);
    object_text(out, "kind", str_of(message_kind_name(m->kind)));
    object_text(out, "destination", m->destination);
    object_text(out, "name", mask_text(mem, mask, m->name));
    if (m->has_execution)
        object_id(out, "executionId", m->execution);
    else
        object_json(out, "executionId", STR_NONE);
    object_int(out, "attempts", m->attempts);
    object_time(out, "nextAttemptAt", has_next ? m->next_at_us : 0);
    show_error(mem, out, mask, m, is_unserved);
    object_text(out, "status", m->is_parked ? STR("parked") : STR("pending"));
    object_bool(out, "outOfOrder", m->is_late);
    object_text(out, "deadLetterId", m->letter);
    object_time(out, "createdAt", m->created_at_us);
}

static bool outbox_read_mask(struct reader *reader, struct arena *mem,
                             const struct stored_message *m, struct mask *out, struct err *err)
{
    *out = (struct mask){0};
    return !m->has_execution || read_mask(reader, mem, m->execution, out, err);
}

/* --- one --- */

static bool message_not_found(struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "there is no such message: it was delivered, or dropped");
}

bool outbox_id(struct call *c, struct uuid *out)
{
    struct err err;

    return uuid_read(c->params[0], out) || message_not_found(&err) || call_refuse(c, &err);
}

/* The message, if the caller may see it; else ERR_NOT_FOUND. */
static bool outbox_read_one(struct lookup *q, struct reader *reader, struct uuid id,
                            struct stored_message *out, struct err *err)
{
    bool found, is_visible = false;

    if (!read_message(reader, q->mem, id, out, &found, err) ||
        (found && !view_allows(q->call, q->mem, reader, out->org_id, out->code, out->version,
                               &is_visible, err)))
        return false;
    return is_visible || message_not_found(err);
}

bool outbox_read_to_act(struct lookup *q, struct reader *reader, struct uuid id,
                        struct stored_message *out, struct err *err)
{
    return outbox_read_one(q, reader, id, out, err) &&
           (!out->has_execution || view_check_acting(q->call, q->mem, reader, out->execution, err));
}

struct outbox_getting {
    struct uuid id;
    struct unserved unserved;
};

static bool outbox_run_get(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct outbox_getting *a = q->args;
    struct stored_message m;
    struct mask mask;

    if (!outbox_read_one(q, reader, a->id, &m, err) ||
        !outbox_read_mask(reader, q->mem, &m, &mask, err))
        return false;
    buf_char(&q->answer, '{');
    outbox_show_members(q->mem, &q->answer, &mask, &m, &a->unserved);
    object_json(&q->answer, "payload", mask_json(q->mem, &mask, m.body_json));
    buf_char(&q->answer, '}');
    return true;
}

void outbox_get(struct call *c)
{
    struct outbox_getting *a = ARENA_NEW(c->mem, struct outbox_getting);

    a->unserved = unserved_of(c->node);
    if (outbox_id(c, &a->id))
        lookup_start(c, a, outbox_run_get, NULL);
}

/* --- a list --- */

struct outbox_page {
    struct list_page list;
    struct message_filter filter;
    struct unserved unserved;
};

static bool outbox_show(struct list_page *l, const void *row)
{
    const struct stored_message *m = row;
    struct mask mask;

    if (!outbox_read_mask(l->reader, l->mem, m, &mask, l->err))
        return false;
    buf_char(l->out, '{');
    outbox_show_members(l->mem, l->out, &mask, m, &((struct outbox_page *)l)->unserved);
    buf_char(l->out, '}');
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

static bool outbox_take_kind(struct call *c, struct message_filter *out)
{
    enum message_kind kind;
    struct str names;

    out->kind = http_query(c->http, "kind");
    if (out->kind.len == 0 || message_kind_read(out->kind, &kind))
        return true;
    names = filter_message_kinds(c->mem);
    return call_refuse_text(c, ERR_BAD_REQUEST, "kind is one of %.*s", STR_ARG(names));
}

void outbox_list(struct call *c)
{
    struct outbox_page *p = ARENA_NEW(c->mem, struct outbox_page);

    p->unserved = unserved_of(c->node);
    p->filter.org_id = call_scope(c);
    p->filter.destination = http_query(c->http, "destination");
    if (outbox_take_status(c, &p->filter) && outbox_take_kind(c, &p->filter) &&
        filter_execution(c, &p->filter.has_execution, &p->filter.execution))
        list_start(c, &p->list, &outbox_kind);
}
