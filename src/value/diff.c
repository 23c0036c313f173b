/* diff.c - see diff.h. */
#include "value/diff.h"

#include "value/path.h"

struct walk {
    struct arena *mem;
    struct buf path;
    size_t max;
    struct differences *out;
};

static void compare(struct walk *w, struct value from, struct value to);

static void add(struct walk *w, struct value from, struct value to)
{
    if (w->out->count < w->max)
        *VEC_ADD(w->mem, w->out) = (struct difference){
            .pointer = str_copy(w->mem, buf_view(&w->path)), .from = from, .to = to};
}

static void compare_lists(struct walk *w, struct value from, struct value to)
{
    uint32_t count = from.len > to.len ? from.len : to.len;

    for (uint32_t i = 0; i < count && w->out->count < w->max; i++) {
        size_t outer = w->path.len;

        path_add_index(&w->path, i);
        compare(w, i < from.len ? from.items[i] : value_absent(),
                i < to.len ? to.items[i] : value_absent());
        w->path.len = outer;
    }
}

static void compare_member(struct walk *w, struct value key, struct value from, struct value to)
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

static void compare_maps(struct walk *w, struct value from, struct value to)
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

static void compare(struct walk *w, struct value from, struct value to)
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
    struct walk w = {.mem = mem, .max = max, .out = out};

    buf_init_arena(&w.path, mem);
    compare(&w, from, to);
}
