/* search.c - order, cursors, conditions, and records laid over one another; see search.h. */
#include "engine/commit/search.h"

#include "base/text/hex.h"
#include "value/json.h"

#include <stdlib.h>

/* --- order --- */

bool search_add_order(struct search *s, struct str text)
{
    struct search_order *o;

    text = str_trim(text);
    if (text.len == 0 || s->order_count == SEARCH_ORDERS_MAX)
        return false;
    o = &s->orders[s->order_count++];
    o->descending = text.ptr[0] == '-' || str_ends_with(text, STR(" desc"));
    if (text.ptr[0] == '-')
        text = str_slice(text, 1, text.len);
    else if (o->descending)
        text = str_slice(text, 0, text.len - 5);
    else if (str_ends_with(text, STR(" asc")))
        text = str_slice(text, 0, text.len - 4);
    o->field = str_trim(text);
    return o->field.len > 0;
}

static bool has_same_orders(const struct search *a, const struct search *b)
{
    if (a->order_count != b->order_count)
        return false;
    for (unsigned i = 0; i < a->order_count; i++)
        if (a->orders[i].descending != b->orders[i].descending ||
            !str_eq(a->orders[i].field, b->orders[i].field))
            return false;
    return true;
}

bool search_is_same(const struct search *a, const struct search *b)
{
    if (a->where != b->where || a->limit != b->limit || a->now_us != b->now_us ||
        a->slot_count != b->slot_count || a->hidden.count != b->hidden.count ||
        !str_eq(a->org_id, b->org_id) || !str_eq(a->object, b->object) ||
        !str_eq(a->after, b->after) || !has_same_orders(a, b))
        return false;
    for (size_t i = 0; i < a->hidden.count; i++)
        if (!str_eq(a->hidden.items[i], b->hidden.items[i]))
            return false;
    for (uint32_t i = 0; i < a->slot_count; i++)
        if (a->slots[i].kind != b->slots[i].kind ||
            (a->slots[i].kind != VALUE_ABSENT && !value_equal(a->slots[i], b->slots[i], NULL)))
            return false;
    return true;
}

void search_rank_of(const struct search *s, struct value record, int64_t row,
                    struct search_rank *out)
{
    struct value id = value_map_get_str(record, STR("id"));

    out->row = row;
    out->id = value_text_or(id, STR_NONE);
    for (unsigned i = 0; i < s->order_count; i++) {
        struct value v = value_map_get_str(record, s->orders[i].field);

        out->keys[i] = v.kind == VALUE_ABSENT ? value_null() : v;
    }
}

/* Values that have no order among themselves go by their kind. */
static int compare_keys(struct value a, struct value b)
{
    int c = value_compare(a, b);

    if (c == VALUE_INCOMPARABLE || c == VALUE_UNORDERED)
        c = (a.kind > b.kind) - (a.kind < b.kind);
    return c;
}

int search_compare(const struct search *s, const struct search_rank *a, const struct search_rank *b)
{
    for (unsigned i = 0; i < s->order_count; i++) {
        int c = compare_keys(a->keys[i], b->keys[i]);

        if (c != 0)
            return s->orders[i].descending ? -c : c;
    }
    return (a->row > b->row) - (a->row < b->row);
}

/* --- cursors: the keys, the row and the id as JSON, in hexadecimal --- */

struct str search_cursor(struct arena *mem, const struct search *s, const struct search_rank *rank)
{
    struct value items[SEARCH_ORDERS_MAX + 2];
    struct str json;
    char *text;

    for (unsigned i = 0; i < s->order_count; i++)
        items[i] = rank->keys[i];
    items[s->order_count] = value_int(rank->row);
    items[s->order_count + 1] = value_string(rank->id);
    json = json_must_text(mem, value_list(items, s->order_count + 2));
    text = arena_alloc(mem, 2 * json.len);
    hex_write(text, json.ptr, json.len);
    return str_from(text, 2 * json.len);
}

bool search_cursor_read(struct arena *mem, const struct search *s, struct search_rank *out,
                        struct err *err)
{
    unsigned count = s->order_count;
    size_t len = s->after.len / 2;
    char *json = arena_alloc(mem, len);
    struct value v;

