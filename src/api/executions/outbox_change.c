/*
 * outbox_change.c - what people do with messages: try one now, give one up.
 *
 * The message is read first: who may not see it learns nothing. Whether it is
 * still there is decided when the change is made.
 */
#include "api/api.h"
#include "api/executions/dead_letters.h"
#include "api/executions/outbox.h"
#include "api/repeat.h"
#include "store/change_outbox.h"
#include "store/read_outbox.h"
#include "value/object.h"

struct outbox_acting {
    struct uuid id;
    bool resolves;
    struct str note;
};

void outbox_fill_retry_change(struct call *c, struct node_request *r, struct uuid id,
                              bool by_letter)
{
    struct outbox_retry *change = ARENA_NEW(r->mem, struct outbox_retry);

    *change = (struct outbox_retry){
        .change = {.apply = outbox_retry_apply, .now_us = api_now_us(c->api)},
        .id = id,
        .by_letter = by_letter,
        .user_id = c->user.id,
    };
    r->kind = NODE_CHANGE;
    r->change = &change->change;
    r->idempotency.status = 202;
    r->idempotency.answer = STR("{}");
}

void outbox_fill_retry(struct call *c, struct node_request *r, struct uuid id)
{
    outbox_fill_retry_change(c, r, id, false);
    call_audit(c, r, "outbox.retry", uuid_text(r->mem, id), STR_NONE);
}

void outbox_fill_resolve(struct call *c, struct node_request *r, struct uuid id, struct str note)
{
    struct outbox_resolve *change = ARENA_NEW(r->mem, struct outbox_resolve);
    struct buf details;

    *change = (struct outbox_resolve){
        .change = {.apply = outbox_resolve_apply, .now_us = api_now_us(c->api)},
        .id = id,
        .note = note,
        .user_id = c->user.id,
    };
    r->kind = NODE_CHANGE;
    r->change = &change->change;
    r->idempotency.status = 202;
    r->idempotency.answer = STR("{}");
    object_begin(&details, r->mem);
    object_text(&details, "note", note);
    call_audit(c, r, "outbox.resolve", uuid_text(r->mem, id), object_end(&details));
}

static bool outbox_run_acting(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct outbox_acting *a = q->args;
    struct stored_message m;

    return outbox_read_to_act(q, reader, a->id, &m, err);
}

static void outbox_then_act(struct lookup *q)
{
    const struct outbox_acting *a = q->args;
    struct node_request *r = call_request(q->call, NODE_CHANGE, repeat_accepted);

    if (r == NULL)
        return;
    if (a->resolves)
        outbox_fill_resolve(q->call, r, a->id, a->note);
    else
        outbox_fill_retry(q->call, r, a->id);
    call_submit(q->call, r);
}

void outbox_retry_one(struct call *c)
{
    struct outbox_acting *a = ARENA_NEW(c->mem, struct outbox_acting);

    if (outbox_id(c, &a->id) && call_body(c, NULL, 0))
        lookup_start(c, a, outbox_run_acting, outbox_then_act);
}

void outbox_resolve_one(struct call *c)
{
    struct outbox_acting *a = ARENA_NEW(c->mem, struct outbox_acting);
    struct value note = value_null();
    const struct body_field fields[] = {NOTE_FIELD(note)};

    if (!outbox_id(c, &a->id) || !call_body(c, fields, ARRAY_SIZE(fields)) ||
        !dead_letters_check_note(c, note))
        return;
    a->resolves = true;
    a->note = value_text(note);
    lookup_start(c, a, outbox_run_acting, outbox_then_act);
}
