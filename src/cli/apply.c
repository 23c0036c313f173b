/*
 * apply.c - pawl apply: publish definitions.
 *
 * All files are checked by the server before anything is changed, so that a
 * mistake in one of them leaves everything as it was.
 */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/file.h"
#include "cli/finding.h"
#include "cli/options.h"
#include "define/define.h"
#include "value/json.h"

#include <stdio.h>

struct definition {
    const char *path;
    struct str code, text;
    struct value value;
};

static bool read_definition(struct client *c, const char *path, struct definition *out)
{
    const char *kind;

    out->path = path;
    if (!file_read_json(&c->mem, path, &out->text, &out->value))
        return false;
    kind = define_kind_of(out->value);
    out->code = client_text(out->value, "code");
    if (kind != NULL && strcmp(kind, "scenario") == 0 && out->code.len > 0)
        return true;
    fprintf(stderr, "%s:/: %s\n", path,
            kind == NULL                    ? "this is no definition: a scenario has steps"
            : strcmp(kind, "scenario") != 0 ? "this kind of definition is not supported yet"
                                            : "code is missing");
    return false;
}

static bool check(struct client *c, const struct definition *d)
{
    struct reply reply;
    struct buf body;

    buf_init_arena(&body, &c->mem);
    buf_text(&body, "{\"kind\":\"scenario\",\"definition\":");
    buf_str(&body, d->text);
    buf_char(&body, '}');
    if (!client_call(c, "POST", STR("/validate"), buf_view(&body), &reply))
        return false;
    return finding_print(d->path, value_map_get_str(reply.json, STR("errors"))) == 0;
}

static struct str path_of(struct client *c, const struct definition *d, const char *rest)
{
    struct buf path;

    buf_init_arena(&path, &c->mem);
    buf_text(&path, "/scenarios/");
    client_escape(&path, d->code);
    buf_text(&path, rest);
    return buf_view(&path);
}

static struct str summary_json(struct client *c, const char *summary)
{
    struct buf body;

    if (summary == NULL)
        return STR_NONE;
    buf_init_arena(&body, &c->mem);
    buf_text(&body, "{\"changeSummary\":");
    json_write_string(&body, str_of(summary));
    buf_char(&body, '}');
    return buf_view(&body);
}

/* Whether the server has it published as it is; *version says as what. */
static bool is_published(struct client *c, const struct definition *d, int64_t *version)
{
    struct value published, definition, number;
    struct reply reply;

    if (!client_ask(c, "GET", path_of(c, d, ""), STR_NONE, &reply) || reply.status != 200)
        return false;
    published = value_map_get_str(reply.json, STR("published"));
    if (published.kind != VALUE_MAP)
        return false;
    definition = value_map_get_str(published, STR("definition"));
    number = value_map_get_str(published, STR("version"));
    *version = number.kind == VALUE_INT ? number.i : 0;
    return value_equal(definition, d->value, NULL);
}

static void print_done(const struct definition *d, const char *what, int64_t version, bool as_json)
{
    if (as_json)
        printf("{\"code\":\"%.*s\",\"version\":%lld}\n", STR_ARG(d->code), (long long)version);
    else
        printf("%.*s: %s %lld\n", STR_ARG(d->code), what, (long long)version);
}

static bool apply(struct client *c, const struct definition *d, const char *summary, bool as_draft,
                  bool as_json)
{
    struct reply reply;
    struct value version;
    int64_t number;

    if (!as_draft && is_published(c, d, &number)) {
        print_done(d, "unchanged, version", number, as_json);
        return true;
    }
    if (!client_call(c, "PUT", path_of(c, d, "/draft"), d->text, &reply))
        return false;
    if (as_draft)
        (void)finding_print(d->path, value_map_get_str(reply.json, STR("errors")));
    else if (!client_call(c, "POST", path_of(c, d, "/publish"), summary_json(c, summary), &reply))
        return false;
    version = value_map_get_str(reply.json, STR("version"));
    print_done(d, as_draft ? "draft" : "published version",
               version.kind == VALUE_INT ? version.i : 0, as_json);
    return true;
}

int command_apply(int argc, char **argv)
{
    bool as_draft = false, as_json = false, ok = true;
    const char *summary = NULL;
    const struct option_spec specs[] = {
        {.name = "draft", .flag = &as_draft},
        {.name = "summary", .value = &summary},
        {.name = "json", .flag = &as_json},
        CLIENT_OPTIONS,
    };
    struct definition *all;
    struct client c;

    if (!options_read("apply", specs, sizeof(specs) / sizeof(specs[0]), &argc, argv) || argc < 2)
        return command_usage("apply");
    client_open(&c);
    all = ARENA_ARRAY(&c.mem, (size_t)argc, struct definition);
    for (int i = 1; i < argc; i++)
        ok = read_definition(&c, argv[i], &all[i]) && ok;
    for (int i = 1; ok && !as_draft && i < argc; i++)
        ok = check(&c, &all[i]);
    for (int i = 1; ok && i < argc; i++)
        ok = apply(&c, &all[i], summary, as_draft, as_json);
    client_close(&c);
    return ok ? EXIT_OK : EXIT_FAILED;
}
