/* credentials.c - see credentials.h. */
#include "node/outside/credentials.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "effect/secret/vault.h"
#include "node/inner.h"
#include "node/notify.h"
#include "node/request.h"
#include "store/change.h"
#include "store/change_definition.h"
#include "store/installation.h"
#include "store/org.h"
#include "value/json.h"

/* The use of a credential is in the audit log once in this time. */
#define USE_EVERY_US (INT64_C(3600) * 1000000)

/* What the start found. */
struct first_read {
    struct arena *mem;
    bool is_shared;
    struct stored_definitions all, subscriptions;
    struct str named; /* the id of the installation's key; empty: none was claimed */
    bool ok;
    struct err err;
};

/* The key by its row, which is written with whatever is sealed; before that, as it was claimed. */
static bool read_named_key(struct reader *reader, struct arena *mem, struct str *out,
                           struct err *err)
{
    struct stored_definition row;
    struct value text;
    struct err ignored;
    bool has_row;

    *out = STR_NONE;
    if (!read_definition(reader, mem, STR("master_key"), STR("credentials"), -1, &row, &has_row,
                         err))
        return false;
    if (has_row && json_read(mem, row.text, &text, &ignored))
        *out = value_map_text(text, STR("id"));
    return out->len > 0 || read_installation(reader, mem, INSTALLATION_MASTER_KEY, out, err);
}

/* The key of the first node is that of the installation, also before anything is sealed with it. */
static bool claim_key(struct node *n, struct arena *mem, struct err *err)
{
    struct str id = vault_key_id(n->options.vault, mem), claimed;

    if (!node_is_shared(n))
        return true;
    if (!installation_claim(n->options.store_url, mem, INSTALLATION_MASTER_KEY, id,
                            CLAIM_UNLESS_CLAIMED, &claimed, err))
        return false;
    return str_eq(id, claimed) ||
           err_set(err, ERR_CONFLICT,
                   "another node has started first, and the master key of this installation is "
                   "%.*s: put that file in the place of the one that was made here just now",
                   STR_ARG(claimed));
}

static void read_first(void *context, struct reader *reader)
{
    struct first_read *f = context;

    f->ok = read_published(reader, f->mem, STR("credential"), &f->all, &f->err) &&
            read_published(reader, f->mem, STR("subscription"), &f->subscriptions, &f->err) &&
            (!f->is_shared || read_named_key(reader, f->mem, &f->named, &f->err));
}

static void show_to_engine(struct node *n)
{
    struct arena mem;

    arena_init(&mem);
    n->credentials->urls = vault_bases(n->options.vault, &mem);
    arena_fini(&n->credentials->mem);
    n->credentials->mem = mem;
}

/* What the vault takes of definitions, in `mem`. */
static struct sealed_definitions sealed_of(struct arena *mem, const struct stored_definitions *all)
{
    struct sealed_definitions out = {0};

    for (size_t i = 0; i < all->count; i++)
        *VEC_ADD(mem, &out) = (struct sealed_definition){.code = all->items[i].code,
                                                         .version = all->items[i].version,
                                                         .text = all->items[i].text};
    return out;
}

bool credentials_open(struct node *n, struct err *err)
{
    struct first_read first = {0};
    struct sealed_definitions all, subscriptions;
    struct arena mem;
    bool ok;

    if (n->options.vault == NULL || n->options.store != NULL)
        return true;
    arena_init(&mem);
    first.mem = &mem;
    first.is_shared = node_is_shared(n);
    ok = store_read_now(n->store, read_first, &first, err);
    if (ok && !first.ok) {
        *err = first.err;
        ok = false;
    }
    all = sealed_of(&mem, &first.all);
    subscriptions = sealed_of(&mem, &first.subscriptions);
    ok = ok && vault_start(n->options.vault, &all, &subscriptions, first.named, err) &&
         (first.named.len > 0 || claim_key(n, &mem, err));
    arena_fini(&mem);
    if (ok)
        show_to_engine(n);
    return ok;
}

void credentials_replace(struct node *n, const struct stored_definitions *all,
                         const struct stored_definitions *subscriptions)
{
    struct sealed_definitions credentials, others;
    struct arena mem;

    if (n->options.vault == NULL)
        return;
    arena_init(&mem);
    credentials = sealed_of(&mem, all);
    others = sealed_of(&mem, subscriptions);
    vault_replace(n->options.vault, &credentials, &others);
    arena_fini(&mem);
    show_to_engine(n);
}

bool credentials_are_locked(const struct node *n)
{
    return n->options.vault != NULL && vault_is_locked(n->options.vault);
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
    uint64_t count = ++n->credentials->nonce_count;

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
    struct credential_use *use = ALLOC_NEW(struct credential_use);
    struct err err;

    arena_init(&use->mem);
    use->change = (struct change){.apply = change_nothing, .now_us = clock_wall_us(n->clock)};
    use->request = node_change_request(&use->change, &use->mem, use_written, use);
    use->request.audit = (struct audit){
        .user_id = STR("system"),
        .user_name = STR("system"),
        .org_id = ORG_DEFAULT,
        .action = STR("credential.use"),
        .target = str_copy(&use->mem, code),
        .details_json = str_printf(&use->mem, "{\"executionId\":\"%s\"}", UUID_STR(execution).ptr),
        .now_us = use->change.now_us,
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
    e = map_find(&n->credentials->uses, code);
    if (e == NULL)
        e = map_add(&n->credentials->uses, str_copy(&n->mem, code), &is_new);
    else if ((int64_t)e->number + USE_EVERY_US > now_us)
        return;
    e->number = (uint64_t)now_us;
    write_use(n, code, execution);
}
