/*
 * apply.c - pawl apply: publish definitions.
 *
 * All files go to the server as one bundle, which it takes as a whole or not
 * at all.
 */
#include "cli/bundle.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/finding.h"
#include "cli/options.h"
#include "define/kind.h"
#include "value/json.h"
#include "value/object.h"
#include "value/path.h"

#include <stdio.h>

struct options {
    bool as_draft, is_dry, as_json;
    const char *summary;
};

static struct str request_body(struct arena *mem, const struct bundle *all,
                               const struct options *options)
{
    struct buf body;

    buf_init_arena(&body, mem);
    buf_text(&body, "{\"items\":[");
    for (size_t i = 0; i < all->count; i++) {
        object_next(&body);
        buf_str(&body, all->items[i].text);
    }
    buf_char(&body, ']');
    object_bool(&body, "draft", options->as_draft);
    object_bool(&body, "dryRun", options->is_dry);
    if (options->summary != NULL)
        object_text(&body, "changeSummary", str_of(options->summary));
    buf_char(&body, '}');
    return buf_view(&body);
}

/* --- what was refused --- */

/* The item that a pointer of the server leads to, and the rest of it; NULL when it leads to none. */
static const struct bundle_item *item_at(const struct bundle *all, struct str pointer,
                                         struct str *rest)
{
    struct str start = STR("/items/");
    int64_t slash, index;

    if (!str_starts_with(pointer, start))
        return NULL;
    pointer = str_slice(pointer, start.len, pointer.len);
    slash = str_find(pointer, STR("/"), 0);
    if (!str_to_int64(slash < 0 ? pointer : str_slice(pointer, 0, (size_t)slash), &index) ||
        index < 0 || (size_t)index >= all->count)
        return NULL;
    *rest = slash < 0 ? STR("") : str_slice(pointer, (size_t)slash, pointer.len);
    return &all->items[index];
}

/* Findings of the server as findings of the files. */
static void tell_findings(struct client *c, const struct bundle *all, const struct reply *reply)
{
    struct value errors = reply->json.kind == VALUE_MAP
                              ? value_map_get_str(reply->json, STR("errors"))
                              : value_absent();
    bool told = false;

    for (uint32_t i = 0; errors.kind == VALUE_LIST && i < errors.len; i++) {
        struct str rest;
        const struct bundle_item *item =
            item_at(all, client_text(errors.items[i], "pointer"), &rest);

        if (item == NULL)
            continue;
        finding_print(&c->mem, item,
                      str_printf(&c->mem, "%.*s%.*s", STR_ARG(item->place), STR_ARG(rest)),
                      errors.items[i]);
        told = true;
    }
    if (told)
        client_print_refusal(c, reply);
    else
        client_tell_refusal(c, reply);
}

/* --- what was done --- */

static int64_t number(struct value item, const char *name)
{
    struct value v = value_map_get_str(item, str_of(name));

    return v.kind == VALUE_INT ? v.i : 0;
}

static void print_changes(struct arena *mem, struct value changes)
{
    for (uint32_t i = 0; changes.kind == VALUE_LIST && i < changes.len; i++) {
        struct value change = changes.items[i];
        struct value from = value_map_get_str(change, STR("from"));
        struct value to = value_map_get_str(change, STR("to"));
        struct str pointer = client_text(change, "pointer");

        printf("    %.*s: ", STR_ARG(pointer.len > 0 ? pointer : STR("/")));
        if (from.kind == VALUE_ABSENT)
            printf("added %.*s\n", STR_ARG(client_json(mem, to)));
        else if (to.kind == VALUE_ABSENT)
            printf("removed %.*s\n", STR_ARG(client_json(mem, from)));
        else
            printf("%.*s -> %.*s\n", STR_ARG(client_json(mem, from)),
                   STR_ARG(client_json(mem, to)));
    }
}

static void print_plan(struct arena *mem, struct value item)
{
    struct str action = client_text(item, "action");
    const char *what = str_eq(action, STR("create"))   ? "would be created"
                       : str_eq(action, STR("update")) ? "would change"
                                                       : "unchanged";

    printf("%.*s %.*s: %s\n", STR_ARG(client_text(item, "kind")),
           STR_ARG(client_text(item, "code")), what);
    print_changes(mem, value_map_get_str(item, STR("changes")));
}

static void print_done(struct value item, bool as_draft)
{
    const struct kind_spec *spec = kind_named(client_text(item, "kind"));
    bool is_live = spec != NULL && spec->life == KIND_LIVE;
    bool stays = str_eq(client_text(item, "action"), STR("unchanged"));

    if (is_live)
        printf("%s ", spec->name);
    printf("%.*s: %s %lld\n", STR_ARG(client_text(item, "code")),
           as_draft  ? (stays ? "unchanged, draft" : "draft")
           : stays   ? "unchanged, version"
           : is_live ? "saved, version"
                     : "published version",
           (long long)number(item, "version"));
}

static void tell_done(struct arena *mem, const struct bundle *all, const struct reply *reply,
                      const struct options *options)
{
    struct value items = value_map_get_str(reply->json, STR("items"));
    unsigned changes = 0;

    for (uint32_t i = 0; items.kind == VALUE_LIST && i < items.len && i < all->count; i++) {
        struct value item = items.items[i], errors = value_map_get_str(item, STR("errors"));

        for (uint32_t k = 0; errors.kind == VALUE_LIST && k < errors.len; k++)
            finding_print(mem, &all->items[i],
                          str_printf(mem, "%.*s%.*s", STR_ARG(all->items[i].place),
                                     STR_ARG(client_text(errors.items[k], "pointer"))),
                          errors.items[k]);
        changes += !str_eq(client_text(item, "action"), STR("unchanged"));
        if (options->as_json)
            continue;
        if (options->is_dry)
            print_plan(mem, item);
        else
            print_done(item, options->as_draft);
    }
    if (options->as_json)
        printf("%.*s\n", STR_ARG(reply->text));
    else if (options->is_dry && changes == 0)
        printf("nothing to do\n");
}

static bool apply(struct client *c, const struct bundle *all, const struct options *options)
{
    struct reply reply;

    if (!client_ask(c, "POST", STR("/import"), request_body(&c->mem, all, options), &reply))
        return false;
    if (reply.status == 422) {
        tell_findings(c, all, &reply);
        return false;
    }
    if (!client_succeeded(c, &reply))
        return false;
    tell_done(&c->mem, all, &reply, options);
    return true;
}

int command_apply(int argc, char **argv)
{
    struct options options = {0};
    const struct option_spec specs[] = {
        {.name = "draft", .flag = &options.as_draft},
        {.name = "dry-run", .flag = &options.is_dry},
        {.name = "summary", .value = &options.summary},
        {.name = "json", .flag = &options.as_json},
        CLIENT_OPTIONS,
    };
    struct bundle_paths paths = {0};
    struct bundle all = {.wants = BUNDLE_DEFINITIONS};
    struct client c;
    bool ok;

    if (!options_read("apply", specs, ARRAY_SIZE(specs), &argc, argv) || argc < 2)
        return command_usage("apply");
    client_open(&c, options.as_json);
    ok = bundle_find(&c.mem, "apply", argc - 1, argv + 1, &paths);
    for (size_t i = 0; i < paths.count; i++)
        ok = bundle_read(&c.mem, paths.items[i], &all) && ok;
    ok = ok && bundle_tell_tests("apply", &all) && apply(&c, &all, &options);
    client_close(&c);
    return ok ? EXIT_OK : EXIT_FAILED;
}
