/* executions_repair.c - what operators do with an execution that cannot go on by itself. */
#include "api/executions_repair.h"

#include "api/body.h"
#include "api/call.h"
#include "api/repeat.h"
#include "value/object.h"

enum { STEP_LEN_MAX = 255 };

static void repaired(struct node_request *r)
{
    struct call *c = r->owner;
    struct buf more;

    if (r->ok) {
        call_answer(c, 202, STR("{}"));
        return;
    }
    buf_init_arena(&more, c->mem);
    if (r->err.code == ERR_KEY_BUSY)
        object_id(&more, "executionId", r->id);
    repeat_or_refuse(c, &r->idempotency, &r->err, &r->findings, buf_view(&more));
}

bool repair_check(struct call *c, const struct repair_fields *f)
{
    if (f->version.kind == VALUE_INT && f->version.i < 1)
        call_refuse_field(c, "version", "bad_value", "version is a number from 1 on");
    else if (f->from.kind == VALUE_STRING && (f->from.len == 0 || f->from.len > STEP_LEN_MAX))
        call_refuse_field(c, "from", "bad_value", "from is the code of a step");
    else
        return true;
    return false;
}

/* What was asked for, without input and output, which may be secret or large. */
static struct str details(struct arena *mem, const struct repair_fields *f)
{
    struct buf out;

    buf_init_arena(&out, mem);
    buf_char(&out, '{');
    if (f->from.kind == VALUE_STRING)
        object_text(&out, "from", value_text(f->from));
    if (f->version.kind == VALUE_INT)
        object_int(&out, "version", f->version.i);
    if (f->input.kind != VALUE_ABSENT)
        object_bool(&out, "input", true);
    if (f->output.kind != VALUE_ABSENT)
        object_bool(&out, "output", true);
    if (out.len == 1)
        return STR_NONE;
    buf_char(&out, '}');
    return buf_view(&out);
}

void repair_fill(struct call *c, struct node_request *r, const struct repair_fields *f,
                 struct str id)
{
    r->from = f->from.kind == VALUE_STRING ? value_text(f->from) : STR_NONE;
    r->version = f->version.kind == VALUE_INT ? f->version.i : 0;
    r->input = f->input;
    r->output = f->output;
    call_audit(c, r,
               r->kind == NODE_RETRY  ? "execution.retry"
               : r->kind == NODE_SKIP ? "execution.skip"
                                      : "execution.migrate",
               id, details(r->mem, f));
}

static void ask(struct call *c, enum node_request_kind kind, struct uuid execution,
                const struct repair_fields *f)
{
    struct node_request *r;

    if (!repair_check(c, f))
        return;
    r = call_request(c, kind, repaired);
    if (r == NULL)
        return;
    r->execution = execution;
    repair_fill(c, r, f, c->params[0]);
    call_submit(c, r);
}

void executions_retry(struct call *c)
{
    struct repair_fields f = {0};
    const struct body_field fields[] = {
        {"from", BODY_TEXT, false, &f.from},
        {"version", BODY_INT, false, &f.version},
        {"input", BODY_OBJECT, false, &f.input},
    };
    struct uuid execution;

    if (call_execution_id(c, &execution) && call_body(c, fields, ARRAY_SIZE(fields)))
        ask(c, NODE_RETRY, execution, &f);
}

void executions_skip(struct call *c)
{
    struct repair_fields f = {0};
    const struct body_field fields[] = {{"output", BODY_ANY, false, &f.output}};
    struct uuid execution;

    if (call_execution_id(c, &execution) && call_body(c, fields, 1))
        ask(c, NODE_SKIP, execution, &f);
}

void executions_migrate(struct call *c)
{
    struct repair_fields f = {0};
    const struct body_field fields[] = {{"version", BODY_INT, true, &f.version}};
    struct uuid execution;

    if (call_execution_id(c, &execution) && call_body(c, fields, 1))
        ask(c, NODE_MIGRATE, execution, &f);
}
