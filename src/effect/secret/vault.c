/* vault.c - see vault.h. */
#include "effect/secret/vault.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/map.h"
#include "value/json.h"

#include <pthread.h>

struct vault {
    pthread_mutex_t lock;
    const char *key_path;
    struct master_key key;
    bool is_locked;   /* what is stored needs another key: vault_is_locked() */
    bool is_rekeying; /* credentials may be sealed with `next` already */
    struct seal_key next;
    struct arena mem; /* of the map, made anew with all of it */
    struct map all;   /* of struct credential, by code */
};

static const char sealed_field[] = "sealed";

#define CREDENTIAL STR("credential")

/* --- one credential --- */

static struct credential *credential_new(struct str code, int64_t version)
{
    struct credential *c = ALLOC_NEW(struct credential);

    atomic_init(&c->refs, 1);
    arena_init(&c->mem);
    c->code = str_copy(&c->mem, code);
    c->version = version;
    return c;
}

const struct credential *credential_share(const struct credential *shared)
{
    struct credential *c = (struct credential *)(uintptr_t)shared;

    atomic_fetch_add(&c->refs, 1);
    return c;
}

static void wipe(struct str text)
{
    seal_wipe((void *)(uintptr_t)text.ptr, text.len);
}

void credential_release(const struct credential *released)
{
    struct credential *c = (struct credential *)(uintptr_t)released;

    if (c == NULL || atomic_fetch_sub(&c->refs, 1) != 1)
        return;
    if (c->secret.len > 0)
        wipe(c->secret);
    for (size_t i = 0; i < c->values.count; i++)
        wipe(c->values.items[i].text);
    arena_fini(&c->mem);
    free(c);
}

static struct str text_member(struct credential *c, struct value shown, const char *name)
{
    return str_copy(&c->mem, value_map_text(shown, str_of(name)));
}

static void take_shown(struct credential *c, struct value shown)
{
    c->base_url = text_member(c, shown, "base_url");
    while (str_ends_with(c->base_url, STR("/")))
        c->base_url.len--;
    c->header_name = text_member(c, shown, "header_name");
    c->username = text_member(c, shown, "username");
    c->token_url = text_member(c, shown, "token_url");
    c->client_id = text_member(c, shown, "client_id");
    c->scope = text_member(c, shown, "scope");
}

static bool take_secret(struct credential *c, struct value secret)
{
    if (secret.kind == VALUE_STRING && c->type != CREDENTIAL_SECRET) {
        c->secret = str_copy(&c->mem, value_text(secret));
        return true;
    }
    if (secret.kind != VALUE_MAP || c->type != CREDENTIAL_SECRET)
        return false;
    for (uint32_t i = 0; i < secret.len; i++) {
        const struct value_entry *e = &secret.map->entries[i];

        *VEC_ADD(&c->mem, &c->values) =
            (struct secret_value){.name = str_copy(&c->mem, value_text(e->key)),
                                  .text = str_copy(&c->mem, value_text(e->value))};
    }
    return true;
}

/* --- what is stored --- */

/* What a secret is bound to. */
static struct str about_of(struct arena *mem, struct str kind, struct str code, struct value shown)
{
    struct str json = json_must_text(mem, shown);

    return str_printf(mem, "%.*s\n%.*s\n%.*s", STR_ARG(kind), STR_ARG(code), STR_ARG(json));
}

static bool split_stored(struct arena *mem, struct str text, struct value *shown,
                         struct str *sealed)
{
    struct value_entry *entries;
    struct value all;
    struct err err;
    size_t count = 0;

    *sealed = STR_NONE;
    if (!json_read(mem, text, &all, &err) || all.kind != VALUE_MAP)
        return false;
    entries = ARENA_ARRAY(mem, all.len + 1, struct value_entry);
    for (uint32_t i = 0; i < all.len; i++) {
        struct value_entry e = all.map->entries[i];

        if (str_eq(value_text(e.key), str_of(sealed_field)) && e.value.kind == VALUE_STRING)
            *sealed = value_text(e.value);
        else
            entries[count++] = e;
    }
    *shown = value_map_take(mem, entries, count);
    return true;
}

static struct str join_stored(struct arena *mem, struct value shown, struct str sealed)
{
    struct str json = json_must_text(mem, shown);

