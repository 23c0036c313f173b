/* read_user.c - reading users and tokens; see users.h. */
#include "store/read.h"
#include "store/reader.h"
#include "store/users.h"

static struct str column(struct reader *r, struct arena *mem, enum sql sql, unsigned number)
{
    return str_copy(mem, db_column_text(r->db, sql, number));
}

static bool ended(struct reader *r, enum sql sql, enum db_status status, struct err *err)
{
    db_end(r->db, sql);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

/* --- users --- */

/* The columns of USER_COLUMNS. */
static struct stored_user load_user(struct reader *r, struct arena *mem, enum sql sql)
{
    return (struct stored_user){
        .id = column(r, mem, sql, 0),
        .org_id = column(r, mem, sql, 1),
        .name = column(r, mem, sql, 2),
        .email = column(r, mem, sql, 3),
        .role = column(r, mem, sql, 4),
        .groups_json = column(r, mem, sql, 5),
        .skill_level = db_column_text(r->db, sql, 6).len > 0 ? db_column_int(r->db, sql, 6) : -1,
        .specializations_json = column(r, mem, sql, 7),
        .is_active = db_column_int(r->db, sql, 8) != 0,
        .created_at_us = db_column_int(r->db, sql, 9),
        .updated_at_us = db_column_int(r->db, sql, 10),
    };
}

static bool load_users(struct reader *r, struct arena *mem, enum sql sql, enum db_status status,
                       struct stored_users *out, struct err *err)
{
    *out = (struct stored_users){0};
    for (; status == DB_ROW; status = db_next(r->db, sql))
        *VEC_ADD(mem, out) = load_user(r, mem, sql);
    return ended(r, sql, status, err);
}

bool read_user(struct reader *r, struct arena *mem, struct str id, struct stored_user *out,
               bool *found, struct err *err)
{
    enum db_status status = reader_run(r, SQL_READ_USER, DB_PARAMS(db_text(id)));

    *found = status == DB_ROW;
    if (*found)
        *out = load_user(r, mem, SQL_READ_USER);
    return ended(r, SQL_READ_USER, status, err);
}

bool read_users(struct reader *r, struct arena *mem, const struct user_filter *f,
                struct stored_users *out, struct err *err)
{
    enum db_status status = reader_run(
        r, SQL_READ_USERS,
        DB_PARAMS(db_int(f->limit), db_text(f->after.len > 0 ? f->after : STR("0")),
                  db_text_or_null(f->org_id), db_text_or_null(f->role), db_text_or_null(f->q)));

    return load_users(r, mem, SQL_READ_USERS, status, out, err);
}

/* --- tokens --- */

/* The columns of TOKEN_COLUMNS. */
static bool load_tokens(struct reader *r, struct arena *mem, enum sql sql, enum db_status status,
                        struct stored_tokens *out, struct err *err)
{
    *out = (struct stored_tokens){0};
    for (; status == DB_ROW; status = db_next(r->db, sql))
        *VEC_ADD(mem, out) = (struct stored_token){
            .id = column(r, mem, sql, 0),
            .user_id = column(r, mem, sql, 1),
            .name = column(r, mem, sql, 2),
            .hash = column(r, mem, sql, 3),
            .created_at_us = db_column_int(r->db, sql, 4),
            .last_used_at_us = db_column_int(r->db, sql, 5),
            .expires_at_us = db_column_int(r->db, sql, 6),
        };
    return ended(r, sql, status, err);
}

bool read_tokens(struct reader *r, struct arena *mem, struct str user_id, struct str after,
                 int64_t limit, struct stored_tokens *out, struct err *err)
{
    enum db_status status = reader_run(
        r, SQL_READ_TOKENS,
        DB_PARAMS(db_text(user_id), db_text(after.len > 0 ? after : STR("0")), db_int(limit)));

    return load_tokens(r, mem, SQL_READ_TOKENS, status, out, err);
}

/* --- sessions --- */

static bool load_sessions(struct reader *r, struct arena *mem, struct stored_sessions *out,
                          struct err *err)
{
    const enum sql sql = SQL_READ_ALL_SESSIONS;
    enum db_status status = db_run(r->db, sql, DB_NO_PARAMS);

    *out = (struct stored_sessions){0};
    for (; status == DB_ROW; status = db_next(r->db, sql))
        *VEC_ADD(mem, out) = (struct stored_session){
            .hash = column(r, mem, sql, 0),
            .user_id = column(r, mem, sql, 1),
            .token_id = column(r, mem, sql, 2),
            .token_hash = column(r, mem, sql, 3),
            .created_at_us = db_column_int(r->db, sql, 4),
            .last_used_at_us = db_column_int(r->db, sql, 5),
        };
    return ended(r, sql, status, err);
}

/* --- everyone --- */

bool read_access_version(struct reader *r, int64_t *out, struct err *err)
{
    enum db_status status = reader_run(r, SQL_ACCESS_VERSION, DB_NO_PARAMS);

    if (status == DB_ROW)
        *out = db_column_int(r->db, SQL_ACCESS_VERSION, 0);
    return ended(r, SQL_ACCESS_VERSION, status, err);
}

bool read_everyone(struct reader *r, struct arena *mem, struct everyone *out, struct err *err)
{
    bool ok;

    if (!reader_begin(r, err))
        return false;
    ok = read_access_version(r, &out->access_version, err) &&
         load_users(r, mem, SQL_READ_ALL_USERS, db_run(r->db, SQL_READ_ALL_USERS, DB_NO_PARAMS),
                    &out->users, err) &&
         load_tokens(r, mem, SQL_READ_ALL_TOKENS, db_run(r->db, SQL_READ_ALL_TOKENS, DB_NO_PARAMS),
                     &out->tokens, err) &&
         load_sessions(r, mem, &out->sessions, err);
    reader_end(r);
    return ok;
}
