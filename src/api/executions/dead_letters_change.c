/*
 * dead_letters_change.c - what people do with dead letters.
 *
 * The letter is read first: who may not see it learns nothing, and what is
 * answered has no secrets. Whether it is still open is decided when the change
 * is made.
 */
#include "api/api.h"
#include "api/executions/dead_letters.h"
#include "api/executions/executions_act.h"
#include "api/executions/outbox.h"
#include "api/repeat.h"
#include "store/change_letter.h"
#include "store/read_execution.h"
#include "store/read_letter.h"
#include "value/object.h"

/* --- notes --- */

bool dead_letters_check_note(struct call *c, struct value note)
{
    if (note.kind == VALUE_ABSENT)
        return call_refuse_field(c, "note", "missing_field", "note is missing");
    return (str_trim(value_text(note)).len > 0 && note.len <= NOTE_LEN_MAX) ||
           call_refuse_field(c, "note", "bad_value",
                             "note says what was done about it, in 1 to 2000 bytes");
}

bool dead_letters_take_action(struct call *c, struct value action, struct value note,
                              bool *resolves)
{
    *resolves = str_eq(value_text(action), STR("resolve"));
    if (*resolves)
        return dead_letters_check_note(c, note);
    if (!str_eq(value_text(action), STR("retry")))
        return call_refuse_field(c, "action", "bad_value", "action is retry or resolve");
    return note.kind == VALUE_ABSENT ||
           call_refuse_field(c, "note", "unknown_field", "only resolve takes a note");
}

/* --- resolving --- */

struct resolving {
    struct letter_resolve change;
    bool has_outcome;
    enum verdict verdict;
    struct value output;
    struct stored_letter letter; /* as it was read */
    struct str answer;           /* as it will be */
};

static bool is_kind(const struct stored_letter *l, enum letter_kind kind)
{
    return str_eq(l->kind, str_of(letter_kind_name(kind)));
}

/* The letter as it will be. */
static bool letter_run_resolve(struct lookup *q, struct reader *reader, struct err *err)
{
    struct resolving *a = q->args;
    struct stored_letter letter;
    struct mask mask;

    if (!dead_letters_read_to_act(q, reader, a->change.id, &letter, err) ||
        !read_mask(reader, q->mem, letter.execution, &mask, err))
        return false;
    a->letter = letter;
    letter.status = LETTER_RESOLVED;
    letter.note = a->change.note;
    letter.resolved_at_us = a->change.change.now_us;
    letter.resolved_by = a->change.user_id;
    dead_letters_show(q->mem, &mask, &letter, &q->answer);
    return true;
}

static struct str resolve_details(struct call *c, const struct resolving *a)
{
    struct buf details;

    object_begin(&details, c->mem);
    object_text(&details, "note", a->change.note);
    if (a->has_outcome)
        object_text(&details, "outcome", str_of(verdict_name(a->verdict)));
    return object_end(&details);
}

/* The execution goes on with the outcome, and its commit closes the letter. */
static void resolve_execution(struct call *c, const struct resolving *a)
{
    struct node_request *r = call_event(c, EVENT_RESOLVE, repeat_changed);

    if (r == NULL)
        return;
    r->execution = a->letter.execution;
    r->event.letter = uuid_text(c->mem, a->change.id);
    r->event.verdict = a->verdict;
    r->event.output = a->output;
    r->event.note = a->change.note;
    r->idempotency.status = 200;
    r->idempotency.answer = a->answer;
    call_audit(c, r, "dead_letter.resolve", c->params[0], resolve_details(c, a));
    call_submit(c, r);
}

/* The letter alone is closed. */
static void close_letter(struct call *c, struct resolving *a)
{
    int64_t now_us = a->change.change.now_us;
    struct node_request *r = call_change(c, &a->change.change, repeat_changed);

    if (r == NULL)
        return;
    a->change.change.now_us = now_us;
    a->change.change.answer_status = 200;
    a->change.change.answer_json = a->answer;
    call_audit(c, r, "dead_letter.resolve", c->params[0], resolve_details(c, a));
    call_submit(c, r);
}

static void letter_then_resolve(struct lookup *q)
{
    struct resolving *a = q->args;
    struct call *c = q->call;
    bool is_in_doubt = is_kind(&a->letter, LETTER_RECONCILE);

    a->answer = buf_view(&q->answer);
    if (a->has_outcome && !is_in_doubt)
        call_refuse_field(c, "outcome", "bad_value",
                          "the outcome of this one is known, it is of the kind %.*s: "
                          "resolve it with a note alone",
                          STR_ARG(a->letter.kind));
    else if (!is_in_doubt || a->letter.status != LETTER_OPEN)
        close_letter(c, a);
    else if (!a->has_outcome)
        call_refuse_field(c, "outcome", "missing_field",
                          "the execution waits for the outcome of its step: succeeded, failed or "
                          "not_happened");
    else
        resolve_execution(c, a);
}

