/*
 * body.h - the JSON object that a request carries, read by a table of fields.
 *
 *     struct value type, payload;
 *     const struct body_field fields[] = {
 *         {"type", BODY_TEXT, true, &type},
 *         {"payload", BODY_ANY, false, &payload},
 *     };
 */
#ifndef PAWL_API_BODY_H
#define PAWL_API_BODY_H

#include "define/define.h"

enum body_kind { BODY_ANY, BODY_TEXT, BODY_INT, BODY_BOOL, BODY_OBJECT };

struct body_field {
    const char *name;
    enum body_kind kind;
    bool is_required;
    struct value *out; /* VALUE_ABSENT when it is not there or null */
};

/*
 * Read `text`, in which an empty text is an empty object. False: ERR_BAD_JSON
 * with line and column; or ERR_INVALID, and `findings` says for each field
 * what is wrong with it. Values live in `mem`.
 */
bool body_read(struct arena *mem, struct str text, const struct body_field *fields, size_t count,
               struct findings *findings, struct err *err) MUST_USE;

/* A finding about a field that is none of those, with the nearest of them as a hint. */
void body_unknown(struct arena *mem, struct findings *findings, struct str name,
                  const struct body_field *fields, size_t count);

/* A finding of our own about a field. */
void body_finding(struct arena *mem, struct findings *findings, const char *field, const char *code,
                  struct str message);

#endif
