/*
 * record_query.c - record.query: a search whose rows a reader thread looks
 * through; see turn.h and search.h.
 *
 * The turn asks with NEED for all that the search says, the values that `where`
 * sees included, and gets the records of one page. It sees a committed snapshot
 * with the writes of this turn laid over it, and has no protection against
 * records that others add meanwhile.
 */
#include "engine/command/command.h"
#include "engine/commit/reads.h"
#include "engine/commit/search.h"
#include "engine/context.h"
#include "value/json.h"

/* --- what is asked for --- */

static bool read_orders(struct turn *t, const struct command *c, struct search *s)
{
    struct value v;
    bool ok = true;

    if (!command_field(t, c, FIELD_ORDER_BY, &v))
        return false;
    if (v.kind == VALUE_LIST)
        for (uint32_t i = 0; ok && i < v.len; i++)
            ok = v.items[i].kind == VALUE_STRING && search_add_order(s, value_text(v.items[i]));
    else if (v.kind != VALUE_ABSENT)
        ok = v.kind == VALUE_STRING && search_add_order(s, value_text(v));
    return ok ||
           turn_fail(t, STR("validation_type"), ERR_CLASS_BUSINESS,
                     "'orderBy' must be a field, \"field desc\", or a list of up to %d of them",
                     SEARCH_ORDERS_MAX) == STEP_DONE;
}

static bool read_limit(struct turn *t, const struct command *c, struct search *s)
{
    struct value v;

    s->limit = SEARCH_NO_LIMIT;
    if (!command_field(t, c, FIELD_LIMIT, &v))
        return false;
    if (v.kind == VALUE_ABSENT)
        return true;
    s->limit = v.i;
    if (v.kind == VALUE_INT && v.i >= 0 && v.i <= SEARCH_PAGE_MAX)
        return true;
    (void)turn_fail(t, STR("validation_limit"), ERR_CLASS_BUSINESS,
                    "'limit' must be a whole number from 0 to %d; 'after' reads on",
                    SEARCH_PAGE_MAX);
    return false;
}

/* `next` of an earlier page, which is null at the end of the last one. */
static bool read_after(struct turn *t, const struct command *c, struct search *s)
{
    struct search_rank rank;
    struct err err;
    struct value v;

    if (!command_field(t, c, FIELD_AFTER, &v))
        return false;
    if (v.kind == VALUE_ABSENT || v.kind == VALUE_NULL || (v.kind == VALUE_STRING && v.len == 0))
        return true;
    if (v.kind == VALUE_STRING) {
        s->after = value_text(v);
        if (search_cursor_read(t->mem, s, &rank, &err))
            return true;
    }
    (void)turn_fail(t, STR("validation_after"), ERR_CLASS_BUSINESS,
                    "'after' must be `next` of a query with the same 'orderBy'");
    return false;
}

/* The values that `where` sees, for a thread that knows nothing of this turn. */
static void take_values(struct turn *t, const struct command *c, struct search *s)
{
    struct value *slots;

    s->where = c->expressions[FIELD_WHERE];
    s->now_us = t->now_us;
    s->record_slot = ROOT_RECORD;
    if (s->where == NULL)
        return;
    s->slot_count = cel_program_slot_count(s->where);
    slots = ARENA_ARRAY(t->mem, s->slot_count + 1u, struct value);
    for (uint32_t slot = 0; slot < s->slot_count; slot++) {
        slots[slot] = value_absent();
        if (slot == ROOT_RECORD || !cel_program_reads(s->where, slot))
            continue;
        slots[slot] = t->slots[slot].kind != VALUE_ABSENT ? t->slots[slot] : context_load(t, slot);
        if (slots[slot].kind != VALUE_ABSENT)
            slots[slot] = value_copy(t->mem, slots[slot]);
    }
    s->slots = slots;
}

static void hide_staged(struct turn *t, struct search *s, const struct record_writes *writes)
{
    for (size_t i = 0; i < writes->count; i++) {
        const struct record_write *w = &writes->items[i];

        /* The step's own write of a record stands for that of an earlier step. */
        if (str_eq(w->object, s->object) && record_staged(t, w->object, w->id) == w)
            *VEC_ADD(t->mem, &s->hidden) = w->id;
    }
}

static bool make_search(struct turn *t, const struct command *c, struct str object,
                        struct search *out)
{
    *out = (struct search){.org_id = t->x->org_id, .object = object};
    if (!read_orders(t, c, out) || !read_limit(t, c, out) || !read_after(t, c, out))
        return false;
    take_values(t, c, out);
    hide_staged(t, out, &t->out->records);
    hide_staged(t, out, &t->records);
    return true;
}