    if (s->after.len > SEARCH_CURSOR_LEN_MAX || !hex_read_lower(s->after, json, len) ||
        !json_read(mem, str_from(json, len), &v, err) || v.kind != VALUE_LIST ||
        v.len != count + 2 || v.items[count].kind != VALUE_INT ||
        v.items[count + 1].kind != VALUE_STRING)
        return err_set(err, ERR_BAD_REQUEST, "this cursor is not one of ours, or of another order");
    for (unsigned i = 0; i < count; i++)
        out->keys[i] = v.items[i];
    out->row = v.items[count].i;
    out->id = value_text(v.items[count + 1]);
    return true;
}

/* --- where --- */

struct value search_record(struct arena *mem, struct str id, int64_t version, struct value data)
{
    struct value_entry *entries = ARENA_ARRAY(mem, data.len + 2, struct value_entry);
    size_t count = 0, duplicate;

    value_entry_add(entries, &count, STR("id"), value_string(id));
    value_entry_add(entries, &count, STR("version"), value_int(version));
    for (uint32_t i = 0; i < data.len; i++) {
        struct str key = value_text(data.map->entries[i].key);

        if (!str_eq(key, STR("id")) && !str_eq(key, STR("version")))
            entries[count++] = data.map->entries[i];
    }
    return value_map_make(mem, entries, count, &duplicate);
}

static bool fail_where(const struct search *s, struct value error, struct value record,
                       struct err *err)
{
    struct str id = value_text(value_map_get_str(record, STR("id")));
    uint32_t line, column;

    cel_place(cel_program_source(s->where), error.error->offset, &line, &column);
    return err_set_at(err, error.error->code, line, column, "%pS (in record %.*s)",
                      SENTENCE_ARG(value_sentence(error)), STR_ARG(id));
}

/* `slots` is a copy of the search's own that may be written to. */
static bool evaluate_where(struct arena *mem, const struct search *s, struct value *slots,
                           struct cel_limits *left, struct value record, bool *out, struct err *err)
{
    struct cel_activation activation = {.slots = slots, .now_us = s->now_us};
    struct cel_limits limits = cel_default_limits;
    int64_t allowed = left->cost < limits.cost ? left->cost : limits.cost;
    struct value v;

    slots[s->record_slot] = record;
    limits.cost = allowed;
    v = cel_evaluate_within(mem, s->where, &activation, &limits);
    left->cost -= allowed - (limits.cost > 0 ? limits.cost : 0);
    if (v.kind == VALUE_BOOL) {
        *out = v.b;
        return true;
    }
    if (v.kind != VALUE_ERROR)
        return err_set_at(err, ERR_EXPRESSION_TYPE, 1, 1, "'where' must be true or false");
    if (v.error->code == ERR_LIMIT_EXPRESSION_COST && left->cost <= 0)
        return err_set(err, ERR_LIMIT_QUERY,
                       "'where' is too dear for so many records: compute less in it, or store "
                       "what it computes");
    return fail_where(s, v, record, err);
}

bool search_fits(struct arena *mem, const struct search *s, struct cel_limits *left,
                 struct value record, bool *out, struct err *err)
{
    struct value *slots;

    *out = true;
    if (s->where == NULL)
        return true;
    slots = ARENA_ARRAY(mem, s->slot_count + 1u, struct value);
    memcpy(slots, s->slots, s->slot_count * sizeof(*slots));
    return evaluate_where(mem, s, slots, left, record, out, err);
}

/* --- collecting --- */

/* What counts: of a page its text, else the memory. */
static size_t item_bytes(const struct collector *c, const struct search_item *item)
{
    return c->cuts ? item->data_json.len : item->mem.held_bytes;
}

static void item_free(struct search_item *item)
{
    struct arena mem = item->mem;

    arena_fini(&mem);
}

bool search_begin(struct collector *c, struct arena *mem, const struct search *s, size_t bytes_max,
                  bool cuts, struct err *err)
{
    size_t limit = s->limit == SEARCH_NO_LIMIT ? SEARCH_PAGE_MAX : (size_t)s->limit;

    *c = (struct collector){.search = s,
                            .mem = mem,
                            .left = {.cost = SEARCH_COST_MAX},
                            .bytes_max = bytes_max,
                            .cuts = cuts,
                            .has_after = s->after.len > 0,
                            .capacity = limit + 1};
    if (c->has_after && !search_cursor_read(mem, s, &c->after, err))
        return false;
    arena_init(&c->scratch);
    c->items = ARENA_ARRAY(mem, c->capacity + 1, struct search_item *);
    c->slots = ARENA_ARRAY(mem, s->slot_count + 1u, struct value);
    if (s->slot_count > 0)
        memcpy(c->slots, s->slots, s->slot_count * sizeof(*c->slots));
    return true;
}

