/*
 * command.h - the commands of the program, one file each.
 *
 * To add one: write its file with `int command_NAME(const struct options *o)`, or
 * `int command_NAME(struct client *c, const struct options *o)` when it talks to
 * a server, and give it and its options rows in commands.def.
 */
#ifndef PAWL_CLI_COMMAND_H
#define PAWL_CLI_COMMAND_H

#include "base/str.h"

/*
 * Exit statuses. What ran and failed differs from what was asked for wrongly. A
 * server that had to stop before the store said how changes ended is UNDECIDED.
 */
enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_UNDECIDED = 3 };

struct client;
struct options;

/* Run a command by itself, or with a client of its own. The exit status of the program. */
typedef int command_fn(const struct options *o);
typedef int client_command_fn(struct client *c, const struct options *o);

/* A row of the list: a command, or the heading of those that follow. */
struct cli_command {
    const char *name;    /* NULL: a heading */
    const char *summary; /* one line, for the list; or the heading */
    const char *usage;   /* arguments, then newline and explanation if there is more */
    command_fn *run;     /* one of the two */
    client_command_fn *run_client;
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

/* The command of that name, or NULL. */
const struct cli_command *command_named(const char *name);

/* The same, but NULL comes after a message with a guess to stderr. */
const struct cli_command *command_find(const char *name);

/* How many options it has: *out is the first, the others follow it. */
size_t command_options(const struct cli_command *c, const struct cli_flag **out);

/* Read its command line and run it: argv[0] is its name, and NULL stands behind the last word. */
int command_execute(const struct cli_command *c, int argc, char **argv);

/* What follows the name, and the text that explains it; either may be empty. */
struct str command_arguments(const struct cli_command *c);
struct str command_explanation(const struct cli_command *c);

/* How the program was called, for commands that people are shown to type. */
const char *command_program(void);

#define SECTION(heading)
#define COMMAND(name, summary, usage) command_fn command_##name;
#define REMOTE(name, summary, usage) client_command_fn command_##name;
#define ACT(name, summary, usage)
#define FLAG(command, name, value, help)
#include "cli/commands.def"
#undef SECTION
#undef COMMAND
#undef REMOTE
#undef ACT
#undef FLAG

/* Runs every row of ACT: what operators do to executions, by the command's name. */
client_command_fn command_act;

#endif
