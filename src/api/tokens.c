/* tokens.c - the tokens of users: made, shown once, listed without their text, revoked. */
#include "api/api.h"
#include "api/query.h"
#include "api/token.h"
#include "value/object.h"

enum { NAME_LEN_MAX = 200 };

/* A token that is being made, with its text, which is kept nowhere. */
struct making {
    struct token_change change; /* first */
    struct str text;
};

/* --- making one --- */

static void created(struct node_request *r)
{
    struct call *c = r->owner;
    const struct making *m = (struct making *)r->change;
    struct str json;

    if (!r->ok) {
        call_refuse(c, &r->err);
        return;
    }
    if (r->stored_status != 0) {
        call_answer(c, r->stored_status, r->stored_answer);
        return;
    }
    directory_put_token(api_people(c->api), &m->change.token, m->change.access_version);
    json = m->change.change.answer_json;
    json = str_printf(c->mem, "%.*s,\"token\":\"%.*s\"}", (int)json.len - 1, json.ptr,
                      STR_ARG(m->text));
    call_answer(c, 201, json);
}

void tokens_create(struct call *c)
{
    struct making *m = ARENA_NEW(c->mem, struct making);
    struct value name;
    const struct body_field fields[] = {{"name", BODY_TEXT, false, &name}};
    struct node_request *r;

    if (!call_body(c, fields, 1))
        return;
    if (name.kind == VALUE_STRING && name.len > NAME_LEN_MAX) {
        call_refuse_text(c, ERR_INVALID, "name has at most %d bytes", NAME_LEN_MAX);
        return;
    }
    m->text = token_make(c->mem);
    m->change.change.apply = token_change_apply;
    m->change.scope_org = call_scope(c);
    m->change.token = (struct stored_token){
        .id = api_new_id(c->api, c->mem),
        .user_id = c->params[0],
        .name = name.kind == VALUE_STRING ? value_text(name) : STR_NONE,
        .hash = token_hash_hex(c->mem, m->text),
        .created_at_us = api_now_us(c->api),
    };
    r = call_change(c, &m->change.change, created);
    if (r == NULL)
        return;
    call_audit(c, r, "token.create", c->params[0],
               str_printf(c->mem, "{\"tokenId\":\"%.*s\"}", STR_ARG(m->change.token.id)));
    call_submit(c, r);
}

/* --- revoking one --- */

static void revoked(struct node_request *r)
{
    struct call *c = r->owner;
    const struct token_change *t = (struct token_change *)r->change;

    if (!r->ok) {
        call_refuse(c, &r->err);
        return;
    }
    if (r->stored_status == 0)
        directory_drop_token(api_people(c->api), t->token.id, t->access_version);
    call_answer_nothing(c);
}

void tokens_revoke(struct call *c)
{
    struct token_change *t = ARENA_NEW(c->mem, struct token_change);
    struct node_request *r;

    t->change.apply = token_change_apply;
    t->is_revoke = true;
    t->scope_org = call_scope(c);
    t->token.id = c->params[0];
    r = call_change(c, &t->change, revoked);
    if (r == NULL)
        return;
    r->idempotency.status = 204;
    call_audit(c, r, "token.revoke", c->params[0], STR_NONE);
    call_submit(c, r);
}

/* --- the list --- */

static bool run_list(struct query *q, struct reader *reader, struct err *err)
{
    const struct call *c = q->call;
    struct str scope = call_scope(c);
    struct stored_tokens tokens;
    struct stored_user u;
    bool found;

    if (!read_user(reader, q->mem, c->params[0], &u, &found, err))
        return false;
    if (!found || (scope.len > 0 && !str_eq(u.org_id, scope)))
        return err_set(err, ERR_NOT_FOUND, "there is no user with this id");
    if (!read_tokens(reader, q->mem, u.id, &tokens, err))
        return false;
    buf_text(&q->answer, "{\"items\":[");
    for (size_t i = 0; i < tokens.count; i++) {
        object_next(&q->answer);
        buf_char(&q->answer, '{');
        token_show(&q->answer, &tokens.items[i]);
        buf_char(&q->answer, '}');
    }
    buf_text(&q->answer, "],\"nextCursor\":null}");
    return true;
}

void tokens_list(struct call *c)
{
    query_start(c, NULL, run_list, NULL);
}