static bool comes_after(const struct collector *c, size_t a, size_t b)
{
    return search_compare(c->search, &c->items[a]->rank, &c->items[b]->rank) > 0;
}

static void swap_items(struct collector *c, size_t a, size_t b)
{
    struct search_item *item = c->items[a];

    c->items[a] = c->items[b];
    c->items[b] = item;
}

static void heap_add(struct collector *c, struct search_item *item)
{
    size_t at = c->count++;

    c->items[at] = item;
    c->bytes += item_bytes(c, item);
    for (; at > 0 && comes_after(c, at, (at - 1) / 2); at = (at - 1) / 2)
        swap_items(c, at, (at - 1) / 2);
}

/* Take the item that comes last in the order away. */
static void heap_drop_last(struct collector *c)
{
    struct search_item *item = c->items[0];

    c->more = true;
    c->bytes -= item_bytes(c, item);
    item_free(item);
    c->items[0] = c->items[--c->count];
    for (size_t at = 0, child; (child = 2 * at + 1) < c->count; at = child) {
        if (child + 1 < c->count && comes_after(c, child + 1, child))
            child++;
        if (!comes_after(c, child, at))
            break;
        swap_items(c, child, at);
    }
}

static struct search_item *item_new(const struct search *s, const struct search_rank *rank,
                                    int64_t version, struct str data_json)
{
    struct arena mem;
    struct search_item *item;

    arena_init(&mem);
    item = ARENA_NEW(&mem, struct search_item);
    item->rank = *rank;
    item->rank.id = str_copy(&mem, rank->id);
    for (unsigned i = 0; i < s->order_count; i++)
        item->rank.keys[i] = value_copy(&mem, rank->keys[i]);
    item->version = version;
    item->data_json = str_copy(&mem, data_json);
    item->mem = mem;
    return item;
}

static bool fail_many(struct err *err)
{
    return err_set(err, ERR_LIMIT_QUERY,
                   "more than %d records match: give a 'limit' and read on with 'after'",
                   SEARCH_PAGE_MAX);
}

/* Keep an item that fits, if the page has room for it. */
static bool keep(struct collector *c, const struct search_rank *rank, int64_t version,
                 struct str data_json, struct err *err)
{
    const struct search *s = c->search;
    size_t limit = c->capacity - 1;

    if (c->count > 0 && c->count >= limit + 1 && search_compare(s, rank, &c->items[0]->rank) > 0) {
        c->more = true;
        return true;
    }
    heap_add(c, item_new(s, rank, version, data_json));
    if (s->limit == SEARCH_NO_LIMIT && c->count > SEARCH_PAGE_MAX)
        return fail_many(err);
    if (c->count > limit + 1)
        heap_drop_last(c);
    /* What lies wholly behind the end of a page that is full in bytes is never shown. */
    while (c->cuts && c->count > 1 && c->bytes - item_bytes(c, c->items[0]) > c->bytes_max)
        heap_drop_last(c);
    if (!c->cuts && c->bytes > c->bytes_max)
        return err_set(err, ERR_LIMIT_QUERY,
                       "the records that match take more than %zu MiB: find fewer with 'where' or "
                       "'limit'",
                       c->bytes_max >> 20);
    return true;
}

bool search_offer(struct collector *c, int64_t row, struct str id, int64_t version,
                  struct str data_json, bool *is_full, struct err *err)
{
    const struct search *s = c->search;
    bool is_read = s->where != NULL || s->order_count > 0, fits = true;
    struct search_rank rank = {.row = row, .id = id};
    struct value record, data;

    *is_full = false;
    arena_reset(&c->scratch);
    if (is_read) {
        if (!json_read(&c->scratch, data_json, &data, err))
            return false;
        record = search_record(&c->scratch, id, version, data);
        search_rank_of(s, record, row, &rank);
    }
    if (c->has_after && search_compare(s, &rank, &c->after) <= 0)
        return true;
    if (s->where != NULL && !evaluate_where(&c->scratch, s, c->slots, &c->left, record, &fits, err))
        return false;
    if (fits && !keep(c, &rank, version, data_json, err))
        return false;
    *is_full = s->order_count == 0 && s->limit != SEARCH_NO_LIMIT &&
               (c->count >= c->capacity || (c->cuts && c->bytes > c->bytes_max));
    return true;
}

