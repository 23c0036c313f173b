/* executions_delete.c - see executions_delete.h. */
#include "api/executions_delete.h"

#include "api/api.h"
#include "api/lookup.h"
#include "api/repeat.h"
#include "api/view.h"

static void ask(struct deletion *d, bool goes_on);

static void part_done(struct node_request *r)
{
    struct deletion *d = r->owner;

    /* Somebody else may have deleted the rest of what is gone already. */
    if (d->change.goes_on && !r->ok && r->err.code == ERR_NOT_FOUND)
        r->ok = true;
    if (r->ok && d->change.has_more)
        ask(d, true);
    else
        d->done(d, r);
}

static void ask(struct deletion *d, bool goes_on)
{
    struct call *c = d->call;
    struct node_request *r = &d->request;
    char id[UUID_TEXT_LEN + 1];

    d->change = (struct execution_delete){
        .change = {.apply = execution_delete_apply, .now_us = api_now_us(c->api)},
        .id = d->id,
        .goes_on = goes_on,
    };
    *r = (struct node_request){.kind = NODE_CHANGE,
                               .user = c->user,
                               .change = &d->change.change,
                               .mem = d->mem,
                               .done = part_done,
                               .owner = d};
    if (!goes_on) {
        uuid_write(d->id, id);
        r->idempotency = d->idempotency;
        call_audit(c, r, "execution.delete", str_copy(d->mem, str_of(id)), STR_NONE);
    }
    if (!node_submit(c->node, r, &r->err)) {
        r->ok = false;
        d->done(d, r);
    }
}

void deletion_start(struct deletion *d)
{
    ask(d, false);
}

/* --- the call --- */

static void deleted(struct deletion *d, const struct node_request *r)
{
    struct err err = r->err;

    if (r->ok && r->stored_status != 0)
        call_answer_again(d->call, r->stored_status, r->stored_answer);
    else if (r->ok)
        call_answer_nothing(d->call);
    else {
        if (err.code == ERR_NOT_FOUND)
            (void)err_set(&err, ERR_NOT_FOUND, "there is no execution with this id");
        repeat_or_refuse(d->call, &d->idempotency, &err, NULL, STR_NONE);
    }
}

static bool run_may_delete(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct deletion *d = q->args;

    return view_check_acting(q->call, q->mem, reader, d->id, err);
}

static void may_delete(struct lookup *q)
{
    deletion_start(q->args);
}

void executions_delete(struct call *c)
{
    struct deletion *d = ARENA_NEW(c->mem, struct deletion);

    *d = (struct deletion){.call = c, .mem = c->mem, .done = deleted};
    if (!call_execution_id(c, &d->id) || !call_idempotency(c, &d->idempotency))
        return;
    d->idempotency.status = 204;
    lookup_start(c, d, run_may_delete, may_delete);
}