void dead_letters_resolve(struct call *c)
{
    struct value note = value_null(), outcome = value_null(), output = value_null();
    const struct body_field fields[] = {
        NOTE_FIELD(note),
        {"outcome", BODY_TEXT, false, .out = &outcome},
        {"output", BODY_ANY, false, .out = &output},
    };
    struct resolving *a = ARENA_NEW(c->mem, struct resolving);

    if (!dead_letters_id(c, &a->change.id) || !call_body(c, fields, ARRAY_SIZE(fields)) ||
        !dead_letters_check_note(c, note))
        return;
    if (outcome.kind == VALUE_STRING && !verdict_read(value_text(outcome), &a->verdict))
        call_refuse_field(c, "outcome", "bad_value",
                          "outcome is one of succeeded, failed, not_happened");
    else if (output.kind != VALUE_ABSENT &&
             (outcome.kind != VALUE_STRING || !str_eq(value_text(outcome), STR("succeeded"))))
        call_refuse_field(c, "output", "bad_value", "only the outcome succeeded has an output");
    else {
        a->change.change =
            (struct change){.apply = letter_resolve_apply, .now_us = api_now_us(c->api)};
        a->change.note = value_text(note);
        a->change.user_id = c->user.id;
        a->has_outcome = outcome.kind == VALUE_STRING;
        a->output = output;
        lookup_start(c, a, letter_run_resolve, letter_then_resolve);
    }
}

void dead_letters_fill_resolve(struct call *c, struct node_request *r,
                               const struct stored_letter *letter, struct str note)
{
    struct letter_resolve *change = ARENA_NEW(r->mem, struct letter_resolve);
    struct buf details;

    *change = (struct letter_resolve){
        .change = {.apply = letter_resolve_apply,
                   .now_us = api_now_us(c->api),
                   .answer_status = 200,
                   .answer_json = STR("{}")},
        .id = letter->id,
        .note = note,
        .user_id = c->user.id,
    };
    r->kind = NODE_CHANGE;
    r->change = &change->change;
    object_begin(&details, r->mem);
    object_text(&details, "note", note);
    call_audit(c, r, "dead_letter.resolve", uuid_text(r->mem, letter->id), object_end(&details));
}

/* --- trying again --- */

struct retrying {
    struct uuid id;
    struct stored_letter letter;
    struct idempotency idempotency;
};

static bool letter_run_retry(struct lookup *q, struct reader *reader, struct err *err)
{
    struct retrying *a = q->args;

    return dead_letters_read_to_act(q, reader, a->id, &a->letter, err);
}

/* Whether the letter is open; its execution is asked later. */
static bool may_retry(const struct stored_letter *l, struct err *err)
{
    return l->status == LETTER_OPEN || err_set(err, ERR_CONFLICT, "the dead letter is %s already",
                                               letter_status_name(l->status));
}

/* For every kind of letter, the commit of the request closes it. */
void dead_letters_fill_retry(struct call *c, struct node_request *r,
                             const struct stored_letter *letter)
{
    const struct act_fields as_it_is = {0};
    struct str id = uuid_text(r->mem, letter->id);

    r->execution = letter->execution;
    if (is_kind(letter, LETTER_OUTBOX)) {
        outbox_fill_retry_change(c, r, letter->id, true);
    } else if (is_kind(letter, LETTER_EXECUTION)) {
        r->kind = NODE_UNPARK;
        r->event.letter = id;
    } else if (is_kind(letter, LETTER_COMPENSATION)) {
        r->kind = NODE_EVENT;
        r->event.kind = EVENT_ROLLBACK;
        r->event.letter = id;
    } else {
        /* The same as POST /executions/{id}/retry. */
        act_fill(c, r, ACTION_RETRY, &as_it_is, letter->execution);
        r->event.held = str_copy(r->mem, letter->step);
        return;
    }
    call_audit(c, r, "dead_letter.retry", id, STR_NONE);
}

static void letter_then_retry(struct lookup *q)
{
    struct retrying *a = q->args;
    struct node_request *r;
    struct err err;

    if (!may_retry(&a->letter, &err)) {
        repeat_or_refuse(q->call, &a->idempotency, &err, NULL, STR_NONE);
        return;
    }
    r = call_event(q->call, EVENT_RETRY, repeat_accepted);
    if (r == NULL)
        return;
    dead_letters_fill_retry(q->call, r, &a->letter);
    call_submit(q->call, r);
}

void dead_letters_retry(struct call *c)
{
    struct retrying *a = ARENA_NEW(c->mem, struct retrying);

    if (dead_letters_id(c, &a->id) && call_body(c, NULL, 0) && call_idempotency(c, &a->idempotency))
        lookup_start(c, a, letter_run_retry, letter_then_retry);
}