static int item_by_place(const void *a, const void *b, void *search)
{
    const struct search_item *const *x = a, *const *y = b;

    return search_compare(search, &(*x)->rank, &(*y)->rank);
}

void search_end(struct collector *c)
{
    size_t limit = c->capacity - 1, bytes = 0, kept = 0;

    if (c->count > 1)
        qsort_r(c->items, c->count, sizeof(struct search_item *), item_by_place,
                (void *)(uintptr_t)c->search);
    while (kept < c->count && kept < limit &&
           (kept == 0 || !c->cuts || bytes + c->items[kept]->data_json.len <= c->bytes_max))
        bytes += c->items[kept++]->data_json.len;
    c->more = c->more || kept < c->count;
    while (c->count > kept)
        item_free(c->items[--c->count]);
}

void search_fini(struct collector *c)
{
    while (c->count > 0)
        item_free(c->items[--c->count]);
    arena_fini(&c->scratch);
}

/* --- what was found --- */

void search_take(struct arena *mem, struct collector *c, struct search_found *out)
{
    size_t before = mem->held_bytes;

    out->items = ARENA_ARRAY(mem, c->count + 1, struct search_match);
    out->count = 0;
    out->more = c->more;
    for (size_t i = 0; i < c->count && out->err.code == ERR_NONE; i++) {
        const struct search_item *item = c->items[i];
        struct search_match *match = &out->items[out->count];
        struct value data;

        if (mem->held_bytes - before > SEARCH_BYTES_MAX) {
            (void)err_set(&out->err, ERR_LIMIT_QUERY,
                          "the records that match take more than %d MiB in memory",
                          SEARCH_BYTES_MAX >> 20);
        } else if (json_read(mem, item->data_json, &data, &out->err)) {
            match->record = search_record(mem, str_copy(mem, item->rank.id), item->version, data);
            search_rank_of(c->search, match->record, item->rank.row, &match->rank);
            out->count++;
        }
    }
}

static int match_by_place(const void *a, const void *b, void *search)
{
    const struct search_match *x = a, *y = b;

    return search_compare(search, &x->rank, &y->rank);
}

bool search_merge(struct arena *mem, const struct search *s, struct search_found *found,
                  const struct search_match *own, uint32_t own_count, struct err *err)
{
    struct search_match *all = ARENA_ARRAY(mem, found->count + own_count + 1u, struct search_match);
    size_t count = found->count;
    size_t limit = s->limit == SEARCH_NO_LIMIT ? SEARCH_PAGE_MAX : (size_t)s->limit;

    if (found->count > 0)
        memcpy(all, found->items, found->count * sizeof(*all));
    for (uint32_t i = 0; i < own_count; i++) {
        /* Records that were not read may stand before one that comes behind all that were. */
        bool is_behind =
            found->more &&
            (found->count == 0 || search_compare(s, &own[i].rank, &all[found->count - 1].rank) > 0);

        if (!is_behind)
            all[count++] = own[i];
    }
    if (s->limit == SEARCH_NO_LIMIT && count > SEARCH_PAGE_MAX)
        return fail_many(err);
    if (own_count > 0 && count > 1)
        qsort_r(all, count, sizeof(*all), match_by_place, (void *)(uintptr_t)s);
    found->items = all;
    found->more = found->more || count > limit;
    found->count = (uint32_t)(count < limit ? count : limit);
    return true;
}

struct value search_value(struct arena *mem, const struct search *s,
                          const struct search_found *found)
{
    struct value *items = ARENA_ARRAY(mem, found->count + 1u, struct value);
    struct value next = value_null();

    for (uint32_t i = 0; i < found->count; i++)
        items[i] = found->items[i].record;
    if (found->more && found->count > 0)
        next = value_string(search_cursor(mem, s, &found->items[found->count - 1].rank));
    else if (found->more && s->after.len > 0)
        next = value_string(s->after);
    return value_map_of(mem,
                        VALUE_ENTRIES({value_key(STR("items")), value_list(items, found->count)},
                                      {value_key(STR("count")), value_int(found->count)},
                                      {value_key(STR("more")), value_bool(found->more)},
                                      {value_key(STR("next")), next}));
}
