/* urlencoded.h - bodies of type application/x-www-form-urlencoded, as HTML forms send them. */
#ifndef PAWL_HTTP_URLENCODED_H
#define PAWL_HTTP_URLENCODED_H

#include "base/err.h"
#include "base/vec.h"

enum { URLENCODED_FIELDS_MAX = 1000 };

struct urlencoded_field {
    struct str name, text;
};

struct urlencoded {
    VEC_OF(struct urlencoded_field);
};

/* Whether a Content-Type says that a body is one. */
bool urlencoded_is(struct str content_type);

/* In the order of the body, in `mem`. ERR_BAD_REQUEST: it is no text, or has too many fields. */
bool urlencoded_read(struct arena *mem, struct str body, struct urlencoded *out,
                     struct err *err) MUST_USE;

/* The first field of that name, or NULL. */
const struct urlencoded_field *urlencoded_find(const struct urlencoded *all, struct str name);

#endif
