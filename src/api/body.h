/*
 * body.h - the JSON object that a request carries, read by a table of fields.
 *
 *     struct value type, payload;
 *     const struct body_field fields[] = {
 *         {"type", BODY_TEXT, true, .out = &type},
 *         {"payload", BODY_ANY, false, .out = &payload},
 *     };
 *
 * Two contracts are read here. Most calls take values as they are, by their
 * kind, and check them themselves; null counts as absent. Those of the planner
 * take bounds too, and hand all that was given to the store as one map; there
 * null clears what a change is about.
 */
#ifndef PAWL_API_BODY_H
#define PAWL_API_BODY_H

#include "define/findings.h"

enum body_kind {
    BODY_ANY,
    BODY_TEXT,
    BODY_INT,
    BODY_BOOL,
    BODY_OBJECT,
    BODY_IDS, /* a list of texts */
    /* with bounds only */
    BODY_SIGNED,  /* an integer that may be below 0 */
    BODY_TIME,    /* RFC 3339; becomes NAME_us, microseconds */
    BODY_OBJECTS, /* a list of objects with the fields `of` */
};

struct body_field {
    const char *name;
    enum body_kind kind;
    bool is_required;
    struct value *out; /* VALUE_ABSENT when it is not there or null; or NULL */
    /* bounds; where there are none to be read by, that of a text alone, when it is given */
    int64_t max;                 /* of a text its length, of a number its value; 0 = the usual */
    const char *words;           /* of a text: those that it may be, with spaces between; or NULL */
    const struct body_field *of; /* of objects: up to a row without a name */
};

/*
 * Read `text`, in which an empty text is an empty object. False: ERR_BAD_JSON
 * with line and column; or ERR_INVALID, and `findings` says for each field
 * what is wrong with it. Values live in `mem`.
 */
bool body_read(struct arena *mem, struct str text, const struct body_field *fields, size_t count,
               struct findings *findings, struct err *err) MUST_USE;

/*
 * The same with bounds, of fields up to a row without a name: *out is a map of
 * all that was given. ERR_VALIDATION_ERROR in place of ERR_INVALID.
 */
bool body_read_bounded(struct arena *mem, struct str text, const struct body_field *fields,
                       struct value *out, struct findings *findings, struct err *err) MUST_USE;

/* The same of an object that is part of a body. */
bool body_object_bounded(struct arena *mem, struct value object, const struct body_field *fields,
                         struct value *out, struct findings *findings, struct err *err) MUST_USE;

/* A finding about a field that is none of those, with the nearest of them as a hint. */
void body_unknown(struct arena *mem, struct findings *findings, struct str name,
                  const struct body_field *fields, size_t count);

/* A finding of our own about a field. */
void body_finding(struct arena *mem, struct findings *findings, const char *field, const char *code,
                  const char *format, ...) PRINTF_LIKE(5, 6);
void body_vfinding(struct arena *mem, struct findings *findings, const char *field,
                   const char *code, const char *format, va_list args);

/* What the last finding lacked: "did you mean 'x'?". Nothing when `nearest` is empty. */
void body_hint(struct arena *mem, struct findings *findings, struct str nearest);

#endif
