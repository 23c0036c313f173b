/*
 * options.h - the options of a command line.
 *
 *     const char *data = NULL;
 *     bool as_json = false;
 *     const struct option_spec specs[] = {
 *         {.name = "data", .value = &data},
 *         {.name = "json", .flag = &as_json},
 *     };
 *     if (!options_read("serve", specs, 2, &argc, argv))
 *         return command_usage("serve");
 *
 * "--data DIR" and "--data=DIR" are the same; an option of one letter may have
 * one dash. Options may stand anywhere; "--"
 * ends them.
 */
#ifndef PAWL_CLI_OPTIONS_H
#define PAWL_CLI_OPTIONS_H

#include "base/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct option_spec {
    const char *name;     /* without the dashes */
    const char **value;   /* set to what follows; or */
    bool *flag;           /* set to true; with both, the value is given by '=' and optional */
    const char *variable; /* of the environment, in place of both: set to what follows */
};

/*
 * Take the options out of argv, which keeps its name and the other arguments;
 * *argc counts them. False after a message to stderr.
 */
bool options_read(const char *command, const struct option_spec *specs, size_t count, int *argc,
                  char **argv) MUST_USE;

/*
 * The number that an option gives, 0 without one (`text` is NULL). False after
 * a message to stderr: it is none, or below 1.
 */
bool options_number(const char *command, const char *name, const char *text, int64_t *out) MUST_USE;

/* What the environment says, else `fallback`; an empty variable says nothing. */
const char *options_setting(const char *name, const char *fallback);

#endif
