/*
 * source.h - what people write: JSON, JSON with comments, or YAML, read as the
 * same value, and where in the text each part of it stands.
 *
 *     text --source_read--> JSON text, value, places
 *
 * JSON with comments is JSON once comments and trailing commas are blank, so
 * every byte keeps its place. YAML is written as JSON while it is read, and a
 * mark is kept for each key and value (yaml.h).
 *
 * why: decision 0169
 */
#ifndef PAWL_VALUE_SOURCE_H
#define PAWL_VALUE_SOURCE_H

#include "base/err.h"
#include "base/vec.h"
#include "value/place.h"
#include "value/value.h"

enum source_form {
    SOURCE_JSON,     /* as RFC 8259 has it */
    SOURCE_COMMENTS, /* with comments and trailing commas */
    SOURCE_YAML,
};

/* How a scalar of YAML is written: what its columns are counted by. */
enum mark_style { MARK_PLAIN, MARK_QUOTED, MARK_ESCAPED, MARK_LITERAL, MARK_OTHER };

/* Where a key or value that begins at this byte of the JSON text stands in the YAML text. */
struct source_mark {
    size_t json;
    uint32_t line, column; /* from 1 */
    enum mark_style style;
};

struct source_marks {
    VEC_OF(struct source_mark);
};

struct source_text {
    enum source_form form;
    struct str text; /* as it was written; not copied */
    struct str json; /* the same as JSON */
    struct value value;
    struct source_marks marks; /* of YAML, in the order of the JSON text */
};

/* The form of a file by the end of its name: .yaml and .yml, .json and .jsonc; else by its text. */
enum source_form source_form_of(const char *path, struct str text);

/*
 * Read a text. `text` must live as long as *out, everything else is in `mem`.
 * Errors have line and column: those of json_read(), and ERR_INVALID.
 */
bool source_read(struct arena *mem, enum source_form form, struct str text, struct source_text *out,
                 struct err *err) MUST_USE;

/* Which end of a member is meant. */
enum place_end { PLACE_VALUE, PLACE_KEY };

/*
 * Where the value that a JSON pointer leads to stands, or its key; for what is
 * not there, where the object or list stands that lacks it. `inner` counts
 * code points of a text from 1 on: the place of that one is meant; 0: the
 * whole. Memory in `mem` is for the search alone.
 */
struct place source_place(struct arena *mem, const struct source_text *s, struct str pointer,
                          enum place_end end, uint32_t inner);

/* The line and column of a byte of a text. */
struct place source_byte_place(struct str text, size_t offset);

#endif