    if (sealed.len == 0)
        return json;
    return str_printf(mem, "%.*s%s\"%s\":\"%.*s\"}", (int)json.len - 1, json.ptr,
                      shown.len > 0 ? "," : "", sealed_field, STR_ARG(sealed));
}

static bool open_stored(struct arena *mem, const struct seal_key *key, struct str kind,
                        struct str code, struct str text, struct value *shown, struct value *secret,
                        struct err *err)
{
    struct str sealed, plain;

    *secret = value_absent();
    if (!split_stored(mem, text, shown, &sealed))
        return err_set(err, ERR_INTERNAL, "what is stored of the %.*s is no object", STR_ARG(kind));
    if (sealed.len == 0)
        return true;
    return seal_open(mem, key, about_of(mem, kind, code, *shown), sealed, &plain, err) &&
           json_read(mem, plain, secret, err);
}

bool vault_shown(struct arena *mem, struct str text, struct value *shown, bool *is_filled)
{
    struct str sealed;
    bool ok = split_stored(mem, text, shown, &sealed);

    *is_filled = sealed.len > 0;
    return ok;
}

struct str vault_needs(struct arena *mem, struct str text)
{
    struct value shown;
    struct str sealed;

    return split_stored(mem, text, &shown, &sealed) ? seal_id(sealed) : STR_NONE;
}

static const struct seal_key *key_for(const struct vault *v, struct str id)
{
    return v->is_rekeying && str_eq(id, str_of(v->next.id)) ? &v->next : &v->key.key;
}

/* What is shown of a credential whose secret cannot be opened here; NULL: it is none of ours. */
static struct credential *locked_credential(struct str code, int64_t version, struct str text)
{
    struct credential *c = credential_new(code, version);
    struct value shown, type;
    struct str sealed;

    if (split_stored(&c->mem, text, &shown, &sealed)) {
        type = value_map_get_str(shown, STR("type"));
        c->is_locked =
            type.kind == VALUE_STRING && credential_type_read(value_text(type), &c->type);
        take_shown(c, shown);
    }
    if (c->is_locked)
        return c;
    credential_release(c);
    return NULL;
}

/* With the lock held, or nobody else there: a credential as it is stored; NULL: *err says why. */
static struct credential *open_credential(struct vault *v, struct str code, int64_t version,
                                          struct str text, struct err *err)
{
    struct credential *c = credential_new(code, version);
    struct value shown, secret, type;
    struct arena mem;
    bool ok;

    arena_init(&mem);
    ok = open_stored(&mem, key_for(v, vault_needs(&mem, text)), CREDENTIAL, code, text, &shown,
                     &secret, err);
    if (ok) {
        type = value_map_get_str(shown, STR("type"));
        ok = (type.kind == VALUE_STRING && credential_type_read(value_text(type), &c->type)) ||
             err_set(err, ERR_INTERNAL, "the credential is of a type that is not known here");
    }
    if (ok) {
        take_shown(c, shown);
        c->is_filled = secret.kind != VALUE_ABSENT && take_secret(c, secret);
    }
    arena_fini(&mem);
    if (ok)
        return c;
    credential_release(c);
    return NULL;
}

/* --- all of them --- */

struct vault *vault_new(const char *key_path)
{
    struct vault *v = ALLOC_NEW(struct vault);

    if (pthread_mutex_init(&v->lock, NULL) != 0)
        PANIC("no mutex");
    v->key_path = key_path;
    arena_init(&v->mem);
    map_init(&v->all, &v->mem);
    return v;
}

static void release_all(struct map *all)
{
    for (struct map_entry *e = map_next(all, NULL); e != NULL; e = map_next(all, e))
        credential_release(e->ptr);
}

void vault_free(struct vault *v)
{
    release_all(&v->all);
    arena_fini(&v->mem);
    seal_wipe(&v->key, sizeof(v->key));
    seal_wipe(&v->next, sizeof(v->next));
    pthread_mutex_destroy(&v->lock);
    free(v);
}

static struct str key_of_first(struct arena *mem, const struct sealed_definitions *all)
{
    for (size_t i = 0; i < all->count; i++) {
        struct str id = vault_needs(mem, all->items[i].text);

        if (id.len > 0)
            return id;
    }
    return STR_NONE;
}

/* The key that all of them need; empty: none of them has a secret. */
static struct str needed_key(struct arena *mem, const struct sealed_definitions *all,
                             const struct sealed_definitions *others)
{
    struct str id = key_of_first(mem, all);

    return id.len > 0 ? id : key_of_first(mem, others);
}

