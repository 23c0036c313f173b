/* change_user.c - changes of users and tokens as statements; see users.h. */
#include "store/users.h"

#include "store/change.h"
#include "store/change_user.h"
#include "store/db/db.h"
#include "store/store.h"
#include "store/write/apply.h"
#include "store/write/change_apply.h"
#include "value/object.h"

/* --- as clients see them --- */

static void list_field(struct buf *out, const char *name, struct str json)
{
    object_json(out, name, json.len > 0 ? json : STR("[]"));
}

void user_show(struct buf *out, const struct stored_user *user)
{
    object_text(out, "id", user->id);
    object_text(out, "name", user->name);
    object_text(out, "email", user->email);
    object_text(out, "role", user->role);
    list_field(out, "groups", user->groups_json);
    object_text(out, "org_id", user->org_id);
    if (user->skill_level >= 0)
        object_int(out, "skill_level", user->skill_level);
    else
        object_json(out, "skill_level", STR_NONE);
    list_field(out, "specializations", user->specializations_json);
    list_field(out, "namespaces", user->namespaces_json);
    object_bool(out, "active", user->is_active);
    object_time(out, "createdAt", user->created_at_us);
    object_time(out, "updatedAt", user->updated_at_us);
}

void token_show(struct buf *out, const struct stored_token *token)
{
    object_text(out, "id", token->id);
    object_text(out, "userId", token->user_id);
    object_text(out, "name", token->name);
    object_time(out, "createdAt", token->created_at_us);
    object_time(out, "lastUsedAt", token->last_used_at_us);
    object_time(out, "expiresAt", token->expires_at_us);
}

/* --- what changes share --- */

static struct db_value skill_value(const struct stored_user *u)
{
    return u->skill_level >= 0 ? db_int(u->skill_level) : db_null();
}

/* Count the change, so that others see that there was one. */
static bool bump(struct apply *a, int64_t *version)
{
    if (!apply_write(a, SQL_ACCESS_CHANGED, DB_NO_PARAMS))
        return false;
    a->status = db_run(a->db, SQL_ACCESS_VERSION, DB_NO_PARAMS);
    if (a->status == DB_ROW)
        *version = db_column_int(a->db, SQL_ACCESS_VERSION, 0);
    db_end(a->db, SQL_ACCESS_VERSION);
    return a->status == DB_ROW;
}

static bool insert_token(struct apply *a, const struct stored_token *t, int64_t now_us)
{
    return apply_write(a, SQL_TOKEN_INSERT,
                       DB_PARAMS(db_text(t->id), db_text(t->user_id), db_text_or_null(t->name),
                                 db_text(t->hash), db_int(now_us),
                                 t->expires_at_us > 0 ? db_int(t->expires_at_us) : db_null()));
}

struct stored_user user_of_row(struct db *db, enum sql sql, struct arena *mem)
{
    return (struct stored_user){
        .id = db_column_copy(db, mem, sql, 0),
        .org_id = db_column_copy(db, mem, sql, 1),
        .name = db_column_copy(db, mem, sql, 2),
        .email = db_column_copy(db, mem, sql, 3),
        .role = db_column_copy(db, mem, sql, 4),
        .groups_json = db_column_copy(db, mem, sql, 5),
        .skill_level = db_column_text(db, sql, 6).len > 0 ? db_column_int(db, sql, 6) : -1,
        .specializations_json = db_column_copy(db, mem, sql, 7),
        .is_active = db_column_int(db, sql, 8) != 0,
        .created_at_us = db_column_int(db, sql, 9),
        .updated_at_us = db_column_int(db, sql, 10),
        .namespaces_json = db_column_copy(db, mem, sql, 11),
    };
}

/*
 * The user as it is stored, in a->mem. APPLY_DONE with m->result MEMBER_FAILED: there is none, or
 * not in `scope_org`, which may be empty.
 */
