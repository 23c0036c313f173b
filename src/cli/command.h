/*
 * command.h - the commands of the program, one file each.
 *
 * To add one: write src/cli/NAME.c with `int command_NAME(int argc, char **argv)`
 * and give it a row in commands.def.
 */
#ifndef PAWL_CLI_COMMAND_H
#define PAWL_CLI_COMMAND_H

#include <stddef.h>

/* Exit statuses. What ran and failed differs from what was asked for wrongly. */
enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* Run a command: argv[0] is its name. Answers the exit status of the program. */
typedef int command_fn(int argc, char **argv);

struct cli_command {
    const char *name;
    const char *summary; /* one line, for the list */
    const char *usage;   /* what follows the name, and a text below it */
    command_fn *run;
};

/* Every command, in the order in which help lists them. */
extern const struct cli_command commands[];
extern const size_t command_count;

/* The command of that name, or NULL after a message with a guess to stderr. */
const struct cli_command *command_find(const char *name);

/* Print how `name` is used to stderr and answer EXIT_USAGE. */
int command_usage(const char *name);

#define COMMAND(name, summary, usage) command_fn command_##name;
#include "cli/commands.def"
#undef COMMAND

#endif
