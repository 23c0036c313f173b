/* callback_payload.c - see callback_payload.h. */
#include "api/executions/callback_payload.h"

#include "base/vec.h"
#include "value/json.h"

enum { FLAT_DEPTH_MAX = 16 };

struct flat_fields {
    VEC_OF(struct value);
};

enum param_type page_type_of(struct value field)
{
    static const char *const names[] = {
#define PARAM(symbol, name, cel_type, wanted) name,
#include "define/catalog/param_types.def"
#undef PARAM
    };
    struct str type = value_map_text(field, STR("type"));

    for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
        if (str_eq(type, str_of(names[i])))
            return (enum param_type)i;
    return PARAM_ANY;
}

/* A value as it stands in a text field. */
struct str page_plain_text(struct arena *mem, struct value v)
{
    struct buf out;
    struct err err;

    if (v.kind == VALUE_STRING)
        return value_text(v);
    buf_init_arena(&out, mem);
    return v.kind != VALUE_ABSENT && json_write(&out, v, &err) ? buf_view(&out) : STR_NONE;
}

/* --- fields of objects --- */

static struct str label_of(struct value field)
{
    struct str label = value_map_text(field, STR("label"));

    return label.len > 0 ? label : value_map_text(field, STR("name"));
}

/* The field of an object: its name begins with that of the object, and so does its label. */
static struct value field_within(struct arena *mem, struct value object, struct value field)
{
    struct value_entry *entries = ARENA_ARRAY(mem, field.len + 3u, struct value_entry);
    struct str inner = label_of(field), outer = label_of(object);
    bool is_required =
        value_map_is_true(object, STR("required")) && value_map_is_true(field, STR("required"));
    size_t count = 0;

    for (uint32_t i = 0; i < field.len; i++) {
        struct str key = value_text(field.map->entries[i].key);

        if (!str_eq(key, STR("name")) && !str_eq(key, STR("label")) &&
            !str_eq(key, STR("required")))
            entries[count++] = field.map->entries[i];
    }
    entries[count++] = (struct value_entry){
        value_key(STR("name")),
        value_string(str_printf(mem, "%.*s.%.*s", STR_ARG(value_map_text(object, STR("name"))),
                                STR_ARG(value_map_text(field, STR("name")))))};
    entries[count++] = (struct value_entry){
        value_key(STR("label")),
        value_string(str_printf(mem, "%.*s: %.*s", STR_ARG(outer), STR_ARG(inner)))};
    entries[count++] = (struct value_entry){value_key(STR("required")), value_bool(is_required)};
    return value_map_take(mem, entries, count);
}

static void add_flat(struct arena *mem, struct value field, int depth, struct flat_fields *out)
{
    struct value fields = value_map_member(field, STR("fields"));

    if (page_type_of(field) != PARAM_OBJECT || fields.kind != VALUE_LIST || fields.len == 0 ||
        depth >= FLAT_DEPTH_MAX) {
        *VEC_ADD(mem, out) = field;
        return;
    }
    for (uint32_t i = 0; i < fields.len; i++)
        if (fields.items[i].kind == VALUE_MAP)
            add_flat(mem, field_within(mem, field, fields.items[i]), depth + 1, out);
}

struct value page_flat(struct arena *mem, struct value form)
{
    struct flat_fields flat = {0};

    if (form.kind != VALUE_LIST)
        return form;
    for (uint32_t i = 0; i < form.len; i++)
        add_flat(mem, form.items[i], 0, &flat);
    return value_list(flat.items, (uint32_t)flat.count);
}

/* A map, or nothing yet, with `v` under this key. */
static struct value with_entry(struct arena *mem, struct value map, struct str key, struct value v)
{
    uint32_t len = map.kind == VALUE_MAP ? map.len : 0;
    struct value_entry *entries = ARENA_ARRAY(mem, len + 1u, struct value_entry);
    size_t count = 0;

    for (uint32_t i = 0; i < len; i++)
        if (!str_eq(value_text(map.map->entries[i].key), key))
            entries[count++] = map.map->entries[i];
    entries[count++] = (struct value_entry){value_key(key), v};
    return value_map_take(mem, entries, count);
}

/* The same for a name which leads into objects where it has dots. */
static struct value with_named(struct arena *mem, struct value map, struct str name, struct value v)
{
    int64_t dot = str_find(name, STR("."), 0);
    struct str key = dot < 0 ? name : str_slice(name, 0, (size_t)dot);

    if (dot >= 0)
        v = with_named(mem, value_map_member(map, key), str_slice(name, (size_t)dot + 1, name.len),
                       v);
    return with_entry(mem, map, key, v);
}

/* --- what was filled in --- */

/* A browser ends the lines of a text with CR LF. */
static struct str unix_lines(struct arena *mem, struct str text)
{
    char *out = arena_copy(mem, text.ptr, text.len);
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] != '\r' || i + 1 == text.len || text.ptr[i + 1] != '\n')
            out[len++] = text.ptr[i];
    return str_from(out, len);
}

/* A text as the type wants it; as it is when it is none of these. */
static struct value read_filled(struct arena *mem, struct value field, struct str text)
{
    struct value allowed = value_map_get_str(field, STR("enum")), v;
    struct err err;

    for (uint32_t i = 0; allowed.kind == VALUE_LIST && i < allowed.len; i++)
        if (str_eq(page_plain_text(mem, allowed.items[i]), text))
            return allowed.items[i];
    switch (page_type_of(field)) {
    case PARAM_NUMBER:
    case PARAM_INTEGER:
    case PARAM_BOOLEAN:
    case PARAM_OBJECT:
    case PARAM_ARRAY:
        return json_read(mem, str_trim(text), &v, &err) ? v : value_string(text);
    case PARAM_DATETIME:
        /* A browser leaves out the zone, and the seconds when there are none. */
        if (text.len == 16 && text.ptr[10] == 'T')
            return value_string(str_printf(mem, "%.*s:00Z", STR_ARG(text)));
        if (text.len >= 19 && text.ptr[10] == 'T' && str_find(text, STR("Z"), 0) < 0 &&
            str_find(text, STR("+"), 0) < 0 && str_find(text, STR("-"), 11) < 0)
            return value_string(str_printf(mem, "%.*sZ", STR_ARG(text)));
        return value_string(text);
    case PARAM_STRING:
        return value_string(unix_lines(mem, text));
    case PARAM_UUID:
    case PARAM_DATE:
    case PARAM_ANY:
    case PARAM_TYPE_COUNT:
        return value_string(text);
    }
    PANIC("unknown type of a field");
}

struct value page_payload(struct arena *mem, struct value form, const struct urlencoded *given)
{
    struct value flat = page_flat(mem, form), payload = value_map_empty();

    for (size_t i = 0; i < given->count; i++) {
        const struct urlencoded_field *g = &given->items[i];
        struct value v = value_string(g->text);
        bool is_first = urlencoded_find(given, g->name) == g, is_left_empty = false;
        bool is_known = false;

        for (uint32_t k = 0; flat.kind == VALUE_LIST && k < flat.len; k++)
            if (str_eq(value_map_text(flat.items[k], STR("name")), g->name)) {
                is_known = true;
                is_left_empty = g->text.len == 0;
                v = read_filled(mem, flat.items[k], g->text);
            }
        if (!is_first || is_left_empty)
            continue;
        /* What is no field of the form keeps its name, and is refused under it. */
        payload =
            is_known ? with_named(mem, payload, g->name, v) : with_entry(mem, payload, g->name, v);
    }
    return payload;
}
