/* diff.c - see diff.h. */
#include "value/diff.h"

#include "value/path.h"

/* Longer lists are compared by position: looking for codes takes the square of it. */
enum { CODED_MAX = 200 };

struct diff_walk {
    struct arena *mem;
    struct buf path;
    size_t max;
    struct differences *out;
};

static void compare(struct diff_walk *w, struct value from, struct value to);

static void add(struct diff_walk *w, struct value from, struct value to)
{
    if (w->out->count < w->max)
        *VEC_ADD(w->mem, w->out) = (struct difference){
            .pointer = str_copy(w->mem, buf_view(&w->path)), .from = from, .to = to};
}

static void compare_item(struct diff_walk *w, uint32_t at, struct value from, struct value to)
{
    size_t outer = w->path.len;

    path_add_index(&w->path, at);
    compare(w, from, to);
    w->path.len = outer;
}

/* --- lists whose items have codes, as steps have --- */

static struct str diff_code(struct value item)
{
    struct value code =
        item.kind == VALUE_MAP ? value_map_get_str(item, STR("code")) : value_absent();

    return code.kind == VALUE_STRING ? value_text(code) : STR_NONE;
}

/* Where the item with this code is, from `first` on; the length of the list: nowhere. */
static uint32_t find_code(struct value list, struct str code, uint32_t first)
{
    while (first < list.len && !str_eq(diff_code(list.items[first]), code))
        first++;
    return first;
}

static bool has_codes(struct value list)
{
    if (list.len > CODED_MAX)
        return false;
    for (uint32_t i = 0; i < list.len; i++) {
        struct str code = diff_code(list.items[i]);

        if (code.len == 0 || find_code(list, code, i + 1) < list.len)
            return false;
    }
    return true;
}

static void compare_coded(struct diff_walk *w, struct value from, struct value to)
{
    uint32_t last = 0;
    bool is_moved = false;

    for (uint32_t i = 0; i < from.len; i++)
        if (find_code(to, diff_code(from.items[i]), 0) == to.len)
            compare_item(w, i, from.items[i], value_absent());
    for (uint32_t i = 0; i < to.len; i++) {
        uint32_t at = find_code(from, diff_code(to.items[i]), 0);

        compare_item(w, i, at < from.len ? from.items[at] : value_absent(), to.items[i]);
        if (at == from.len)
            continue;
        is_moved = is_moved || at < last;
        last = at;
    }
    if (is_moved)
        add(w, from, to);
}

static void compare_lists(struct diff_walk *w, struct value from, struct value to)
{
    uint32_t count = from.len > to.len ? from.len : to.len;

    if (has_codes(from) && has_codes(to)) {
        compare_coded(w, from, to);
        return;
    }
    for (uint32_t i = 0; i < count && w->out->count < w->max; i++)
        compare_item(w, i, i < from.len ? from.items[i] : value_absent(),
                     i < to.len ? to.items[i] : value_absent());
}

static void compare_member(struct diff_walk *w, struct value key, struct value from,
                           struct value to)
{
    size_t outer = w->path.len;

    path_add(&w->path, value_text(key));
    compare(w, from, to);
    w->path.len = outer;
}

static bool has_same_order(struct value a, struct value b)
{
    for (uint32_t i = 0; i < a.len; i++)
        if (!str_eq(value_text(a.map->entries[i].key), value_text(b.map->entries[i].key)))
            return false;
    return true;
}

static void compare_maps(struct diff_walk *w, struct value from, struct value to)
{
    size_t before = w->out->count;

    for (uint32_t i = 0; i < from.len; i++) {
        const struct value_entry *e = &from.map->entries[i];
        compare_member(w, e->key, e->value, value_map_get(to, e->key));
    }
    for (uint32_t i = 0; i < to.len; i++) {
        const struct value_entry *e = &to.map->entries[i];
        if (value_map_get(from, e->key).kind == VALUE_ABSENT)
            compare_member(w, e->key, value_absent(), e->value);
    }
    if (w->out->count == before && !has_same_order(from, to))
        add(w, from, to);
}

static void compare(struct diff_walk *w, struct value from, struct value to)
{
    if (from.kind == VALUE_MAP && to.kind == VALUE_MAP)
        compare_maps(w, from, to);
    else if (from.kind == VALUE_LIST && to.kind == VALUE_LIST)
        compare_lists(w, from, to);
    else if (from.kind != to.kind || !value_equal(from, to, NULL))
        add(w, from, to);
}

void value_diff(struct arena *mem, struct value from, struct value to, size_t max,
                struct differences *out)
{
    struct diff_walk w = {.mem = mem, .max = max, .out = out};

    buf_init_arena(&w.path, mem);
    compare(&w, from, to);
}
