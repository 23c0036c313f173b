/* repeat.c - see repeat.h. */
#include "api/repeat.h"

#include "api/api.h"
#include "api/lookup.h"
#include "store/change.h"
#include "store/read_node.h"
#include "value/object.h"

/* What is refused once its key was looked up: all of it in the memory of the call. */
struct refusal {
    struct idempotency idempotency;
    struct err err;
    struct findings findings;
    struct str more;
    int64_t now_us;
    struct stored_answer kept;
};

static bool repeat_run(struct lookup *q, struct reader *reader, struct err *err)
{
    struct refusal *r = q->args;

    return read_answer(reader, q->mem, &r->idempotency, r->now_us, &r->kept, err);
}

static void repeat_then(struct lookup *q)
{
    struct refusal *r = q->args;

    if (!r->kept.is_kept)
        call_refuse_with(q->call, &r->err, &r->findings, r->more);
    else if (!r->kept.is_same)
        call_refuse_text(q->call, ERR_IDEMPOTENCY_CONFLICT,
                         "this Idempotency-Key was used with another request");
    else
        call_answer_again(q->call, r->kept.status, r->kept.text);
}

static struct idempotency repeat_copy(struct arena *mem, const struct idempotency *from)
{
    struct idempotency out = *from;

    out.user = str_copy(mem, from->user);
    out.method = str_copy(mem, from->method);
    out.path = str_copy(mem, from->path);
    out.key = str_copy(mem, from->key);
    out.body_hash = str_copy(mem, from->body_hash);
    out.answer = STR_NONE; /* of an answer that is not stored */
    return out;
}

void repeat_or_refuse(struct call *c, const struct idempotency *idempotency, const struct err *err,
                      const struct findings *findings, struct str more)
{
    struct refusal *r;

    /* call_refuse() looks up the key of a refusal that it stores; a failure says nothing of the change. */
    if (idempotency->key.len == 0 || err_http_status(err->code) >= 500 ||
        call_keeps_refusal(c, err)) {
        call_refuse_with(c, err, findings, more);
        return;
    }
    r = ARENA_NEW(c->mem, struct refusal);
    *r = (struct refusal){.idempotency = repeat_copy(c->mem, idempotency),
                          .err = *err,
                          .findings = findings_copy(c->mem, findings),
                          .more = str_copy(c->mem, more),
                          .now_us = api_now_us(c->api)};
    lookup_start(c, r, repeat_run, repeat_then);
}

void repeat_or_refuse_of(struct call *c, struct node_request *r)
{
    struct buf more;

    buf_init_arena(&more, c->mem);
    if (r->err.code == ERR_KEY_BUSY)
        object_id(&more, "executionId", r->id);
    repeat_or_refuse(c, &r->idempotency, &r->err, &r->findings, buf_view(&more));
}

void repeat_accepted(struct node_request *r)
{
    if (r->ok)
        call_answer(r->owner, 202, STR("{}"));
    else
        repeat_or_refuse_of(r->owner, r);
}

void repeat_changed(struct node_request *r)
{
    bool is_change = r->kind == NODE_CHANGE;
    int32_t status = is_change ? r->change->answer_status : r->idempotency.status;

    if (!r->ok)
        repeat_or_refuse_of(r->owner, r);
    else if (r->stored_status != 0)
        call_answer_again(r->owner, r->stored_status, r->stored_answer);
    else if (status == 0 || status == 204)
        call_answer_nothing(r->owner);
    else
        call_answer(r->owner, status, is_change ? r->change->answer_json : r->idempotency.answer);
}
