/* delete.c - pawl delete: erase executions that have ended. */
#include "cli/act.h"
#include "cli/command.h"
#include "cli/options.h"

#include <stdio.h>

static int delete_one(struct client *c, const char *name, bool as_json)
{
    struct reply reply;
    struct str id;

    if (!client_find(c, name, &id) ||
        !client_call(c, "DELETE", str_printf(&c->mem, "/executions/%.*s", STR_ARG(id)), STR_NONE,
                     &reply))
        return EXIT_FAILED;
    if (as_json)
        printf("{\"id\":\"%.*s\",\"deleted\":true}\n", STR_ARG(id));
    else
        printf("%.*s is deleted\n", STR_ARG(id));
    return EXIT_OK;
}

int command_delete(int argc, char **argv)
{
    struct act act = {.action = "delete", .done = "deleted"};
    const struct option_spec specs[] = {{.name = "where", .value = &act.where},
                                        {.name = "dry-run", .flag = &act.is_dry_run},
                                        {.name = "json", .flag = &act.as_json},
                                        CLIENT_OPTIONS};
    struct client c;
    int status;

    if (!options_read("delete", specs, sizeof(specs) / sizeof(specs[0]), &argc, argv) ||
        !act_fits(&act, argc))
        return command_usage("delete");
    client_open(&c);
    if (act.where != NULL)
        status = act_run(&c, &act, argv, STR_NONE);
    else
        status = delete_one(&c, argv[1], act.as_json);
    client_close(&c);
    return status;
}
