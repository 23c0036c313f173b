/* read_user.h - reading users, tokens and sessions; see users.h and read.h. */
#ifndef PAWL_STORE_READ_USER_H
#define PAWL_STORE_READ_USER_H

#include "store/read.h"
#include "store/users.h"

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

#endif
