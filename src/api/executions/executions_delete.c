/* executions_delete.c - see executions_delete.h. */
#include "api/executions/executions_delete.h"

#include "api/api.h"
#include "api/executions/dead_letters.h"
#include "api/lookup.h"
#include "api/repeat.h"
#include "api/view.h"
#include "engine/actions.h"
#include "value/object.h"

static void deletion_ask(struct deletion *d, bool goes_on);

static void deletion_part_done(struct node_request *r)
{
    struct deletion *d = r->owner;

    /* Somebody else may have deleted the rest of what is gone already. */
    if (d->change.goes_on && !r->ok && r->err.code == ERR_NOT_FOUND)
        r->ok = true;
    if (r->ok && d->change.has_more)
        deletion_ask(d, true);
    else
        d->done(d, r);
}

/* Its letters go with it: what was done about them is left in the audit log alone. */
static struct str deletion_details(const struct deletion *d)
{
    struct buf details;

    if (d->note.len == 0)
        return STR_NONE;
    object_begin(&details, d->mem);
    object_text(&details, "letters", STR("close"));
    object_text(&details, "note", d->note);
    buf_char(&details, '}');
    return buf_view(&details);
}

static void deletion_ask(struct deletion *d, bool goes_on)
{
    struct call *c = d->call;
    struct node_request *r = &d->request;

    d->change = (struct execution_delete){
        .change = {.apply = execution_delete_apply, .now_us = api_now_us(c->api)},
        .id = d->id,
        .goes_on = goes_on,
        .closes_letters = d->note.len > 0,
    };
    *r = (struct node_request){.kind = NODE_CHANGE,
                               .user = c->user,
                               .change = &d->change.change,
                               .mem = d->mem,
                               .done = deletion_part_done,
                               .owner = d};
    if (!goes_on) {
        r->idempotency = d->idempotency;
        call_audit(c, r, action_specs[ACTION_DELETE].audit, uuid_text(d->mem, d->id),
                   deletion_details(d));
    }
    if (!node_submit(c->node, r, &r->err)) {
        r->ok = false;
        d->done(d, r);
    }
}

void deletion_start(struct deletion *d)
{
    deletion_ask(d, false);
}

/* --- the call --- */

static void execution_deleted(struct deletion *d, const struct node_request *r)
{
    struct err err = r->err;

    if (r->ok && r->stored_status != 0)
        call_answer_again(d->call, r->stored_status, r->stored_answer);
    else if (r->ok) {
        call_keeps_no_answer(d->call); /* it was stored with the deletion */
        call_answer_nothing(d->call);
    } else {
        if (err.code == ERR_NOT_FOUND)
            (void)err_set(&err, ERR_NOT_FOUND, "there is no execution with this id");
        repeat_or_refuse(d->call, &d->idempotency, &err, NULL, STR_NONE);
    }
}

static bool deletion_run_check(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct deletion *d = q->args;

    return view_check_acting(q->call, q->mem, reader, d->id, err);
}

static void deletion_checked(struct lookup *q)
{
    deletion_start(q->args);
}

/* ?letters=close&note=TEXT: both or neither. */
static bool deletion_note(struct call *c, struct str *out)
{
    struct str letters = http_query(c->http, "letters");

    *out = http_query(c->http, "note");
    if (letters.ptr == NULL && out->ptr == NULL)
        return true;
    if (str_eq(letters, STR("close")) && str_trim(*out).len > 0 && out->len <= NOTE_LEN_MAX)
        return true;
    return call_refuse_text(c, ERR_BAD_REQUEST,
                            "letters=close comes with a note that says what was done about them, "
                            "in 1 to 2000 bytes");
}

void executions_delete(struct call *c)
{
    struct deletion *d = ARENA_NEW(c->mem, struct deletion);

    *d = (struct deletion){.call = c, .mem = c->mem, .done = execution_deleted};
    if (!call_execution_id(c, &d->id) || !deletion_note(c, &d->note) ||
        !call_idempotency(c, &d->idempotency))
        return;
    d->idempotency.status = 204;
    lookup_start(c, d, deletion_run_check, deletion_checked);
}
