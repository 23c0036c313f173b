/* change_user.h - changes of users, tokens and sessions; see users.h and change.h. */
#ifndef PAWL_STORE_CHANGE_USER_H
#define PAWL_STORE_CHANGE_USER_H

#include "store/change.h"
#include "store/users.h"

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
    USER_NAMESPACES = 256,
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

change_apply_fn user_change_apply;

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

change_apply_fn token_change_apply;

/* Begin a session, or end one. Beginning one also deletes those that have ended by themselves. */
struct session_change {
    struct change change; /* apply = session_change_apply */
    bool is_end;
    struct stored_session session; /* end: its hash */
    bool has_purged;               /* out: others were deleted */
    int64_t access_version;        /* out */
};

change_apply_fn session_change_apply;

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

change_apply_fn token_uses_apply;

#endif
