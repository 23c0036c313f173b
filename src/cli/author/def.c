/*
 * def.c - pawl def: the definitions on a server, of every kind.
 *
 * A code is looked for among all kinds unless --kind says which; a code that
 * two kinds have needs it.
 */
#include "cli/command.h"
#include "cli/format.h"
#include "cli/list.h"
#include "cli/options.h"
#include "cli/table.h"
#include "define/kind.h"
#include "value/diff.h"
#include "value/json.h"
#include "value/object.h"

#include <stdio.h>

enum { DIFFERENCES_MAX = 500 };

struct def_call;

/* A word behind "def". */
struct def_action {
    const char *name;
    int min, max; /* words behind it */
    bool (*run)(struct def_call *d);
    const char *method, *rest, *done; /* of def_act() */
};

struct def_call {
    struct client *client;
    struct arena *mem; /* the client's */
    int argc;
    char **argv; /* from the word behind "def" on */
    const struct def_action *action;
    const char *kind_word, *summary;
    const struct kind_spec *spec; /* of the code, once it is found */
    struct reply found;           /* what GET of it answered */
};

/* --- finding one --- */

static struct str def_path(struct def_call *d, const struct kind_spec *spec, const char *code,
                           const char *rest)
{
    return client_path(d->client, str_printf(d->mem, "/%s/", spec->path).ptr, str_of(code), rest);
}

static bool def_read_kind(struct def_call *d)
{
    struct str nearest;

    if (d->kind_word == NULL)
        return true;
    d->spec = kind_named(str_of(d->kind_word));
    if (d->spec == NULL)
        d->spec = kind_at(str_of(d->kind_word));
    if (d->spec != NULL && d->spec->state == KIND_NOW)
        return true;
    nearest = kind_nearest(str_of(d->kind_word));
    client_fail(d->client, "bad_request",
                "there is no kind '%s': it is scenario, schema, machine, procedure, function, "
                "template or config"
                "%s%.*s%s",
                d->kind_word, nearest.len > 0 ? "; did you mean '" : "", STR_ARG(nearest),
                nearest.len > 0 ? "'?" : "");
    return false;
}

/* The definition of that code, and its kind. False after a message. */
static bool def_find(struct def_call *d, const char *code)
{
    const struct kind_spec *wanted = d->spec, *first = NULL;

    for (unsigned i = 0; i < KIND_COUNT; i++) {
        const struct kind_spec *spec = kind_spec((enum kind)i);
        struct reply reply;

        if (spec->state != KIND_NOW || (wanted != NULL && spec != wanted))
            continue;
        if (!client_ask(d->client, "GET", def_path(d, spec, code, ""), STR_NONE, &reply))
            return false;
        if (reply.status == 404)
            continue;
        if (!client_succeeded(d->client, &reply))
            return false;
        if (first != NULL) {
            client_fail(d->client, "conflict",
                        "'%s' is a %s and a %s: say which with --kind %s or --kind %s", code,
                        first->name, spec->name, first->name, spec->name);
            return false;
        }
        first = spec;
        d->found = reply;
    }
    d->spec = first;
    if (first == NULL)
        client_fail(d->client, "not_found",
                    "there is no %s '%s'; see what there is with: pawl def ls",
                    wanted != NULL ? wanted->name : "definition", code);
    return first != NULL;
}

static bool def_call(struct def_call *d, const char *method, const char *rest, struct str body,
                     struct reply *out)
{
    return client_call(d->client, method, def_path(d, d->spec, d->argv[1], rest), body, out);
}

/* The number that a word is, "v3" or 3. */
static bool def_version(struct def_call *d, const char *word, int64_t *out)
{
    if (str_to_int64(str_of(word[0] == 'v' ? word + 1 : word), out) && *out > 0)
        return true;
    client_fail(d->client, "bad_request", "'%s' is no version: it is a number from 1 on", word);
    return false;
}

/* The version that is published, and 0 when none is. */
static int64_t def_published(const struct def_call *d)
{
    struct value published = d->spec->life == KIND_LIVE
                                 ? d->found.json
                                 : value_map_get_str(d->found.json, STR("published"));

    return published.kind == VALUE_MAP ? client_int(published, "version", 0) : 0;
}

/* One version as the API answers it. */
static bool def_read_version(struct def_call *d, int64_t version, struct reply *out)
{
    return def_call(d, "GET", str_printf(d->mem, "/versions/%lld", (long long)version).ptr,
                    STR_NONE, out);
}

/* --- ls --- */

