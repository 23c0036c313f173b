/*
 * executions_signal.c - signals to an execution, and with ?wait what becomes of
 * them: the row of the step that took the signal.
 */
#include "api/executions/executions_signal.h"

#include "api/executions/executions_act.h"
#include "api/lookup.h"
#include "api/repeat.h"
#include "api/view.h"
#include "engine/state.h"
#include "store/read_execution.h"
#include "value/json.h"
#include "value/object.h"

enum { HISTORY_PAGE = 256, OUTCOME_LOOKS_MAX = 3 };

/* A call that waits for the step that takes its signal; in the call's memory. */
struct outcome {
    struct call *call;
    struct uuid execution;
    struct str signal_id;
    int64_t wait_us;
    unsigned looks;
    /* what the history says */
    int64_t seq;
    struct str taken_json;
    bool is_refused;
    enum execution_status status;
};

void executions_answer_id(struct call *c, struct str id)
{
    struct buf out;

    object_begin(&out, c->mem);
    object_text(&out, "id", id);
    call_answer(c, 202, object_end(&out));
}

void executions_answer_received(struct call *c, const struct node_request *r)
{
    struct buf out;

    object_begin(&out, c->mem);
    object_text(&out, "id", r->signal_id_out);
    if (r->is_unjudged)
        object_bool(&out, "judged", false);
    call_answer(c, 202, object_end(&out));
}

/* It was kept while a transition was under way, and none was open for it behind that. */
static void refuse_later(struct call *c)
{
    struct err err;

    (void)err_set(&err, ERR_EVENT_NOT_ALLOWED,
                  "when the event was judged no transition was open for it");
    (void)call_refuse(c, &err);
}

static void answer_taken(struct call *c, struct str id, struct uuid execution, struct str step_json,
                         enum execution_status status)
{
    struct buf out;

    object_begin(&out, c->mem);
    object_text(&out, "id", id);
    object_id(&out, "executionId", execution);
    object_json(&out, "step", step_json);
    object_text(&out, "status", str_of(status_name(status)));
    call_answer(c, 200, object_end(&out));
}

static void outcome_look(struct outcome *o);

static void waited_for_outcome(struct node_request *r)
{
    struct outcome *o = r->owner;

    if (!r->ok)
        repeat_or_refuse_of(o->call, r);
    else if (r->is_refused_later)
        refuse_later(o->call);
    else if (r->taken_json.len > 0)
        answer_taken(o->call, o->signal_id, o->execution, r->taken_json, r->taken_status);
    else if (r->taken_before && ++o->looks < OUTCOME_LOOKS_MAX)
        outcome_look(o);
    else
        executions_answer_id(o->call, o->signal_id);
}

/* The history of the execution, for the row of the step that took the signal. */
static bool outcome_run_look(struct lookup *q, struct reader *reader, struct err *err)
{
    struct outcome *o = q->args;
    struct mask mask;
    int64_t after;
    bool found;

    if (!read_signal(reader, o->execution, o->signal_id, &o->seq, &found, err))
        return false;
    if (!found)
        o->seq = 0;
    for (after = o->seq; found && o->taken_json.len == 0;) {
        struct arena_mark mark = arena_mark(q->mem);
        struct progress page;

        if (!read_progress(reader, q->mem, o->execution, after, HISTORY_PAGE, &page, &found, err))
            return false;
        o->status = page.status;
        for (size_t i = 0; i < page.history.count && o->taken_json.len == 0; i++) {
            const struct history_row *row = &page.history.items[i];
            after = row->seq;
            if (state_row_took(q->mem, row) != o->seq)
                continue;
            if (!read_mask(reader, q->mem, o->execution, &mask, err))
                return false;
            view_history_row(q->mem, &q->answer, &mask, o->execution, row);
            o->taken_json = buf_view(&q->answer);
            o->is_refused = row->kind == HISTORY_EVENT;
        }
        if (o->taken_json.len > 0 || (page.history.count < HISTORY_PAGE && !page.is_cut))
            break;
        arena_release(q->mem, mark);
    }
    return true;
}

static void outcome_looked(struct lookup *q)
{
    struct outcome *o = q->args;
    struct call *c = o->call;
    struct node_request *wait;

    if (o->is_refused) {
        refuse_later(c);
    } else if (o->taken_json.len > 0) {
        answer_taken(c, o->signal_id, o->execution, o->taken_json, o->status);
    } else if (o->seq == 0 || status_is_terminal(o->status)) {
        executions_answer_id(c, o->signal_id);
    } else if ((wait = call_request(c, NODE_WAIT, waited_for_outcome)) != NULL) {
        wait->idempotency = (struct idempotency){0};
        wait->owner = o;
        wait->execution = o->execution;
        wait->signal_seq = o->seq;
        wait->wait_us = o->wait_us;
        call_submit(c, wait);
    }
}

static void outcome_look(struct outcome *o)
{
    lookup_start(o->call, o, outcome_run_look, outcome_looked);
}

/* The signal was received before: follow the step that took it or will take it. */
static void look_for_outcome(struct call *c, const struct node_request *r, struct str signal_id)
{
    struct outcome *o = ARENA_NEW(c->mem, struct outcome);

    *o = (struct outcome){
        .call = c, .execution = r->execution, .signal_id = signal_id, .wait_us = r->wait_us};
    outcome_look(o);
}

/* The Idempotency-Key was used before. */
static void repeated_signal(struct call *c, const struct node_request *r)
{
    struct value before, id = value_absent();
    struct err err;

    if (r->wait_us > 0 && json_read(c->mem, r->stored_answer, &before, &err))
        id = value_map_member(before, STR("id"));
    if (id.kind == VALUE_STRING)
        look_for_outcome(c, r, value_text(id));
    else
        call_answer_again(c, r->stored_status, r->stored_answer);
}

void executions_signalled(struct node_request *r)
{
    struct call *c = r->owner;

    if (!r->ok)
        repeat_or_refuse_of(c, r);
    else if (r->stored_status != 0)
        repeated_signal(c, r);
    else if (r->is_refused_later)
        refuse_later(c);
    else if (r->taken_json.len > 0)
        answer_taken(c, r->signal_id_out, r->execution, r->taken_json, r->taken_status);
    else if (r->wait_us > 0 && r->taken_before)
        look_for_outcome(c, r, r->signal_id_out);
    else
        executions_answer_received(c, r);
}

void executions_signal(struct call *c)
{
    struct act_fields f;
    struct node_request *r;
    struct uuid execution;

    if (!act_read(c, ACTION_SIGNAL, &execution, &f) ||
        (r = call_request(c, NODE_EVENT, executions_signalled)) == NULL ||
        !call_wait(c, &r->wait_us))
        return;
    act_fill(c, r, ACTION_SIGNAL, &f, execution);
    call_submit(c, r);
}
