/*
 * sessions.c - signing a browser in and out.
 *
 * A page cannot keep a token where a script of another page does not reach it;
 * a cookie that scripts cannot read can. What the cookie holds is as random as a
 * token, is stored as its hash, and opens what its token opens as long as that
 * token does.
 */
#include "api/access/auth.h"
#include "api/access/token.h"
#include "api/api.h"
#include "api/call.h"
#include "store/change_user.h"

/* A session that is being begun, with what the cookie will hold, which is kept nowhere. */
struct beginning {
    struct session_change change; /* first */
    struct str secret;
};

/* The header Set-Cookie; an empty secret makes the browser forget it. */
static struct http_header set_cookie(const struct call *c, struct str secret)
{
    bool is_secure = http_is_tls(c->http) || api_is_public_by_tls(c->api);
    struct str text =
        str_printf(c->mem, AUTH_COOKIE "=%.*s; Path=/; HttpOnly; SameSite=Strict; Max-Age=%lld%s",
                   STR_ARG(secret), secret.len > 0 ? (long long)(SESSION_LIFE_US / 1000000) : 0LL,
                   is_secure ? "; Secure" : "");

    return (struct http_header){"Set-Cookie", text.ptr};
}

static void answer_cookie(struct call *c, struct str secret)
{
    http_answer(c->http, &(struct http_answer){
                             .status = 204,
                             .headers = {set_cookie(c, secret), {"Cache-Control", "no-store"}}});
}

static void begun(struct node_request *r)
{
    struct call *c = r->owner;
    const struct beginning *b = (struct beginning *)r->change;

    if (!r->ok) {
        call_refuse(c, &r->err);
        return;
    }
    directory_put_session(api_parts(c->api)->people, &b->change.session, b->change.has_purged,
                          b->change.access_version);
    answer_cookie(c, b->secret);
}

void sessions_begin(struct call *c)
{
    struct beginning *b = ARENA_NEW(c->mem, struct beginning);
    struct value token;
    const struct body_field fields[] = {{"token", BODY_TEXT, true, .out = &token}};
    const struct person *p;
    struct node_request *r;
    struct pass pass;
    struct err err;

    if (!call_body(c, fields, 1))
        return;
    p = auth_by_token(api_parts(c->api)->people, value_text(token), &pass, &err);
    if (p == NULL) {
        call_refuse(c, &err);
        return;
    }
    auth_copy_person(c->mem, p, &c->user);
    b->secret = token_make(c->mem);
    b->change.change.apply = session_change_apply;
    b->change.session = (struct stored_session){
        .hash = token_hash_hex(c->mem, b->secret),
        .user_id = c->user.id,
        .token_id = str_copy(c->mem, pass.token_id),
        .token_hash = token_hash_hex(c->mem, value_text(token)),
        .created_at_us = api_now_us(c->api),
        .last_used_at_us = api_now_us(c->api),
    };
    r = call_change(c, &b->change.change, begun);
    if (r == NULL)
        return;
    /* An answer without the cookie would be kept: whoever asks twice gets two sessions. */
    r->idempotency = (struct idempotency){0};
    call_audit(c, r, "session.begin", c->user.id, STR_NONE);
    call_submit(c, r);
}

static void over(struct node_request *r)
{
    struct call *c = r->owner;
    const struct session_change *s = (struct session_change *)r->change;

    if (!r->ok) {
        call_refuse(c, &r->err);
        return;
    }
    directory_drop_session(api_parts(c->api)->people, c->pass.session, s->access_version);
    answer_cookie(c, STR_NONE);
}

void sessions_end(struct call *c)
{
    struct session_change *s = ARENA_NEW(c->mem, struct session_change);
    char *hex = arena_alloc(c->mem, 2 * TOKEN_HASH_LEN);
    struct node_request *r;

    /* A caller who came by a token or through a proxy has no session to end. */
    if (c->pass.session.len != TOKEN_HASH_LEN) {
        answer_cookie(c, STR_NONE);
        return;
    }
    token_hash_write((const uint8_t *)c->pass.session.ptr, hex);
    s->change.apply = session_change_apply;
    s->is_end = true;
    s->session.hash = str_from(hex, 2 * TOKEN_HASH_LEN);
    r = call_change(c, &s->change, over);
    if (r == NULL)
        return;
    r->idempotency = (struct idempotency){0};
    call_audit(c, r, "session.end", c->user.id, STR_NONE);
    call_submit(c, r);
}
