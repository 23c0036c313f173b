/* kind.c - the table behind kind.h. */
#include "define/kind.h"

#include "base/text/nearest.h"
#include "define/compile/compile.h"

static const struct kind_spec specs[] = {
#define DEFINITION_KIND(symbol, kind_name, kind_path, kind_shape, kind_key, kind_life, kind_use,   \
                        compiler, kind_state)                                                      \
    {.kind = KIND_##symbol,                                                                        \
     .name = (kind_name),                                                                          \
     .path = (kind_path),                                                                          \
     .shape = (kind_shape),                                                                        \
     .key = (kind_key),                                                                            \
     .life = KIND_##kind_life,                                                                     \
     .use = KIND_##kind_use,                                                                       \
     .state = KIND_##kind_state},
#include "define/kinds.def"
#undef DEFINITION_KIND
};

const struct kind_spec *kind_spec(enum kind kind)
{
    ASSERT(kind < KIND_COUNT);
    return &specs[kind];
}

const struct kind_spec *kind_named(struct str name)
{
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (str_eq(str_of(specs[i].name), name))
            return &specs[i];
    return NULL;
}

const struct kind_spec *kind_at(struct str path)
{
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (str_eq(str_of(specs[i].path), path))
            return &specs[i];
    return NULL;
}

bool kind_is_process(struct str name)
{
    const struct kind_spec *spec = kind_named(name);

    return spec != NULL && spec->use == KIND_PROCESS;
}

struct str kind_nearest(struct str name)
{
    struct nearest n = nearest_to(name);

    for (size_t i = 0; i < KIND_COUNT; i++)
        nearest_offer(&n, str_of(specs[i].name));
    return n.best;
}

const struct kind_spec *kind_of(struct value definition)
{
    struct value own;

    if (definition.kind != VALUE_MAP)
        return NULL;
    own = value_map_get_str(definition, STR("kind"));
    if (own.kind == VALUE_STRING)
        return kind_named(value_text(own));
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (specs[i].shape != NULL &&
            value_map_get_str(definition, str_of(specs[i].shape)).kind != VALUE_ABSENT)
            return &specs[i];
    return NULL;
}

struct value kind_body(struct arena *mem, const struct kind_spec *spec, struct value definition)
{
    struct value_entry *entries = ARENA_ARRAY(mem, definition.len + 1, struct value_entry);
    size_t count = 0;

    for (uint32_t i = 0; i < definition.len; i++) {
        struct str name = value_text(definition.map->entries[i].key);
        if (!str_eq(name, STR("kind")) && !str_eq(name, STR("$schema")) &&
            !str_eq(name, str_of(spec->key)))
            entries[count++] = definition.map->entries[i];
    }
    return value_map_take(mem, entries, count);
}

/* A map without a member. */
static struct value without_member(struct arena *mem, struct value map, struct str name)
{
    struct value_entry *entries = ARENA_ARRAY(mem, map.len + 1u, struct value_entry);
    size_t count = 0;

    for (uint32_t i = 0; i < map.len; i++)
        if (!str_eq(value_text(map.map->entries[i].key), name))
            entries[count++] = map.map->entries[i];
    return value_map_take(mem, entries, count);
}

struct value kind_meaning(struct arena *mem, const struct kind_spec *spec, struct value definition)
{
    struct value nodes = value_map_member(definition, STR("nodes")), *items;
    struct value_entry *entries;

    if (spec->kind != KIND_SCHEMA || nodes.kind != VALUE_LIST)
        return definition;
    items = ARENA_ARRAY(mem, nodes.len + 1u, struct value);
    for (uint32_t i = 0; i < nodes.len; i++)
        items[i] = nodes.items[i].kind == VALUE_MAP
                       ? without_member(mem, nodes.items[i], STR("position"))
                       : nodes.items[i];
    entries = ARENA_ARRAY(mem, definition.len, struct value_entry);
    for (uint32_t i = 0; i < definition.len; i++) {
        entries[i] = definition.map->entries[i];
        if (str_eq(value_text(entries[i].key), STR("nodes")))
            entries[i].value = value_list(items, nodes.len);
    }
    return value_map_take(mem, entries, definition.len);
}

bool kind_allows_name(const struct kind_spec *spec, struct str name)
{
    return strcmp(spec->key, "name") == 0 ? compile_is_name(name) : compile_is_code(name);
}

const char *kind_name_rule(const struct kind_spec *spec)
{
    return strcmp(spec->key, "name") == 0
               ? PHRASE("a name is a letter or '_', then up to 99 letters, digits or '_'")
               : PHRASE("a code is a small letter, then up to 99 small letters, digits or '_'");
}
