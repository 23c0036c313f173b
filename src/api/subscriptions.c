/* subscriptions.c - see subscriptions.h. */
#include "api/subscriptions.h"

#include "value/json.h"

/* The members of a map but for this one, with another in its place unless that is absent. */
static struct value replace_member(struct arena *mem, struct value map, struct str name,
                                   struct str other, struct value v)
{
    struct value_entry *entries = ARENA_ARRAY(mem, map.len + 1, struct value_entry);
    size_t count = 0;

    for (uint32_t i = 0; i < map.len; i++)
        if (!str_eq(value_text(map.map->entries[i].key), name))
            entries[count++] = map.map->entries[i];
    if (v.kind != VALUE_ABSENT)
        entries[count++] = (struct value_entry){.key = value_key(other), .value = v};
    return value_map_take(mem, entries, count);
}

static struct str text_of(struct arena *mem, struct value v)
{
    struct buf out;
    struct err err;

    buf_init_arena(&out, mem);
    if (!json_write(&out, v, &err))
        PANIC("what was read as JSON cannot be written");
    return buf_view(&out);
}

bool subscriptions_take(struct reader *reader, struct arena *mem, struct definition_item *item,
                        struct err *err)
{
    const struct str name = STR("secret");
    struct value given = value_map_get_str(item->definition, name), before, kept = value_absent();
    struct stored_definition stored;
    bool found;

    if (given.kind != VALUE_ABSENT && given.kind != VALUE_NULL)
        return true;
    if (given.kind == VALUE_ABSENT) {
        if (!read_definition(reader, mem, STR("subscription"), item->code, -1, &stored, &found,
                             err) ||
            (found && !json_read(mem, stored.text, &before, err)))
            return false;
        if (found)
            kept = value_map_get_str(before, name);
    }
    item->definition = replace_member(mem, item->definition, name, name, kept);
    item->text = text_of(mem, item->definition);
    return true;
}

struct str subscriptions_shown(struct arena *mem, struct str text, bool tells)
{
    const struct str name = STR("secret");
    struct value v;
    struct err err;

    if (!json_read(mem, text, &v, &err))
        PANIC("a stored subscription does not read back");
    v = replace_member(mem, v, name, STR("hasSecret"),
                       tells ? value_bool(value_map_get_str(v, name).kind == VALUE_STRING)
                             : value_absent());
    return text_of(mem, v);
}
