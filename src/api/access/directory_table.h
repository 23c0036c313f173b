/*
 * directory_table.h - users, tokens and sessions as directory.c has them in
 * memory. Internal to the directory.
 *
 * All of it lives in one arena. What is taken out of the maps stays in memory
 * until the whole is read afresh, so a pointer to an entry holds as long as the
 * table does; `is_gone` says that it counts no longer.
 */
#ifndef PAWL_API_ACCESS_DIRECTORY_TABLE_H
#define PAWL_API_ACCESS_DIRECTORY_TABLE_H

#include "api/access/directory.h"
#include "api/access/token.h"
#include "base/map.h"
#include "base/vec.h"

struct everyone;

/* A token, or a session that was begun with one. */
struct directory_entry {
    struct person *person;
    struct directory_entry *token; /* of a session; NULL: it is a token itself */
    struct str id;                 /* of a token; empty: the administrator's file */
    uint8_t hash[TOKEN_HASH_LEN];
    int64_t created_us;          /* of a session */
    int64_t expires_us;          /* of a token; 0 = never */
    int64_t used_us, written_us; /* when it was used, and what the store knows of that */
    bool is_noted;               /* its use is to be written */
    bool is_gone;
};

struct directory_notes {
    VEC_OF(struct directory_entry *);
};

struct directory_table {
    struct arena mem;
    struct map people; /* struct person, by id */
    struct map emails; /* struct person, by e-mail */
    struct map tokens; /* struct directory_entry, by hash */
    struct map ids;    /* struct directory_entry of a token, by id; not the administrator's file */
    struct map sessions; /* struct directory_entry, by hash */
    struct directory_notes notes;
};

void table_init(struct directory_table *t);
void table_fini(struct directory_table *t);

/* It has been copied: the maps name the arena by its address. */
void table_moved(struct directory_table *t);

/* Fill an empty one; what was read lives in t->mem already. */
void table_fill(struct directory_table *t, const uint8_t admin_hash[TOKEN_HASH_LEN],
                const struct everyone *all);

/* A role that this program does not know has no rights. */
void person_set_role(struct person *p, struct str role);

/* All texts of the person live in the table's memory. */
void table_put_person(struct directory_table *t, const struct person *with);

/* NULL when its user, or the token of a session, is not known. */
struct directory_entry *table_put_token(struct directory_table *t,
                                        const struct stored_token *token);
struct directory_entry *table_put_session(struct directory_table *t,
                                          const struct stored_session *session);

struct directory_entry *table_find(const struct map *by_hash, const uint8_t hash[TOKEN_HASH_LEN]);

/* Take it out; of a token with all sessions that rest on it. */
void table_drop(struct directory_table *t, struct directory_entry *e);

/* Take out the tokens of a user: the one of that id, or all of them when it is empty. */
void table_drop_tokens(struct directory_table *t, struct str user_id, struct str id);

/* Whether it, and the token of a session, counts at this time. */
bool entry_is_valid(const struct directory_entry *e, int64_t now_us);

#endif
