/* repeat.c - see repeat.h. */
#include "api/repeat.h"

#include "api/api.h"
#include "api/lookup.h"

struct refusal {
    const struct idempotency *idempotency;
    struct err err;
    const struct findings *findings;
    struct str more;
    int64_t now_us;
    struct stored_answer kept;
};

static bool repeat_run(struct lookup *q, struct reader *reader, struct err *err)
{
    struct refusal *r = q->args;

    return read_answer(reader, q->mem, r->idempotency, r->now_us, &r->kept, err);
}

static void then(struct lookup *q)
{
    struct refusal *r = q->args;

    if (!r->kept.is_kept)
        call_refuse_with(q->call, &r->err, r->findings, r->more);
    else if (!r->kept.is_same)
        call_refuse_text(q->call, ERR_IDEMPOTENCY_CONFLICT,
                         "this Idempotency-Key was used with another request");
    else
        call_answer_again(q->call, r->kept.status, r->kept.text);
}

void repeat_or_refuse(struct call *c, const struct idempotency *idempotency, const struct err *err,
                      const struct findings *findings, struct str more)
{
    struct refusal *r;

    /* What is kept is looked up when it is kept; what says nothing of the change is not. */
    if (idempotency->key.len == 0 || err_http_status(err->code) >= 500 ||
        call_keeps_refusal(c, err)) {
        call_refuse_with(c, err, findings, more);
        return;
    }
    r = ARENA_NEW(c->mem, struct refusal);
    *r = (struct refusal){.idempotency = idempotency,
                          .err = *err,
                          .findings = findings,
                          .more = more,
                          .now_us = api_now_us(c->api)};
    lookup_start(c, r, repeat_run, then);
}
