/*
 * object.h - append the members of a JSON object to a buffer.
 *
 *     object_begin(&out, mem);
 *     object_text(&out, "code", code);
 *     object_time(&out, "createdAt", created_at_us);
 *     text = object_end(&out);
 *
 * Commas are put where the buffer does not end in '{' or '['. What is empty,
 * or 0 for a time, becomes null.
 */
#ifndef PAWL_VALUE_OBJECT_H
#define PAWL_VALUE_OBJECT_H

#include "base/buf.h"
#include "base/uuid.h"

/* An object in a buffer of its own: up to its '{', and from its '}' on the whole of it. */
void object_begin(struct buf *out, struct arena *mem);
struct str object_end(struct buf *out);

/* The same with the members of an object that was written or stored before. */
void object_begin_with(struct buf *out, struct arena *mem, struct str json);

/* The comma, if one is needed: before an item of a list. */
void object_next(struct buf *out);

/* Name and colon, the value being the caller's. */
void object_name(struct buf *out, const char *name);

/* A member that is a list or an object, and an item that is an object, up to its '[' or '{'. */
void object_list(struct buf *out, const char *name);
void object_nested(struct buf *out, const char *name);
void object_item(struct buf *out);

void object_text(struct buf *out, const char *name, struct str text);
void object_json(struct buf *out, const char *name, struct str json);
void object_int(struct buf *out, const char *name, int64_t n);
void object_bool(struct buf *out, const char *name, bool b);
void object_time(struct buf *out, const char *name, int64_t us);
void object_id(struct buf *out, const char *name, struct uuid id);

#endif
