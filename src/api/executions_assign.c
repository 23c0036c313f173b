/* executions_assign.c - a wait of an execution is given to somebody else. */
#include "api/body.h"
#include "api/call.h"
#include "api/repeat.h"
#include "value/json.h"
#include "value/object.h"

static void assigned(struct node_request *r)
{
    if (r->ok)
        call_answer(r->owner, 202, STR("{}"));
    else
        repeat_or_refuse(r->owner, &r->idempotency, &r->err, &r->findings, STR_NONE);
}

static struct str audit_details(struct call *c, const struct node_request *r)
{
    struct buf out, assignee;
    struct err err;

    buf_init_arena(&assignee, c->mem);
    if (!json_write(&assignee, r->assignee, &err))
        return STR_NONE;
    buf_init_arena(&out, c->mem);
    buf_char(&out, '{');
    if (r->from.len > 0)
        object_text(&out, "step", r->from);
    object_json(&out, "assignee", buf_view(&assignee));
    buf_char(&out, '}');
    return buf_view(&out);
}

void executions_assign(struct call *c)
{
    struct value step, visit, assignee;
    const struct body_field fields[] = {
        {"step", BODY_TEXT, false, &step},
        {"visit", BODY_INT, false, &visit},
        {"assignee", BODY_ANY, true, &assignee},
    };
    struct node_request *r;
    struct uuid execution;

    if (!call_execution_id(c, &execution) || !call_body(c, fields, ARRAY_SIZE(fields)))
        return;
    if (visit.kind == VALUE_INT && visit.i < 1)
        call_refuse_field(c, "visit", "bad_value", "visit is a number from 1 on");
    else if ((r = call_request(c, NODE_ASSIGN, assigned)) != NULL) {
        r->execution = execution;
        r->from = step.kind == VALUE_STRING ? value_text(step) : STR_NONE;
        r->visit = visit.kind == VALUE_INT ? visit.i : 0;
        r->assignee = assignee;
        r->signal_by = call_by(c);
        call_audit(c, r, "execution.assign", c->params[0], audit_details(c, r));
        call_submit(c, r);
    }
}
