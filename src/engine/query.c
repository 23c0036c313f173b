/*
 * query.c - record.query: filter, order and limit the records of one object;
 * see turn.h.
 *
 * It sees a committed snapshot with the writes of this turn laid over it, and
 * has no protection against records that others add meanwhile.
 */
#include "engine/turn.h"
#include "value/json.h"

#include <stdlib.h>

enum { LIMIT_DEFAULT = 100, ORDERS_MAX = 8 };

struct found {
    struct value record;
    uint32_t place; /* among those found: the order of equals */
};

/* orderBy: "amount", "amount desc", or a list of these. */
struct order {
    struct str field;
    bool descending;
};

struct orders {
    struct order items[ORDERS_MAX];
    unsigned count;
};

static const struct object_read *find_object(const struct turn *t, struct str object)
{
    const struct object_reads *reads = t->ev->objects;

    for (size_t i = 0; reads != NULL && i < reads->count; i++)
        if (str_eq(reads->items[i].object, object))
            return &reads->items[i];
    return NULL;
}

/* --- order --- */

static bool add_order(struct orders *orders, struct value v)
{
    struct order *o;
    struct str text;

    if (v.kind != VALUE_STRING || v.len == 0 || orders->count == ORDERS_MAX)
        return false;
    text = value_text(v);
    o = &orders->items[orders->count++];
    o->descending = str_ends_with(text, STR(" desc"));
    if (o->descending)
        text = str_slice(text, 0, text.len - 5);
    else if (str_ends_with(text, STR(" asc")))
        text = str_slice(text, 0, text.len - 4);
    o->field = text;
    return true;
}

static bool read_orders(struct turn *t, const struct command *c, struct orders *out)
{
    struct value v;
    bool ok = true;

    out->count = 0;
    if (!command_field(t, c, FIELD_ORDER_BY, &v))
        return false;
    if (v.kind == VALUE_LIST)
        for (uint32_t i = 0; ok && i < v.len; i++)
            ok = add_order(out, v.items[i]);
    else if (v.kind != VALUE_ABSENT)
        ok = add_order(out, v);
    if (!ok)
        (void)turn_fail(t, STR("validation_type"), STR("business"),
                        "'orderBy' must be a field, \"field desc\", or a list of up to %d of them",
                        ORDERS_MAX);
    return ok;
}

/* Values that have no order among themselves go by their kind. */
static int compare(struct value a, struct value b)
{
    int c = value_compare(a, b);

    if (c == VALUE_INCOMPARABLE || c == VALUE_UNORDERED)
        c = (a.kind > b.kind) - (a.kind < b.kind);
    return c;
}

static int by_orders(const void *a, const void *b, void *context)
{
    const struct found *x = a, *y = b;
    const struct orders *orders = context;

    for (unsigned i = 0; i < orders->count; i++) {
        const struct order *o = &orders->items[i];
        int c =
            compare(value_map_get_str(x->record, o->field), value_map_get_str(y->record, o->field));
        if (c != 0)
            return o->descending ? -c : c;
    }
    return (x->place > y->place) - (x->place < y->place);
}

/* --- filter --- */

struct selection {
    const struct cel_program *where;
    struct found *found;
    uint32_t count;
};

static enum step_end consider(struct turn *t, struct selection *s, struct value record)
{
    struct value v = value_bool(true);

    if (s->where != NULL) {
        t->slots[ROOT_RECORD] = record;
        v = cel_evaluate(t->mem, s->where, &t->activation, NULL);
    }
    if (v.kind == VALUE_ERROR)
        return turn_fail_value(t, v, STR_NONE);
    if (value_is_true(v)) {
        s->found[s->count] = (struct found){.record = record, .place = s->count};
        s->count++;
    }
    return STEP_DONE;
}

