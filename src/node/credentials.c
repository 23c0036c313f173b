/*
 * credentials.c - the vault of the node; see inner.h and effect/vault.h.
 *
 * It is filled before anything else is done with the store, so that a server
 * with the wrong master key does not start. Changes of this node reach it when
 * they are durable, those of others as those of the config do (config.c). What
 * the engine sees of a credential is its base_url.
 */
#include "node/inner.h"

#include "base/hash.h"
#include "store/change.h"
#include "store/users.h"

#include <stdlib.h>

/* The use of a credential is in the audit log once in this time. */
#define USE_EVERY_US (INT64_C(3600) * 1000000)

/* What the start found. */
struct first_read {
    struct arena *mem;
    struct stored_definitions all, subscriptions;
    bool ok;
    struct err err;
};

static void read_first(void *context, struct reader *reader)
{
    struct first_read *f = context;

    f->ok = read_published(reader, f->mem, STR("credential"), &f->all, &f->err) &&
            read_published(reader, f->mem, STR("subscription"), &f->subscriptions, &f->err);
}

static void show_to_engine(struct node *n)
{
    struct arena mem;

    arena_init(&mem);
    n->credentials = vault_bases(n->options.vault, &mem);
    arena_fini(&n->credentials_mem);
    n->credentials_mem = mem;
}

bool credentials_open(struct node *n, struct err *err)
{
    struct first_read first = {0};
    struct arena mem;
    bool ok;

    if (n->options.vault == NULL || n->options.store != NULL)
        return true;
    arena_init(&mem);
    first.mem = &mem;
    ok = store_read_now(n->store, read_first, &first, err);
    if (ok && !first.ok) {
        *err = first.err;
        ok = false;
    }
    ok = ok && vault_start(n->options.vault, &first.all, &first.subscriptions, err);
    arena_fini(&mem);
    if (ok)
        show_to_engine(n);
    return ok;
}

void credentials_replace(struct node *n, const struct stored_definitions *all,
                         const struct stored_definitions *subscriptions)
{
    if (n->options.vault == NULL)
        return;
    vault_replace(n->options.vault, all, subscriptions);
    show_to_engine(n);
}

void credentials_changed(struct node *n, const struct definition_change *d, bool is_removed)
{
    if (n->options.vault == NULL)
        return;
    vault_put(n->options.vault, d->code, d->version, is_removed ? STR_NONE : d->text);
    show_to_engine(n);
}

void credentials_nonce(struct node *n, uint64_t out[2])
{
    uint64_t count = ++n->nonce_count;

    out[0] = hash_int(2 * count);
    out[1] = hash_int(2 * count + 1);
}

/* --- uses --- */

struct credential_use {
    struct node_request request;
    struct change change;
    struct arena mem;
};

static void use_written(struct node_request *r)
{
    struct credential_use *use = r->owner;

    arena_fini(&use->mem);
    free(use);
}

static void write_use(struct node *n, struct str code, struct uuid execution)
{
    struct credential_use *use = calloc(1, sizeof(*use));
    char id[UUID_TEXT_LEN + 1];
    struct err err;

    if (use == NULL)
        PANIC("out of memory");
    arena_init(&use->mem);
    uuid_write(execution, id);
    use->change = (struct change){.apply = change_nothing, .now_us = clock_wall_us(n->clock)};
    use->request = (struct node_request){
        .kind = NODE_CHANGE,
        .change = &use->change,
        .mem = &use->mem,
        .owner = use,
        .done = use_written,
        .audit = {.user_id = STR("system"),
                  .user_name = STR("system"),
                  .org_id = ORG_DEFAULT,
                  .action = STR("credential.use"),
                  .target = str_copy(&use->mem, code),
                  .details_json = str_printf(&use->mem, "{\"executionId\":\"%s\"}", id),
                  .now_us = use->change.now_us},
    };
    if (!node_submit(n, &use->request, &err))
        use_written(&use->request);
}

void credentials_used(struct node *n, struct str code, struct uuid execution)
{
    int64_t now_us = clock_mono_us(n->clock);
    struct map_entry *e;
    bool is_new;

    if (code.len == 0 || n->is_draining)
        return;
    e = map_find(&n->credential_uses, code);
    if (e == NULL)
        e = map_add(&n->credential_uses, str_copy(&n->mem, code), &is_new);
    else if ((int64_t)e->number + USE_EVERY_US > now_us)
        return;
    e->number = (uint64_t)now_us;
    write_use(n, code, execution);
}
