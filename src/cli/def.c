/*
 * def.c - pawl def: the definitions on a server, of every kind.
 *
 * A code is looked for among all kinds unless --kind says which; a code that
 * two kinds have needs it.
 */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/table.h"
#include "cli/tell.h"
#include "define/kind.h"
#include "value/diff.h"
#include "value/json.h"
#include "value/object.h"

#include <stdio.h>

enum { DIFFERENCES_MAX = 500 };

struct def_call {
    struct client client;
    int argc;
    char **argv; /* from the word behind "def" on */
    const char *kind_word, *summary;
    bool as_json;
    const struct kind_spec *spec; /* of the code, once it is found */
    struct reply found;           /* what GET of it answered */
};

/* --- finding one --- */

static struct str def_path(struct def_call *d, const struct kind_spec *spec, const char *code,
                           const char *rest)
{
    struct buf path;

    buf_init_arena(&path, &d->client.mem);
    buf_printf(&path, "/%s/", spec->path);
    client_escape(&path, str_of(code));
    buf_text(&path, rest);
    return buf_view(&path);
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
    client_fail(&d->client, "bad_request",
                "there is no kind '%s': it is scenario, procedure, function, template or config"
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
        if (!client_ask(&d->client, "GET", def_path(d, spec, code, ""), STR_NONE, &reply))
            return false;
        if (reply.status == 404)
            continue;
        if (!client_succeeded(&d->client, &reply))
            return false;
        if (first != NULL) {
            client_fail(&d->client, "conflict",
                        "'%s' is a %s and a %s: say which with --kind %s or --kind %s", code,
                        first->name, spec->name, first->name, spec->name);
            return false;
        }
        first = spec;
        d->found = reply;
    }
    d->spec = first;
    if (first == NULL)
        client_fail(&d->client, "not_found",
                    "there is no %s '%s'; see what there is with: pawl def ls",
                    wanted != NULL ? wanted->name : "definition", code);
    return first != NULL;
}

static bool def_call(struct def_call *d, const char *method, const char *rest, struct str body,
                     struct reply *out)
{
    return client_call(&d->client, method, def_path(d, d->spec, d->argv[1], rest), body, out);
}

/* The number that a word is, "v3" or 3. */
static bool def_version(struct def_call *d, const char *word, int64_t *out)
{
    if (str_to_int64(str_of(word[0] == 'v' ? word + 1 : word), out) && *out > 0)
        return true;
    client_fail(&d->client, "bad_request", "'%s' is no version: it is a number from 1 on", word);
    return false;
}

/* The version that is published, and 0 when none is. */
static int64_t def_published(const struct def_call *d)
{
    struct value published = d->spec->life == KIND_LIVE
                                 ? d->found.json
                                 : value_map_get_str(d->found.json, STR("published"));

    return published.kind == VALUE_MAP ? tell_int_of(published, "version", 0) : 0;
}

/* One version as the API answers it. */
static bool def_read_version(struct def_call *d, int64_t version, struct reply *out)
{
    return def_call(d, "GET", str_printf(&d->client.mem, "/versions/%lld", (long long)version).ptr,
                    STR_NONE, out);
}

/* --- ls --- */

static struct str def_moment(struct def_call *d, struct value object, const char *name)
{
    struct buf out;

    buf_init_arena(&out, &d->client.mem);
    if (tell_time_of(object, name) > 0)
        tell_moment(&out, tell_time_of(object, name));
    return buf_view(&out);
}

static void def_add_row(struct def_call *d, struct table *t, const struct kind_spec *spec,
                        struct value item)
{
    struct value published = value_map_get_str(item, STR("published"));
    struct value draft = value_map_get_str(item, STR("draft"));
    struct value shown = spec->life == KIND_LIVE       ? item
                         : published.kind == VALUE_MAP ? published
                                                       : draft;
    struct str status = spec->life == KIND_LIVE ? STR("saved") : client_text(shown, "status");
    int64_t version = shown.kind == VALUE_MAP ? tell_int_of(shown, "version", 0) : 0;

    if (spec->life == KIND_STAGED && published.kind == VALUE_MAP && draft.kind == VALUE_MAP)
        status = str_printf(&d->client.mem, "%.*s, draft", STR_ARG(status));
    table_add(&d->client.mem, t, str_of(spec->name));
    table_add(&d->client.mem, t, client_text(item, spec->key));
    table_add(&d->client.mem, t, str_printf(&d->client.mem, "%lld", (long long)version));
    table_add(&d->client.mem, t, status);
    table_add(&d->client.mem, t,
              def_moment(d, shown, spec->life == KIND_LIVE ? "updatedAt" : "createdAt"));
}

