/* bulk_answer.c - see bulk.h. */
#include "api/bulk.h"

#include "api/api.h"

static void noted(struct node_request *r)
{
    call_answer(r->owner, 200, r->change->answer_json);
}

void bulk_answer(struct call *c, const struct idempotency *idempotency, const char *action,
                 struct str details_json, struct str answer_json)
{
    struct change *note = ARENA_NEW(c->mem, struct change);
    struct node_request *r = ARENA_NEW(c->mem, struct node_request);
    struct err err;

    *note = (struct change){.apply = change_nothing,
                            .now_us = api_now_us(c->api),
                            .answer_status = 200,
                            .answer_json = answer_json};
    *r = (struct node_request){.kind = NODE_CHANGE,
                               .user = c->user,
                               .idempotency = *idempotency,
                               .change = note,
                               .mem = c->mem,
                               .done = noted,
                               .owner = c};
    call_audit(c, r, action, STR_NONE, details_json);
    if (!node_submit(c->node, r, &err))
        call_answer(c, 200, answer_json);
}