static void def_add_row(struct def_call *d, struct table *t, const struct kind_spec *spec,
                        struct value item)
{
    struct value published = value_map_get_str(item, STR("published"));
    struct value draft = value_map_get_str(item, STR("draft"));
    struct value shown = spec->life == KIND_LIVE       ? item
                         : published.kind == VALUE_MAP ? published
                                                       : draft;
    struct str status = spec->life == KIND_LIVE ? STR("saved") : client_text(shown, "status");
    int64_t version = shown.kind == VALUE_MAP ? client_int(shown, "version", 0) : 0;

    if (spec->life == KIND_STAGED && published.kind == VALUE_MAP && draft.kind == VALUE_MAP)
        status = str_printf(d->mem, "%.*s, draft", STR_ARG(status));
    table_add(d->mem, t, str_of(spec->name));
    table_add(d->mem, t, client_text(item, spec->key));
    table_add(d->mem, t, str_printf(d->mem, "%lld", (long long)version));
    table_add(d->mem, t, status);
    table_add(d->mem, t,
              list_moment(d->mem, shown, spec->life == KIND_LIVE ? "updatedAt" : "createdAt"));
}

/* With --json: {"items": [...]} of all kinds, each with its kind. */
static void def_print_item(struct def_call *d, const struct kind_spec *spec, struct value item,
                           uint64_t *shown)
{
    struct str json = client_json(d->mem, item);

    printf("%s{\"kind\":\"%s\",%.*s", *shown == 0 ? "{\"items\":[" : ",", spec->name,
           STR_ARG(str_slice(json, 1, json.len)));
    ++*shown;
}

static bool def_list_kind(struct def_call *d, const struct kind_spec *spec, struct table *t,
                          uint64_t *shown)
{
    struct str path = str_printf(d->mem, "/%s?limit=500", spec->path), cursor = STR_NONE;

    do {
        struct value items;
        struct reply reply;

        if (!client_page(d->client, path, &cursor, &reply, &items))
            return false;
        for (uint32_t i = 0; i < items.len; i++) {
            if (d->client->as_json) {
                def_print_item(d, spec, items.items[i], shown);
                continue;
            }
            def_add_row(d, t, spec, items.items[i]);
            ++*shown;
        }
    } while (cursor.len > 0);
    return true;
}

static bool def_ls(struct def_call *d)
{
    static const char *const head[] = {"KIND", "CODE", "VERSION", "STATUS", "CHANGED"};
    struct table t = {.columns = ARRAY_SIZE(head)};
    uint64_t shown = 0;

    if (d->argc > 1)
        d->kind_word = d->argv[1];
    if (!def_read_kind(d))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(head); i++)
        table_add(d->mem, &t, str_of(head[i]));
    for (unsigned i = KIND_COUNT; i-- > 0;)
        if (kind_spec((enum kind)i)->state == KIND_NOW &&
            (d->spec == NULL || d->spec->kind == (enum kind)i) &&
            !def_list_kind(d, kind_spec((enum kind)i), &t, &shown))
            return false;
    if (d->client->as_json)
        printf("%s]}\n", shown == 0 ? "{\"items\":[" : "");
    else if (shown == 0)
        printf("no definitions; publish some with: pawl apply FILE\n");
    else
        table_print(&t);
    return true;
}

/* --- show, versions --- */

static bool def_print_pretty(struct def_call *d, struct value v)
{
    struct buf out;
    struct err err;

    buf_init_arena(&out, d->mem);
    if (!json_write_pretty(&out, v, &err))
        return false;
    printf("%.*s\n", STR_ARG(buf_view(&out)));
    return true;
}

static bool def_show(struct def_call *d)
{
    struct value v, published;
    struct reply reply;
    int64_t version;

    if (!def_find(d, d->argv[1]))
        return false;
    if (d->argc > 2) {
        if (!def_version(d, d->argv[2], &version) || !def_read_version(d, version, &reply))
            return false;
        d->found = reply;
        v = value_map_get_str(reply.json, STR("definition"));
    } else if (d->spec->life == KIND_LIVE) {
        v = d->found.json;
    } else {
        published = value_map_get_str(d->found.json, STR("published"));
        v = value_map_get_str(published.kind == VALUE_MAP
                                  ? published
                                  : value_map_get_str(d->found.json, STR("draft")),
                              STR("definition"));
    }
    if (d->client->as_json) {
        printf("%.*s\n", STR_ARG(d->found.text));
        return true;
    }
    return def_print_pretty(d, v);
}

