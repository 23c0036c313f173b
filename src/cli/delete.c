/* delete.c - pawl delete: erase executions that have ended. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/where.h"

#include <stdio.h>

int command_delete(int argc, char **argv)
{
    const char *where = NULL;
    bool as_json = false, dry_run = false;
    const struct option_spec specs[] = {
        {.name = "where", .value = &where},
        {.name = "dry-run", .flag = &dry_run},
        {.name = "json", .flag = &as_json},
        CLIENT_OPTIONS,
    };
    struct client c;
    struct reply reply;
    struct str id;
    int status = EXIT_FAILED;

    if (!options_read("delete", specs, sizeof(specs) / sizeof(specs[0]), &argc, argv) ||
        argc != (where != NULL ? 1 : 2) || (dry_run && where == NULL))
        return command_usage("delete");
    client_open(&c);
    if (where != NULL) {
        status = where_run(&c, &(struct where){.action = "delete",
                                               .done = "deleted",
                                               .conditions = where,
                                               .is_dry_run = dry_run,
                                               .as_json = as_json});
    } else if (client_find(&c, argv[1], &id) &&
               client_call(&c, "DELETE", str_printf(&c.mem, "/executions/%.*s", STR_ARG(id)),
                           STR_NONE, &reply)) {
        status = EXIT_OK;
        if (as_json)
            printf("{\"id\":\"%.*s\",\"deleted\":true}\n", STR_ARG(id));
        else
            printf("%.*s is deleted\n", STR_ARG(id));
    }
    client_close(&c);
    return status;
}
