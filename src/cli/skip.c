/* skip.c - pawl skip: a held execution goes on behind the step that failed. */
#include "cli/act.h"
#include "cli/command.h"
#include "cli/file.h"
#include "cli/options.h"

int command_skip(int argc, char **argv)
{
    const char *output = NULL;
    struct act act = {.action = "skip", .done = "going on without the step"};
    const struct option_spec specs[] = {{.name = "output", .value = &output},
                                        {.name = "where", .value = &act.where},
                                        {.name = "dry-run", .flag = &act.is_dry_run},
                                        {.name = "json", .flag = &act.as_json},
                                        CLIENT_OPTIONS};
    struct client c;
    struct str text, body = STR_NONE;
    struct value v;
    int status = EXIT_FAILED;

    if (!options_read("skip", specs, sizeof(specs) / sizeof(specs[0]), &argc, argv) ||
        !act_fits(&act, argc))
        return command_usage("skip");
    client_open(&c);
    if (output == NULL || file_argument_json(&c.mem, "output", output, &text, &v)) {
        if (output != NULL)
            body = str_printf(&c.mem, "{\"output\":%.*s}", STR_ARG(text));
        status = act_run(&c, &act, argv, body);
    }
    client_close(&c);
    return status;
}