/* With --json: {"items": [...]} of all kinds, each with its kind. */
static void def_print_item(struct def_call *d, const struct kind_spec *spec, struct value item,
                           uint64_t *shown)
{
    struct str json = client_json(&d->client.mem, item);

    printf("%s{\"kind\":\"%s\",%.*s", *shown == 0 ? "{\"items\":[" : ",", spec->name,
           STR_ARG(str_slice(json, 1, json.len)));
    ++*shown;
}

static bool def_list_kind(struct def_call *d, const struct kind_spec *spec, struct table *t,
                          uint64_t *shown)
{
    struct str path = str_printf(&d->client.mem, "/%s?limit=500", spec->path), cursor = STR_NONE;

    do {
        struct value items;
        struct reply reply;

        if (!client_page(&d->client, path, &cursor, &reply, &items))
            return false;
        for (uint32_t i = 0; i < items.len; i++) {
            if (d->as_json) {
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
        table_add(&d->client.mem, &t, str_of(head[i]));
    for (unsigned i = KIND_COUNT; i-- > 0;)
        if (kind_spec((enum kind)i)->state == KIND_NOW &&
            (d->spec == NULL || d->spec->kind == (enum kind)i) &&
            !def_list_kind(d, kind_spec((enum kind)i), &t, &shown))
            return false;
    if (d->as_json)
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

    buf_init_arena(&out, &d->client.mem);
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
    if (d->as_json) {
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
    if (d->as_json || d->spec->use != KIND_PROCESS)
        return true;
    if (!client_ask(
            &d->client, "GET",
            str_printf(&d->client.mem, "/executions/summary?by=version&code=%s", d->argv[1]),
            STR_NONE, &reply))
        return false;
    *out = value_map_get_str(reply.json, STR("items"));
    return true;
}

static struct str def_live_with(struct def_call *d, struct value live, int64_t version)
{
    struct str name = str_printf(&d->client.mem, "%lld", (long long)version);
    int64_t count = 0;

    if (live.kind != VALUE_LIST)
        return STR_NONE;
    for (uint32_t i = 0; i < live.len; i++)
        if (str_eq(client_text(live.items[i], "value"), name))
            count += tell_int_of(live.items[i], "count", 0);
    return str_printf(&d->client.mem, "%lld", (long long)count);
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
        table_add(&d->client.mem, &t, str_of(head[i]));
    do {
        struct value items;
        struct reply reply;

        if (!client_page(&d->client, path, &cursor, &reply, &items))
            return false;
        if (d->as_json) {
            client_print_items(&d->client, items, &shown);
            continue;
        }
        for (uint32_t i = 0; i < items.len; i++) {
            struct value item = items.items[i];

            table_add(
                &d->client.mem, &t,
                str_printf(&d->client.mem, "%lld", (long long)tell_int_of(item, "version", 0)));
            table_add(&d->client.mem, &t, client_text(item, "status"));
            table_add(&d->client.mem, &t, def_moment(d, item, "createdAt"));
            table_add(&d->client.mem, &t, def_live_with(d, live, tell_int_of(item, "version", 0)));
            table_add(&d->client.mem, &t, client_text(item, "changeSummary"));
        }
    } while (cursor.len > 0);
    if (d->as_json)
        client_print_end(shown, cursor);
    else
        table_print(&t);
    return true;
}

/* --- diff --- */

static void def_print_difference(struct def_call *d, const struct difference *x)
{
    struct arena *mem = &d->client.mem;

    printf("%.*s: ", STR_ARG(x->pointer.len > 0 ? x->pointer : STR("/")));
    if (x->from.kind == VALUE_ABSENT)
        printf("added %.*s\n", STR_ARG(client_json(mem, x->to)));
    else if (x->to.kind == VALUE_ABSENT)
        printf("removed %.*s\n", STR_ARG(client_json(mem, x->from)));
    else
        printf("%.*s -> %.*s\n", STR_ARG(client_json(mem, x->from)),
               STR_ARG(client_json(mem, x->to)));
}

/* [{"pointer", "from"?, "to"?}] */
static void def_print_differences_json(struct def_call *d, const struct differences *all)
{
    struct buf out;

    buf_init_arena(&out, &d->client.mem);
    buf_char(&out, '[');
    for (size_t i = 0; i < all->count; i++) {
        object_next(&out);
        buf_char(&out, '{');
        object_text(&out, "pointer", all->items[i].pointer);
        if (all->items[i].from.kind != VALUE_ABSENT)
            object_json(&out, "from", client_json(&d->client.mem, all->items[i].from));
        if (all->items[i].to.kind != VALUE_ABSENT)
            object_json(&out, "to", client_json(&d->client.mem, all->items[i].to));
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
        client_fail(&d->client, "not_found", "'%s' has no two versions to compare", d->argv[1]);
        return false;
    }
    if (!def_read_version(d, first, &from) || !def_read_version(d, last, &to))
        return false;
    value_diff(&d->client.mem, value_map_get_str(from.json, STR("definition")),
               value_map_get_str(to.json, STR("definition")), DIFFERENCES_MAX, &all);
    if (d->as_json) {
        def_print_differences_json(d, &all);
        return true;
    }
    printf("%s '%s', version %lld -> %lld\n", d->spec->name, d->argv[1], (long long)first,
           (long long)last);
    for (size_t i = 0; i < all.count; i++)
        def_print_difference(d, &all.items[i]);
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
    struct str json = client_json(&d->client.mem, definition);

    if (d->spec->life == KIND_STAGED)
        return json;
    return str_printf(&d->client.mem, "{\"kind\":\"%s\",\"%s\":\"%s\",%.*s", d->spec->name,
                      d->spec->key, d->argv[1], STR_ARG(str_slice(json, 1, json.len)));
}

/* The text of that version, published as a new one. */
static bool def_publish_again(struct def_call *d, int64_t version, struct reply *out)
{
    struct reply old;
    struct buf body;

    if (!def_read_version(d, version, &old))
        return false;
    buf_init_arena(&body, &d->client.mem);
    buf_text(&body, "{\"items\":[");
    buf_str(&body, def_item(d, value_map_get_str(old.json, STR("definition"))));
    buf_char(&body, ']');
    object_text(&body, "changeSummary",
                d->summary != NULL
                    ? str_of(d->summary)
                    : str_printf(&d->client.mem, "back to version %lld", (long long)version));
    buf_char(&body, '}');
    return client_call(&d->client, "POST", STR("/import"), buf_view(&body), out);
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
        buf_init_arena(&body, &d->client.mem);
        buf_char(&body, '{');
        if (d->summary != NULL)
            object_text(&body, "changeSummary", str_of(d->summary));
        buf_char(&body, '}');
        if (!def_call(d, "POST", "/revert", buf_view(&body), &reply))
            return false;
        item = reply.json;
    }
    if (d->as_json)
        printf("%.*s\n", STR_ARG(reply.text));
    else
        printf("%s '%s': version %lld is published\n", d->spec->name, d->argv[1],
               (long long)tell_int_of(item, "version", 0));
    return true;
}

/* --- taking it out of use --- */

static bool def_act(struct def_call *d, const char *method, const char *rest, const char *done)
{
    struct reply reply;

    if (!def_find(d, d->argv[1]))
        return false;
    if (d->spec->life == KIND_LIVE && rest[0] != '\0') {
        client_fail(&d->client, "bad_request",
                    "a %s is used as soon as it is saved, and cannot be retired; remove it with: "
                    "pawl def rm %s",
                    d->spec->name, d->argv[1]);
        return false;
    }
    if (!def_call(d, method, rest, STR_NONE, &reply))
        return false;
    if (d->as_json && reply.text.len > 0)
        printf("%.*s\n", STR_ARG(reply.text));
    else if (d->as_json)
        printf("{\"kind\":\"%s\",\"code\":\"%s\",\"deleted\":true}\n", d->spec->name, d->argv[1]);
    else
        printf("%s '%s': %s\n", d->spec->name, d->argv[1], done);
    return true;
}

static bool def_retire(struct def_call *d)
{
    return def_act(d, "POST", "/retire", "retired; it takes no new starts, and what runs goes on");
}

static bool def_unretire(struct def_call *d)
{
    return def_act(d, "POST", "/unretire", "in use again");
}

static bool def_rm(struct def_call *d)
{
    return def_act(d, "DELETE", "", "deleted");
}

static const struct {
    const char *name;
    int min, max; /* words behind it */
    bool (*run)(struct def_call *d);
} def_actions[] = {
    {"ls", 0, 1, def_ls},
    {"show", 1, 2, def_show},
    {"versions", 1, 1, def_versions},
    {"diff", 1, 3, def_diff},
    {"revert", 1, 2, def_revert},
    {"retire", 1, 1, def_retire},
    {"unretire", 1, 1, def_unretire},
    {"rm", 1, 1, def_rm},
};

int command_def(int argc, char **argv)
{
    struct def_call d = {0};
    const struct option_spec specs[] = {
        {.name = "kind", .value = &d.kind_word},
        {.name = "summary", .value = &d.summary},
        {.name = "json", .flag = &d.as_json},
        CLIENT_OPTIONS,
    };
    bool ok;

    if (!options_read("def", specs, ARRAY_SIZE(specs), &argc, argv) || argc < 2)
        return command_usage("def");
    d.argc = argc - 1;
    d.argv = argv + 1;
    for (size_t i = 0; i < ARRAY_SIZE(def_actions); i++) {
        int words = d.argc - 1;

        if (strcmp(def_actions[i].name, d.argv[0]) != 0 || words < def_actions[i].min ||
            words > def_actions[i].max)
            continue;
        client_open(&d.client, d.as_json);
        ok = def_read_kind(&d) && def_actions[i].run(&d);
        client_close(&d.client);
        return ok ? EXIT_OK : EXIT_FAILED;
    }
    return command_usage("def");
}
