/*
 * stored.h - the parts of an execution as stored JSON: which member of a struct
 * has which name, reading what may be missing, and what is damaged. For
 * restore.c, cursor.c, state_copy.c, sound.c and visits.c; others say stored_broken() alone.
 */
#ifndef PAWL_ENGINE_STORED_H
#define PAWL_ENGINE_STORED_H

#include "base/buf.h"
#include "value/json.h"

#include <stddef.h>

/* What is 0 or empty is not written, and what is missing reads as that. */
enum stored_kind {
    STORED_COUNT,  /* int64_t; written as 0, too */
    STORED_NUMBER, /* int64_t */
    STORED_FLAG,   /* bool, as 1 */
    STORED_TEXT,   /* struct str */
    STORED_JSON,   /* struct str that holds JSON */
};

/* A member of a struct: one row serves to write, to read and to copy it. */
struct stored_field {
    enum stored_kind kind;
    const char *name;
    size_t offset;
};

struct stored_fields {
    const struct stored_field *items;
    size_t count;
};

/* cursor.c; of the cursor that a rollback began at, those that a retry needs. */
extern const struct stored_fields stored_cursor, stored_from, stored_reconciling, stored_rollback,
    stored_pause, stored_debug;

/* Append the members of the struct `from` to an object that is open. */
void stored_write(struct buf *out, struct stored_fields fields, const void *from);

/* The members of the struct `to`, whose texts lie in `stored` or in `mem`. */
void stored_restore(struct arena *mem, struct stored_fields fields, struct value stored, void *to);

/* The texts of the struct `of` become copies in `mem`. */
void stored_copy_texts(struct arena *mem, struct stored_fields fields, void *of);

/* Whether a stored number can be one: counts and times are small enough to be added to. */
static inline bool stored_counts(int64_t n)
{
    return n >= 0 && n <= INT64_C(1) << 53;
}

/* A member that is such a number; else 0, as when it is missing. */
int64_t stored_int(struct value stored, struct str name);

bool stored_broken(struct err *err, const char *what);

/* An empty text is an empty object. */
bool stored_read(struct arena *mem, struct str text, struct value *out, struct err *err) MUST_USE;

/* The same for what is an object, or damaged. */
bool stored_read_map(struct arena *mem, struct str text, struct value *out,
                     struct err *err) MUST_USE;

#endif