/* How many executions of it live, by version and status; nothing for what has none. */
static bool def_live(struct def_call *d, struct value *out)
{
    struct reply reply;

    *out = (struct value){0};
    if (d->client->as_json || d->spec->use != KIND_PROCESS)
        return true;
    if (!client_ask(d->client, "GET",
                    str_printf(d->mem, "/executions/summary?by=version&code=%s", d->argv[1]),
                    STR_NONE, &reply))
        return false;
    *out = value_map_get_str(reply.json, STR("items"));
    return true;
}

static struct str def_live_with(struct def_call *d, struct value live, int64_t version)
{
    struct str name = str_printf(d->mem, "%lld", (long long)version);
    int64_t count = 0;

    if (live.kind != VALUE_LIST)
        return STR_NONE;
    for (uint32_t i = 0; i < live.len; i++)
        if (str_eq(client_text(live.items[i], "value"), name))
            count += client_int(live.items[i], "count", 0);
    return str_printf(d->mem, "%lld", (long long)count);
}

static bool def_versions(struct def_call *d)
{
    static const char *const head[] = {"VERSION", "STATUS", "PUBLISHED", "LIVE", "CHANGE"};
    struct table t = {.columns = ARRAY_SIZE(head)};
    struct str cursor = STR_NONE, path;
    struct value live;
    uint64_t shown = 0;

    if (!def_find(d, d->argv[1]) || !def_live(d, &live))
        return false;
    path = def_path(d, d->spec, d->argv[1], "/versions?limit=500");
    for (size_t i = 0; i < ARRAY_SIZE(head); i++)
        table_add(d->mem, &t, str_of(head[i]));
    do {
        struct value items;
        struct reply reply;

        if (!client_page(d->client, path, &cursor, &reply, &items))
            return false;
        if (d->client->as_json) {
            client_print_items(d->client, items, &shown);
            continue;
        }
        for (uint32_t i = 0; i < items.len; i++) {
            struct value item = items.items[i];

            table_add(d->mem, &t,
                      str_printf(d->mem, "%lld", (long long)client_int(item, "version", 0)));
            table_add(d->mem, &t, client_text(item, "status"));
            table_add(d->mem, &t, list_moment(d->mem, item, "createdAt"));
            table_add(d->mem, &t, def_live_with(d, live, client_int(item, "version", 0)));
            table_add(d->mem, &t, client_text(item, "changeSummary"));
        }
    } while (cursor.len > 0);
    if (d->client->as_json)
        client_print_end(shown, cursor);
    else
        table_print(&t);
    return true;
}

/* --- diff --- */

/* [{"pointer", "from"?, "to"?}] */
static void def_print_differences_json(struct def_call *d, const struct differences *all)
{
    struct buf out;

    buf_init_arena(&out, d->mem);
    buf_char(&out, '[');
    for (size_t i = 0; i < all->count; i++) {
        object_item(&out);
        object_text(&out, "pointer", all->items[i].pointer);
        if (all->items[i].from.kind != VALUE_ABSENT)
            object_json(&out, "from", client_json(d->mem, all->items[i].from));
        if (all->items[i].to.kind != VALUE_ABSENT)
            object_json(&out, "to", client_json(d->mem, all->items[i].to));
        buf_char(&out, '}');
    }
    printf("%.*s]\n", STR_ARG(buf_view(&out)));
}

static bool def_diff(struct def_call *d)
{
    struct differences all = {0};
    struct reply from, to;
    int64_t first, last;

    if (!def_find(d, d->argv[1]))
        return false;
    last = def_published(d);
    first = last - 1;
    if ((d->argc > 2 && !def_version(d, d->argv[2], &first)) ||
        (d->argc > 3 && !def_version(d, d->argv[3], &last)))
        return false;
    if (first < 1 || last < 1) {
        client_fail(d->client, "not_found", "'%s' has no two versions to compare", d->argv[1]);
        return false;
    }
    if (!def_read_version(d, first, &from) || !def_read_version(d, last, &to))
        return false;
    value_diff(d->mem,
               kind_meaning(d->mem, d->spec, value_map_get_str(from.json, STR("definition"))),
               kind_meaning(d->mem, d->spec, value_map_get_str(to.json, STR("definition"))),
               DIFFERENCES_MAX, &all);
    if (d->client->as_json) {
        def_print_differences_json(d, &all);
        return true;
    }
    printf("%s '%s', version %lld -> %lld\n", d->spec->name, d->argv[1], (long long)first,
           (long long)last);
    for (size_t i = 0; i < all.count; i++)
        format_print_change(d->mem, all.items[i].pointer, all.items[i].from, all.items[i].to);
    if (all.count == 0)
        printf("no difference\n");
    if (all.count == DIFFERENCES_MAX)
        printf("and perhaps more\n");
    return true;
}

