/*
 * apply.c - pawl apply: publish definitions.
 *
 * All files go to the server as one bundle, which it takes as a whole or not
 * at all.
 */
#include "cli/author/bundle.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/finding.h"
#include "cli/format.h"
#include "cli/options.h"
#include "define/kind.h"
#include "value/object.h"

#include <stdio.h>

static struct str request_body(struct arena *mem, const struct bundle *all, const struct options *o)
{
    struct buf body;

    buf_init_arena(&body, mem);
    buf_text(&body, "{\"items\":[");
    for (size_t i = 0; i < all->count; i++) {
        object_next(&body);
        buf_str(&body, all->items[i].text);
    }
    buf_char(&body, ']');
    object_bool(&body, "draft", options_has(o, "draft"));
    object_bool(&body, "dryRun", options_has(o, "dry-run"));
    if (options_has(o, "prune"))
        object_bool(&body, "prune", true);
    if (options_get(o, "overwrite") != NULL)
        client_add_list(&body, "overwrite", options_get(o, "overwrite"));
    client_add_text(&body, "changeSummary", options_get(o, "summary"));
    return object_end(&body);
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
static void report_findings(struct client *c, const struct bundle *all, const struct reply *reply)
{
    struct value errors = value_map_member(reply->json, STR("errors"));
    bool is_reported = false;

    for (uint32_t i = 0; errors.kind == VALUE_LIST && i < errors.len; i++) {
        struct str rest;
        const struct bundle_item *item =
            item_at(all, client_text(errors.items[i], "pointer"), &rest);

        if (item == NULL)
            continue;
        finding_print(&c->mem, item,
                      str_printf(&c->mem, "%.*s%.*s", STR_ARG(item->place), STR_ARG(rest)),
                      errors.items[i]);
        is_reported = true;
    }
    if (is_reported)
        client_print_refusal(c, reply);
    else
        client_report_refusal(c, reply);
}

/* --- what was done --- */

static void print_changes(struct arena *mem, struct value changes)
{
    for (uint32_t i = 0; changes.kind == VALUE_LIST && i < changes.len; i++) {
        struct value change = changes.items[i];

        printf("    ");
        format_print_change(mem, client_text(change, "pointer"),
                            value_map_get_str(change, STR("from")),
                            value_map_get_str(change, STR("to")));
    }
}

static void print_plan(struct arena *mem, struct value item)
{
    struct str action = client_text(item, "action");
    const char *what = str_eq(action, STR("create"))     ? "would be created"
                       : str_eq(action, STR("update"))   ? "would change"
                       : str_eq(action, STR("retire"))   ? "would be retired"
                       : str_eq(action, STR("unretire")) ? "would be in use again"
                                                         : "unchanged";

    printf("%.*s %.*s: %s\n", STR_ARG(client_text(item, "kind")),
           STR_ARG(client_text(item, "code")), what);
    print_changes(mem, value_map_get_str(item, STR("changes")));
}

static void apply_print_done(struct value item, bool as_draft)
{
    const struct kind_spec *spec = kind_named(client_text(item, "kind"));
    bool is_live = spec != NULL && spec->life == KIND_LIVE;
    struct str action = client_text(item, "action");
    bool stays = str_eq(action, STR("unchanged"));

    if (is_live)
        printf("%s ", spec->name);
    printf("%.*s: %s %lld\n", STR_ARG(client_text(item, "code")),
           str_eq(action, STR("retire"))     ? "retired, version"
           : str_eq(action, STR("unretire")) ? "in use again, version"
           : as_draft                        ? (stays ? "unchanged, draft" : "draft")
           : stays                           ? "unchanged, version"
           : is_live                         ? "saved, version"
                                             : "published version",
           (long long)value_map_int(item, STR("version")));
}

/* What was found in one item; what the bundle lacks stands in no file. */
static void apply_print_findings(struct arena *mem, const struct bundle_item *from,
                                 struct value item)
{
    struct value errors = value_map_get_str(item, STR("errors"));

    for (uint32_t k = 0; errors.kind == VALUE_LIST && k < errors.len; k++) {
        struct str message = client_text(errors.items[k], "message");

        if (from == NULL)
            fprintf(stderr, "warning: %.*s\n", STR_ARG(message));
        else
            finding_print(mem, from,
                          str_printf(mem, "%.*s%.*s", STR_ARG(from->place),
                                     STR_ARG(client_text(errors.items[k], "pointer"))),
                          errors.items[k]);
    }
}

static void print_done(struct arena *mem, const struct bundle *all, const struct reply *reply,
                       const struct options *o)
{
    struct value items = value_map_get_str(reply->json, STR("items"));
    unsigned changes = 0;

    for (uint32_t i = 0; items.kind == VALUE_LIST && i < items.len; i++) {
        struct value item = items.items[i];

        apply_print_findings(mem, i < all->count ? &all->items[i] : NULL, item);
        changes += !str_eq(client_text(item, "action"), STR("unchanged"));
        if (options_has(o, "json"))
            continue;
        if (options_has(o, "dry-run"))
            print_plan(mem, item);
        else
            apply_print_done(item, options_has(o, "draft"));
    }
    if (options_has(o, "json"))
        printf("%.*s\n", STR_ARG(reply->text));
    else if (options_has(o, "dry-run") && changes == 0)
        printf("nothing to do\n");
}

static bool apply(struct client *c, const struct bundle *all, const struct options *o)
{
    struct reply reply;

    if (!client_ask(c, "POST", STR("/import"), request_body(&c->mem, all, o), &reply))
        return false;
    if (reply.status == 422) {
        report_findings(c, all, &reply);
        return false;
    }
    if (!client_succeeded(c, &reply))
        return false;
    print_done(&c->mem, all, &reply, o);
    return true;
}

int command_apply(struct client *c, const struct options *o)
{
    struct bundle_paths paths = {0};
    struct bundle all = {.wants = BUNDLE_DEFINITIONS};
    bool ok;

    if (o->argc < 2)
        return options_usage(o);
    ok = bundle_find(&c->mem, "apply", o->argc - 1, o->argv + 1, &paths);
    for (size_t i = 0; i < paths.count; i++)
        ok = bundle_read(&c->mem, paths.items[i], &all) && ok;
    return ok && bundle_report_tests("apply", &all) && apply(c, &all, o) ? EXIT_OK : EXIT_FAILED;
}
