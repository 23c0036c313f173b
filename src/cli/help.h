/*
 * help.h - the table of commands as text, and as pages for man(1).
 *
 * why: decision 0070
 */
#ifndef PAWL_CLI_HELP_H
#define PAWL_CLI_HELP_H

#include "base/buf.h"
#include "cli/command.h"

#include <stdio.h>

/* "usage: pawl NAME ARGUMENTS [--option VALUE] ...", on lines that fit. */
void help_print_synopsis(FILE *out, const struct cli_command *c);

/* Append "--name", "--name VALUE" or "--name[=VALUE]". */
void help_write_flag(struct buf *out, const struct cli_flag *flag);

/* The whole page of a command, or of the program when `c` is NULL, in the language of man(1). */
void manpage_write(struct buf *out, const struct cli_command *c);

#endif
