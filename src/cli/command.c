/* command.c - the table of commands.def; see command.h. */
#include "cli/command.h"

#include "base/str.h"

#include <stdio.h>

const struct cli_command commands[] = {
#define COMMAND(symbol, line, text)                                                                \
    {.name = #symbol, .summary = (line), .usage = (text), .run = command_##symbol},
#include "cli/commands.def"
#undef COMMAND
};

const size_t command_count = sizeof(commands) / sizeof(commands[0]);

static const struct cli_command *find_exact(const char *name)
{
    for (size_t i = 0; i < command_count; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static const struct cli_command *find_nearest(const char *name)
{
    const struct cli_command *nearest = NULL;
    unsigned limit = 2;

    for (size_t i = 0; i < command_count; i++) {
        unsigned distance = str_distance(str_of(name), str_of(commands[i].name), limit);
        if (distance <= limit && distance < strlen(commands[i].name)) {
            nearest = &commands[i];
            limit = distance;
        }
    }
    return nearest;
}

const struct cli_command *command_find(const char *name)
{
    const struct cli_command *found = find_exact(name);
    const struct cli_command *nearest;

    if (found != NULL)
        return found;
    fprintf(stderr, "pawl: there is no command \"%s\"", name);
    nearest = find_nearest(name);
    if (nearest != NULL)
        fprintf(stderr, "; did you mean \"%s\"?\n", nearest->name);
    else
        fprintf(stderr, "; `pawl help` lists them\n");
    return NULL;
}

int command_usage(const char *name)
{
    const struct cli_command *c = find_exact(name);

    fprintf(stderr, "usage: pawl %s%s", name, c == NULL ? "\n" : c->usage);
    return EXIT_USAGE;
}