static void warn_unopened(struct str code, const struct err *err)
{
    log_write(LOG_ERROR, "a credential cannot be opened",
              LOG_FIELDS(log_str("credential", code), log_str("reason", str_of(err->message))));
}

static struct credential *keep_old(const struct map *old, struct str code)
{
    struct credential *c = map_get(old, code);

    if (c != NULL)
        atomic_fetch_add(&c->refs, 1);
    return c;
}

static void fill(struct vault *v, const struct sealed_definitions *all)
{
    struct arena old_mem = v->mem;
    struct map old = v->all;

    arena_init(&v->mem);
    map_init(&v->all, &v->mem);
    for (size_t i = 0; i < all->count; i++) {
        const struct sealed_definition *d = &all->items[i];
        struct credential *c;
        struct err err;

        c = open_credential(v, d->code, d->version, d->text, &err);
        if (c == NULL) {
            c = keep_old(&old, d->code);
            if (c == NULL || (c->version != d->version && !c->is_locked))
                warn_unopened(d->code, &err);
            if (c == NULL || c->is_locked) {
                credential_release(c);
                c = locked_credential(d->code, d->version, d->text);
            }
        }
        if (c != NULL)
            map_put(&v->all, c->code, c);
    }
    release_all(&old);
    arena_fini(&old_mem);
}

bool vault_start(struct vault *v, const struct sealed_definitions *all,
                 const struct sealed_definitions *others, struct str named, struct err *err)
{
    struct arena mem;
    struct str needed;
    bool ok;

    arena_init(&mem);
    needed = needed_key(&mem, all, others);
    ok = master_key_open(&v->key, v->key_path, needed.len > 0 ? needed : named, err);
    arena_fini(&mem);
    if (ok)
        fill(v, all);
    return ok;
}

/* Another node may have rotated the key, which is in a file that this one reads too. */
static void follow_key(struct vault *v, const struct sealed_definitions *all,
                       const struct sealed_definitions *others)
{
    struct master_key key;
    struct arena mem;
    struct str needed;
    struct err err;
    bool is_locked = false;

    arena_init(&mem);
    needed = needed_key(&mem, all, others);
    if (needed.len > 0 && !str_eq(needed, str_of(v->key.key.id))) {
        is_locked = !master_key_open(&key, v->key_path, needed, &err);
        if (!is_locked)
            v->key = key;
        else if (!v->is_locked)
            log_write(LOG_ERROR, "the master key is not the one that credentials need",
                      LOG_FIELDS(log_str("reason", str_of(err.message))));
    }
    if (v->is_locked && !is_locked)
        log_write(LOG_NOTICE, "the master key is the one that credentials need", NULL);
    v->is_locked = is_locked;
    arena_fini(&mem);
}

void vault_replace(struct vault *v, const struct sealed_definitions *all,
                   const struct sealed_definitions *others)
{
    pthread_mutex_lock(&v->lock);
    follow_key(v, all, others);
    fill(v, all);
    pthread_mutex_unlock(&v->lock);
}

bool vault_is_locked(struct vault *v)
{
    bool is_locked;

    pthread_mutex_lock(&v->lock);
    is_locked = v->is_locked;
    pthread_mutex_unlock(&v->lock);
    return is_locked;
}

void vault_put(struct vault *v, struct str code, int64_t version, struct str text)
{
    struct credential *c = NULL, *old;
    struct err err;

    pthread_mutex_lock(&v->lock);
    if (text.len > 0) {
        c = open_credential(v, code, version, text, &err);
        if (c == NULL)
            warn_unopened(code, &err);
    }
    old = map_get(&v->all, code);
    if (old != NULL && (c != NULL || text.len == 0)) {
        (void)map_remove(&v->all, code);
        credential_release(old);
    }
    if (c != NULL)
        map_put(&v->all, c->code, c);
    pthread_mutex_unlock(&v->lock);
}

const struct credential *vault_take(struct vault *v, struct str code)
{
    struct credential *c;

    if (v == NULL)
        return NULL;
    pthread_mutex_lock(&v->lock);
    c = keep_old(&v->all, code);
    pthread_mutex_unlock(&v->lock);
    return c;
}

struct value vault_bases(struct vault *v, struct arena *mem)
{
    struct value_entry *entries;
    size_t count = 0;

