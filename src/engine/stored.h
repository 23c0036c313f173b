/*
 * stored.h - reading stored JSON: members that may be missing, and what is
 * damaged. For restore.c and cursor.c alone.
 */
#ifndef PAWL_ENGINE_STORED_H
#define PAWL_ENGINE_STORED_H

#include "base/buf.h"
#include "value/json.h"

/* A member, absent where there is none or no object. */
static inline struct value stored_field(struct value map, struct str key)
{
    return map.kind == VALUE_MAP ? value_map_get_str(map, key) : value_absent();
}

static inline int64_t stored_int(struct value map, struct str key)
{
    struct value v = stored_field(map, key);

    return v.kind == VALUE_INT ? v.i : 0;
}

static inline struct str stored_text(struct value map, struct str key)
{
    struct value v = stored_field(map, key);

    return v.kind == VALUE_STRING ? value_text(v) : STR_NONE;
}

static inline struct str stored_json(struct arena *mem, struct value v)
{
    struct buf out;
    struct err err;

    buf_init_arena(&out, mem);
    if (!json_write(&out, v, &err))
        PANIC("what was read as JSON can be written as JSON");
    return buf_view(&out);
}

static inline bool stored_broken(struct err *err, const char *what)
{
    return err_set(err, ERR_INTERNAL, "the stored execution is damaged: %s", what);
}

/* An empty text is an empty object. */
static inline bool stored_read(struct arena *mem, struct str text, struct value *out,
                               struct err *err)
{
    struct err cause;

    if (text.len == 0) {
        *out = value_map_empty();
        return true;
    }
    return json_read(mem, text, out, &cause) || stored_broken(err, cause.message);
}

#endif
