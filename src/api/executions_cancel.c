/* executions_cancel.c - cancelling an execution. */
#include "api/executions_cancel.h"

#include "api/body.h"
#include "api/repeat.h"
#include "value/object.h"

static struct str cancel_details(struct arena *mem, const struct cancel_fields *f)
{
    struct buf out;

    buf_init_arena(&out, mem);
    buf_char(&out, '{');
    if (f->reason.kind == VALUE_STRING)
        object_text(&out, "reason", value_text(f->reason));
    if (f->compensate.kind == VALUE_BOOL)
        object_bool(&out, "compensate", f->compensate.b);
    if (out.len == 1)
        return STR_NONE;
    buf_char(&out, '}');
    return buf_view(&out);
}

void cancel_fill(struct call *c, struct node_request *r, const struct cancel_fields *f,
                 struct str id)
{
    r->reason = f->reason.kind == VALUE_STRING ? value_text(f->reason) : STR_NONE;
    if (f->compensate.kind == VALUE_BOOL)
        r->cancel_rollback = f->compensate.b ? CANCEL_ROLLS_BACK : CANCEL_LEAVES;
    call_audit(c, r, "execution.cancel", id, cancel_details(r->mem, f));
}

static void cancelled(struct node_request *r)
{
    struct call *c = r->owner;

    if (r->ok)
        call_answer(c, 202, STR("{}"));
    else
        repeat_or_refuse(c, &r->idempotency, &r->err, &r->findings, STR_NONE);
}

void executions_cancel(struct call *c)
{
    struct cancel_fields f;
    const struct body_field fields[] = {
        {"reason", BODY_TEXT, false, &f.reason},
        {"compensate", BODY_BOOL, false, &f.compensate},
    };
    struct node_request *r;
    struct uuid execution;

    if (!call_execution_id(c, &execution) || !call_body(c, fields, ARRAY_SIZE(fields)))
        return;
    r = call_request(c, NODE_CANCEL, cancelled);
    if (r == NULL)
        return;
    r->execution = execution;
    cancel_fill(c, r, &f, c->params[0]);
    call_submit(c, r);
}
