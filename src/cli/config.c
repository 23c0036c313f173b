/* config.c - pawl config: the values that every process sees as $.config.NAME. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/file.h"
#include "cli/options.h"
#include "cli/tell.h"
#include "value/json.h"

#include <stdio.h>

struct config_call {
    struct client client;
    int argc;
    char **argv; /* from the word behind "config" on */
    bool as_json, as_text;
};

static struct str path_of(struct client *c, const char *name)
{
    struct buf path;

    buf_init_arena(&path, &c->mem);
    buf_text(&path, "/config/");
    client_escape(&path, str_of(name));
    return buf_view(&path);
}

/* All of them, page by page. */
static bool list(struct config_call *k)
{
    struct client *c = &k->client;
    struct str cursor = STR_NONE;
    uint64_t count = 0;

    do {
        struct value items;
        struct reply reply;

        if (!client_page(c, STR("/config?limit=500"), &cursor, &reply, &items))
            return false;
        if (k->as_json) {
            client_print_items(c, items, &count);
            continue;
        }
        for (uint32_t i = 0; i < items.len; i++, count++) {
            struct value item = items.items[i];

            tell_member(&c->mem, client_text(item, "name"), " = ",
                        value_map_get_str(item, STR("value")));
        }
    } while (cursor.len > 0);
    if (k->as_json)
        client_print_end(count, cursor);
    else if (count == 0)
        printf("no config; set some with: pawl config set NAME JSON\n");
    return true;
}

static bool get(struct config_call *k)
{
    struct reply reply;

    if (!client_call(&k->client, "GET", path_of(&k->client, k->argv[1]), STR_NONE, &reply))
        return false;
    if (k->as_json)
        printf("%.*s\n", STR_ARG(reply.text));
    else
        printf("%.*s\n",
               STR_ARG(client_json(&k->client.mem, value_map_get_str(reply.json, STR("value")))));
    return true;
}

/* The value as JSON: given as such, in a file, or a text as it is. */
static bool read_value(struct config_call *k, struct str *out)
{
    const char *given = k->argv[2];
    struct buf quoted;
    struct value v;

    if (k->as_text) {
        buf_init_arena(&quoted, &k->client.mem);
        json_write_string(&quoted, str_of(given));
        *out = buf_view(&quoted);
        return true;
    }
    if (file_argument_json(&k->client.mem, "the value", given, out, &v))
        return true;
    if (given[0] != '@')
        fprintf(stderr, "pawl: the value is JSON; with --text it is a text as it stands\n");
    return false;
}

static bool set(struct config_call *k)
{
    struct client *c = &k->client;
    struct reply reply;
    struct str value;
    struct buf body;

    if (!read_value(k, &value))
        return false;
    buf_init_arena(&body, &c->mem);
    buf_text(&body, "{\"value\":");
    buf_str(&body, value);
    buf_char(&body, '}');
    if (!client_call(c, "PUT", path_of(c, k->argv[1]), buf_view(&body), &reply))
        return false;
    if (k->as_json)
        printf("%.*s\n", STR_ARG(reply.text));
    else
        printf("%s: saved, version %.*s\n", k->argv[1],
               STR_ARG(client_json(&c->mem, value_map_get_str(reply.json, STR("version")))));
    return true;
}

static bool drop(struct config_call *k)
{
    struct reply reply;

    if (!client_call(&k->client, "DELETE", path_of(&k->client, k->argv[1]), STR_NONE, &reply))
        return false;
    if (!k->as_json)
        printf("%s: removed\n", k->argv[1]);
    return true;
}

static const struct {
    const char *name;
    int arguments;
    bool (*run)(struct config_call *k);
} actions[] = {{"ls", 0, list}, {"get", 1, get}, {"set", 2, set}, {"rm", 1, drop}};

int command_config(int argc, char **argv)
{
    struct config_call k = {0};
    const struct option_spec specs[] = {
        {.name = "json", .flag = &k.as_json},
        {.name = "text", .flag = &k.as_text},
        CLIENT_OPTIONS,
    };
    char *listing[] = {"ls"};
    bool ok;

    if (!options_read("config", specs, ARRAY_SIZE(specs), &argc, argv))
        return command_usage("config");
    k.argc = argc < 2 ? 1 : argc - 1;
    k.argv = argc < 2 ? listing : argv + 1;
    for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
        if (strcmp(actions[i].name, k.argv[0]) != 0 || k.argc != actions[i].arguments + 1)
            continue;
        client_open(&k.client, k.as_json);
        ok = actions[i].run(&k);
        client_close(&k.client);
        return ok ? EXIT_OK : EXIT_FAILED;
    }
    return command_usage("config");
}
