/*
 * command.h - the commands of the program, one file each.
 *
 * To add one: write src/cli/NAME.c with `int command_NAME(int argc, char **argv)`
 * and give it and its options rows in commands.def.
 */
#ifndef PAWL_CLI_COMMAND_H
#define PAWL_CLI_COMMAND_H

#include "base/str.h"

/*
 * Exit statuses. What ran and failed differs from what was asked for wrongly. A
 * server that had to stop before the store said how changes ended is UNDECIDED.
 */
enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_UNDECIDED = 3 };

/* Run a command: argv[0] is its name. Answers the exit status of the program. */
typedef int command_fn(int argc, char **argv);

/* A row of the list: a command, or the heading of those that follow. */
struct cli_command {
    const char *name;    /* NULL: a heading */
    const char *summary; /* one line, for the list; or the heading */
    const char *usage;   /* arguments, then newline and explanation if there is more */
    command_fn *run;
};

/* An option of a command, without the dashes. */
struct cli_flag {
    const char *command, *name;
    const char *value; /* NULL: none; "WORD"; "[WORD]": may be left out */
    const char *help;
};

/* Every command, in the order in which help lists them. */
extern const struct cli_command commands[];
extern const size_t command_count;

extern const struct cli_flag command_flags[];
extern const size_t command_flag_count;

/* The command of that name, or NULL. */
const struct cli_command *command_named(const char *name);

/* The same, but NULL comes after a message with a guess to stderr. */
const struct cli_command *command_find(const char *name);

/* What follows the name, and the text that explains it; either may be empty. */
struct str command_arguments(const struct cli_command *c);
struct str command_explanation(const struct cli_command *c);

/* Print how `name` is used to stderr and answer EXIT_USAGE. */
int command_usage(const char *name);

/* How the program was called, for commands that it tells people to type. */
const char *command_program(void);

#define SECTION(heading)
#define COMMAND(name, summary, usage) command_fn command_##name;
#define FLAG(command, name, value, help)
#include "cli/commands.def"
#undef SECTION
#undef COMMAND
#undef FLAG

#endif
