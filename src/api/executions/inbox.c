/*
 * inbox.c - what waits for the caller: the list, and answering one.
 *
 * An item is a wait of an execution that is assigned to the caller, by id,
 * e-mail or group. Its id is that of the visit, "EXECUTION-STEP" or from the
 * second visit on "EXECUTION-STEP-VISIT". Being assigned is what gives the
 * right to see and to answer it, whatever `access` of the definition says of
 * roles; what is not assigned to the caller is not there.
 */
#include "api/executions/executions_signal.h"
#include "api/list.h"
#include "api/repeat.h"
#include "define/assignee.h"
#include "store/read_execution.h"
#include "store/read_inbox.h"
#include "value/json.h"
#include "value/object.h"

#include <inttypes.h>

enum { HISTORY_PAGE = 256, HISTORY_PAGES_MAX = 64 };

static struct value caller_keys(struct call *c)
{
    return assignee_keys(c->mem, c->user.id, c->user.email, c->user.groups);
}

/* --- the list --- */

struct inbox_page {
    struct list_page list;
    struct value keys;
};

static struct str visit_id(struct arena *mem, struct uuid execution, struct str step, int64_t visit)
{
    struct str id = UUID_STR(execution);

    if (visit <= 1)
        return str_printf(mem, "%s-%.*s", id.ptr, STR_ARG(step));
    return str_printf(mem, "%s-%.*s-%" PRId64, id.ptr, STR_ARG(step), visit);
}

static struct str item_id(struct arena *mem, const struct stored_wait *w)
{
    return visit_id(mem, w->execution, w->step, w->visit);
}

static bool inbox_read(struct list_page *l)
{
    const struct inbox_page *p = (struct inbox_page *)l;
    struct stored_waits rows;

    if (!read_inbox(l->reader, l->mem, l->call->user.org_id, p->keys, l->cursor, l->limit, &rows,
                    &l->next, l->err))
        return false;
    LIST_ROWS(l, &rows);
    return true;
}

/* {id, name} of who has started it: the rest of a user is not for those who answer. */
static void show_starter(struct list_page *l, const struct stored_wait *w)
{
    struct value user;
    struct err err;

    object_name(l->out, "startedBy");
    if (w->started_by_json.len == 0 || !json_read(l->mem, w->started_by_json, &user, &err) ||
        user.kind != VALUE_MAP) {
        buf_text(l->out, "null");
        return;
    }
    buf_char(l->out, '{');
    object_text(l->out, "id", value_map_text(user, STR("id")));
    object_text(l->out, "name", value_map_text(user, STR("name")));
    buf_char(l->out, '}');
}

/* Who has answered before, the first ones first. */
static bool show_answered_before(struct list_page *l, const struct stored_wait *w)
{
    struct waits_answered answers;

    if (!read_answered_before(l->reader, l->mem, w->execution_row, &answers, l->err))
        return false;
    object_name(l->out, "answeredBefore");
    buf_char(l->out, '[');
    for (size_t i = 0; i < answers.count; i++) {
        const struct wait_answered *a = &answers.items[i];

        buf_text(l->out, i == 0 ? "{" : ",{");
        object_json(l->out, "by", a->by_json);
        object_text(l->out, "step", a->step);
        object_time(l->out, "answeredAt", a->at_us);
        buf_char(l->out, '}');
    }
    buf_char(l->out, ']');
    return true;
}

static struct str shown(struct list_page *l, const struct mask *mask, struct str json)
{
    return json.len == 0 || mask_is_empty(mask) ? json : mask_json(l->mem, mask, json);
}

