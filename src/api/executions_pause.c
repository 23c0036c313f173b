/* executions_pause.c - executions that stop where they are, and go on. */
#include "api/executions_pause.h"

#include "api/body.h"
#include "api/repeat.h"
#include "value/object.h"

/* It is shown with the execution, in lists too. */
enum { REASON_LEN_MAX = 1000 };

bool pause_check(struct call *c, struct str reason)
{
    if (reason.len <= REASON_LEN_MAX)
        return true;
    call_refuse_field(c, "reason", "bad_value", "the reason of a pause has at most 1000 bytes");
    return false;
}

void pause_audit(struct call *c, struct node_request *r, struct str id)
{
    struct buf details;

    buf_init_arena(&details, r->mem);
    if (r->reason.len > 0) {
        buf_char(&details, '{');
        object_text(&details, "reason", r->reason);
        buf_char(&details, '}');
    }
    call_audit(c, r, r->kind == NODE_PAUSE ? "execution.pause" : "execution.resume", id,
               buf_view(&details));
}

static void asked(struct node_request *r)
{
    struct call *c = r->owner;

    if (r->ok)
        call_answer(c, 202, STR("{}"));
    else
        repeat_or_refuse(c, &r->idempotency, &r->err, &r->findings, STR_NONE);
}

static void ask(struct call *c, enum node_request_kind kind, struct uuid execution,
                struct str reason)
{
    struct node_request *r = call_request(c, kind, asked);

    if (r == NULL)
        return;
    r->execution = execution;
    r->reason = reason;
    r->signal_by = call_by(c);
    pause_audit(c, r, c->params[0]);
    call_submit(c, r);
}

void executions_pause(struct call *c)
{
    struct value reason;
    const struct body_field fields[] = {{"reason", BODY_TEXT, false, &reason}};
    struct uuid execution;
    struct str why;

    if (!call_execution_id(c, &execution) || !call_body(c, fields, 1))
        return;
    why = reason.kind == VALUE_STRING ? value_text(reason) : STR_NONE;
    if (pause_check(c, why))
        ask(c, NODE_PAUSE, execution, why);
}

void executions_resume(struct call *c)
{
    struct uuid execution;

    if (call_execution_id(c, &execution) && call_body(c, NULL, 0))
        ask(c, NODE_RESUME, execution, STR_NONE);
}
