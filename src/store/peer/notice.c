/* notice.c - what nodes notify each other of: merging it, and its text; see notice.h. */
#include "store/peer/notice.h"

#include "base/arena.h"
#include "value/json.h"
#include "value/object.h"

unsigned shard_set_count(const struct shard_set *s)
{
    unsigned count = 0;

    for (unsigned i = 0; i < SHARD_COUNT; i++)
        count += shard_set_has(s, i);
    return count;
}

void notice_add_id(struct notice_ids *ids, struct uuid id)
{
    if (ids->count == NOTICE_IDS_MAX)
        ids->is_cut = true;
    else
        ids->items[ids->count++] = id;
}

/* Whether it is among them already. */
static bool notice_has_type(const struct peer_notice *n, struct str org_id, struct str type)
{
    for (size_t i = 0; i < n->types_len;) {
        struct str org = str_of(n->types + i);
        struct str name = str_of(n->types + i + org.len + 1);

        if (str_eq(org, org_id) && str_eq(name, type))
            return true;
        i += org.len + name.len + 2;
    }
    return false;
}

void notice_add_type(struct peer_notice *n, struct str org_id, struct str type)
{
    size_t len = org_id.len + type.len + 2;
    char *at = n->types + n->types_len;

    if (notice_has_type(n, org_id, type))
        return;
    if (len > sizeof(n->types) - n->types_len) {
        n->types_are_cut = true;
        return;
    }
    memcpy(at, org_id.ptr, org_id.len);
    at[org_id.len] = '\0';
    memcpy(at + org_id.len + 1, type.ptr, type.len);
    at[len - 1] = '\0';
    n->types_len += len;
}

static void notice_merge_ids(struct notice_ids *into, const struct notice_ids *more)
{
    for (unsigned i = 0; i < more->count; i++)
        notice_add_id(into, more->items[i]);
    into->is_cut |= more->is_cut;
}

void notice_merge(struct peer_notice *into, const struct peer_notice *more)
{
    for (unsigned i = 0; i < ARRAY_SIZE(into->shards.bits); i++)
        into->shards.bits[i] |= more->shards.bits[i];
    notice_merge_ids(&into->ended, &more->ended);
    notice_merge_ids(&into->awaited, &more->awaited);
    for (size_t i = 0; i < more->types_len;) {
        struct str org = str_of(more->types + i);
        struct str type = str_of(more->types + i + org.len + 1);

        notice_add_type(into, org, type);
        i += org.len + type.len + 2;
    }
    into->types_are_cut |= more->types_are_cut;
    into->definitions |= more->definitions;
    into->access |= more->access;
}

static bool ids_are_empty(const struct notice_ids *ids)
{
    return ids->count == 0 && !ids->is_cut;
}

bool notice_is_empty(const struct peer_notice *n)
{
    return shard_set_is_empty(&n->shards) && ids_are_empty(&n->ended) &&
           ids_are_empty(&n->awaited) && n->types_len == 0 && !n->types_are_cut &&
           !n->definitions && !n->access;
}

/* --- its text --- */

static void write_shards(struct buf *out, const struct shard_set *s)
{
    bool first = true;

    object_name(out, "shards");
    buf_char(out, '[');
    for (unsigned i = 0; i < SHARD_COUNT; i++) {
        if (!shard_set_has(s, i))
            continue;
        buf_printf(out, "%s%u", first ? "" : ",", i);
        first = false;
    }
    buf_char(out, ']');
}

static void write_ids(struct buf *out, const char *name, const struct notice_ids *ids)
{
    if (ids->is_cut) {
        object_text(out, name, STR("look"));
        return;
    }
    object_name(out, name);
    buf_char(out, '[');
    for (unsigned i = 0; i < ids->count; i++) {
        buf_text(out, i > 0 ? "," : "");
        json_write_string(out, UUID_STR(ids->items[i]));
    }
    buf_char(out, ']');
}

