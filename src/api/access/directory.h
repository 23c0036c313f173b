/*
 * directory.h - users, tokens and sessions in memory: who bears a token or a
 * cookie, without asking the store.
 *
 * Everything is read when the server starts. A change that this server makes
 * is entered when it is durable, so a revoked token is refused from its answer
 * on. Where other servers share the store, the access version (store/users.h)
 * is looked at every two seconds, and everything read again when it has moved.
 *
 *     known   what the tables in memory are complete up to
 *     own     the newest change of this server that is entered
 *
 * What is read and is older than `own` is thrown away and read again. When a
 * token was last used is written in the background, at most once a minute; of a
 * session once an hour.
 *
 * Belongs to the loop.
 */
#ifndef PAWL_API_ACCESS_DIRECTORY_H
#define PAWL_API_ACCESS_DIRECTORY_H

#include "api/access/pass.h"
#include "base/err.h"
#include "define/access.h"
#include "value/value.h"

struct clock;
struct directory;
struct node;
struct stored_session;
struct stored_token;

/* Valid until control returns to the loop. */
struct person {
    struct str id, org_id, name, email;
    enum role role;
    struct value groups;     /* a list of texts */
    struct value namespaces; /* the same: whose jobs the user may do; none: all */
    bool is_active;
    uint64_t revision; /* changes with any of these */
};

struct directory_options {
    struct node *node;
    const struct clock *clock;
    struct str admin_hash; /* SHA-256 of the token of the built-in administrator, in hexadecimal */
    bool is_shared;        /* other servers change users too */
};

/* Read everything. ERR_IO when the store cannot be read. */
struct directory *directory_open(const struct directory_options *options, struct err *err) MUST_USE;

/* After node_close(). */
void directory_close(struct directory *d);

/*
 * Who bears the token, active or not; NULL: nobody, or it has expired. Counts as
 * a use of it. *pass says by what; its texts hold as long as the person does,
 * user and revision are not filled.
 */
const struct person *directory_by_token(struct directory *d, struct str token, struct pass *pass,
                                        bool *is_expired);

/* The same for the cookie of a session, which ends with its token too. */
const struct person *directory_by_session(struct directory *d, struct str cookie,
                                          struct pass *pass);

/* Whatever the case of its letters. */
const struct person *directory_by_email(const struct directory *d, struct str email);

/*
 * By id, e-mail or name, of one organisation; without one of all, and of
 * several with one name then one of the default organisation.
 */
const struct person *directory_find(const struct directory *d, struct str org_id, struct str text);

/* Counts up whenever someone may have changed. */
uint64_t directory_changes(const struct directory *d);

/* Whether the token is not revoked, and the user the same as then. */
bool directory_admits(const struct directory *d, const struct pass *pass);

/* A change has become durable under this access version: `json` is the user as it is shown. */
void directory_put_user(struct directory *d, struct str json, int64_t version);
/* `replaces`: what struct token_change says, or empty. */
void directory_put_token(struct directory *d, const struct stored_token *token, struct str replaces,
                         int64_t version);
void directory_drop_token(struct directory *d, struct str id, int64_t version);
void directory_put_session(struct directory *d, const struct stored_session *session,
                           bool has_purged, int64_t version);
void directory_drop_session(struct directory *d, struct str hash, int64_t version); /* in bytes */

/* Once per pass of the loop: reads and writes what is due; lowers *timeout_ms to what is next. */
void directory_tick(struct directory *d, int *timeout_ms);

#endif