static bool inbox_show(struct list_page *l, const void *row)
{
    const struct stored_wait *w = row;
    struct buf *out = l->out;
    struct mask mask;

    if (!read_mask(l->reader, l->mem, w->execution, &mask, l->err))
        return false;
    buf_char(out, '{');
    object_text(out, "id", item_id(l->mem, w));
    object_id(out, "executionId", w->execution);
    object_text(out, "code", w->code);
    object_text(out, "name", w->name);
    object_int(out, "version", w->version);
    object_text(out, "step", w->step);
    object_int(out, "visit", w->visit);
    object_text(out, "title", mask_is_empty(&mask) ? w->title : mask_text(l->mem, &mask, w->title));
    object_json(out, "form", w->form_json);
    object_json(out, "show", shown(l, &mask, w->show_json));
    object_json(out, "then", shown(l, &mask, w->then_json));
    object_json(out, "signalType", w->types_json);
    object_json(out, "assignee", w->assignees_json);
    object_bool(out, "public", w->is_public);
    object_time(out, "since", w->since_us);
    object_time(out, "until", w->until_us);
    object_json(out, "timeUp", w->time_up_json);
    show_starter(l, w);
    if (!show_answered_before(l, w))
        return false;
    buf_char(out, '}');
    return true;
}

static const struct list_kind inbox_kind = {.read = inbox_read, .show = inbox_show};

/* --- what was answered --- */

static bool answered_read(struct list_page *l)
{
    struct waits_answered rows;

    if (!read_answered(l->reader, l->mem, l->call->user.org_id, l->call->user.id, l->cursor,
                       l->limit, &rows, &l->next, l->err))
        return false;
    LIST_ROWS(l, &rows);
    return true;
}

static bool answered_payload(struct list_page *l, struct str output_json, struct value *output,
                             struct str *payload_json)
{
    struct value payload;
    struct buf out;

    if (!json_read(l->mem, output_json, output, l->err))
        return false;
    payload = value_map_member(*output, STR("payload"));
    if (payload.kind == VALUE_ABSENT)
        return true;
    buf_init_arena(&out, l->mem);
    *payload_json = STR_NONE;
    if (!json_write(&out, payload, l->err))
        return false;
    *payload_json = buf_view(&out);
    return true;
}

static bool answered_show(struct list_page *l, const void *row)
{
    const struct wait_answered *a = row;
    struct value output = value_absent();
    struct str payload_json = STR_NONE;
    struct buf *out = l->out;
    struct mask mask;

    if (!read_mask(l->reader, l->mem, a->execution, &mask, l->err))
        return false;
    /* What the step makes of its answer may leave the payload out. */
    if (a->output_json.len > 0 &&
        !answered_payload(l, shown(l, &mask, a->output_json), &output, &payload_json))
        return false;
    buf_char(out, '{');
    object_text(out, "id", visit_id(l->mem, a->execution, a->step, a->visit));
    object_id(out, "executionId", a->execution);
    object_text(out, "code", a->code);
    object_text(out, "name", a->name);
    object_int(out, "version", a->version);
    object_text(out, "step", a->step);
    object_int(out, "visit", a->visit);
    object_text(out, "title", mask_is_empty(&mask) ? a->title : mask_text(l->mem, &mask, a->title));
    object_text(out, "type", value_text_or(value_map_member(output, STR("type")), STR_NONE));
    object_json(out, "payload", payload_json);
    object_time(out, "answeredAt", a->at_us);
    buf_char(out, '}');
    return true;
}

static const struct list_kind answered_kind = {.read = answered_read, .show = answered_show};

void inbox_list(struct call *c)
{
    struct inbox_page *p = ARENA_NEW(c->mem, struct inbox_page);
    struct str answered = http_query(c->http, "answered");

    if (answered.len > 0 && !str_eq(answered, STR("true")) && !str_eq(answered, STR("false"))) {
        call_refuse_text(c, ERR_BAD_REQUEST, "answered is true or false");
        return;
    }
    p->keys = caller_keys(c);
    list_start(c, &p->list, str_eq(answered, STR("true")) ? &answered_kind : &inbox_kind);
}

/* --- answering --- */

struct inbox_answer {
    struct call *call;
    struct node_request *request;
    struct answer_to to;
    struct uuid execution;
    struct value type, payload;
    struct err refused; /* what the engine said, once it has been asked; else ERR_NONE */
    /* what was found */
    bool is_open;
    struct stored_wait wait;
    bool was_assigned; /* to the caller, when the wait ended or before */
    struct value by;   /* ... who answered it, or absent */
    struct value answered_at;
    bool timed_out;
};