static void write_types(struct buf *out, const struct peer_notice *n)
{
    if (n->types_are_cut) {
        object_text(out, "jobs", STR("look"));
        return;
    }
    object_name(out, "jobs");
    buf_char(out, '[');
    for (size_t i = 0; i < n->types_len;) {
        struct str org = str_of(n->types + i);
        struct str type = str_of(n->types + i + org.len + 1);

        buf_text(out, i > 0 ? ",[" : "[");
        json_write_string(out, org);
        buf_char(out, ',');
        json_write_string(out, type);
        buf_char(out, ']');
        i += org.len + type.len + 2;
    }
    buf_char(out, ']');
}

static void write_members(struct buf *out, struct str node, const struct peer_notice *n, bool moved)
{
    buf_char(out, '{');
    object_text(out, "node", node);
    if (moved)
        object_bool(out, "moved", true);
    if (!shard_set_is_empty(&n->shards))
        write_shards(out, &n->shards);
    if (!ids_are_empty(&n->ended))
        write_ids(out, "ended", &n->ended);
    if (!ids_are_empty(&n->awaited))
        write_ids(out, "awaited", &n->awaited);
    if (n->types_len > 0 || n->types_are_cut)
        write_types(out, n);
    if (n->definitions)
        object_bool(out, "definitions", true);
    if (n->access)
        object_bool(out, "access", true);
    buf_char(out, '}');
}

void notice_write(struct buf *out, struct str node, const struct peer_notice *n, bool moved)
{
    struct peer_notice shorter = *n;

    write_members(out, node, n, moved);
    if (out->len <= NOTICE_TEXT_MAX)
        return;
    /* Names of jobs may be long when they are escaped. */
    shorter.types_are_cut = true;
    buf_clear(out);
    write_members(out, node, &shorter, moved);
}

static void read_shards(struct value list, struct shard_set *into)
{
    for (uint32_t i = 0; list.kind == VALUE_LIST && i < list.len; i++) {
        struct value v = list.items[i];

        if (v.kind == VALUE_INT && v.i >= 0 && v.i < SHARD_COUNT)
            shard_set_add(into, (unsigned)v.i);
    }
}

static void read_ids(struct value list, struct notice_ids *into)
{
    struct uuid id;

    into->is_cut |= list.kind == VALUE_STRING;
    for (uint32_t i = 0; list.kind == VALUE_LIST && i < list.len; i++)
        if (list.items[i].kind == VALUE_STRING && uuid_read(value_text(list.items[i]), &id))
            notice_add_id(into, id);
}

/* A name with a NUL in it is nobody's. */
static bool is_plain_text(struct value v)
{
    return v.kind == VALUE_STRING && memchr(value_text(v).ptr, '\0', value_text(v).len) == NULL;
}

static void read_types(struct value list, struct peer_notice *into)
{
    into->types_are_cut |= list.kind == VALUE_STRING;
    for (uint32_t i = 0; list.kind == VALUE_LIST && i < list.len; i++) {
        struct value pair = list.items[i];

        if (pair.kind == VALUE_LIST && pair.len == 2 && is_plain_text(pair.items[0]) &&
            is_plain_text(pair.items[1]))
            notice_add_type(into, value_text(pair.items[0]), value_text(pair.items[1]));
    }
}

static bool has_flag(struct value v, const char *name)
{
    return value_map_get_str(v, str_of(name)).kind == VALUE_BOOL;
}

void notice_read(struct arena *mem, struct str text, struct str own_node, struct peer_notice *into,
                 bool *moved)
{
    struct value v, node;
    struct err err;

    if (!json_read(mem, text, &v, &err) || v.kind != VALUE_MAP)
        return;
    node = value_map_get_str(v, STR("node"));
    if (node.kind == VALUE_STRING && str_eq(value_text(node), own_node))
        return;
    *moved |= has_flag(v, "moved");
    read_shards(value_map_get_str(v, STR("shards")), &into->shards);
    read_ids(value_map_get_str(v, STR("ended")), &into->ended);
    read_ids(value_map_get_str(v, STR("awaited")), &into->awaited);
    read_types(value_map_get_str(v, STR("jobs")), into);
    into->definitions |= has_flag(v, "definitions");
    into->access |= has_flag(v, "access");
}