/* --- revert --- */

/* The text of an old version, as an item of a bundle. */
static struct str def_item(struct def_call *d, struct value definition)
{
    struct str json = client_json(d->mem, definition);

    if (d->spec->life == KIND_STAGED)
        return json;
    return str_printf(d->mem, "{\"kind\":\"%s\",\"%s\":\"%s\",%.*s", d->spec->name, d->spec->key,
                      d->argv[1], STR_ARG(str_slice(json, 1, json.len)));
}

/* The text of that version, published as a new one. */
static bool def_publish_again(struct def_call *d, int64_t version, struct reply *out)
{
    struct reply old;
    struct buf body;

    if (!def_read_version(d, version, &old))
        return false;
    buf_init_arena(&body, d->mem);
    buf_text(&body, "{\"items\":[");
    buf_str(&body, def_item(d, value_map_get_str(old.json, STR("definition"))));
    buf_char(&body, ']');
    object_text(&body, "changeSummary",
                d->summary != NULL
                    ? str_of(d->summary)
                    : str_printf(d->mem, "back to version %lld", (long long)version));
    return client_call(d->client, "POST", STR("/import"), object_end(&body), out);
}

static bool def_revert(struct def_call *d)
{
    struct value item, items;
    struct reply reply;
    int64_t version;
    struct buf body;

    if (!def_find(d, d->argv[1]))
        return false;
    if (d->argc > 2 || d->spec->life == KIND_LIVE) {
        version = def_published(d) - 1;
        if ((d->argc > 2 && !def_version(d, d->argv[2], &version)) ||
            !def_publish_again(d, version, &reply))
            return false;
        items = value_map_get_str(reply.json, STR("items"));
        item = items.kind == VALUE_LIST && items.len > 0 ? items.items[0] : reply.json;
    } else {
        object_begin(&body, d->mem);
        client_add_text(&body, "changeSummary", d->summary);
        if (!def_call(d, "POST", "/revert", object_end(&body), &reply))
            return false;
        item = reply.json;
    }
    client_answer(d->client, &reply, "%s '%s': version %lld is published", d->spec->name,
                  d->argv[1], (long long)client_int(item, "version", 0));
    return true;
}

/* --- taking it out of use --- */

static bool def_act(struct def_call *d)
{
    const char *rest = d->action->rest;
    struct reply reply;

    if (!def_find(d, d->argv[1]))
        return false;
    if (d->spec->life == KIND_LIVE && rest[0] != '\0') {
        client_fail(d->client, "bad_request",
                    "a %s is used as soon as it is saved, and cannot be retired; remove it with: "
                    "pawl def rm %s",
                    d->spec->name, d->argv[1]);
        return false;
    }
    if (!def_call(d, d->action->method, rest, STR_NONE, &reply))
        return false;
    if (reply.text.len == 0)
        reply.text = str_printf(d->mem, "{\"kind\":\"%s\",\"code\":\"%s\",\"deleted\":true}",
                                d->spec->name, d->argv[1]);
    client_answer(d->client, &reply, "%s '%s': %s", d->spec->name, d->argv[1], d->action->done);
    return true;
}

static const struct def_action def_actions[] = {
    {"ls", 0, 1, .run = def_ls},
    {"show", 1, 2, .run = def_show},
    {"versions", 1, 1, .run = def_versions},
    {"diff", 1, 3, .run = def_diff},
    {"revert", 1, 2, .run = def_revert},
    {"retire", 1, 1, def_act, "POST", "/retire",
     "retired; it takes no new starts, and what runs goes on"},
    {"unretire", 1, 1, def_act, "POST", "/unretire", "in use again"},
    {"rm", 1, 1, def_act, "DELETE", "", "deleted"},
};

int command_def(struct client *c, const struct options *o)
{
    struct def_call d = {.client = c,
                         .mem = &c->mem,
                         .argc = o->argc - 1,
                         .argv = o->argv + 1,
                         .kind_word = options_get(o, "kind"),
                         .summary = options_get(o, "summary")};

    for (size_t i = 0; d.argc > 0 && i < ARRAY_SIZE(def_actions); i++) {
        d.action = &def_actions[i];
        if (strcmp(d.action->name, d.argv[0]) == 0 && d.argc > d.action->min &&
            d.argc <= d.action->max + 1)
            return def_read_kind(&d) && d.action->run(&d) ? EXIT_OK : EXIT_FAILED;
    }
    return options_usage(o);
}
