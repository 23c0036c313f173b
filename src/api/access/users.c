/*
 * users.c - users: who they are and what they may.
 *
 * Fields are spelled as the planner spells them, for which they are made too.
 */
#include "api/access/directory.h"
#include "api/access/token.h"
#include "api/access/user_list.h"
#include "api/api.h"
#include "base/text/ascii.h"
#include "store/change_user.h"
#include "store/org.h"
#include "value/json.h"
#include "value/object.h"

enum {
    NAME_LEN_MAX = 200,
    NAMESPACE_LEN_MAX = 100,
    EMAIL_LEN_MAX = 254,
    LIST_MAX = 100,
    SKILL_MIN = 1,
    SKILL_MAX = 10
};

/* --- the body --- */

struct user_body {
    struct value name, email, role, groups, org_id, skill_level, specializations, active,
        namespaces;
    struct findings findings;
};

/* A text of 1 to `max` bytes without control characters. */
static bool is_text(struct value v, size_t max)
{
    struct str text = value_text_or(v, STR_NONE);

    if (text.len == 0 || text.len > max || str_trim(text).len != text.len)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < ' ')
            return false;
    return true;
}

/* Something, one '@', something; no spaces. */
static bool is_email(struct value v)
{
    struct str text = value_text_or(v, STR_NONE);
    int64_t at = str_find(text, STR("@"), 0);

    return is_text(v, EMAIL_LEN_MAX) && at > 0 && (size_t)at + 1 < text.len &&
           str_find(text, STR("@"), (size_t)at + 1) < 0 && str_find(text, STR(" "), 0) < 0;
}

/* A list of texts as JSON; null is an empty one. */
static void take_list(struct call *c, struct user_body *b, const char *field, struct value v,
                      struct str *out)
{
    *out = STR_NONE;
    if (v.kind == VALUE_NULL || (v.kind == VALUE_LIST && v.len == 0))
        return;
    for (uint32_t i = 0; v.kind == VALUE_LIST && i < v.len; i++)
        if (!is_text(v.items[i], NAME_LEN_MAX))
            v = value_null();
    if (v.kind != VALUE_LIST || v.len > LIST_MAX) {
        body_finding(c->mem, &b->findings, field, "bad_value", "%s is a list of at most %d texts",
                     field, LIST_MAX);
        return;
    }
    *out = json_must_text(c->mem, v);
}

static void take_role(struct call *c, struct user_body *b, struct str *out)
{
    struct str text = value_text_or(b->role, STR_NONE);
    const char *nearest;
    enum role role;
    struct str roles;

    *out = text;
    if (role_find(text, &role))
        return;
    roles = right_roles(c->mem, RIGHT_SELF);
    body_finding(c->mem, &b->findings, "role", "bad_value", "role is one of %.*s", STR_ARG(roles));
    nearest = role_nearest(text);
    if (nearest != NULL)
        body_hint(c->mem, &b->findings, str_of(nearest));
}

static void take_org(struct call *c, struct user_body *b, struct str *out)
{
    struct uuid id;

    if (b->org_id.kind != VALUE_STRING || !uuid_read(value_text(b->org_id), &id)) {
        body_finding(c->mem, &b->findings, "org_id", "bad_value", "org_id is a UUID");
        return;
    }
    *out = uuid_text(c->mem, id);
}

static void take_skill(struct call *c, struct user_body *b, int64_t *out)
{
    *out = -1;
    if (b->skill_level.kind == VALUE_NULL)
        return;
    if (b->skill_level.kind == VALUE_INT && b->skill_level.i >= SKILL_MIN &&
        b->skill_level.i <= SKILL_MAX)
        *out = b->skill_level.i;
    else
        body_finding(c->mem, &b->findings, "skill_level", "bad_value",
                     "skill_level is an integer from 1 to 10");
}

/* Namespaces of jobs, in the list that was taken. */
static void take_namespaces(struct call *c, struct user_body *b, struct str *out)
{
    take_list(c, b, "namespaces", b->namespaces, out);
    for (uint32_t i = 0; out->len > 0 && i < b->namespaces.len; i++)
        if (!ascii_is_dotted_name(value_text(b->namespaces.items[i]), NAMESPACE_LEN_MAX)) {
            body_finding(c->mem, &b->findings, "namespaces", "bad_value",
                         "a namespace is what stands before the dot of an external procedure: "
                         "\"bank\" for bank.pay");
            return;
        }
}

