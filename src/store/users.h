/*
 * users.h - users, their tokens and organisations: how they are changed (see
 * change.h) and read (see read.h).
 *
 * A token is kept as its SHA-256 alone. Every change of what decides who may
 * come in adds one to a number, the access version, in its own transaction:
 * whoever keeps users in memory sees by it that there is something to read.
 */
#ifndef PAWL_STORE_USERS_H
#define PAWL_STORE_USERS_H

#include "base/buf.h"
#include "store/change.h"

/* Made by the migration that made the tables. */
#define ORG_DEFAULT STR("00000000-0000-7000-8000-000000000001")
#define USER_ADMIN STR("00000000-0000-7000-8000-000000000002")

struct stored_user {
    struct str id, org_id, name, email, role;     /* e-mail in small letters, or empty */
    struct str groups_json, specializations_json; /* lists of texts; empty: none */
    int64_t skill_level;                          /* -1: none */
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

/* --- changing --- */

/* What a change of a user sets; the rest stays. */
enum user_field {
    USER_NAME = 1,
    USER_EMAIL = 2,
    USER_ROLE = 4,
    USER_GROUPS = 8,
    USER_ORG = 16,
    USER_SKILL = 32,
    USER_SPECIALIZATIONS = 64,
    USER_ACTIVE = 128,
};

/*
 * Make a user with its first token, or change one. Answers the user as JSON,
 * never a token. ERR_CONFLICT: the e-mail is another user's. An organisation
 * exists from its first user on.
 */
struct user_change {
    struct change change; /* apply = user_change_apply */
    bool is_new;
    unsigned fields; /* of enum user_field; for a change */
    struct stored_user user;
    struct stored_token token; /* is_new: id and hash of the first one */
    struct str scope_org;      /* whose users may be changed; empty: all */
    int64_t access_version;    /* out */
};

enum apply_result user_change_apply(struct apply *a, struct member *m, enum db_status *status);

/*
 * Make a token of a user, or revoke one. One that is made may take the place of others, which end
 * in the same transaction; what is not given for it is as of the newest of those.
 */
struct token_change {
    struct change change; /* apply = token_change_apply */
    bool is_revoke;
    struct stored_token token; /* revoke: its id */
    struct str replaces;       /* make: the id of one, TOKEN_REPLACES_ALL, or empty */
    bool has_name, has_expiry; /* make: given, and not to be kept */
    struct str scope_org;
    int64_t access_version; /* out */
};

#define TOKEN_REPLACES_ALL "all"

enum apply_result token_change_apply(struct apply *a, struct member *m, enum db_status *status);

/* Begin a session, or end one. Beginning one also deletes those that have ended by themselves. */
struct session_change {
    struct change change; /* apply = session_change_apply */
    bool is_end;
    struct stored_session session; /* end: its hash */
    bool has_purged;               /* out: others were deleted */
    int64_t access_version;        /* out */
};

enum apply_result session_change_apply(struct apply *a, struct member *m, enum db_status *status);

/* When tokens and sessions were last used. What is known to be later stays. */
struct token_use {
    char id[UUID_TEXT_LEN];
    int64_t at_us;
};

struct session_use {
    char hash[64];
    int64_t at_us;
};

struct token_uses_change {
    struct change change; /* apply = token_uses_apply */
    const struct token_use *uses;
    size_t count;
    const struct session_use *session_uses;
    size_t session_count;
};

enum apply_result token_uses_apply(struct apply *a, struct member *m, enum db_status *status);

/* --- reading --- */

bool read_user(struct reader *r, struct arena *mem, struct str id, struct stored_user *out,
               bool *found, struct err *err) MUST_USE;

struct user_filter {
    struct str org_id, role, q; /* empty = any; q: a name or an e-mail */
    struct str after;           /* the id of the last one before */
    int64_t limit;
};

bool read_users(struct reader *r, struct arena *mem, const struct user_filter *filter,
                struct stored_users *out, struct err *err) MUST_USE;

/* The tokens of a user, the oldest first; `after` is the id of the last one before, or empty. */
bool read_tokens(struct reader *r, struct arena *mem, struct str user_id, struct str after,
                 int64_t limit, struct stored_tokens *out, struct err *err) MUST_USE;

bool read_access_version(struct reader *r, int64_t *out, struct err *err) MUST_USE;

/* All users, tokens and sessions as of one access version. */
struct everyone {
    struct stored_users users;
    struct stored_tokens tokens;
    struct stored_sessions sessions;
    int64_t access_version;
};

bool read_everyone(struct reader *r, struct arena *mem, struct everyone *out,
                   struct err *err) MUST_USE;

/* --- the audit log --- */

struct audit_filter {
    struct str user_id, action, target, org_id; /* empty = any */
    int64_t from_us, to_us;                     /* 0 = open */
    struct str cursor;                          /* opaque, of the page before */
    int64_t limit;
};

struct stored_audit {
    struct str id;      /* for people */
    int64_t row, at_us; /* row is 0 of what is in another table */
    struct str user_id, user_name, action, target, details_json;
};

struct stored_audits {
    VEC_OF(struct stored_audit);
};

/* A page of who did what, newest first; *next is the cursor or empty. */
bool read_audit(struct reader *r, struct arena *mem, const struct audit_filter *filter,
                struct stored_audits *out, struct str *next, struct err *err) MUST_USE;

#endif
