/*
 * options.h - the command line of a command, read by its rows of commands.def.
 *
 *     const char *data = options_get(o, "data");    NULL when it is not given
 *     bool as_json = options_has(o, "json");
 *
 * "--data DIR" and "--data=DIR" are the same; an option of one letter may have
 * one dash; a value that may be left out is given by '='. Options may stand
 * anywhere; "--" ends them. Commands that talk to a server take --url, --token
 * and --ca as well, which become variables of the environment.
 */
#ifndef PAWL_CLI_OPTIONS_H
#define PAWL_CLI_OPTIONS_H

#include "base/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OPTIONS_MAX = 40 };

struct cli_command;
struct cli_flag;

struct options {
    const struct cli_command *command;
    int argc;    /* of the words that are no options */
    char **argv; /* the command's name, then those words, then NULL */
    const struct cli_flag *flags;
    size_t count;
    bool is_given[OPTIONS_MAX];
    const char *values[OPTIONS_MAX];
};

/*
 * Take the options out of argv, which `out` keeps with its other words. False
 * after a message to stderr.
 */
bool options_read(struct options *out, const struct cli_command *command, int argc,
                  char **argv) MUST_USE;

/* Whether the command has an option of that name. */
bool options_know(const struct options *o, const char *name);

/* Whether an option of the command is given; the value that it has, or NULL. */
bool options_has(const struct options *o, const char *name);
const char *options_get(const struct options *o, const char *name);

/*
 * The number that an option gives, 0 without one. False after a message to
 * stderr: it is none, or below 1.
 */
bool options_number(const struct options *o, const char *name, int64_t *out) MUST_USE;

/* Print how the command is used to stderr and answer EXIT_USAGE. */
int options_usage(const struct options *o);

/* Whether an option without which the command can do nothing is given. False after a message to stderr. */
bool options_need(const struct options *o, const char *name) MUST_USE;

/* The value of an option, else what the environment says, else `fallback`. */
const char *options_or_setting(const struct options *o, const char *name, const char *variable,
                               const char *fallback);

/* What the environment says, else `fallback`; an empty variable says nothing. */
const char *options_setting(const char *name, const char *fallback);

#endif