/* Check what was sent and fill the user with it; answers which fields that are. */
static unsigned take_fields(struct call *c, struct user_body *b, struct stored_user *u)
{
    unsigned fields = 0;

#define SENT(value, field) ((value).kind != VALUE_ABSENT && (fields |= (field)) != 0)
    if (SENT(b->name, USER_NAME)) {
        u->name = value_text_or(b->name, STR_NONE);
        if (!is_text(b->name, NAME_LEN_MAX))
            body_finding(c->mem, &b->findings, "name", "bad_value",
                         "name is a text of 1 to 200 bytes");
    }
    if (SENT(b->email, USER_EMAIL)) {
        u->email = STR_NONE;
        if (is_email(b->email))
            u->email = ascii_lower_copy(c->mem, value_text(b->email));
        else if (b->email.kind != VALUE_NULL)
            body_finding(c->mem, &b->findings, "email", "bad_value",
                         "email is an e-mail address, or null");
    }
    if (SENT(b->role, USER_ROLE))
        take_role(c, b, &u->role);
    if (SENT(b->groups, USER_GROUPS))
        take_list(c, b, "groups", b->groups, &u->groups_json);
    if (SENT(b->org_id, USER_ORG))
        take_org(c, b, &u->org_id);
    if (SENT(b->skill_level, USER_SKILL))
        take_skill(c, b, &u->skill_level);
    if (SENT(b->specializations, USER_SPECIALIZATIONS))
        take_list(c, b, "specializations", b->specializations, &u->specializations_json);
    if (SENT(b->namespaces, USER_NAMESPACES))
        take_namespaces(c, b, &u->namespaces_json);
    if (SENT(b->active, USER_ACTIVE)) {
        u->is_active = value_is_true(b->active);
        if (b->active.kind != VALUE_BOOL)
            body_finding(c->mem, &b->findings, "active", "wrong_type",
                         "active must be true or false");
    }
#undef SENT
    return fields;
}

/* Read the body into *u. False: the call was refused. */
static bool user_read_body(struct call *c, bool is_new, struct stored_user *u, unsigned *fields)
{
    struct user_body b = {0};
    const struct body_field specs[] = {
        {"name", BODY_ANY, is_new, .out = &b.name},
        {"email", BODY_ANY, false, .out = &b.email},
        {"role", BODY_ANY, is_new, .out = &b.role},
        {"groups", BODY_ANY, false, .out = &b.groups},
        {"org_id", BODY_ANY, false, .out = &b.org_id},
        {"skill_level", BODY_ANY, false, .out = &b.skill_level},
        {"specializations", BODY_ANY, false, .out = &b.specializations},
        {"active", BODY_ANY, false, .out = &b.active},
        {"namespaces", BODY_ANY, false, .out = &b.namespaces},
    };

    if (!call_body(c, specs, ARRAY_SIZE(specs)))
        return false;
    *fields = take_fields(c, &b, u);
    if (b.findings.count > 0)
        return call_refuse_findings(c, &b.findings);
    if (*fields & USER_ORG && call_scope(c).len > 0 && !str_eq(u->org_id, c->user.org_id))
        return call_refuse_text(
            c, ERR_FORBIDDEN, "only administrators of the default organisation reach into others");
    return true;
}

/* The body, for the audit log: no field of it is secret. */
static struct str user_details(struct call *c)
{
    struct value body;
    struct buf json;
    struct err err;

    buf_init_arena(&json, c->mem);
    if (!json_read(c->mem, c->http->body, &body, &err) || !json_write(&json, body, &err))
        return STR_NONE;
    return buf_view(&json);
}

/* --- making one --- */

/* A user that is being made, with the text of its first token, which is kept nowhere. */
struct user_creation {
    struct user_change change; /* first */
    struct str token;
};

static void user_created(struct node_request *r)
{
    struct call *c = r->owner;
    const struct user_creation *m = (struct user_creation *)r->change;
    const struct user_change *u = &m->change;
    struct str json;

    if (!r->ok) {
        call_refuse(c, &r->err);
        return;
    }
    if (r->stored_status != 0) {
        call_answer(c, r->stored_status, r->stored_answer);
        return;
    }
    directory_put_user(api_parts(c->api)->people, u->change.answer_json, u->access_version);
    directory_put_token(api_parts(c->api)->people, &u->token, STR_NONE, u->access_version);
    /* The answer that is kept for a repeated request has no token. */
    json = u->change.answer_json;
    json = str_printf(c->mem, "%.*s,\"tokenId\":\"%.*s\",\"token\":\"%.*s\"}", (int)json.len - 1,
                      json.ptr, STR_ARG(u->token.id), STR_ARG(m->token));
    call_answer_headers(
        c, 201, json,
        &(struct http_header){"Location",
                              str_printf(c->mem, "/api/v1/users/%.*s", STR_ARG(u->user.id)).ptr},
        1);
}

