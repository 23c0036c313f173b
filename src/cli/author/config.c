/* config.c - pawl config: the values that every process sees as $.config.NAME. */
#include "cli/command.h"
#include "cli/file.h"
#include "cli/format.h"
#include "cli/list.h"
#include "cli/options.h"

#include <stdio.h>

static void config_print(struct arena *mem, struct value item)
{
    format_print_member(mem, client_text(item, "name"), " = ",
                        value_map_get_str(item, STR("value")));
}

static const struct list config_list = {.route = "/config",
                                        .all = true,
                                        .print = config_print,
                                        .none =
                                            "no config; set some with: pawl config set NAME JSON"};

static int config_get(struct client *c, const struct options *o, char **words)
{
    struct reply reply;
    struct str json;

    (void)o;
    if (!client_call(c, "GET", client_path(c, "/config/", str_of(words[0]), ""), STR_NONE, &reply))
        return EXIT_FAILED;
    json = client_json(&c->mem, value_map_get_str(reply.json, STR("value")));
    return client_answer(c, &reply, "%.*s", STR_ARG(json));
}

/* The value as JSON: given as such, in a file, or a text as it is. */
static bool read_value(struct client *c, const struct options *o, const char *given,
                       struct str *out)
{
    struct value v;

    if (options_has(o, "text")) {
        *out = client_json(&c->mem, value_string(str_of(given)));
        return true;
    }
    if (file_argument_json(&c->mem, "the value", given, out, &v))
        return true;
    if (given[0] != '@')
        fprintf(stderr, "pawl: the value is JSON; with --text it is a text as it stands\n");
    return false;
}

static int config_set(struct client *c, const struct options *o, char **words)
{
    struct reply reply;
    struct str value, version;

    if (!read_value(c, o, words[1], &value) ||
        !client_call(c, "PUT", client_path(c, "/config/", str_of(words[0]), ""),
                     str_printf(&c->mem, "{\"value\":%.*s}", STR_ARG(value)), &reply))
        return EXIT_FAILED;
    version = client_json(&c->mem, value_map_get_str(reply.json, STR("version")));
    return client_answer(c, &reply, "%s: saved, version %.*s", words[0], STR_ARG(version));
}

static int config_drop(struct client *c, const struct options *o, char **words)
{
    struct reply reply;

    (void)o;
    if (!client_call(c, "DELETE", client_path(c, "/config/", str_of(words[0]), ""), STR_NONE,
                     &reply))
        return EXIT_FAILED;
    if (!c->as_json)
        printf("%s: removed\n", words[0]);
    return EXIT_OK;
}

int command_config(struct client *c, const struct options *o)
{
    static const struct cli_verb verbs[] = {{"ls", 0, 0, .list = &config_list},
                                            {"get", 1, 1, .run = config_get},
                                            {"set", 2, 2, .run = config_set},
                                            {"rm", 1, 1, .run = config_drop}};

    return client_verb(c, o, o->argv + 1, verbs, ARRAY_SIZE(verbs));
}
