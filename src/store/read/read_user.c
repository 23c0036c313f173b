/* read_user.c - reading users and tokens; see users.h. */
#include "store/read_user.h"
#include "store/read/read_row.h"
#include "store/users.h"
#include "store/write/change_apply.h"

/* --- users --- */

static bool load_users(struct rows *rows, struct stored_users *out, struct err *err)
{
    *out = (struct stored_users){0};
    for (; rows_has(rows); rows_next(rows))
        *VEC_ADD(rows->mem, out) = user_of_row(rows->db, rows->sql, rows->mem);
    return rows_end(rows, err);
}

bool read_user(struct reader *r, struct arena *mem, struct str id, struct stored_user *out,
               bool *found, struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_READ_USER, DB_PARAMS(db_text(id)));

    *found = rows_has(&rows);
    if (*found)
        *out = user_of_row(r->db, rows.sql, mem);
    return rows_end(&rows, err);
}

bool read_users(struct reader *r, struct arena *mem, const struct user_filter *f,
                struct stored_users *out, struct err *err)
{
    struct rows rows = rows_run(
        r, mem, SQL_READ_USERS,
        DB_PARAMS(db_int(f->limit), db_text(f->after.len > 0 ? f->after : STR("0")),
                  db_text_or_null(f->org_id), db_text_or_null(f->role), db_text_or_null(f->q)));

    return load_users(&rows, out, err);
}

/* --- tokens --- */

/* The columns of TOKEN_COLUMNS. */
static bool load_tokens(struct rows *rows, struct stored_tokens *out, struct err *err)
{
    *out = (struct stored_tokens){0};
    for (; rows_has(rows); rows_next(rows))
        *VEC_ADD(rows->mem, out) = (struct stored_token){
            .id = rows_text(rows, 0),
            .user_id = rows_text(rows, 1),
            .name = rows_text(rows, 2),
            .hash = rows_text(rows, 3),
            .created_at_us = rows_int(rows, 4),
            .last_used_at_us = rows_int(rows, 5),
            .expires_at_us = rows_int(rows, 6),
        };
    return rows_end(rows, err);
}

bool read_tokens(struct reader *r, struct arena *mem, struct str user_id, struct str after,
                 int64_t limit, struct stored_tokens *out, struct err *err)
{
    struct rows rows = rows_run(
        r, mem, SQL_READ_TOKENS,
        DB_PARAMS(db_text(user_id), db_text(after.len > 0 ? after : STR("0")), db_int(limit)));

    return load_tokens(&rows, out, err);
}

/* --- sessions --- */

static bool load_sessions(struct reader *r, struct arena *mem, struct stored_sessions *out,
                          struct err *err)
{
    struct rows rows = rows_then(r, mem, SQL_READ_ALL_SESSIONS, DB_NO_PARAMS);

    *out = (struct stored_sessions){0};
    for (; rows_has(&rows); rows_next(&rows))
        *VEC_ADD(mem, out) = (struct stored_session){
            .hash = rows_text(&rows, 0),
            .user_id = rows_text(&rows, 1),
            .token_id = rows_text(&rows, 2),
            .token_hash = rows_text(&rows, 3),
            .created_at_us = rows_int(&rows, 4),
            .last_used_at_us = rows_int(&rows, 5),
        };
    return rows_end(&rows, err);
}

/* --- everyone --- */

bool read_access_version(struct reader *r, int64_t *out, struct err *err)
{
    return row_int_or_0(r, SQL_ACCESS_VERSION, DB_NO_PARAMS, out, err);
}

bool read_everyone(struct reader *r, struct arena *mem, struct everyone *out, struct err *err)
{
    struct rows users, tokens;
    bool ok;

    if (!reader_begin(r, err))
        return false;
    ok = read_access_version(r, &out->access_version, err);
    if (ok) {
        users = rows_then(r, mem, SQL_READ_ALL_USERS, DB_NO_PARAMS);
        ok = load_users(&users, &out->users, err);
    }
    if (ok) {
        tokens = rows_then(r, mem, SQL_READ_ALL_TOKENS, DB_NO_PARAMS);
        ok = load_tokens(&tokens, &out->tokens, err) && load_sessions(r, mem, &out->sessions, err);
    }
    reader_end(r);
    return ok;
}
