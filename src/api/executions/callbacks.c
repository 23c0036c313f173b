/*
 * callbacks.c - links that answer waits which are `public`: /callbacks/TOKEN/TYPE.
 *
 *     GET    the form of the wait; it never acts, since mail scanners follow links
 *     POST   the answer: what the form of that page sends, or JSON, which is the payload
 *
 * Whoever has the link may answer; nobody is asked who they are. A token that
 * is none, one that somebody made up and one whose wait is over are answered
 * alike, after the same look into the store.
 */
#include "api/api.h"
#include "api/executions/callback_page.h"
#include "api/executions/executions_signal.h"
#include "api/lookup.h"
#include "engine/commit/link.h"
#include "node/node.h"
#include "store/read_execution.h"
#include "store/read_inbox.h"
#include "value/json.h"

struct callback {
    struct call *call;
    struct str type; /* of the path, or empty */
    struct link link;
    struct answer_to to;
    bool is_page; /* a person with a browser asks */
    struct urlencoded given;
    bool is_filled; /* there is `given` */
    struct value payload;
    /* what was found */
    bool is_open;
    struct stored_wait wait;
    struct value types; /* a text, or a list of texts */
    struct value form;
    struct str title;                 /* without what is sensitive; */
    struct value show, then, time_up; /* ... and these */
};

/* --- answering --- */

static void answer_page(struct callback *b, int status, struct str html)
{
    struct http_answer answer = {.status = status,
                                 .content_type = "text/html; charset=utf-8",
                                 .body = html,
                                 .headers = {{"Content-Security-Policy", page_policy(b->call->mem)},
                                             {"Cache-Control", "no-store"},
                                             {"Vary", "Accept-Language"}}};

    http_answer(b->call->http, &answer);
}

static void answer_note(struct callback *b, int status, enum page_note note)
{
    answer_page(b, status, page_note(b->call->mem, call_language(b->call), note));
}

/* There is no such wait, or there is none any more. */
static void refuse_over(struct callback *b)
{
    if (b->is_page)
        answer_note(b, 404, PAGE_NOTHING);
    else
        call_refuse_text(b->call, ERR_NOT_FOUND,
                         "there is nothing to answer: it was answered already, its time was up, or "
                         "the link is not complete");
}

static void refuse_other(struct callback *b, const struct err *err, const struct findings *findings)
{
    int status = err_http_status(err->code);

    if (b->is_page)
        answer_note(b, status, status >= 500 ? PAGE_LATER : PAGE_WRONG);
    else
        call_refuse_with(b->call, err, findings, STR_NONE);
}

static void answer_form(struct callback *b, int status, const struct findings *findings)
{
    const struct page_form page = {
        .language = call_language(b->call),
        .title = b->title,
        .form = b->form,
        .show = b->show,
        .then = b->then,
        .time_up = b->time_up,
        .until_us = b->wait.until_us,
        .type = b->types.kind == VALUE_LIST && b->types.len > 1 ? b->type : STR_NONE,
        .given = b->is_filled ? &b->given : NULL,
        .findings = findings,
    };

    answer_page(b, status, page_form(b->call->mem, &page));
}

/* --- looking for the wait --- */

static bool wait_has_type(struct value types, struct str type)
{
    if (types.kind == VALUE_STRING)
        return type.len == 0 || str_eq(value_text(types), type);
    for (uint32_t i = 0; types.kind == VALUE_LIST && i < types.len; i++)
        if (type.len == 0 || str_eq(value_text_or(types.items[i], STR_NONE), type))
            return true;
    return false;
}

static bool callback_read_list(struct arena *mem, struct str json, struct value *out,
                               struct err *err)
{
    *out = value_absent();
    return json.len == 0 || json_read(mem, json, out, err);
}

/* Whether the link answers this wait; what it takes is the same whether it does or not. */
static bool link_answers(const struct callback *b, const struct link_maker *maker,
                         const struct stored_wait *w, struct value scopes)
{
    bool is_genuine = false;

    for (uint32_t i = 0; scopes.kind == VALUE_LIST && i < scopes.len; i++)
        is_genuine |= scopes.items[i].kind == VALUE_STRING &&
                      link_is_genuine(maker, &b->link, value_text(scopes.items[i]));
    return is_genuine && b->link.seq >= w->links_from;
}

static bool take_wait(struct callback *b, struct reader *reader, struct arena *mem,
                      const struct stored_wait *w, struct value types, struct err *err)
{
    struct mask mask;

    if (!read_mask(reader, mem, w->execution, &mask, err) ||
        !callback_read_list(mem, w->form_json, &b->form, err) ||
        !callback_read_list(mem, mask_json(mem, &mask, w->show_json), &b->show, err) ||
        !callback_read_list(mem, mask_json(mem, &mask, w->then_json), &b->then, err) ||
        !callback_read_list(mem, w->time_up_json, &b->time_up, err))
        return false;
    b->is_open = true;
    b->wait = *w;
    b->types = types;
    b->title = mask_text(mem, &mask, w->title);
    b->to.step = w->step;
    b->to.visit = w->visit;
    b->to.link = &b->link;
    return true;
}

