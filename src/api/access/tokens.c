/* tokens.c - the tokens of users: made, shown once, listed without their text, revoked. */
#include "api/access/directory.h"
#include "api/access/token.h"
#include "api/api.h"
#include "api/list.h"
#include "store/change_user.h"
#include "store/read_user.h"
#include "value/object.h"
#include "value/timefmt.h"

enum { NAME_LEN_MAX = 200 };

/* A token that is being made, with its text, which is kept nowhere. */
struct token_creation {
    struct token_change change; /* first */
    struct str text;
};

/* --- making one --- */

static void token_created(struct node_request *r)
{
    struct call *c = r->owner;
    const struct token_creation *m = (struct token_creation *)r->change;
    struct str json;

    if (!r->ok) {
        call_refuse(c, &r->err);
        return;
    }
    if (r->stored_status != 0) {
        call_answer(c, r->stored_status, r->stored_answer);
        return;
    }
    directory_put_token(api_parts(c->api)->people, &m->change.token, m->change.replaces,
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
    return *out_us > api_now_us(c->api) ||
           call_refuse_field(c, "expiresAt", "bad_value",
                             "expiresAt is a time to come, such as 2030-01-31T09:00:00Z, or null");
}

/* Which it takes the place of: one, all of the user, or none. False: the call was refused. */
static bool take_replaced(struct call *c, struct value text, struct str *out)
{
    struct uuid id;

    *out = value_text_or(text, STR_NONE);
    return out->len == 0 || str_eq(*out, STR(TOKEN_REPLACES_ALL)) || uuid_read(*out, &id) ||
           call_refuse_field(c, "replaces", "bad_value",
                             "replaces is the id of a token, or \"all\" of the user's");
}

/* For the audit log. */
static struct str token_details(struct call *c, const struct token_change *t)
{
    struct buf details;

    object_begin(&details, c->mem);
    object_text(&details, "tokenId", t->token.id);
    if (t->replaces.len > 0)
        object_text(&details, "replaces", t->replaces);
    return object_end(&details);
}

void tokens_create(struct call *c)
{
    struct token_creation *m = ARENA_NEW(c->mem, struct token_creation);
    struct value name, expires, replaces;
    const struct body_field fields[] = {{"name", BODY_TEXT, false, .out = &name},
                                        {"expiresAt", BODY_ANY, false, .out = &expires},
                                        {"replaces", BODY_TEXT, false, .out = &replaces}};
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
        .name = value_text_or(name, STR_NONE),
        .hash = token_hash_hex(c->mem, m->text),
        .created_at_us = api_now_us(c->api),
        .expires_at_us = expires_us,
    };
    call_submit_change(c, &m->change.change, token_created,
                       m->change.replaces.len == 0 ? "token.create" : "token.rotate", c->params[0],
                       token_details(c, &m->change));
}

/* --- revoking one --- */

static void token_revoked(struct node_request *r)
{
    struct call *c = r->owner;
    const struct token_change *t = (struct token_change *)r->change;

    if (!r->ok) {
        call_refuse(c, &r->err);
        return;
    }
    if (r->stored_status == 0)
        directory_drop_token(api_parts(c->api)->people, t->token.id, t->access_version);
    call_answer_nothing(c);
}

void tokens_revoke(struct call *c)
{
    struct token_change *t = ARENA_NEW(c->mem, struct token_change);

    t->change.apply = token_change_apply;
    t->change.answer_status = 204;
    t->is_revoke = true;
    t->scope_org = call_scope(c);
    t->token.id = c->params[0];
    call_submit_change(c, &t->change, token_revoked, "token.revoke", c->params[0], STR_NONE);
}

/* --- the list --- */

static bool tokens_read(struct list_page *l)
{
    struct str scope = call_scope(l->call);
    const struct stored_token *last;
    struct stored_tokens rows;
    struct stored_user u;
    bool found;

    if (!list_cursor_id(l->cursor, l->err) ||
        !read_user(l->reader, l->mem, l->call->params[0], &u, &found, l->err))
        return false;
    if (!found || (scope.len > 0 && !str_eq(u.org_id, scope)))
        return err_set(l->err, ERR_NOT_FOUND, "there is no user with this id");
    if (!read_tokens(l->reader, l->mem, u.id, l->cursor, l->limit + 1, &rows, l->err))
        return false;
    last = LIST_ROWS(l, &rows);
    if (last != NULL)
        l->next = last->id;
    return true;
}

static void tokens_show(struct list_page *l, const void *row)
{
    token_show(l->out, row);
}

static const struct list_kind tokens_kind = {.read = tokens_read, .show_members = tokens_show};

void tokens_list(struct call *c)
{
    list_start(c, ARENA_NEW(c->mem, struct list_page), &tokens_kind);
}
