/* executions_act.c - see executions_act.h. */
#include "api/executions/executions_act.h"

#include "api/body.h"
#include "api/executions/executions_start.h"
#include "api/lookup.h"
#include "api/repeat.h"
#include "api/view.h"
#include "store/read_execution.h"
#include "store/read_find.h"
#include "value/json.h"
#include "value/object.h"

enum {
    STEP_LEN_MAX = 255,
    BRANCH_LEN_MAX = 1000,
    SIGNAL_TEXT_LEN_MAX = 255,
    PAUSE_REASON_LEN_MAX = 1000, /* it is shown with the execution, in lists too */
};

/* --- fields --- */

size_t act_body_fields(struct act_fields *f, unsigned takes, unsigned needs, struct body_field *out)
{
    static const enum body_kind kinds[] = {
#define ACTION_FIELD(symbol, name, kind, ...) [ACTION_FIELD_##symbol] = BODY_##kind,
#include "engine/action_fields.def"
#undef ACTION_FIELD
    };
    size_t count = 0;

    for (unsigned i = 0; i < ACTION_FIELD_COUNT; i++)
        if ((takes & 1u << i) != 0)
            out[count++] = (struct body_field){.name = action_field_specs[i].name,
                                               .kind = kinds[i],
                                               .is_required = (needs & 1u << i) != 0,
                                               .out = &f->at[i]};
    return count;
}

static struct str act_text(const struct act_fields *f, enum action_field field)
{
    return value_text_or(f->at[field], STR_NONE);
}

static int64_t act_int(const struct act_fields *f, enum action_field field)
{
    return f->at[field].kind == VALUE_INT ? f->at[field].i : 0;
}

static bool is_text_of(struct value v, uint32_t len_max)
{
    return v.kind != VALUE_STRING || (v.len > 0 && v.len <= len_max);
}

static bool is_number_from_1(struct value v)
{
    return v.kind != VALUE_INT || v.i >= 1;
}

bool act_check(struct call *c, enum action action, const struct act_fields *f)
{
    if (!is_text_of(f->at[ACTION_FIELD_TYPE], SIGNAL_TEXT_LEN_MAX))
        call_refuse_field(c, "type", "bad_value", "type has from 1 to 255 bytes");
    else if (!is_text_of(f->at[ACTION_FIELD_ID], SIGNAL_TEXT_LEN_MAX))
        call_refuse_field(c, "id", "bad_value", "id has from 1 to 255 bytes");
    else if (!is_number_from_1(f->at[ACTION_FIELD_VERSION]))
        call_refuse_field(c, "version", "bad_value", "version is a number from 1 on");
    else if (!is_text_of(f->at[ACTION_FIELD_FROM], STEP_LEN_MAX))
        call_refuse_field(c, "from", "bad_value", "from is the code of a step");
    else if (!is_text_of(f->at[ACTION_FIELD_TO], STEP_LEN_MAX))
        call_refuse_field(c, "to", "bad_value", "to is the code of a step, or end");
    else if (!is_text_of(f->at[ACTION_FIELD_BRANCH], BRANCH_LEN_MAX))
        call_refuse_field(c, "branch", "bad_value", "branch has from 1 to 1000 bytes");
    else if (!is_number_from_1(f->at[ACTION_FIELD_VISIT]))
        call_refuse_field(c, "visit", "bad_value", "visit is a number from 1 on");
    else if (action == ACTION_PAUSE && act_text(f, ACTION_FIELD_REASON).len > PAUSE_REASON_LEN_MAX)
        call_refuse_field(c, "reason", "bad_value", "the reason of a pause has at most 1000 bytes");
    else
        return true;
    return false;
}

bool act_read(struct call *c, enum action action, struct uuid *execution, struct act_fields *out)
{
    const struct action_spec *spec = &action_specs[action];
    struct body_field fields[ACTION_FIELD_COUNT];
    size_t count;

    *out = (struct act_fields){.by = call_by(c)};
    count = act_body_fields(out, spec->takes, spec->needs, fields);
    return call_execution_id(c, execution) && call_body(c, fields, count) &&
           act_check(c, action, out);
}

/* --- requests --- */

/* The fields of the action that the audit log has; empty when there are none. */
static struct str act_details(struct arena *mem, const struct act_fields *f)
{
    struct buf out;
    struct err err;

    object_begin(&out, mem);
    for (unsigned i = 0; i < ACTION_FIELD_COUNT; i++) {
        const struct action_field_spec *spec = &action_field_specs[i];

        bool is_empty = f->at[i].kind == VALUE_STRING && f->at[i].len == 0;

        if (f->at[i].kind == VALUE_ABSENT || is_empty || spec->audit == ACTION_AUDIT_NOTHING)
            continue;
        object_name(&out, spec->name);
        if (spec->audit == ACTION_AUDIT_PRESENT)
            buf_text(&out, "true");
        else if (!json_write(&out, f->at[i], &err))
            return STR_NONE;
    }
    if (out.len == 1)
        return STR_NONE;
    return object_end(&out);
}

