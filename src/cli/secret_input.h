/* secret_input.h - secrets that a person types, or that come from stdin. */
#ifndef PAWL_CLI_SECRET_INPUT_H
#define PAWL_CLI_SECRET_INPUT_H

#include "base/arena.h"
#include "base/str.h"

#include <stdio.h>

/* All of a stream, without the ends of lines behind it. False: it is too long. */
bool secret_input_all(struct arena *mem, FILE *from, struct str *out) MUST_USE;

/* A line from the terminal that is not shown while it is typed. */
bool secret_input_hidden(struct arena *mem, const char *what, struct str *out) MUST_USE;

/* A text without the ends of lines behind it. */
struct str secret_input_trim(struct str text);

#endif
