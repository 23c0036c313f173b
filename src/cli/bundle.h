/*
 * bundle.h - the definitions in files that a command line names: one in a file,
 * or a bundle, {"items": [...]}.
 */
#ifndef PAWL_CLI_BUNDLE_H
#define PAWL_CLI_BUNDLE_H

#include "base/vec.h"
#include "value/value.h"

struct bundle_item {
    const char *path; /* of its file */
    struct str place; /* JSON pointer of it in the file: "" or "/items/3" */
    struct str text;
    struct value value;
};

struct bundle {
    VEC_OF(struct bundle_item);
};

/* Files by their paths. */
struct bundle_paths {
    VEC_OF(const char *);
};

/*
 * The files that the words of a command line mean: a folder stands for the
 * *.json files in it, and tests (*.test.json) beside other files are left out,
 * with a word to stderr: pawl test runs them. False after a message.
 */
bool bundle_find(struct arena *mem, const char *command, int count, char **words,
                 struct bundle_paths *out) MUST_USE;

/* Add what is in a file. False after a message. */
bool bundle_read(struct arena *mem, const char *path, struct bundle *out) MUST_USE;

#endif