static bool read_item_id(struct str text, struct inbox_answer *out)
{
    struct str rest;
    int64_t dash;

    if (text.len < UUID_TEXT_LEN + 2 || text.ptr[UUID_TEXT_LEN] != '-' ||
        !uuid_read(str_slice(text, 0, UUID_TEXT_LEN), &out->execution))
        return false;
    rest = str_slice(text, UUID_TEXT_LEN + 1, text.len);
    dash = str_find(rest, STR("-"), 0);
    out->to.visit = 1;
    out->to.step = dash < 0 ? rest : str_slice(rest, 0, (size_t)dash);
    if (dash < 0)
        return true;
    out->to.visit = 0;
    for (size_t i = (size_t)dash + 1; i < rest.len && out->to.visit < INT32_MAX; i++) {
        if (rest.ptr[i] < '0' || rest.ptr[i] > '9')
            return false;
        out->to.visit = out->to.visit * 10 + (rest.ptr[i] - '0');
    }
    return out->to.visit > 1;
}

static bool is_assigned(struct arena *mem, const struct inbox_answer *a, struct value assignee)
{
    struct value keys;

    return assignee_read(mem, assignee, &keys) && assignee_is_among(a->to.keys, keys);
}

/* What the history has of a wait that has ended. */
static void learn_row(struct arena *mem, struct inbox_answer *a, const struct history_row *row)
{
    static const struct {
        const char *status, *note;
    } assigns[] = {{"waiting", "wait"}, {"assigned", "assign"}};
    struct value read, note;
    struct err err;

    if (!str_eq(row->step, a->to.step) || row->visit != a->to.visit)
        return;
    for (size_t i = 0; row->kind == HISTORY_EVENT && i < ARRAY_SIZE(assigns); i++)
        if (str_eq(row->status, str_of(assigns[i].status)) &&
            json_read(mem, row->delta_json, &read, &err) && read.kind == VALUE_MAP) {
            note = value_map_get_str(read, str_of(assigns[i].note));
            a->was_assigned |= note.kind == VALUE_MAP &&
                               is_assigned(mem, a, value_map_get_str(note, STR("assignee")));
        }
    if (row->kind == HISTORY_FORWARD && json_read(mem, row->output_json, &read, &err) &&
        read.kind == VALUE_MAP) {
        a->by = value_map_get_str(read, STR("by"));
        a->answered_at = value_map_get_str(read, STR("receivedAt"));
        a->timed_out = value_is_true(value_map_get_str(read, STR("timedOut")));
    }
}

/* Whether the caller could have answered it, and who has. */
static bool read_past(struct lookup *q, struct reader *reader, struct err *err)
{
    struct inbox_answer *a = q->args;
    int64_t after = 0;
    bool found = true;

    for (int pages = 0; pages < HISTORY_PAGES_MAX; pages++) {
        struct progress page;

        if (!read_progress(reader, q->mem, a->execution, after, HISTORY_PAGE, &page, &found, err))
            return false;
        if (!found || !str_eq(page.org_id, q->call->user.org_id))
            return true;
        for (size_t i = 0; i < page.history.count; i++)
            learn_row(q->mem, a, &page.history.items[i]);
        if (page.history.count < HISTORY_PAGE && !page.is_cut)
            return true;
        after = page.history.items[page.history.count - 1].seq;
    }
    return true;
}

static bool inbox_run_find(struct lookup *q, struct reader *reader, struct err *err)
{
    struct inbox_answer *a = q->args;
    struct value assignees;

    if (!read_inbox_item(reader, q->mem, a->execution, a->to.step, a->to.visit, &a->wait,
                         &a->is_open, err))
        return false;
    if (!a->is_open || a->refused.code == ERR_CONFLICT)
        return read_past(q, reader, err);
    a->is_open = str_eq(a->wait.org_id, q->call->user.org_id) && a->wait.assignees_json.len > 0 &&
                 json_read(q->mem, a->wait.assignees_json, &assignees, err) &&
                 assignee_is_among(a->to.keys, assignees);
    return true;
}

