/* executions_again.c - see executions_again.h. */
#include "api/executions_again.h"

#include "api/lookup.h"
#include "api/view.h"
#include "value/json.h"
#include "value/object.h"

bool again_read(const struct call *c, struct arena *mem, struct reader *reader, struct uuid id,
                struct again *out, struct err *err)
{
    struct start_source from;
    struct uuid holder;
    bool found, is_held = false;

    if (!view_check_acting(c, mem, reader, id, err) ||
        !read_start(reader, mem, id, &from, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, "there is no execution with this id");
    if (!status_is_terminal(from.status))
        return err_set(err, ERR_CONFLICT, "it has not ended: it is %s", status_name(from.status));
    if (from.key.len > 0 &&
        !read_by_key(reader, from.org_id, from.code, from.key, &holder, &is_held, err))
        return false;
    *out = (struct again){.code = from.code,
                          .key = is_held ? STR_NONE : from.key,
                          .record = from.record,
                          .input = value_map_empty()};
    if (from.webhook_json.len > 0 && !json_read(mem, from.webhook_json, &out->webhook, err))
        return false;
    return from.input_json.len == 0 || json_read(mem, from.input_json, &out->input, err);
}

void again_fill(struct call *c, struct node_request *r, const struct again *a, struct uuid of,
                struct str of_text, int64_t version)
{
    struct buf details;

    r->code = a->code;
    r->key = a->key;
    r->input = a->input;
    r->webhook = a->webhook;
    r->record = a->record;
    r->version = version;
    r->has_again_of = true;
    r->again_of = of;
    r->trace = call_trace(c);
    buf_init_arena(&details, r->mem);
    if (version > 0)
        buf_printf(&details, "{\"version\":%lld}", (long long)version);
    call_audit(c, r, "execution.again", of_text, buf_view(&details));
}

/* --- one --- */

struct again_request {
    struct uuid id;
    int64_t version;
    struct again again;
};

static bool run_again(struct lookup *q, struct reader *reader, struct err *err)
{
    struct again_request *a = q->args;

    return again_read(q->call, q->mem, reader, a->id, &a->again, err);
}

static void then_again(struct lookup *q)
{
    struct again_request *a = q->args;
    struct call *c = q->call;
    struct node_request *r = call_request(c, NODE_START, executions_started);

    if (r == NULL || !call_wait(c, &r->wait_us))
        return;
    again_fill(c, r, &a->again, a->id, c->params[0], a->version);
    call_submit(c, r);
}

void executions_again(struct call *c)
{
    struct again_request *a = ARENA_NEW(c->mem, struct again_request);
    struct value version;
    const struct body_field fields[] = {{"version", BODY_INT, false, &version}};

    if (!call_execution_id(c, &a->id) || !call_body(c, fields, 1))
        return;
    if (version.kind == VALUE_INT && version.i < 1) {
        call_refuse_field(c, "version", "bad_value", "version is a number from 1 on");
        return;
    }
    a->version = version.kind == VALUE_INT ? version.i : 0;
    lookup_start(c, a, run_again, then_again);
}
