/*
 * seal_old.c - subscriptions that an earlier version stored with their secret
 * unsealed are sealed when a node starts with them; see credentials.h.
 *
 * All of them change together with the row that names the master key, or none
 * does: another node may seal them at the same time, or rotate the key. What
 * was refused is looked at again when definitions are read the next time.
 */
#include "base/alloc.h"
#include "base/log.h"
#include "effect/secret/subscription_secret.h"
#include "node/inner.h"
#include "node/outside/credentials.h"
#include "node/request.h"
#include "store/change_definition.h"

struct seal_old {
    struct node_request request;
    struct arena mem;
    struct definition_change *changes;
    size_t count;
};

static void seal_old_done(struct node_request *r)
{
    struct seal_old *s = r->owner;

    if (r->ok)
        log_write(LOG_INFO, "secrets of subscriptions that were stored unsealed are sealed now",
                  LOG_FIELDS(log_int("count", (int64_t)s->count)));
    else
        log_write(LOG_WARN, "secrets of subscriptions could not be sealed",
                  LOG_FIELDS(log_str("reason", str_of(r->err.message))));
    arena_fini(&s->mem);
    free(s);
}

static struct definition_change seal_change(struct node *n, const char *kind, struct str code,
                                            struct str text, struct str user_id, int64_t version)
{
    return (struct definition_change){.action = DEFINITION_PUT,
                                      .kind = str_of(kind),
                                      .code = code,
                                      .text = text,
                                      .user_id = user_id,
                                      .if_match = MATCH_WHATEVER,
                                      .has_rests_on = true,
                                      .rests_on = version,
                                      .forgets = true,
                                      .now_us = clock_wall_us(n->clock)};
}

static void seal_one(struct node *n, struct seal_old *s, const struct stored_definition *d)
{
    struct subscription_parts parts;
    struct err err;
    struct str text;

    if (!subscription_open(n->options.vault, &s->mem, d->code, d->text, &parts, &err) ||
        !parts.is_plain)
        return;
    text = subscription_seal(n->options.vault, &s->mem, d->code, &parts);
    s->changes[++s->count] = seal_change(n, "subscription", str_copy(&s->mem, d->code), text,
                                         str_copy(&s->mem, d->created_by), d->version);
}

void subscriptions_seal_old(struct node *n, const struct stored_definitions *all,
                            int64_t key_version)
{
    struct seal_old *s;
    struct str key_id;
    struct err err;

    if (n->options.vault == NULL || n->is_draining)
        return;
    s = alloc_zeroed(sizeof(*s));
    arena_init(&s->mem);
    s->changes = ARENA_ARRAY(&s->mem, all->count + 1, struct definition_change);
    for (size_t i = 0; i < all->count; i++)
        seal_one(n, s, &all->items[i]);
    key_id = vault_key_id(n->options.vault, &s->mem);
    s->changes[0] = seal_change(n, "master_key", STR("credentials"),
                                str_printf(&s->mem, "{\"id\":\"%.*s\"}", STR_ARG(key_id)),
                                STR("system"), key_version);
    for (size_t i = 0; i < s->count; i++)
        s->changes[i].next = &s->changes[i + 1];
    s->request = (struct node_request){.kind = NODE_DEFINITION,
                                       .definitions = s->changes,
                                       .mem = &s->mem,
                                       .done = seal_old_done,
                                       .owner = s};
    if (s->count > 0 && node_submit(n, &s->request, &err))
        return;
    arena_fini(&s->mem);
    free(s);
}