void users_create(struct call *c)
{
    struct user_creation *m = ARENA_NEW(c->mem, struct user_creation);
    struct user_change *u = &m->change;
    int64_t now_us = api_now_us(c->api);
    unsigned fields;

    m->token = token_make(c->mem);
    u->change.apply = user_change_apply;
    u->is_new = true;
    u->scope_org = call_scope(c);
    u->user = (struct stored_user){.id = api_new_id(c->api, c->mem),
                                   .org_id = c->user.org_id,
                                   .skill_level = -1,
                                   .is_active = true,
                                   .created_at_us = now_us,
                                   .updated_at_us = now_us};
    u->token = (struct stored_token){.id = api_new_id(c->api, c->mem),
                                     .user_id = u->user.id,
                                     .hash = token_hash_hex(c->mem, m->token)};
    if (!user_read_body(c, true, &u->user, &fields))
        return;
    call_submit_change(c, &u->change, user_created, "user.create", u->user.id, user_details(c));
}

/* --- changing one --- */

static void updated(struct node_request *r)
{
    struct call *c = r->owner;
    struct user_change *u = (struct user_change *)r->change;

    if (!r->ok) {
        call_refuse(c, &r->err);
    } else if (r->stored_status != 0) {
        call_answer(c, r->stored_status, r->stored_answer);
    } else {
        directory_put_user(api_parts(c->api)->people, u->change.answer_json, u->access_version);
        call_answer(c, 200, u->change.answer_json);
    }
}

void users_update(struct call *c)
{
    struct user_change *u = ARENA_NEW(c->mem, struct user_change);

    u->change.apply = user_change_apply;
    u->scope_org = call_scope(c);
    if (!user_read_body(c, false, &u->user, &u->fields))
        return;
    u->user.id = c->params[0];
    /* Its token is the file admin.token, which whoever runs the server can always read. */
    if (str_eq(c->params[0], USER_ADMIN) && u->fields & (USER_ROLE | USER_ACTIVE | USER_ORG)) {
        call_refuse_text(c, ERR_CONFLICT,
                         "the built-in administrator keeps its role and organisation and stays "
                         "active; name, email and groups may be changed");
        return;
    }
    call_submit_change(c, &u->change, updated, "user.update", c->params[0], user_details(c));
}

/* --- reading --- */

static bool user_run_get(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct call *c = q->call;
    struct str id = q->args != NULL ? *(struct str *)q->args : c->params[0];
    struct str scope = q->args != NULL ? STR_NONE : call_scope(c);
    struct stored_user u;
    bool found;

    if (!read_user(reader, q->mem, id, &u, &found, err))
        return false;
    if (!found || (scope.len > 0 && !str_eq(u.org_id, scope)))
        return err_set(err, ERR_NOT_FOUND, "there is no user with this id");
    buf_char(&q->answer, '{');
    user_show(&q->answer, &u);
    buf_char(&q->answer, '}');
    return true;
}

void users_get(struct call *c)
{
    lookup_start(c, NULL, user_run_get, NULL);
}

/* The rights that the caller has, by name: what a page offers goes by them, not by the role. */
static void show_rights(const struct call *c, struct arena *mem, struct buf *out)
{
    object_list(out, "may");
    for (unsigned i = 0; i < RIGHT_COUNT; i++) {
        enum right right = (enum right)i;

        if (right == RIGHT_OPEN || !call_has_right(c, right))
            continue;
        object_next(out);
        json_write_string(out, right_name(mem, right));
    }
    buf_char(out, ']');
}

static bool user_run_me(struct lookup *q, struct reader *reader, struct err *err)
{
    if (!user_run_get(q, reader, err))
        return false;
    q->answer.len--; /* the brace behind the user */
    show_rights(q->call, q->mem, &q->answer);
    buf_char(&q->answer, '}');
    return true;
}

void users_me(struct call *c)
{
    lookup_start(c, &c->user.id, user_run_me, NULL);
}

void users_list(struct call *c)
{
    user_list(c,
              (struct user_filter){.org_id = call_scope(c).len > 0 ? call_scope(c)
                                                                   : http_query(c->http, "org_id"),
                                   .q = http_query(c->http, "q")},
              user_show);
}
