/*
 * config.c - $.config, credentials, and what else a node remembers of definitions that
 * anyone may change; see inner.h.
 *
 * The config is in memory as one map. It is read before anything is advanced,
 * and changed when a change of this node is durable, before that is answered.
 * Where other nodes write to the same database, a number is read every second
 * that grows with every change; when it has grown, the config is read anew,
 * published versions are asked for again, and programs that reach a procedure or a
 * function of another version are compiled anew. A program that was read
 * comes with that number, too: it may rest on config that is not known here, so
 * nothing is advanced until that was read.
 */
#include "node/inner.h"

#include "base/log.h"
#include "value/json.h"

#define LOOK_EVERY_US INT64_C(1000000)

/* Replace the map by one that lives in `mem`, which becomes the node's. */
static void install(struct node *n, struct arena *mem, struct value_entry *entries, size_t count)
{
    size_t duplicate;

    n->config = value_map_make(mem, entries, count, &duplicate);
    arena_fini(&n->config_mem);
    n->config_mem = *mem;
    n->has_config = true;
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
    entries = ARENA_ARRAY(&mem, (size_t)n->config.len + 1, struct value_entry);
    for (uint32_t i = 0; i < n->config.len; i++) {
        const struct value_entry *e = &n->config.map->entries[i];
        if (str_eq(value_text(e->key), name))
            continue;
        entries[count++] =
            (struct value_entry){.key = value_key(str_copy(&mem, value_text(e->key))),
                                 .value = value_copy(&mem, e->value)};
    }
    if (text.len > 0 && json_read(&mem, text, &v, &err))
        entries[count++] = (struct value_entry){.key = value_key(str_copy(&mem, name)), .value = v};
    install(n, &mem, entries, count);
}

static void changed(struct node *n, const struct definition_change *d)
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
    if (!n->has_config && (str_eq(d->kind, STR("config")) || str_eq(d->kind, STR("subscription"))))
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
    n->config_changes++;
    for (const struct definition_change *d = first; d != NULL; d = d->next)
        changed(n, d);
    node_schedules_nudge(n);
}

/* --- reading --- */

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

static void run_look(struct node_read *read, struct reader *reader)
{
    struct load *l = read->owner;
    struct stored_definitions all = {0};
    struct stored_definition key;
    int64_t before = l->look.stamp;
    bool has_key;

    l->ok = read_definition_stamp(reader, &l->look.stamp, &l->err);
    if (!l->ok || l->look.stamp == before)
        return;
    l->look.is_new = true;
    if (before >= 0 && !read_versions_of_now(reader, &l->mem, &l->look.reachable, &l->err)) {
        l->ok = false;
        return;
    }
    l->ok = read_published(reader, &l->mem, STR("config"), &all, &l->err) &&
            read_published(reader, &l->mem, STR("subscription"), &l->look.subscriptions, &l->err) &&
            read_published(reader, &l->mem, STR("credential"), &l->look.credentials, &l->err) &&
            read_triggers(reader, &l->mem, TRIGGER_EVENT, &l->look.triggers, &l->err) &&
            read_definition(reader, &l->mem, STR("master_key"), STR("credentials"), -1, &key,
                            &has_key, &l->err);
    if (!l->ok)
        return;
    l->look.key_version = has_key ? key.version : 0;
    l->look.entries = ARENA_ARRAY(&l->mem, all.count + 1, struct value_entry);
    for (size_t i = 0; l->ok && i < all.count; i++) {
        struct value_entry *e = &l->look.entries[l->look.count++];

        e->key = value_key(all.items[i].code);
        l->ok = json_read(&l->mem, all.items[i].text, &e->value, &l->err);
    }
}

/* What was asked for before the config was known. */
static void begin_starts(struct node *n)
{
    struct work *w;

    while (n->has_config && (w = work_pop(&n->early_starts)) != NULL)
        request_begin_start(n, w);
}

static void done_look(struct node_read *read)
{
    struct load *l = read->owner;
    struct node *n = l->node;
    int64_t now_us = clock_mono_us(n->clock);

    n->is_looking = false;
    n->next_look_us = now_us + LOOK_EVERY_US;
    if (!l->ok) {
        log_write(LOG_ERROR, "the config cannot be read",
                  LOG_FIELDS(log_str("reason", str_of(l->err.message))));
    } else if (l->look.changes != n->config_changes) {
        n->next_look_us = now_us; /* it may be older than what this node has made since */
    } else if (l->look.is_new) {
        if (n->stamp >= 0) {
            programs_compare(n, &l->look.reachable);
            published_forget(n);
        }
        n->stamp = l->look.stamp;
        node_schedules_nudge(n);
        credentials_replace(n, &l->look.credentials, &l->look.subscriptions);
        route_install(n, &l->look.subscriptions);
        triggers_install(n, &l->look.triggers);
        subscriptions_seal_old(n, &l->look.subscriptions, l->look.key_version);
        install(n, &l->mem, l->look.entries, l->look.count);
        arena_init(&l->mem);
    }
    /* It was sent before someone needed a newer one. */
    if (l->ok && n->stamp < n->needed_stamp) {
        n->has_config = false;
        n->next_look_us = now_us;
    }
    load_free(l);
    begin_starts(n);
}

/* Whether other nodes may change what this one remembers. */
static bool is_shared(const struct node *n)
{
    return n->options.store == NULL && n->options.store_url.len > 0 &&
           !str_eq(n->options.store_url, STR("sqlite"));
}

void config_expect(struct node *n, int64_t stamp)
{
    if (!is_shared(n) || stamp <= n->stamp)
        return;
    n->needed_stamp = stamp;
    n->has_config = false;
    n->next_look_us = clock_mono_us(n->clock);
}

int64_t config_look_in_us(const struct node *n)
{
    int64_t left_us = n->next_look_us - clock_mono_us(n->clock);

    if (n->is_looking || (n->has_config && (n->is_draining || !is_shared(n))))
        return INT64_MAX;
    return left_us > 0 ? left_us : 0;
}

void config_look(struct node *n)
{
    struct load *l;

    if (config_look_in_us(n) > 0)
        return;
    n->is_looking = true;
    l = load_new(n, run_look, done_look);
    l->look.stamp = n->stamp;
    l->look.changes = n->config_changes;
    load_send(l);
}
