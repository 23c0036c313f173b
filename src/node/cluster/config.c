/* config.c - see config.h. */
#include "node/cluster/config.h"

#include "base/log.h"
#include "node/cache/load.h"
#include "node/cache/program.h"
#include "node/chore/chore.h"
#include "node/cluster/cluster.h"
#include "node/inner.h"
#include "node/node.h"
#include "node/outside/credentials.h"
#include "node/outside/relay.h"
#include "node/outside/triggers.h"
#include "node/work.h"
#include "node/work_request.h"
#include "store/change_definition.h"
#include "value/json.h"

#define LOOK_EVERY_US INT64_C(1000000)

void config_init(struct config *c)
{
    arena_init(&c->mem);
    c->map = value_map_empty();
    c->stamp = -1;
}

void config_fini(struct config *c)
{
    arena_fini(&c->mem);
}

/* Replace the map by one that lives in `mem`, which becomes the node's. */
static void config_install(struct node *n, struct arena *mem, struct value_entry *entries,
                           size_t count)
{
    size_t duplicate;

    n->config->map = value_map_make(mem, entries, count, &duplicate);
    arena_fini(&n->config->mem);
    n->config->mem = *mem;
    n->config->is_known = true;
}

/* --- changes of this node --- */

/* `text` is the value; empty: it is removed. */
static void set_config(struct node *n, struct str name, struct str text)
{
    struct value_entry *entries;
    struct arena mem;
    struct value v;
    struct err err;
    size_t count = 0;

    arena_init(&mem);
    entries = ARENA_ARRAY(&mem, (size_t)n->config->map.len + 1, struct value_entry);
    for (uint32_t i = 0; i < n->config->map.len; i++) {
        const struct value_entry *e = &n->config->map.map->entries[i];
        if (str_eq(value_text(e->key), name))
            continue;
        entries[count++] =
            (struct value_entry){.key = value_key(str_copy(&mem, value_text(e->key))),
                                 .value = value_copy(&mem, e->value)};
    }
    if (text.len > 0 && json_read(&mem, text, &v, &err))
        entries[count++] = (struct value_entry){.key = value_key(str_copy(&mem, name)), .value = v};
    config_install(n, &mem, entries, count);
}

static void definition_changed(struct node *n, const struct definition_change *d)
{
    bool is_removed = d->action == DEFINITION_REMOVE || d->action == DEFINITION_RETIRE ||
                      d->action == DEFINITION_ERASE;

    switch (d->action) {
    case DEFINITION_SAVE_DRAFT:
    case DEFINITION_DELETE_DRAFT:
    case DEFINITION_KEEP:
        return;
    case DEFINITION_PUBLISH:
    case DEFINITION_REVERT:
    case DEFINITION_PUT:
    case DEFINITION_REMOVE:
    case DEFINITION_RETIRE:
    case DEFINITION_UNRETIRE:
    case DEFINITION_ERASE:
        break;
    }
    if (str_eq(d->kind, STR("credential")))
        credentials_changed(n, d, is_removed);
    /* What is not read yet will be, this change included. */
    if (!n->config->is_known &&
        (str_eq(d->kind, STR("config")) || str_eq(d->kind, STR("subscription"))))
        return;
    if (str_eq(d->kind, STR("config")))
        set_config(n, d->code, is_removed ? STR_NONE : d->text);
    else if (str_eq(d->kind, STR("subscription")))
        route_changed(n, d->code, is_removed ? STR_NONE : d->text);
    else if (str_eq(d->kind, STR("function")) || str_eq(d->kind, STR("procedure")))
        programs_changed(n, d->kind, d->code);
    else if (d->is_process)
        published_get(n, d->code)->version = is_removed ? 0 : d->version;
}

void config_changed(struct node *n, const struct definition_change *first)
{
    n->config->changes++;
    cluster_note_definitions(n);
    for (const struct definition_change *d = first; d != NULL; d = d->next)
        definition_changed(n, d);
    node_schedules_changed(n);
}

/* --- reading --- */

/* What definitions say, when something has changed. */
struct config_load {
    struct load load; /* first: see load.h */
    int64_t stamp;    /* known before, and what it is */
    int64_t changes;  /* of this node, when it was sent */
    bool is_locked;   /* the vault lacks the key: read again, it may have come */
    bool is_new;      /* there were changes: `entries` is the config */
    struct value_entry *entries;
    size_t count;
    struct stored_definitions subscriptions, credentials;
    struct stored_triggers triggers;
    int64_t key_version;   /* of the row that names the master key */
    struct pins reachable; /* procedures and functions as they are now */
};