static enum apply_result find_user(struct apply *a, struct member *m, struct str id,
                                   struct str scope_org, struct stored_user *out)
{
    const enum sql sql = SQL_USER_FIND;

    a->status = db_run(a->db, sql, DB_PARAMS(db_text(id)));
    if (a->status == DB_ROW)
        *out = user_of_row(a->db, sql, a->mem);
    db_end(a->db, sql);
    if (a->status > DB_DONE)
        return APPLY_FAILED;
    if (a->status == DB_DONE || (scope_org.len > 0 && !str_eq(out->org_id, scope_org)))
        return apply_refuse_with(a, m, ERR_NOT_FOUND, "there is no user with this id");
    return APPLY_DONE;
}

/* DB_ROW: another user has this e-mail. */
static enum db_status find_email(struct apply *a, const struct stored_user *u)
{
    enum db_status status;

    if (u->email.len == 0)
        return DB_DONE;
    status = db_run(a->db, SQL_USER_BY_EMAIL, DB_PARAMS(db_text(u->email)));
    if (status == DB_ROW && str_eq(db_column_text(a->db, SQL_USER_BY_EMAIL, 0), u->id))
        status = DB_DONE;
    db_end(a->db, SQL_USER_BY_EMAIL);
    return status;
}

static enum apply_result refuse_email(const struct apply *a, struct member *m,
                                      const struct stored_user *u)
{
    return apply_refuse_with(a, m, ERR_CONFLICT, "another user has the e-mail %.*s",
                             STR_ARG(u->email));
}

static void answer_user(struct apply *a, struct change *change, const struct stored_user *u,
                        int32_t http_status)
{
    struct buf json;

    object_begin(&json, a->mem);
    user_show(&json, u);
    change->answer_status = http_status;
    change->answer_json = object_end(&json);
}

static void answer_token(struct apply *a, struct change *change, const struct stored_token *t)
{
    struct buf json;

    object_begin(&json, a->mem);
    token_show(&json, t);
    change->answer_status = 201;
    change->answer_json = object_end(&json);
}

/* --- users --- */

static enum apply_result create(struct apply *a, struct member *m, struct user_change *c)
{
    const struct stored_user *u = &c->user;

    if (!apply_write(a, SQL_USER_INSERT,
                     DB_PARAMS(db_text(u->id), db_text(u->org_id), db_text(u->name),
                               db_text_or_null(u->email), db_text(u->role),
                               db_text_or_null(u->groups_json), skill_value(u),
                               db_text_or_null(u->specializations_json), db_int(u->is_active),
                               db_int(u->created_at_us), db_int(u->updated_at_us),
                               db_text_or_null(u->namespaces_json))))
        return APPLY_FAILED;
    if (db_changes(a->db) == 0)
        return refuse_email(a, m, u);
    if (!apply_write(a, SQL_ORG_PUT, DB_PARAMS(db_text(u->org_id), db_int(c->change.now_us))) ||
        !insert_token(a, &c->token, c->change.now_us) || !bump(a, &c->access_version))
        return APPLY_FAILED;
    answer_user(a, &c->change, u, 201);
    return APPLY_DONE;
}

/* What is stored, with the fields of the change laid over it. */
static void lay_over(struct stored_user *u, const struct user_change *c)
{
    const struct stored_user *with = &c->user;

    if (c->fields & USER_NAME)
        u->name = with->name;
    if (c->fields & USER_EMAIL)
        u->email = with->email;
    if (c->fields & USER_ROLE)
        u->role = with->role;
    if (c->fields & USER_GROUPS)
        u->groups_json = with->groups_json;
    if (c->fields & USER_ORG)
        u->org_id = with->org_id;
    if (c->fields & USER_SKILL)
        u->skill_level = with->skill_level;
    if (c->fields & USER_SPECIALIZATIONS)
        u->specializations_json = with->specializations_json;
    if (c->fields & USER_NAMESPACES)
        u->namespaces_json = with->namespaces_json;
    if (c->fields & USER_ACTIVE)
        u->is_active = with->is_active;
    u->updated_at_us = c->change.now_us;
}

