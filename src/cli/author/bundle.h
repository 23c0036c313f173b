/*
 * bundle.h - the definitions in files that a command line names: one in a file,
 * or a bundle, {"items": [...]}.
 */
#ifndef PAWL_CLI_AUTHOR_BUNDLE_H
#define PAWL_CLI_AUTHOR_BUNDLE_H

#include "value/source.h"

struct bundle_item {
    const char *path;                 /* of its file */
    const struct source_text *source; /* the whole file */
    struct str place;                 /* JSON pointer of it in the file: "" or "/items/3" */
    struct str text;                  /* of it alone, as JSON */
    struct value value;
};

enum bundle_wants { BUNDLE_WITH_TESTS, BUNDLE_DEFINITIONS };

struct bundle {
    VEC_OF(struct bundle_item);
    enum bundle_wants wants;
    const char *test; /* the first file of tests that was left out, or NULL */
    unsigned tests;   /* how many were */
};

/* Files by their paths. */
struct bundle_paths {
    VEC_OF(const char *);
};

/*
 * The files that the words of a command line mean: a folder stands for the
 * *.json, *.jsonc, *.yaml and *.yml files in it. False after a message.
 */
bool bundle_find(struct arena *mem, const char *command, int count, char **words,
                 struct bundle_paths *out) MUST_USE;

/*
 * Say how many files of tests were left out, where definitions alone are wanted: pawl test runs
 * them. False, after a message, when there is nothing else.
 */
bool bundle_report_tests(const char *command, const struct bundle *all) MUST_USE;

/*
 * Add what is in a file. Where definitions alone are wanted, one of tests is left out, whatever its
 * name. False after a message.
 */
bool bundle_read(struct arena *mem, const char *path, struct bundle *out) MUST_USE;

/* The same without a message: *err has line and column when the text is what is wrong. */
bool bundle_try(struct arena *mem, const char *path, struct bundle *out, struct err *err) MUST_USE;

/* The endings of the names of files that hold definitions, ".json" first; NULL behind the last. */
extern const char *const bundle_endings[];

#endif