static const struct search_read *find_search(const struct turn *t, const struct search *s)
{
    const struct search_reads *reads = &event_reads(t->ev)->searches;

    for (size_t i = 0; i < reads->count; i++)
        if (search_is_same(reads->items[i].search, s))
            return &reads->items[i];
    return NULL;
}

/* --- the writes of this turn --- */

struct overlay {
    const struct search *search;
    const struct search_found *found;
    struct cel_limits left;
    struct search_rank after;
    bool has_after;
    struct search_match *items;
    uint32_t count;
};

/* 0: it stands before the page, or behind all that was read. */
static int64_t row_of(const struct overlay *o, const struct record_write *w)
{
    const struct search_ids *hidden = &o->search->hidden;

    /* Records that are not stored yet are later than all others, and have the order of the turn. */
    for (size_t i = 0; w->read_version == 0 && i < hidden->count; i++)
        if (str_eq(hidden->items[i], w->id))
            return SEARCH_NEW_ROW + (int64_t)i;
    for (uint32_t i = 0; i < o->found->hidden_count; i++)
        if (str_eq(o->found->hidden[i].id, w->id))
            return o->found->hidden[i].row;
    return 0;
}

static bool consider_write(struct turn *t, struct overlay *o, const struct record_write *w,
                           struct err *err)
{
    int64_t row = row_of(o, w);
    struct search_match match;
    struct value data;
    bool fits;

    if (w->is_delete || row == 0)
        return true;
    if (!json_read(t->mem, w->data_json, &data, err))
        PANIC("a staged record does not read back");
    match.record = search_record(t->mem, w->id, w->version, data);
    search_rank_of(o->search, match.record, row, &match.rank);
    if (o->has_after && search_compare(o->search, &match.rank, &o->after) <= 0)
        return true;
    if (!search_fits(t->mem, o->search, &o->left, match.record, &fits, err))
        return false;
    if (fits)
        o->items[o->count++] = match;
    return true;
}

static bool consider_writes(struct turn *t, struct overlay *o, const struct record_writes *writes,
                            struct err *err)
{
    for (size_t i = 0; i < writes->count; i++) {
        const struct record_write *w = &writes->items[i];

        if (str_eq(w->object, o->search->object) && record_staged(t, w->object, w->id) == w &&
            !consider_write(t, o, w, err))
            return false;
    }
    return true;
}

/* Lay what this turn has written over what was found. */
static bool lay_over(struct turn *t, const struct search *s, struct search_found *found,
                     struct err *err)
{
    struct overlay o = {
        .search = s, .found = found, .left = {.cost = SEARCH_STAGED_COST_MAX}, .after = {.row = 0}};

    if (s->hidden.count == 0)
        return true;
    o.has_after = s->after.len > 0;
    if (o.has_after && !search_cursor_read(t->mem, s, &o.after, err))
        return false;
    if (o.has_after && found->after_row != 0)
        o.after.row = found->after_row; /* it has been stored since */
    for (size_t i = 0; o.after.row >= SEARCH_NEW_ROW && i < s->hidden.count; i++)
        if (str_eq(s->hidden.items[i], o.after.id))
            o.after.row = SEARCH_NEW_ROW + (int64_t)i;
    o.items = ARENA_ARRAY(t->mem, s->hidden.count + 1, struct search_match);
    return consider_writes(t, &o, &t->out->records, err) &&
           consider_writes(t, &o, &t->records, err) &&
           search_merge(t->mem, s, found, o.items, o.count, err);
}

/* --- the command --- */

enum step_result query_run(struct turn *t, const struct command *c, struct str object,
                           struct value *out)
{
    struct search *s = ARENA_NEW(t->mem, struct search);
    const struct search_read *read;
    struct search_found found;
    struct err err;

    if (!make_search(t, c, object, s))
        return STEP_FAILED;
    read = find_search(t, s);
    if (read == NULL) {
        *VEC_ADD(t->mem, &t->out->needs) = (struct record_query){.object = object, .search = s};
        return STEP_NEEDS;
    }
    found = read->found;
    err = found.err;
    if (err.code != ERR_NONE || !lay_over(t, s, &found, &err))
        return turn_fail(t, str_of(err_code_name(err.code)), err_class_of(err.code), "%pS",
                         ERR_ARG(&err));
    *out = search_value(t->mem, s, &found);
    return STEP_DONE;
}
