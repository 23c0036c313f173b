/* file.h - reading what a command line names. */
#ifndef PAWL_CLI_FILE_H
#define PAWL_CLI_FILE_H

#include "base/err.h"
#include "value/value.h"

/* The whole of a file, "-" being standard input. ERR_IO; ERR_TOO_LARGE above 64 MiB. */
bool file_read(struct arena *mem, const char *path, struct str *out, struct err *err) MUST_USE;

/* A file as JSON. False after a message to stderr that names the place. */
bool file_read_json(struct arena *mem, const char *path, struct str *text,
                    struct value *out) MUST_USE;

/* JSON given as an argument: itself, or @FILE. False after a message. */
bool file_argument_json(struct arena *mem, const char *what, const char *argument, struct str *text,
                        struct value *out) MUST_USE;

#endif
