/*
 * credentials.c - the vault of the node; see inner.h and effect/vault.h.
 *
 * It is filled before anything else is done with the store, so that a server
 * with the wrong master key does not start. Changes of this node reach it when
 * they are durable, those of others as those of the config do (config.c). What
 * the engine sees of a credential is its base_url.
 */
#include "node/inner.h"

/* What the start found. */
struct first_read {
    struct arena *mem;
    struct stored_definitions all;
    bool ok;
    struct err err;
};

static void read_first(void *context, struct reader *reader)
{
    struct first_read *f = context;

    f->ok = read_published(reader, f->mem, STR("credential"), &f->all, &f->err);
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
    ok = ok && vault_start(n->options.vault, &first.all, err);
    arena_fini(&mem);
    if (ok)
        show_to_engine(n);
    return ok;
}

void credentials_replace(struct node *n, const struct stored_definitions *all)
{
    if (n->options.vault == NULL)
        return;
    vault_replace(n->options.vault, all);
    show_to_engine(n);
}

void credentials_changed(struct node *n, const struct definition_change *d, bool is_removed)
{
    if (n->options.vault == NULL)
        return;
    vault_put(n->options.vault, d->code, d->version, is_removed ? STR_NONE : d->text);
    show_to_engine(n);
}
