/*
 * users.h - users, their tokens and sessions. How they are changed:
 * change_user.h; how they are read: read_user.h.
 *
 * A token is kept as its SHA-256 alone. Every change of what decides who may
 * come in adds one to a number, the access version, in its own transaction:
 * whoever keeps users in memory sees by it that there is something to read.
 */
#ifndef PAWL_STORE_USERS_H
#define PAWL_STORE_USERS_H

#include "base/buf.h"
#include "base/vec.h"

struct stored_user {
    struct str id, org_id, name, email, role;     /* e-mail in small letters, or empty */
    struct str groups_json, specializations_json; /* lists of texts; empty: none */
    struct str namespaces_json; /* the same: whose jobs the user may do; empty: all */
    int64_t skill_level;        /* -1: none */
    bool is_active;
    int64_t created_at_us, updated_at_us;
};

struct stored_users {
    VEC_OF(struct stored_user);
};

struct stored_token {
    struct str id, user_id, name;
    struct str hash; /* in hexadecimal */
    int64_t created_at_us, last_used_at_us;
    int64_t expires_at_us; /* 0 = never */
};

struct stored_tokens {
    VEC_OF(struct stored_token);
};

/* A browser that was signed in with a token; it ends with that token. */
struct stored_session {
    struct str hash; /* of the cookie, in hexadecimal */
    struct str user_id;
    struct str token_id;   /* or empty: the administrator's file */
    struct str token_hash; /* in hexadecimal */
    int64_t created_at_us, last_used_at_us;
};

struct stored_sessions {
    VEC_OF(struct stored_session);
};

/* How long a session lives that nobody uses, and one that is used. */
#define SESSION_IDLE_US (INT64_C(7) * 86400 * 1000000)
#define SESSION_LIFE_US (INT64_C(30) * 86400 * 1000000)
/* Beyond, the sessions of a user that were not used for longest end. */
enum { SESSIONS_MAX_OF_USER = 100 };

/* The members of the JSON object that shows it, without the braces. */
void user_show(struct buf *out, const struct stored_user *user);
void token_show(struct buf *out, const struct stored_token *token);

#endif
