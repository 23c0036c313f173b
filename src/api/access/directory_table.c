/* directory_table.c - see directory_table.h. */
#include "api/access/directory_table.h"

#include "store/org.h"
#include "store/read_user.h"
#include "value/json.h"

#include <openssl/crypto.h>

void table_init(struct directory_table *t)
{
    arena_init(&t->mem);
    map_init(&t->people, &t->mem);
    map_init(&t->emails, &t->mem);
    map_init(&t->tokens, &t->mem);
    map_init(&t->ids, &t->mem);
    map_init(&t->sessions, &t->mem);
    t->notes = (struct directory_notes){0};
}

void table_fini(struct directory_table *t)
{
    arena_fini(&t->mem);
}

void table_moved(struct directory_table *t)
{
    t->people.mem = t->emails.mem = t->tokens.mem = t->ids.mem = t->sessions.mem = &t->mem;
}

/* --- users --- */

void table_put_person(struct directory_table *t, const struct person *with)
{
    struct person *p = map_get(&t->people, with->id);

    if (p == NULL) {
        p = ARENA_NEW(&t->mem, struct person);
        map_put(&t->people, with->id, p);
    } else if (p->email.len > 0 && map_get(&t->emails, p->email) == p) {
        (void)map_remove(&t->emails, p->email);
    }
    *p = *with;
    if (p->email.len > 0)
        map_put(&t->emails, p->email, p);
}

void person_set_role(struct person *p, struct str role)
{
    if (!role_find(role, &p->role)) {
        p->role = ROLE_MEMBER;
        p->is_active = false;
    }
}

static bool directory_read_list(struct arena *mem, struct str json, struct value *out)
{
    struct err err;

    if (json.len > 0 && json_read(mem, json, out, &err) && out->kind == VALUE_LIST)
        return true;
    *out = value_list(NULL, 0);
    return json.len == 0;
}

/* No namespaces are all there are: who has some that cannot be read is shut out. */
static void person_set_namespaces(struct arena *mem, struct person *p, struct str json)
{
    if (!directory_read_list(mem, json, &p->namespaces))
        p->is_active = false;
}

/* --- tokens and sessions --- */

static struct str hash_key(const uint8_t hash[TOKEN_HASH_LEN])
{
    return str_from((const char *)hash, TOKEN_HASH_LEN);
}

static struct directory_entry *put_entry(struct directory_table *t, struct map *map,
                                         struct person *p, const uint8_t hash[TOKEN_HASH_LEN])
{
    struct directory_entry *e = ARENA_NEW(&t->mem, struct directory_entry);

    e->person = p;
    memcpy(e->hash, hash, TOKEN_HASH_LEN);
    map_put(map, hash_key(e->hash), e);
    return e;
}

static struct directory_entry *put_token(struct directory_table *t,
                                         const uint8_t hash[TOKEN_HASH_LEN], struct str id,
                                         struct str user_id)
{
    struct person *p = map_get(&t->people, user_id);
    struct directory_entry *e = p == NULL ? NULL : put_entry(t, &t->tokens, p, hash);

    if (e == NULL)
        return NULL;
    e->id = str_copy(&t->mem, id);
    if (e->id.len > 0)
        map_put(&t->ids, e->id, e);
    return e;
}

struct directory_entry *table_put_token(struct directory_table *t, const struct stored_token *token)
{
    uint8_t hash[TOKEN_HASH_LEN];
    struct directory_entry *e =
        token_hash_read(token->hash, hash) ? put_token(t, hash, token->id, token->user_id) : NULL;

    if (e == NULL)
        return NULL;
    e->used_us = e->written_us = token->last_used_at_us;
    e->expires_us = token->expires_at_us;
    return e;
}

struct directory_entry *table_put_session(struct directory_table *t,
                                          const struct stored_session *session)
{
    uint8_t hash[TOKEN_HASH_LEN], token_hash[TOKEN_HASH_LEN];
    struct directory_entry *token, *e;

    if (!token_hash_read(session->hash, hash) || !token_hash_read(session->token_hash, token_hash))
        return NULL;
    token = table_find(&t->tokens, token_hash);
    if (token == NULL || !str_eq(token->person->id, session->user_id))
        return NULL;
    e = put_entry(t, &t->sessions, token->person, hash);
    e->token = token;
    e->created_us = session->created_at_us;
    e->used_us = e->written_us = session->last_used_at_us;
    return e;
}

struct directory_entry *table_find(const struct map *by_hash, const uint8_t hash[TOKEN_HASH_LEN])
{
    struct directory_entry *e = map_get(by_hash, hash_key(hash));

    return e != NULL && CRYPTO_memcmp(e->hash, hash, TOKEN_HASH_LEN) == 0 ? e : NULL;
}

static void forget_note(struct directory_notes *notes, const struct directory_entry *gone)
{
    size_t i = 0;

    while (i < notes->count && notes->items[i] != gone)
        i++;
    if (i < notes->count)
        notes->items[i] = notes->items[--notes->count];
}

void table_drop(struct directory_table *t, struct directory_entry *e)
{
    e->is_gone = true;
    forget_note(&t->notes, e);
    if (e->token != NULL) {
        (void)map_remove(&t->sessions, hash_key(e->hash));
        return;
    }
    for (const struct map_entry *s = map_next(&t->sessions, NULL); s != NULL;
         s = map_next(&t->sessions, s))
        if (((struct directory_entry *)s->ptr)->token == e)
            table_drop(t, s->ptr);
    (void)map_remove(&t->ids, e->id);
    (void)map_remove(&t->tokens, hash_key(e->hash));
}

void table_drop_tokens(struct directory_table *t, struct str user_id, struct str id)
{
    for (const struct map_entry *i = map_next(&t->ids, NULL); i != NULL; i = map_next(&t->ids, i)) {
        struct directory_entry *e = i->ptr;

        if (str_eq(e->person->id, user_id) && (id.len == 0 || str_eq(e->id, id)))
            table_drop(t, e);
    }
}

bool entry_is_valid(const struct directory_entry *e, int64_t now_us)
{
    if (e->is_gone)
        return false;
    if (e->token == NULL)
        return e->expires_us == 0 || now_us < e->expires_us;
    return entry_is_valid(e->token, now_us) && now_us < e->used_us + SESSION_IDLE_US &&
           now_us < e->created_us + SESSION_LIFE_US;
}

/* --- everyone --- */

void table_fill(struct directory_table *t, const uint8_t admin_hash[TOKEN_HASH_LEN],
                const struct everyone *all)
{
    for (size_t i = 0; i < all->users.count; i++) {
        const struct stored_user *u = &all->users.items[i];
        struct person p = {.id = u->id,
                           .org_id = u->org_id,
                           .name = u->name,
                           .email = u->email,
                           .is_active = u->is_active};

        (void)directory_read_list(&t->mem, u->groups_json, &p.groups);
        person_set_namespaces(&t->mem, &p, u->namespaces_json);
        person_set_role(&p, u->role);
        table_put_person(t, &p);
    }
    for (size_t i = 0; i < all->tokens.count; i++)
        (void)table_put_token(t, &all->tokens.items[i]);
    (void)put_token(t, admin_hash, STR_NONE, USER_ADMIN);
    for (size_t i = 0; i < all->sessions.count; i++)
        (void)table_put_session(t, &all->sessions.items[i]);
}
