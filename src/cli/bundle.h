/*
 * bundle.h - the definitions in files that a command line names: one in a file,
 * or a bundle, {"items": [...]}.
 */
#ifndef PAWL_CLI_BUNDLE_H
#define PAWL_CLI_BUNDLE_H

#include "value/source.h"

struct bundle_item {
    const char *path;                 /* of its file */
    const struct source_text *source; /* the whole file */
    struct str place;                 /* JSON pointer of it in the file: "" or "/items/3" */
    struct str text;                  /* of it alone, as JSON */
    struct value value;
};

struct bundle {
    VEC_OF(struct bundle_item);
};

/* Files by their paths. */
struct bundle_paths {
    VEC_OF(const char *);
};

enum bundle_wants { BUNDLE_DEFINITIONS, BUNDLE_WITH_TESTS };

/*
 * The files that the words of a command line mean: a folder stands for the
 * *.json, *.jsonc, *.yaml and *.yml files in it. Where definitions alone are
 * wanted, tests (*.test.json and so on) beside other files are left out, with a
 * word to stderr: pawl test runs them. False after a message.
 */
bool bundle_find(struct arena *mem, const char *command, enum bundle_wants wants, int count,
                 char **words, struct bundle_paths *out) MUST_USE;

/* Add what is in a file. False after a message. */
bool bundle_read(struct arena *mem, const char *path, struct bundle *out) MUST_USE;

/* The same without a message: *err has line and column when the text is what is wrong. */
bool bundle_try(struct arena *mem, const char *path, struct bundle *out, struct err *err) MUST_USE;

/* The endings of the names of files that hold definitions, ".json" first; NULL behind the last. */
extern const char *const bundle_endings[];

#endif