static enum apply_result update(struct apply *a, struct user_change *c, const struct stored_user *u)
{
    if (!apply_write(a, SQL_USER_UPDATE,
                     DB_PARAMS(db_text(u->id), db_text(u->org_id), db_text(u->name),
                               db_text_or_null(u->email), db_text(u->role),
                               db_text_or_null(u->groups_json), skill_value(u),
                               db_text_or_null(u->specializations_json), db_int(u->is_active),
                               db_int(u->updated_at_us), db_text_or_null(u->namespaces_json))) ||
        !apply_write(a, SQL_ORG_PUT, DB_PARAMS(db_text(u->org_id), db_int(c->change.now_us))) ||
        !bump(a, &c->access_version))
        return APPLY_FAILED;
    answer_user(a, &c->change, u, 200);
    return APPLY_DONE;
}

enum apply_result user_change_apply(struct apply *a, struct member *m)
{
    struct user_change *c = (struct user_change *)m->change;
    struct stored_user u = c->user;

    if (!c->is_new) {
        enum apply_result end = find_user(a, m, c->user.id, c->scope_org, &u);

        if (end != APPLY_DONE || m->result != MEMBER_APPLIED)
            return end;
        lay_over(&u, c);
    }
    a->status = find_email(a, &u);
    if (a->status == DB_ROW)
        return refuse_email(a, m, &u);
    if (a->status != DB_DONE)
        return APPLY_FAILED;
    return c->is_new ? create(a, m, c) : update(a, c, &u);
}

/* --- tokens --- */

static struct db_value replaced_id(const struct token_change *c)
{
    return str_eq(c->replaces, STR(TOKEN_REPLACES_ALL)) ? db_null() : db_text(c->replaces);
}

/* What is not given for a token is as of the newest that it replaces. DB_DONE: there is none. */
static enum db_status keep_replaced(struct apply *a, struct token_change *c)
{
    const enum sql sql = SQL_TOKEN_REPLACED;
    enum db_status status =
        db_run(a->db, sql, DB_PARAMS(db_text(c->token.user_id), replaced_id(c)));

    if (status == DB_ROW && !c->has_name)
        c->token.name = db_column_copy(a->db, a->mem, sql, 0);
    if (status == DB_ROW && !c->has_expiry)
        c->token.expires_at_us = db_column_int(a->db, sql, 1);
    db_end(a->db, sql);
    return status;
}

/* Those that it replaces end, and the sessions that rest on them. */
static bool end_replaced(struct apply *a, const struct token_change *c)
{
    return apply_write(
               a, SQL_TOKEN_REPLACE,
               DB_PARAMS(db_text(c->token.user_id), replaced_id(c), db_text(c->token.id))) &&
           apply_write(a, SQL_SESSION_END_OF_REPLACED, DB_PARAMS(db_text(c->token.user_id)));
}

static enum apply_result check_replaced(struct apply *a, struct member *m, struct token_change *c)
{
    a->status = keep_replaced(a, c);
    if (a->status > DB_DONE)
        return APPLY_FAILED;
    if (a->status == DB_DONE && !str_eq(c->replaces, STR(TOKEN_REPLACES_ALL)))
        return apply_refuse_with(a, m, ERR_NOT_FOUND, "this user has no token with the id %.*s",
                                 STR_ARG(c->replaces));
    if (c->token.expires_at_us > 0 && c->token.expires_at_us <= c->change.now_us)
        return apply_refuse_with(a, m, ERR_CONFLICT,
                                 "the token that it replaces has expired: give another expiresAt, "
                                 "or null");
    return APPLY_DONE;
}

