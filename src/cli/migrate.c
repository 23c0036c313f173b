/* migrate.c - pawl migrate: a waiting execution goes on with another version. */
#include "cli/act.h"
#include "cli/command.h"
#include "cli/options.h"
#include "value/object.h"

int command_migrate(int argc, char **argv)
{
    const char *version = NULL;
    struct act act = {.action = "migrate", .done = "of the other version now"};
    const struct option_spec specs[] = {{.name = "version", .value = &version},
                                        {.name = "where", .value = &act.where},
                                        {.name = "dry-run", .flag = &act.is_dry_run},
                                        {.name = "json", .flag = &act.as_json},
                                        CLIENT_OPTIONS};
    struct client c;
    struct buf body;
    int64_t number;
    int status;

    if (!options_read("migrate", specs, sizeof(specs) / sizeof(specs[0]), &argc, argv) ||
        !act_fits(&act, argc) || version == NULL ||
        !options_number("migrate", "version", version, &number))
        return command_usage("migrate");
    client_open(&c);
    buf_init_arena(&body, &c.mem);
    buf_char(&body, '{');
    object_int(&body, "version", number);
    buf_char(&body, '}');
    status = act_run(&c, &act, argv, buf_view(&body));
    client_close(&c);
    return status;
}
