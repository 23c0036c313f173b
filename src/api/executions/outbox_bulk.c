/*
 * outbox_bulk.c - many messages are tried now, or given up with a note.
 *
 * Of one execution and destination the first is tried first: a retry of those
 * behind it is skipped.
 */
#include "api/bulk.h"
#include "api/executions/dead_letters.h"
#include "api/executions/outbox.h"
#include "api/filter.h"
#include "api/view.h"
#include "store/read_outbox.h"
#include "value/object.h"

struct outbox_bulk {
    struct bulk bulk; /* first: see bulk.h */
    struct message_filter filter;
    bool resolves;
    struct str note;             /* ... with it */
    struct stored_messages list; /* the page */
};

static struct outbox_bulk *messages_of_bulk(const struct bulk *b)
{
    return (struct outbox_bulk *)b;
}

static bool messages_may_act(struct bulk *b, struct reader *reader, const struct stored_message *m,
                             bool *out, struct err *err)
{
    return view_allows_acting(b->call, &b->page_mem, reader, m->org_id, m->code, m->version, out,
                              err);
}

/* Messages that the caller may not act on are left out, and those that are newer than the request. */
static bool messages_read_page(struct bulk *b, struct reader *reader, size_t *count,
                               struct err *err)
{
    struct outbox_bulk *o = messages_of_bulk(b);
    struct message_filter filter = o->filter;

    *count = 0;
    filter.cursor = b->cursor;
    filter.limit = b->page_limit;
    if (!read_messages(reader, &b->page_mem, &filter, &o->list, &b->next, err))
        return false;
    for (size_t i = 0; i < o->list.count; i++) {
        bool may_act = false;

        if (o->list.items[i].created_at_us <= b->asked_at_us &&
            !messages_may_act(b, reader, &o->list.items[i], &may_act, err))
            return false;
        if (may_act)
            o->list.items[(*count)++] = o->list.items[i];
    }
    return true;
}

static void messages_clear(struct bulk *b)
{
    messages_of_bulk(b)->list = (struct stored_messages){0};
}

static bool messages_add(struct bulk *b, struct reader *reader, struct uuid id, size_t *bytes,
                         struct err *err)
{
    bool found, may_act = false;
    struct stored_message m;

    *bytes = 0;
    if (!read_message(reader, &b->page_mem, id, &m, &found, err) ||
        (found && !messages_may_act(b, reader, &m, &may_act, err)))
        return false;
    if (!may_act)
        return true;
    *VEC_ADD(&b->page_mem, &messages_of_bulk(b)->list) = m;
    *bytes = sizeof(m) + m.body_json.len + m.error_json.len;
    return true;
}

static struct uuid message_id(const struct bulk *b, size_t i)
{
    return messages_of_bulk(b)->list.items[i].id;
}

/* One that waits behind another one cannot go now. */
static bool message_allows(const struct bulk *b, size_t i)
{
    const struct outbox_bulk *o = messages_of_bulk(b);

    return o->resolves || o->list.items[i].is_parked || !o->list.items[i].is_behind;
}

static void message_act(struct bulk *b, size_t i, struct bulk_member *m)
{
    const struct outbox_bulk *o = messages_of_bulk(b);

    m->about = o->list.items[i].execution;
    m->request.mem = &b->page_mem;
    m->request.idempotency = m->idempotency;
    if (o->resolves)
        outbox_fill_resolve(b->call, &m->request, m->id, o->note);
    else
        outbox_fill_retry(b->call, &m->request, m->id);
    m->idempotency = m->request.idempotency;
    bulk_ask(m);
}

/* It was delivered meanwhile, or an earlier one must go first. */
static bool message_is_skipped(const struct bulk *b, const struct err *err)
{
    (void)b;
    return err->code == ERR_NOT_FOUND || err->code == ERR_CONFLICT;
}

static const struct bulk_kind outbox_kind = {
    .name = "outbox",
    .id_name = "id",
    .read = messages_read_page,
    .clear = messages_clear,
    .add = messages_add,
    .id = message_id,
    .allows = message_allows,
    .act = message_act,
    .is_skipped = message_is_skipped,
};

static bool messages_take_filter(struct outbox_bulk *o, struct call *c, struct value filter)
{
    struct findings findings = {0};

    return filter.kind != VALUE_MAP || filter_outbox_body(c, filter, &o->filter, &findings) ||
           call_refuse_findings(c, &findings);
}

void outbox_bulk(struct call *c)
{
    struct outbox_bulk *o = ARENA_NEW(c->mem, struct outbox_bulk);
    struct bulk_body body = {0};
    struct value note = value_null();
    const struct body_field fields[] = {BULK_FIELDS(body), NOTE_FIELD(note)};

    o->bulk.kind = &outbox_kind;
    if (call_body(c, fields, ARRAY_SIZE(fields)) &&
        dead_letters_take_action(c, body.action, note, &o->resolves) &&
        messages_take_filter(o, c, body.filter) && bulk_take(&o->bulk, c, &body)) {
        o->note = value_text_or(note, STR_NONE);
        o->bulk.action = o->resolves ? "resolve" : "retry";
        bulk_start(&o->bulk);
    }
}