static void act_audit(const struct call *c, struct node_request *r, enum action action,
                      const struct act_fields *f, struct uuid execution)
{
    call_audit(c, r, action_specs[action].audit, uuid_text(r->mem, execution),
               act_details(r->mem, f));
}

static void act_cancels(struct event *ev, struct value compensate)
{
    if (compensate.kind == VALUE_BOOL)
        ev->cancel_rollback = compensate.b ? CANCEL_ROLLS_BACK : CANCEL_LEAVES;
}

void act_fill(const struct call *c, struct node_request *r, enum action action,
              const struct act_fields *f, struct uuid execution)
{
    static const enum event_kind events[ACTION_COUNT] = {
#define ACTION(symbol, name, makes, ...) makes(symbol)
#define BY_EVENT(symbol) [ACTION_##symbol] = EVENT_##symbol,
#define BY_SIGNAL(symbol) [ACTION_##symbol] = EVENT_##symbol,
#define BY_START(symbol)
#define BY_DELETION(symbol)
#include "engine/actions.def"
#undef ACTION
#undef BY_EVENT
#undef BY_SIGNAL
#undef BY_START
#undef BY_DELETION
    };
    struct value payload = f->at[ACTION_FIELD_PAYLOAD];

    r->kind = NODE_EVENT;
    r->execution = execution;
    r->version = act_int(f, ACTION_FIELD_VERSION);
    r->event = (struct event){
        .kind = events[action],
        .by = f->by,
        .reason = act_text(f, ACTION_FIELD_REASON),
        .signal_type = act_text(f, ACTION_FIELD_TYPE),
        .signal_id = act_text(f, ACTION_FIELD_ID),
        .signal_payload = payload.kind == VALUE_ABSENT ? value_null() : payload,
        .from = act_text(f, action == ACTION_ASSIGN ? ACTION_FIELD_STEP : ACTION_FIELD_FROM),
        .visit = act_int(f, ACTION_FIELD_VISIT),
        .assignee = f->at[ACTION_FIELD_ASSIGNEE],
        .input = f->at[ACTION_FIELD_INPUT],
        .output = f->at[ACTION_FIELD_OUTPUT],
        .to = act_text(f, ACTION_FIELD_TO),
        .branch = act_text(f, ACTION_FIELD_BRANCH),
        .set = f->at[ACTION_FIELD_SET],
        .nodes = f->at[ACTION_FIELD_NODES],
    };
    act_cancels(&r->event, f->at[ACTION_FIELD_COMPENSATE]);
    act_audit(c, r, action, f, execution);
}

static void act_on_one(struct call *c, enum action action)
{
    struct act_fields f;
    struct node_request *r;
    struct uuid execution;

    if (!act_read(c, action, &execution, &f) ||
        (r = call_request(c, NODE_EVENT, repeat_accepted)) == NULL)
        return;
    act_fill(c, r, action, &f, execution);
    call_submit(c, r);
}

/* executions_cancel() and all others that are answered with 202 when their event is durable. */
#define ACTION(symbol, name, makes, ...) makes(symbol, name)
#define BY_EVENT(symbol, name)                                                                     \
    void executions_##name(struct call *c)                                                         \
    {                                                                                              \
        act_on_one(c, ACTION_##symbol);                                                            \
    }
#define BY_SIGNAL(symbol, name)
#define BY_START(symbol, name)
#define BY_DELETION(symbol, name)
#include "engine/actions.def"
#undef ACTION
#undef BY_EVENT
#undef BY_SIGNAL
#undef BY_START
#undef BY_DELETION

/* --- starting again --- */

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

void again_fill(const struct call *c, struct node_request *r, const struct again *a,
                const struct act_fields *f, struct uuid of)
{
    r->kind = NODE_START;
    r->code = a->code;
    r->key = a->key;
    r->event.input = a->input;
    r->webhook = a->webhook;
    r->record = a->record;
    r->version = act_int(f, ACTION_FIELD_VERSION);
    r->has_again_of = true;
    r->again_of = of;
    r->trace = call_trace(c);
    act_audit(c, r, ACTION_AGAIN, f, of);
}

struct again_request {
    struct uuid id;
    struct act_fields fields;
    struct again again;
};

static bool again_run(struct lookup *q, struct reader *reader, struct err *err)
{
    struct again_request *a = q->args;

    return again_read(q->call, q->mem, reader, a->id, &a->again, err);
}

static void again_start(struct lookup *q)
{
    struct again_request *a = q->args;
    struct call *c = q->call;
    struct node_request *r = call_request(c, NODE_START, executions_started);

    if (r == NULL || !call_wait(c, &r->wait_us))
        return;
    again_fill(c, r, &a->again, &a->fields, a->id);
    call_submit(c, r);
}

void executions_again(struct call *c)
{
    struct again_request *a = ARENA_NEW(c->mem, struct again_request);

    if (act_read(c, ACTION_AGAIN, &a->id, &a->fields))
        lookup_start(c, a, again_run, again_start);
}