static enum step_end consider_write(struct turn *t, struct selection *s,
                                    const struct record_write *write)
{
    struct value data;
    struct err err;

    if (write->is_delete)
        return STEP_DONE;
    if (!json_read(t->mem, write->data_json, &data, &err))
        PANIC("a staged record does not read back");
    return consider(t, s, record_value(t->mem, write->id, write->version, data));
}

static bool was_read(const struct object_read *all, struct str id)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (str_eq(all->records[i].id, id))
            return true;
    return false;
}

/* Records of the turn that the snapshot does not have. */
static enum step_end consider_new(struct turn *t, struct selection *s,
                                  const struct object_read *all, const struct record_writes *writes)
{
    enum step_end end = STEP_DONE;

    for (size_t i = 0; i < writes->count && end == STEP_DONE; i++) {
        const struct record_write *w = &writes->items[i];
        /* The step's own write of a record stands for that of an earlier step. */
        if (str_eq(w->object, all->object) && record_staged(t, w->object, w->id) == w &&
            !was_read(all, w->id))
            end = consider_write(t, s, w);
    }
    return end;
}

static enum step_end select_records(struct turn *t, struct selection *s,
                                    const struct object_read *all)
{
    enum step_end end = STEP_DONE;

    for (uint32_t i = 0; i < all->count && end == STEP_DONE; i++) {
        const struct record_read *r = &all->records[i];
        const struct record_write *w = record_staged(t, all->object, r->id);

        end = w != NULL ? consider_write(t, s, w)
                        : consider(t, s, record_value(t->mem, r->id, r->version, r->data));
    }
    if (end == STEP_DONE)
        end = consider_new(t, s, all, &t->out->records);
    if (end == STEP_DONE)
        end = consider_new(t, s, all, &t->records);
    return end;
}

/* --- the command --- */

static bool read_limit(struct turn *t, const struct command *c, uint32_t *out)
{
    struct value v;

    *out = LIMIT_DEFAULT;
    if (!command_field(t, c, FIELD_LIMIT, &v))
        return false;
    if (v.kind == VALUE_ABSENT)
        return true;
    if (v.kind != VALUE_INT || v.i < 0)
        return turn_fail(t, STR("validation_type"), STR("business"),
                         "'limit' must be a whole number from 0 on") == STEP_DONE;
    *out = v.i > UINT32_MAX ? UINT32_MAX : (uint32_t)v.i;
    return true;
}

static struct value make_result(struct turn *t, const struct selection *s, uint32_t limit)
{
    uint32_t count = s->count < limit ? s->count : limit;
    struct value *items = ARENA_ARRAY(t->mem, count + 1u, struct value);
    struct value_entry *entries = ARENA_ARRAY(t->mem, 2, struct value_entry);
    size_t duplicate;

    for (uint32_t i = 0; i < count; i++)
        items[i] = s->found[i].record;
    entries[0] = (struct value_entry){value_key(STR("items")), value_list(items, count)};
    entries[1] = (struct value_entry){value_key(STR("count")), value_int(count)};
    return value_map_make(t->mem, entries, 2, &duplicate);
}

enum step_end query_run(struct turn *t, const struct command *c, struct str object,
                        struct value *out)
{
    const struct object_read *all = find_object(t, object);
    struct selection s = {.where = c->expressions[FIELD_WHERE]};
    struct orders orders;
    uint32_t limit;

    if (all == NULL) {
        *VEC_ADD(t->mem, &t->out->needs) = (struct record_query){.object = object};
        return STEP_NEEDS;
    }
    if (!read_orders(t, c, &orders) || !read_limit(t, c, &limit))
        return STEP_FAILED;
    s.found = ARENA_ARRAY(t->mem, all->count + t->out->records.count + t->records.count + 1u,
                          struct found);
    if (select_records(t, &s, all) == STEP_FAILED)
        return STEP_FAILED;
    if (orders.count > 0)
        qsort_r(s.found, s.count, sizeof(*s.found), by_orders, &orders);
    *out = make_result(t, &s, limit);
    return STEP_DONE;
}