static enum apply_result token_make(struct apply *a, struct member *m, struct token_change *c)
{
    struct stored_user u;
    enum apply_result result = find_user(a, m, c->token.user_id, c->scope_org, &u);

    if (result != APPLY_DONE || m->result != MEMBER_APPLIED)
        return result;
    if (!u.is_active)
        return apply_refuse_with(a, m, ERR_CONFLICT,
                                 "this user is not active: a token would open nothing");
    result = c->replaces.len > 0 ? check_replaced(a, m, c) : APPLY_DONE;
    if (result != APPLY_DONE || m->result != MEMBER_APPLIED)
        return result;
    if (!insert_token(a, &c->token, c->change.now_us) ||
        (c->replaces.len > 0 && !end_replaced(a, c)) || !bump(a, &c->access_version))
        return APPLY_FAILED;
    answer_token(a, &c->change, &c->token);
    return APPLY_DONE;
}

enum apply_result token_change_apply(struct apply *a, struct member *m)
{
    struct token_change *c = (struct token_change *)m->change;

    if (!c->is_revoke)
        return token_make(a, m, c);
    if (!apply_write(a, SQL_TOKEN_DELETE,
                     DB_PARAMS(db_text(c->token.id), db_text_or_null(c->scope_org))))
        return APPLY_FAILED;
    if (db_changes(a->db) == 0)
        return apply_refuse_with(a, m, ERR_NOT_FOUND, "there is no token with this id");
    return apply_done_if(
        apply_write(a, SQL_SESSION_END_OF_TOKEN, DB_PARAMS(db_text(c->token.id))) &&
        bump(a, &c->access_version));
}

/* --- sessions --- */

/* Those that ended by themselves, and what a user has too many of. */
static bool purge_sessions(struct apply *a, struct session_change *c)
{
    int64_t now_us = c->change.now_us;

    if (!apply_write(a, SQL_SESSION_PURGE,
                     DB_PARAMS(db_int(now_us - SESSION_IDLE_US), db_int(now_us - SESSION_LIFE_US))))
        return false;
    c->has_purged = db_changes(a->db) > 0;
    if (!apply_write(a, SQL_SESSION_PURGE_USER,
                     DB_PARAMS(db_text(c->session.user_id), db_int(SESSIONS_MAX_OF_USER - 1))))
        return false;
    c->has_purged = c->has_purged || db_changes(a->db) > 0;
    return true;
}

enum apply_result session_change_apply(struct apply *a, struct member *m)
{
    struct session_change *c = (struct session_change *)m->change;
    const struct stored_session *s = &c->session;
    bool ok;

    if (c->is_end)
        ok = apply_write(a, SQL_SESSION_DELETE, DB_PARAMS(db_text(s->hash)));
    else
        ok = purge_sessions(a, c) &&
             apply_write(a, SQL_SESSION_INSERT,
                         DB_PARAMS(db_text(s->hash), db_text(s->user_id),
                                   db_text_or_null(s->token_id), db_text(s->token_hash),
                                   db_int(c->change.now_us)));
    return apply_done_if(ok && bump(a, &c->access_version));
}

enum apply_result token_uses_apply(struct apply *a, struct member *m)
{
    const struct token_uses_change *c = (struct token_uses_change *)m->change;

    for (size_t i = 0; i < c->count; i++)
        if (!apply_write(a, SQL_TOKEN_USED,
                         DB_PARAMS(db_text(str_from(c->uses[i].id, UUID_TEXT_LEN)),
                                   db_int(c->uses[i].at_us))))
            return APPLY_FAILED;
    for (size_t i = 0; i < c->session_count; i++)
        if (!apply_write(a, SQL_SESSION_USED,
                         DB_PARAMS(db_text(str_from(c->session_uses[i].hash,
                                                    sizeof(c->session_uses[i].hash))),
                                   db_int(c->session_uses[i].at_us))))
            return APPLY_FAILED;
    return APPLY_DONE;
}