    pthread_mutex_lock(&v->lock);
    entries = ARENA_ARRAY(mem, v->all.count + 1, struct value_entry);
    for (struct map_entry *e = map_next(&v->all, NULL); e != NULL; e = map_next(&v->all, e)) {
        const struct credential *c = e->ptr;

        if (c->base_url.len > 0)
            entries[count++] =
                (struct value_entry){.key = value_key(str_copy(mem, c->code)),
                                     .value = value_string(str_copy(mem, c->base_url))};
    }
    pthread_mutex_unlock(&v->lock);
    return value_map_take(mem, entries, count);
}

/* --- storing --- */

static struct seal_key copy_key(struct vault *v)
{
    struct seal_key key;

    pthread_mutex_lock(&v->lock);
    key = v->key.key;
    pthread_mutex_unlock(&v->lock);
    return key;
}

static struct str seal_stored(struct arena *mem, const struct seal_key *key, struct str kind,
                              struct str code, struct value shown, struct value secret)
{
    if (secret.kind == VALUE_ABSENT)
        return join_stored(mem, shown, STR_NONE);
    return join_stored(
        mem, shown,
        seal_close(mem, key, about_of(mem, kind, code, shown), json_must_text(mem, secret)));
}

struct str vault_seal(struct vault *v, struct arena *mem, struct str kind, struct str code,
                      struct value shown, struct value secret)
{
    struct seal_key key = copy_key(v);
    struct str text = seal_stored(mem, &key, kind, code, shown, secret);

    seal_wipe(&key, sizeof(key));
    return text;
}

bool vault_open(struct vault *v, struct arena *mem, struct str kind, struct str code,
                struct str text, struct value *shown, struct value *secret, struct err *err)
{
    struct str id = vault_needs(mem, text);
    struct seal_key key;
    bool ok;

    pthread_mutex_lock(&v->lock);
    key = *key_for(v, id);
    pthread_mutex_unlock(&v->lock);
    ok = open_stored(mem, &key, kind, code, text, shown, secret, err);
    seal_wipe(&key, sizeof(key));
    return ok;
}

struct str vault_key_id(struct vault *v, struct arena *mem)
{
    struct seal_key key = copy_key(v);
    struct str id = str_copy(mem, str_of(key.id));

    seal_wipe(&key, sizeof(key));
    return id;
}

void vault_sign(struct vault *v, struct str use, struct str text, uint8_t out[DIGEST_LEN])
{
    struct seal_key key = copy_key(v);
    uint8_t derived[DIGEST_LEN];

    digest_hmac(str_from((const char *)key.bytes, sizeof(key.bytes)), use, derived);
    digest_hmac(str_from((const char *)derived, sizeof(derived)), text, out);
    seal_wipe(derived, sizeof(derived));
    seal_wipe(&key, sizeof(key));
}

/* --- rotating --- */

bool vault_rekey_begin(struct vault *v, struct seal_key *next, struct err *err)
{
    bool ok;

    pthread_mutex_lock(&v->lock);
    if (v->is_rekeying)
        ok = err_set(err, ERR_CONFLICT, "the master key is being rotated already");
    else
        ok = master_key_prepare(&v->key, next, err);
    if (ok) {
        v->is_rekeying = true;
        v->next = *next;
    }
    pthread_mutex_unlock(&v->lock);
    return ok;
}

bool vault_rekey(struct vault *v, struct arena *mem, const struct seal_key *next, struct str kind,
                 struct str code, struct str text, struct str *out, struct err *err)
{
    struct seal_key key = copy_key(v);
    struct value shown, secret;
    bool ok = open_stored(mem, &key, kind, code, text, &shown, &secret, err);

    if (ok)
        *out = seal_stored(mem, next, kind, code, shown, secret);
    seal_wipe(&key, sizeof(key));
    return ok;
}

bool vault_rekey_end(struct vault *v, const struct seal_key *next, enum rekey_result result,
                     struct err *err)
{
    bool ok = true;

    pthread_mutex_lock(&v->lock);
    if (result == REKEY_DONE)
        ok = master_key_adopt(&v->key, next, err);
    else if (result == REKEY_REFUSED)
        master_key_drop(&v->key, next);
    v->is_rekeying = false;
    seal_wipe(&v->next, sizeof(v->next));
    pthread_mutex_unlock(&v->lock);
    return ok;
}