/* Which versions a program that begins now would reach. */
static bool read_versions_of_now(struct reader *reader, struct arena *mem, struct pins *out,
                                 struct err *err)
{
    struct stored_definitions all;

    if (!read_reachable(reader, mem, &all, err))
        return false;
    for (size_t i = 0; i < all.count; i++) {
        const struct stored_definition *d = &all.items[i];
        bool is_function = str_eq(d->kind, STR("function"));

        struct pin_list *list = is_function ? &out->functions : &out->procedures;

        *VEC_ADD(mem, list) = (struct pinned){.name = d->code, .version = d->version};
    }
    return true;
}

static void config_read_run(struct load *load, struct reader *reader)
{
    struct config_load *l = (struct config_load *)load;
    struct stored_definitions all = {0};
    struct stored_definition key;
    int64_t before = l->stamp;
    bool has_key;

    load->ok = read_definition_stamp(reader, &l->stamp, &load->err);
    if (!load->ok || (l->stamp == before && !l->is_locked))
        return;
    l->is_new = true;
    if (before >= 0 && !read_versions_of_now(reader, &load->mem, &l->reachable, &load->err)) {
        load->ok = false;
        return;
    }
    load->ok =
        read_published(reader, &load->mem, STR("config"), &all, &load->err) &&
        read_published(reader, &load->mem, STR("subscription"), &l->subscriptions, &load->err) &&
        read_published(reader, &load->mem, STR("credential"), &l->credentials, &load->err) &&
        read_triggers(reader, &load->mem, TRIGGER_EVENT, &l->triggers, &load->err) &&
        read_definition(reader, &load->mem, STR("master_key"), STR("credentials"), -1, &key,
                        &has_key, &load->err);
    if (!load->ok)
        return;
    l->key_version = has_key ? key.version : 0;
    l->entries = ARENA_ARRAY(&load->mem, all.count + 1, struct value_entry);
    for (size_t i = 0; load->ok && i < all.count; i++) {
        struct value_entry *e = &l->entries[l->count++];

        e->key = value_key(all.items[i].code);
        load->ok = json_read(&load->mem, all.items[i].text, &e->value, &load->err);
    }
}

/* What was asked for before the config was known. */
static void begin_starts(struct node *n)
{
    struct work *w;

    while (n->config->is_known && (w = work_pop(&n->config->early_starts)) != NULL)
        request_begin_start(n, w);
}

static void config_was_read(struct load *load)
{
    struct config_load *l = (struct config_load *)load;
    struct node *n = load->node;
    struct chore *c = &n->config->chore;

    chore_rest(c, LOOK_EVERY_US);
    if (!load->ok) {
        log_write(LOG_ERROR, "the config cannot be read",
                  LOG_FIELDS(log_str("reason", str_of(load->err.message))));
    } else if (l->changes != n->config->changes) {
        chore_hurry(c, 0); /* it may be older than what this node has made since */
    } else if (l->is_new) {
        if (n->config->stamp >= 0) {
            programs_compare(n, &l->reachable);
            published_forget(n);
        }
        n->config->stamp = l->stamp;
        node_schedules_changed(n);
        credentials_replace(n, &l->credentials, &l->subscriptions);
        route_install(n, &l->subscriptions);
        triggers_install(n, &l->triggers);
        subscriptions_seal_old(n, &l->subscriptions, l->key_version);
        config_install(n, &load->mem, l->entries, l->count);
        arena_init(&load->mem);
    }
    /* It was sent before someone needed a newer one. */
    if (load->ok && n->config->stamp < n->config->needed_stamp) {
        n->config->is_known = false;
        chore_hurry(c, 0);
    }
    load_free(load);
    begin_starts(n);
}

void config_expect(struct node *n, int64_t stamp)
{
    if (!node_is_shared(n) || stamp <= n->config->stamp)
        return;
    n->config->needed_stamp = stamp;
    n->config->is_known = false;
    chore_hurry(&n->config->chore, 0);
}

/* --- the chore --- */

/* What is known changes by itself only where other nodes may change it. */
static int64_t config_in_us(const struct chore *c)
{
    const struct node *n = c->node;

    if (n->config->is_known && (n->is_draining || !node_is_shared(n)))
        return INT64_MAX;
    return chore_left_us(c);
}

static void config_run(struct chore *c)
{
    struct node *n = c->node;
    struct config_load *l = LOAD_NEW(n, struct config_load, config_read_run, config_was_read);

    c->is_busy = true;
    l->stamp = n->config->stamp;
    l->is_locked = credentials_are_locked(n);
    l->changes = n->config->changes;
    load_send(&l->load);
}

const struct chore_kind chore_config = {
    .needs = CHORE_MOVES_NOTHING,
    .run = config_run,
    .in_us = config_in_us,
};
