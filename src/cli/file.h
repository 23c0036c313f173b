/* file.h - reading what a command line names. */
#ifndef PAWL_CLI_FILE_H
#define PAWL_CLI_FILE_H

#include "value/source.h"

/*
 * What a command line may say for a file, or for JSON, is the same everywhere:
 *
 *     a file   FILE, @FILE; - or @- for standard input
 *     JSON     JSON itself, @FILE; - or @- for standard input
 */

/* The whole of a file. ERR_IO; ERR_TOO_LARGE above 64 MiB. */
bool file_read(struct arena *mem, const char *path, struct str *out, struct err *err) MUST_USE;

/*
 * A file of JSON, JSON with comments, or YAML, known by its name, else by its
 * text. False without a message: *err has line and column when the text is what is wrong.
 */
bool file_try_source(struct arena *mem, const char *path, struct source_text *out,
                     struct err *err) MUST_USE;

/* Say to stderr what went wrong with a file, and in which place. Answers false. */
bool file_report(const char *name, const struct err *err);

/* file_try_source() as a value, and as JSON text. False after a message. */
bool file_read_json(struct arena *mem, const char *path, struct str *text,
                    struct value *out) MUST_USE;

/* JSON given as an argument; what is in a file may be YAML too. False after a message. */
bool file_argument_json(struct arena *mem, const char *what, const char *argument, struct str *text,
                        struct value *out) MUST_USE;

/* The same where most people have it in a file: an object or a list, else the name of a file. */
bool file_given_json(struct arena *mem, const char *what, const char *argument, struct str *text,
                     struct value *out) MUST_USE;

#endif