static bool callback_run_find(struct lookup *q, struct reader *reader, struct err *err)
{
    struct callback *b = q->args;
    const struct link_maker *maker = node_links(b->call->node);
    struct stored_waits waits;

    if (!read_linked_waits(reader, q->mem, b->link.execution, &waits, err))
        return false;
    /* The same work for any token: the time of the answer does not show whether the execution exists. */
    if (maker != NULL)
        (void)link_is_genuine(maker, &b->link, STR_NONE);
    /* Of several waits the oldest is answered. */
    for (size_t i = 0; maker != NULL && i < waits.count; i++) {
        const struct stored_wait *w = &waits.items[i];
        struct value scopes, types;

        if (!callback_read_list(q->mem, w->link_scopes_json, &scopes, err) ||
            !callback_read_list(q->mem, w->types_json, &types, err))
            return false;
        if (link_answers(b, maker, w, scopes) && wait_has_type(types, b->type) &&
            (!b->is_open || w->since_us < b->wait.since_us) &&
            !take_wait(b, reader, q->mem, w, types, err))
            return false;
    }
    return true;
}

/* Whether the path or the wait says which type is meant. */
static bool settle_type(struct callback *b)
{
    if (b->type.len > 0)
        return true;
    if (b->types.kind == VALUE_LIST && b->types.len == 1)
        b->types = b->types.items[0];
    if (b->types.kind == VALUE_STRING)
        b->type = value_text(b->types);
    return b->type.len > 0;
}

static void show_form(struct lookup *q)
{
    struct callback *b = q->args;

    if (!b->is_open)
        refuse_over(b);
    else if (settle_type(b))
        answer_form(b, 200, NULL);
    else
        answer_page(b, 200,
                    page_types(b->call->mem, call_language(b->call), b->title, b->types,
                               b->call->params[0]));
}

/* --- the answer of a person or a program --- */

static void callback_answered(struct node_request *r)
{
    struct callback *b = r->owner;

    if (r->ok && b->is_page)
        answer_note(b, 200, PAGE_THANKS);
    else if (r->ok) {
        r->owner = b->call;
        executions_signalled(r);
    } else if (r->err.code == ERR_CONFLICT || r->err.code == ERR_NOT_FOUND)
        refuse_over(b);
    else if (r->err.code == ERR_INVALID && b->is_page)
        answer_form(b, 422, &r->findings);
    else
        refuse_other(b, &r->err, &r->findings);
}

static struct value by_callback(struct arena *mem)
{
    return value_map_of(mem, VALUE_ENTRIES({value_key(STR("callback")), value_bool(true)}));
}

static void callback_send_answer(struct lookup *q)
{
    struct callback *b = q->args;
    struct call *c = b->call;
    struct node_request *r;
    struct err err;

    if (!b->is_open) {
        refuse_over(b);
        return;
    }
    if (!settle_type(b)) {
        (void)err_set(&err, ERR_NOT_FOUND,
                      "the link is not complete: add / and the type of the "
                      "answer, one of %.*s",
                      STR_ARG(b->wait.types_json));
        refuse_other(b, &err, NULL);
        return;
    }
    r = call_event(c, EVENT_SIGNAL, callback_answered);
    if (r == NULL)
        return;
    /* Who has the link acts in the organisation of the execution, for this wait alone. */
    r->user = (struct node_user){.org_id = b->wait.org_id, .groups = value_list(NULL, 0)};
    r->idempotency = (struct idempotency){0};
    r->owner = b;
    r->execution = b->wait.execution;
    r->event.signal_type = b->type;
    r->event.signal_payload = b->is_filled ? page_payload(c->mem, b->form, &b->given) : b->payload;
    r->event.by = by_callback(c->mem);
    r->event.answer_to = &b->to;
    if (!node_submit(c->node, r, &err))
        refuse_other(b, &err, NULL);
}

/* --- requests --- */

static bool accepts_html(const struct call *c)
{
    return str_find(http_header(c->http, "Accept"), STR("text/html"), 0) >= 0;
}

static struct callback *callback_of(struct call *c)
{
    struct callback *b = ARENA_NEW(c->mem, struct callback);

    b->call = c;
    b->type = c->params[1];
    b->form = b->types = b->show = b->then = b->time_up = value_absent();
    b->payload = value_null();
    /* A text that is no token is looked up as well, for an id that no execution has. */
    if (!link_read(c->params[0], &b->link))
        b->link = (struct link){0};
    return b;
}

void callbacks_show(struct call *c)
{
    struct callback *b = callback_of(c);

    b->is_page = true;
    lookup_start(c, b, callback_run_find, show_form);
}

void callbacks_answer(struct call *c)
{
    struct callback *b = callback_of(c);
    struct str type = http_header(c->http, "Content-Type"), body = c->http->body;
    bool ok = true;
    struct err err;

    b->is_filled = urlencoded_is(type);
    b->is_page = b->is_filled || accepts_html(c);
    if (b->is_filled)
        ok = urlencoded_read(c->mem, body, &b->given, &err);
    else if (str_trim(body).len > 0)
        ok = json_read(c->mem, body, &b->payload, &err);
    if (ok)
        lookup_start(c, b, callback_run_find, callback_send_answer);
    else
        refuse_other(b, &err, NULL);
}
