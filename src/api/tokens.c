/* tokens.c - the tokens of users: made, shown once, listed without their text, revoked. */
#include "api/api.h"
#include "api/lookup.h"
#include "api/token.h"
#include "value/object.h"
#include "value/timefmt.h"

enum { NAME_LEN_MAX = 200, LIST_LIMIT = 50 };

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
    directory_put_token(api_people(c->api), &m->change.token, m->change.replaces,
                        m->change.access_version);
    json = m->change.change.answer_json;
    json = str_printf(c->mem, "%.*s,\"token\":\"%.*s\"}", (int)json.len - 1, json.ptr,
                      STR_ARG(m->text));
    call_answer(c, 201, json);
}

/* When it expires: a time to come, or never. False: the call was refused. */
static bool take_expiry(struct call *c, struct value text, int64_t *out_us)
{
    struct value v;

    *out_us = 0;
    if (text.kind == VALUE_ABSENT || text.kind == VALUE_NULL)
        return true;
    if (text.kind == VALUE_STRING && timestamp_read(value_text(text), &v))
        *out_us = v.seconds * 1000000 + v.nanos / 1000;
    if (*out_us > api_now_us(c->api))
        return true;
    call_refuse_field(c, "expiresAt", "bad_value",
                      "expiresAt is a time to come, such as 2030-01-31T09:00:00Z, or null");
    return false;
}

/* Which it takes the place of: one, all of the user, or none. False: the call was refused. */
static bool take_replaced(struct call *c, struct value text, struct str *out)
{
    struct uuid id;

    *out = text.kind == VALUE_STRING ? value_text(text) : STR_NONE;
    if (out->len == 0 || str_eq(*out, STR(TOKEN_REPLACES_ALL)) || uuid_read(*out, &id))
        return true;
    call_refuse_field(c, "replaces", "bad_value",
                      "replaces is the id of a token, or \"all\" of the user's");
    return false;
}

void tokens_create(struct call *c)
{
    struct making *m = ARENA_NEW(c->mem, struct making);
    struct value name, expires, replaces;
    const struct body_field fields[] = {{"name", BODY_TEXT, false, &name},
                                        {"expiresAt", BODY_ANY, false, &expires},
                                        {"replaces", BODY_TEXT, false, &replaces}};
    struct node_request *r;
    int64_t expires_us;

    if (!call_body(c, fields, ARRAY_SIZE(fields)) || !take_expiry(c, expires, &expires_us) ||
        !take_replaced(c, replaces, &m->change.replaces))
        return;
    if (name.kind == VALUE_STRING && name.len > NAME_LEN_MAX) {
        call_refuse_text(c, ERR_INVALID, "name has at most %d bytes", NAME_LEN_MAX);
        return;
    }
    m->text = token_make(c->mem);
    m->change.change.apply = token_change_apply;
    m->change.scope_org = call_scope(c);
    m->change.has_name = name.kind != VALUE_ABSENT;
    m->change.has_expiry = expires.kind != VALUE_ABSENT;
    m->change.token = (struct stored_token){
        .id = api_new_id(c->api, c->mem),
        .user_id = c->params[0],
        .name = name.kind == VALUE_STRING ? value_text(name) : STR_NONE,
        .hash = token_hash_hex(c->mem, m->text),
        .created_at_us = api_now_us(c->api),
        .expires_at_us = expires_us,
    };
    r = call_change(c, &m->change.change, created);
    if (r == NULL)
        return;
    if (m->change.replaces.len == 0)
        call_audit(c, r, "token.create", c->params[0],
                   str_printf(c->mem, "{\"tokenId\":\"%.*s\"}", STR_ARG(m->change.token.id)));
    else
        call_audit(c, r, "token.rotate", c->params[0],
                   str_printf(c->mem, "{\"tokenId\":\"%.*s\",\"replaces\":\"%.*s\"}",
                              STR_ARG(m->change.token.id), STR_ARG(m->change.replaces)));
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

struct token_page {
    struct str after; /* the id of the last one before, or empty */
    int64_t limit;
};

static bool run_list(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct call *c = q->call;
    const struct token_page *page = q->args;
    struct str scope = call_scope(c), next = STR_NONE;
    struct stored_tokens tokens;
    struct stored_user u;
    bool found;

    if (!read_user(reader, q->mem, c->params[0], &u, &found, err))
        return false;
    if (!found || (scope.len > 0 && !str_eq(u.org_id, scope)))
        return err_set(err, ERR_NOT_FOUND, "there is no user with this id");
    if (!read_tokens(reader, q->mem, u.id, page->after, page->limit + 1, &tokens, err))
        return false;
    if ((int64_t)tokens.count > page->limit)
        next = tokens.items[--tokens.count - 1].id;
    buf_text(&q->answer, "{\"items\":[");
    for (size_t i = 0; i < tokens.count; i++) {
        object_next(&q->answer);
        buf_char(&q->answer, '{');
        token_show(&q->answer, &tokens.items[i]);
        buf_char(&q->answer, '}');
    }
    buf_char(&q->answer, ']');
    object_text(&q->answer, "nextCursor", next);
    buf_char(&q->answer, '}');
    return true;
}

void tokens_list(struct call *c)
{
    struct token_page *page = ARENA_NEW(c->mem, struct token_page);
    struct uuid cursor;

    page->after = http_query(c->http, "cursor");
    if (page->after.len > 0 && !uuid_read(page->after, &cursor))
        call_refuse_text(c, ERR_BAD_REQUEST, "this cursor is not one of ours");
    else if (call_limit(c, LIST_LIMIT, &page->limit))
        lookup_start(c, page, run_list, NULL);
}