/* The wait has ended, or was never the caller's. */
static void refuse_closed(struct call *c, const struct inbox_answer *a)
{
    struct value name = value_map_member(a->by, STR("name"));
    struct buf more;
    struct err err;

    buf_init_arena(&more, c->mem);
    if (!a->was_assigned) {
        (void)err_set(&err, ERR_NOT_FOUND, "there is nothing with this id in your inbox");
    } else if (name.kind == VALUE_STRING) {
        (void)err_set(&err, ERR_CONFLICT, "%.*s has answered it already",
                      STR_ARG(value_text(name)));
        object_text(&more, "answeredBy", value_text(name));
    } else if (a->by.kind == VALUE_MAP) {
        (void)err_set(&err, ERR_CONFLICT, "it was answered already, through its link");
    } else {
        (void)err_set(&err, ERR_CONFLICT,
                      a->timed_out ? "its time was up before it was answered"
                                   : "it waits for no answer any more");
    }
    if (a->was_assigned && a->answered_at.kind == VALUE_STRING)
        object_text(&more, "answeredAt", value_text(a->answered_at));
    repeat_or_refuse(c, &a->request->idempotency, &err, NULL, buf_view(&more));
}

static void looked_back(struct lookup *q)
{
    refuse_closed(q->call, q->args);
}

static void inbox_answered(struct node_request *r)
{
    struct inbox_answer *a = r->owner;

    r->owner = a->call;
    if (r->ok || r->err.code != ERR_CONFLICT) {
        executions_signalled(r);
        return;
    }
    /* Somebody was faster. */
    a->refused = r->err;
    lookup_start(a->call, a, inbox_run_find, looked_back);
}

/* The type of the answer: the one that is given, or the only one that the wait takes. */
static bool take_type(struct call *c, const struct inbox_answer *a, struct str *out)
{
    struct value types;
    struct err err;

    if (a->type.kind == VALUE_STRING) {
        *out = value_text(a->type);
        return true;
    }
    if (!json_read(c->mem, a->wait.types_json, &types, &err))
        return call_refuse(c, &err);
    if (types.kind == VALUE_LIST && types.len == 1)
        types = types.items[0];
    if (types.kind != VALUE_STRING)
        return call_refuse_field(c, "type", "missing_field",
                                 "type is missing: it waits for one of %.*s",
                                 STR_ARG(a->wait.types_json));
    *out = value_text(types);
    return true;
}

static void inbox_found(struct lookup *q)
{
    struct inbox_answer *a = q->args;
    struct node_request *r = a->request;
    struct call *c = q->call;

    if (!a->is_open) {
        refuse_closed(c, a);
        return;
    }
    if (!take_type(c, a, &r->event.signal_type))
        return;
    r->execution = a->execution;
    r->event.signal_payload = a->payload.kind == VALUE_ABSENT ? value_null() : a->payload;
    r->event.by = call_by(c);
    r->event.answer_to = &a->to;
    call_audit_signal(c, r);
    call_submit(c, r);
}

void inbox_answer(struct call *c)
{
    struct inbox_answer *a = ARENA_NEW(c->mem, struct inbox_answer);
    const struct body_field fields[] = {
        {"type", BODY_TEXT, false, .out = &a->type},
        {"payload", BODY_ANY, false, .out = &a->payload},
    };

    a->call = c;
    a->to.keys = caller_keys(c);
    if (!call_body(c, fields, ARRAY_SIZE(fields)))
        return;
    if (!read_item_id(c->params[0], a))
        call_refuse_text(c, ERR_NOT_FOUND, "there is nothing with this id in your inbox");
    else if (a->type.kind == VALUE_STRING &&
             (a->type.len == 0 || a->type.len > SIGNAL_TYPE_LEN_MAX))
        call_refuse_field(c, "type", "bad_value", "type has from 1 to 255 bytes");
    else if ((a->request = call_event(c, EVENT_SIGNAL, inbox_answered)) != NULL &&
             call_wait(c, &a->request->wait_us)) {
        a->request->owner = a;
        lookup_start(c, a, inbox_run_find, inbox_found);
    }
}
