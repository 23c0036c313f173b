/* headers.c - see headers.h. */
#include "effect/broker/headers.h"

#include "effect/broker/link.h"

enum {
    NAME_MAX_BYTES = 255,
    HEADERS_MAX_BYTES = 100 << 10, /* one frame holds all of them */
    HEADERS_DEPTH_MAX = 32,
    FIELD_BYTES = 16, /* what a value takes beside its text, or more */
};

static bool field_of(struct arena *mem, struct value v, unsigned depth, size_t *bytes,
                     amqp_field_value_t *out);

static bool list_of(struct arena *mem, struct value v, unsigned depth, size_t *bytes,
                    amqp_array_t *out)
{
    out->num_entries = (int)v.len;
    out->entries = ARENA_ARRAY(mem, v.len + 1, amqp_field_value_t);
    for (uint32_t i = 0; i < v.len; i++)
        if (!field_of(mem, v.items[i], depth + 1, bytes, &out->entries[i]))
            return false;
    return true;
}

static bool table_of(struct arena *mem, struct value map, unsigned depth, size_t *bytes,
                     amqp_table_t *out)
{
    uint32_t count = map.len;

    if (depth > HEADERS_DEPTH_MAX || count > HEADERS_MAX_BYTES / FIELD_BYTES)
        return false;
    out->num_entries = (int)count;
    out->entries = ARENA_ARRAY(mem, count + 1, amqp_table_entry_t);
    for (uint32_t i = 0; i < count; i++) {
        const struct value_entry *e = &map.map->entries[i];
        struct str name = value_text(e->key);

        *bytes += name.len;
        if (name.len > NAME_MAX_BYTES)
            return false;
        out->entries[i].key = link_bytes(name);
        if (!field_of(mem, e->value, depth + 1, bytes, &out->entries[i].value))
            return false;
    }
    return true;
}

static bool field_of(struct arena *mem, struct value v, unsigned depth, size_t *bytes,
                     amqp_field_value_t *out)
{
    *bytes += FIELD_BYTES;
    if (depth > HEADERS_DEPTH_MAX || *bytes > HEADERS_MAX_BYTES)
        return false;
    *out = (amqp_field_value_t){.kind = AMQP_FIELD_KIND_VOID};
    if (v.kind == VALUE_BOOL) {
        out->kind = AMQP_FIELD_KIND_BOOLEAN;
        out->value.boolean = value_is_true(v);
    } else if (v.kind == VALUE_INT) {
        out->kind = AMQP_FIELD_KIND_I64;
        out->value.i64 = v.i;
    } else if (v.kind == VALUE_DOUBLE) {
        out->kind = AMQP_FIELD_KIND_F64;
        out->value.f64 = v.d;
    } else if (v.kind == VALUE_STRING) {
        *bytes += v.len;
        out->kind = AMQP_FIELD_KIND_UTF8;
        out->value.bytes = link_bytes(value_text(v));
    } else if (v.kind == VALUE_LIST) {
        out->kind = AMQP_FIELD_KIND_ARRAY;
        return list_of(mem, v, depth, bytes, &out->value.array);
    } else if (v.kind == VALUE_MAP) {
        out->kind = AMQP_FIELD_KIND_TABLE;
        return table_of(mem, v, depth, bytes, &out->value.table);
    }
    return *bytes <= HEADERS_MAX_BYTES;
}

bool headers_of(struct arena *mem, struct value map, amqp_table_t *out)
{
    size_t bytes = 0;

    *out = amqp_empty_table;
    return map.kind != VALUE_MAP || table_of(mem, map, 0, &bytes, out);
}
