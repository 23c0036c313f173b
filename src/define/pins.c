/* pins.c - see pins.h. */
#include "define/pins.h"

#include "cel/cel.h"
#include "define/function.h"
#include "define/program.h"
#include "value/json.h"
#include "value/object.h"

#include <stdlib.h>

/* --- collecting --- */

/* The functions that a program was compiled with, and those that it reaches, each once. */
struct reached {
    struct arena *mem;
    const struct function *all;
    size_t all_count;
    struct {
        VEC_OF(const struct function *);
    } found;
};

static void reach(struct reached *r, struct str name)
{
    for (size_t i = 0; i < r->found.count; i++)
        if (str_eq(r->found.items[i]->name, name))
            return;
    for (size_t i = 0; i < r->all_count; i++)
        if (str_eq(r->all[i].name, name))
            *VEC_ADD(r->mem, &r->found) = &r->all[i];
}

static void reach_called(struct reached *r, const struct function *f)
{
    struct str name;

    for (uint32_t k = 0; (name = cel_program_call(f->body, k)).len > 0; k++)
        if (str_starts_with(name, STR("fn.")))
            reach(r, str_slice(name, 3, name.len));
}

static void pins_collect_functions(struct reached *r, const struct program *p, struct pin_list *out)
{
    for (uint32_t i = 0; i < p->function_count; i++)
        reach(r, p->functions[i].name);
    /* What is found grows while it is gone through. */
    for (size_t i = 0; i < r->found.count; i++)
        reach_called(r, r->found.items[i]);
    for (size_t i = 0; i < r->found.count; i++)
        *VEC_ADD(r->mem, out) =
            (struct pinned){.name = r->found.items[i]->name, .version = r->found.items[i]->version};
}

static int by_name(const void *a, const void *b)
{
    const struct pinned *x = a, *y = b;

    return str_cmp(x->name, y->name);
}

static void sort(struct pin_list *list)
{
    if (list->count > 1)
        qsort(list->items, list->count, sizeof(*list->items), by_name);
}

void pins_collect(struct arena *mem, const struct program *p, const struct function *all,
                  size_t count, struct pins *out)
{
    struct reached r = {.mem = mem, .all = all, .all_count = count};

    *out = (struct pins){0};
    for (uint32_t i = 0; i < p->procedure_count; i++)
        if (p->procedures[i]->kind == PROCEDURE_REGISTRY)
            *VEC_ADD(mem, &out->procedures) = (struct pinned){.name = p->procedures[i]->name,
                                                              .version = p->procedures[i]->version};
    pins_collect_functions(&r, p, &out->functions);
    sort(&out->procedures);
    sort(&out->functions);
}

bool pins_are_empty(const struct pins *pins)
{
    return pins->procedures.count == 0 && pins->functions.count == 0;
}

int64_t pins_version(const struct pin_list *list, struct str name)
{
    for (size_t i = 0; i < list->count; i++)
        if (str_eq(list->items[i].name, name))
            return list->items[i].version;
    return 0;
}

/* --- as text --- */

static void write_list(struct buf *out, const char *field, const struct pin_list *list)
{
    buf_printf(out, "\"%s\":{", field);
    for (size_t i = 0; i < list->count; i++) {
        buf_text(out, i > 0 ? "," : "");
        json_write_string(out, list->items[i].name);
        buf_printf(out, ":%lld", (long long)list->items[i].version);
    }
    buf_char(out, '}');
}

struct str pins_write(struct arena *mem, const struct pins *pins)
{
    struct buf out;

    object_begin(&out, mem);
    write_list(&out, "procedures", &pins->procedures);
    buf_char(&out, ',');
    write_list(&out, "functions", &pins->functions);
    return object_end(&out);
}

static bool read_list(struct arena *mem, struct value pins, struct str field, struct pin_list *out)
{
    struct value map = value_map_member(pins, field);

    *out = (struct pin_list){0};
    if (map.kind != VALUE_MAP)
        return false;
    for (uint32_t i = 0; i < map.len; i++) {
        const struct value_entry *e = &map.map->entries[i];

        if (e->value.kind != VALUE_INT || e->value.i <= 0)
            return false;
        *VEC_ADD(mem, out) =
            (struct pinned){.name = str_copy(mem, value_text(e->key)), .version = e->value.i};
    }
    return true;
}

bool pins_read(struct arena *mem, struct str text, struct pins *out, struct err *err)
{
    struct value v;

    if (!json_read(mem, text, &v, err))
        return err_set(err, ERR_INTERNAL, "pinned versions are damaged");
    return (read_list(mem, v, STR("procedures"), &out->procedures) &&
            read_list(mem, v, STR("functions"), &out->functions)) ||
           err_set(err, ERR_INTERNAL, "pinned versions are damaged");
}
