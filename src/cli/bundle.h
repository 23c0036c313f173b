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

/* Add what is in a file. False after a message. */
bool bundle_read(struct arena *mem, const char *path, struct bundle *out) MUST_USE;

#endif
