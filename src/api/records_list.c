/*
 * records_list.c - lists of records: where, orderBy, pages.
 *
 * Without an order the records come as they were made, and a cursor is a row.
 * With one, every page looks through all records of the object and keeps the
 * best that come after the cursor, which holds what the last one was ordered
 * by: so records that are added meanwhile neither repeat nor hide others.
 */
#include "api/api.h"
#include "api/query.h"
#include "api/records.h"
#include "cel/cel.h"
#include "store/change_record.h"
#include "value/json.h"
#include "value/object.h"

enum {
    LIST_LIMIT = 50,
    CHUNK = 500,           /* records read at once */
    LOOKED_AT_MAX = 20000, /* for one page without an order, which then may not be full */
    ORDERED_MAX = 100000,  /* with one */
    ORDERS_MAX = 8,        /* fields of an order */
    ORDER_TEXT_MAX = 1000,
    CURSOR_TEXT_MAX = 100000,
};

struct order {
    struct str field;
    bool descending;
};

struct list_args {
    struct str org_id, object, where, cursor;
    struct order orders[ORDERS_MAX];
    unsigned order_count;
    int64_t limit, now_us;
};

/* A record that may become part of the page. */
struct candidate {
    int64_t row;
    struct value keys[ORDERS_MAX]; /* what it is ordered by; null where it has no such field */
    struct str json;
};

struct page {
    struct query *q;
    const struct list_args *args;
    const struct cel_program *where; /* or NULL */
    struct value *slots;
    struct candidate *items; /* limit + 1 at most, in order */
    size_t count;
    bool has_cursor;
    struct candidate cursor;
};

/* --- where --- */

static bool refuse_where(struct query *q, enum err_code code, uint32_t column, const char *message,
                         struct err *err)
{
    body_finding(q->mem, &q->findings, "where", err_code_name(code),
                 str_copy(q->mem, str_of(message)));
    q->findings.items[0].column = column;
    return err_set(err, code, "where: %s", q->findings.items[0].message.ptr);
}

static bool compile_where(struct page *p, struct err *err)
{
    struct query *q = p->q;
    struct cel_env *env;
    uint32_t slot;

    if (p->args->where.len == 0)
        return true;
    env = cel_env_new(q->mem, CEL_DEFINITION);
    if (!cel_env_variable(env, STR("record"), STR("dyn"), &slot, err))
        return false;
    p->slots = ARENA_ARRAY(q->mem, slot + 1u, struct value);
    if (cel_compile(q->mem, env, p->args->where, NULL, &p->where, err))
        return true;
    return refuse_where(q, err->code, err->column, str_copy(q->mem, str_of(err->message)).ptr, err);
}

/* The record as `where` sees it: {id, version, ...}. */
static struct value record_value(struct arena *mem, const struct stored_record *r)
{
    struct value_entry *entries = ARENA_ARRAY(mem, r->data.len + 2u, struct value_entry);
    size_t count = 0, duplicate;

    entries[count++] = (struct value_entry){value_key(STR("id")), value_string(r->id)};
    entries[count++] = (struct value_entry){value_key(STR("version")), value_int(r->version)};
    for (uint32_t i = 0; i < r->data.len; i++) {
        struct str name = value_text(r->data.map->entries[i].key);
        if (!str_eq(name, STR("id")) && !str_eq(name, STR("version")))
            entries[count++] = r->data.map->entries[i];
    }
    return value_map_make(mem, entries, count, &duplicate);
}

static bool fits(struct page *p, struct arena *mem, struct value record, bool *out, struct err *err)
{
    struct cel_activation activation = {.slots = p->slots, .now_us = p->args->now_us};
    struct value v;
    uint32_t line, column;

    *out = true;
    if (p->where == NULL)
        return true;
    p->slots[0] = record;
    v = cel_evaluate(mem, p->where, &activation, NULL);
    if (v.kind == VALUE_BOOL) {
        *out = v.b;
        return true;
    }
    if (v.kind != VALUE_ERROR)
        return refuse_where(p->q, ERR_EXPRESSION_TYPE, 0, "it must be true or false", err);
    cel_place(p->args->where, v.error->offset, &line, &column);
    return refuse_where(p->q, v.error->code, column,
                        str_printf(p->q->mem, "%s (in record %.*s)", v.error->message,
                                   STR_ARG(value_text(value_map_get_str(record, STR("id")))))
                            .ptr,
                        err);
}

/* --- order --- */

/* Values that have no order among themselves go by their kind. */
static int compare_values(struct value a, struct value b)
{
    int c = value_compare(a, b);

    if (c == VALUE_INCOMPARABLE || c == VALUE_UNORDERED)
        c = (a.kind > b.kind) - (a.kind < b.kind);
    return c;
}

static int compare(const struct page *p, const struct candidate *a, const struct candidate *b)
{
    for (unsigned i = 0; i < p->args->order_count; i++) {
        int c = compare_values(a->keys[i], b->keys[i]);
        if (c != 0)
            return p->args->orders[i].descending ? -c : c;
    }
    return (a->row > b->row) - (a->row < b->row);
}

/* Put it in its place, unless the page is full of better ones. */
static bool consider(struct page *p, const struct stored_record *r, struct value record,
                     struct err *err)
{
    struct candidate c = {.row = r->row};
    size_t at = p->count, room = (size_t)p->args->limit + 1;
    struct buf json;

    for (unsigned i = 0; i < p->args->order_count; i++) {
        struct value v = value_map_get_str(record, p->args->orders[i].field);
        c.keys[i] = v.kind == VALUE_ABSENT ? value_null() : v;
    }
    if (p->has_cursor && compare(p, &c, &p->cursor) <= 0)
        return true;
    while (at > 0 && compare(p, &c, &p->items[at - 1]) < 0)
        at--;
    if (at == room)
        return true;
    for (unsigned i = 0; i < p->args->order_count; i++)
        c.keys[i] = value_copy(p->q->mem, c.keys[i]);
    buf_init_arena(&json, p->q->mem);
    if (!record_write_json(&json, r->id, r->version, r->data, err))
        return false;
    c.json = buf_view(&json);
    if (p->count < room)
        p->count++;
    memmove(p->items + at + 1, p->items + at, (p->count - at - 1) * sizeof(*p->items));
    p->items[at] = c;
    return true;
}

/* --- cursors: the keys and the row as JSON, in hexadecimal --- */

static struct str write_cursor(struct query *q, const struct list_args *args,
                               const struct candidate *c)
{
    struct value items[ORDERS_MAX + 1];
    struct buf json, out;
    struct err err;

    for (unsigned i = 0; i < args->order_count; i++)
        items[i] = c->keys[i];
    items[args->order_count] = value_int(c->row);
    buf_init_arena(&json, q->mem);
    buf_init_arena(&out, q->mem);
    if (!json_write(&json, value_list(items, args->order_count + 1), &err))
        return STR_NONE;
    for (size_t i = 0; i < json.len; i++)
        buf_printf(&out, "%02x", (unsigned)(unsigned char)json.ptr[i]);
    return buf_view(&out);
}

static int digit(char ch)
{
    return ch >= '0' && ch <= '9' ? ch - '0' : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

static bool read_cursor(struct page *p, struct err *err)
{
    struct str text = p->args->cursor;
    unsigned count = p->args->order_count;
    struct buf json;
    struct value v;

    buf_init_arena(&json, p->q->mem);
    p->has_cursor = text.len > 0;
    if (!p->has_cursor)
        return true;
    for (size_t i = 0; i + 1 < text.len && text.len <= CURSOR_TEXT_MAX; i += 2) {
        int high = digit(text.ptr[i]), low = digit(text.ptr[i + 1]);
        if (high < 0 || low < 0)
            break;
        buf_char(&json, (char)(high << 4 | low));
    }
    if (json.len * 2 != text.len || !json_read(p->q->mem, buf_view(&json), &v, err) ||
        v.kind != VALUE_LIST || v.len != count + 1 || v.items[count].kind != VALUE_INT)
        return err_set(err, ERR_BAD_REQUEST, "this cursor is not one of ours, or of another order");
    for (unsigned i = 0; i < count; i++)
        p->cursor.keys[i] = v.items[i];
    p->cursor.row = v.items[count].i;
    return true;
}

/* --- the page --- */

/* One chunk. *after moves behind it; *is_last when nothing comes behind it. */
static bool look_through(struct page *p, struct reader *reader, struct arena *scratch,
                         int64_t *after, bool *is_last, struct err *err)
{
    struct stored_records chunk;
    bool is_ordered = p->args->order_count > 0;

    if (!read_records_after(reader, scratch, p->args->org_id, p->args->object, *after, CHUNK,
                            &chunk, err))
        return false;
    *is_last = chunk.count < CHUNK;
    for (size_t i = 0; i < chunk.count; i++) {
        struct value record = record_value(scratch, &chunk.items[i]);
        bool ok;

        if (!is_ordered && p->count > (size_t)p->args->limit)
            return true;
        if (!fits(p, scratch, record, &ok, err) ||
            (ok && !consider(p, &chunk.items[i], record, err)))
            return false;
        *after = chunk.items[i].row;
    }
    return true;
}

static bool look_through_all(struct page *p, struct reader *reader, struct candidate *stopped_at,
                             bool *is_stopped, struct err *err)
{
    bool is_ordered = p->args->order_count > 0, is_last = false, ok = true;
    int64_t after = !is_ordered && p->has_cursor ? p->cursor.row : 0;
    struct arena scratch;

    *is_stopped = false;
    arena_init(&scratch);
    for (int looked_at = 0; ok && !is_last; looked_at += CHUNK) {
        if (!is_ordered && (p->count > (size_t)p->args->limit || looked_at >= LOOKED_AT_MAX)) {
            *is_stopped = true;
            stopped_at->row = after;
            break;
        }
        if (looked_at >= ORDERED_MAX) {
            ok = err_set(err, ERR_INVALID, "%d records are too many to be ordered: leave orderBy",
                         ORDERED_MAX);
            break;
        }
        ok = look_through(p, reader, &scratch, &after, &is_last, err);
        arena_reset(&scratch);
    }
    arena_fini(&scratch);
    return ok;
}

static bool run_list(struct query *q, struct reader *reader, struct err *err)
{
    struct page p = {.q = q, .args = q->args};
    struct candidate stopped_at = {0};
    struct str next = STR_NONE;
    size_t shown;
    bool is_stopped, ok;

    p.items = ARENA_ARRAY(q->mem, (size_t)p.args->limit + 2, struct candidate);
    if (!read_cursor(&p, err) || !compile_where(&p, err))
        return false;
    ok = look_through_all(&p, reader, &stopped_at, &is_stopped, err);
    if (p.where != NULL)
        cel_program_release(p.where);
    if (!ok)
        return false;
    shown = p.count < (size_t)p.args->limit ? p.count : (size_t)p.args->limit;
    if (p.count > shown)
        next = write_cursor(q, p.args, &p.items[shown - 1]);
    else if (is_stopped)
        next = write_cursor(q, p.args, &stopped_at);
    buf_text(&q->answer, "{\"items\":[");
    for (size_t i = 0; i < shown; i++) {
        object_next(&q->answer);
        buf_str(&q->answer, p.items[i].json);
    }
    buf_char(&q->answer, ']');
    object_text(&q->answer, "nextCursor", next);
    buf_char(&q->answer, '}');
    return true;
}

/* "amount", "amount desc", several with commas. */
static bool read_orders(struct call *c, struct list_args *args)
{
    struct str text = http_query(c->http, "orderBy");

    for (size_t from = 0; text.len > 0 && text.len <= ORDER_TEXT_MAX && from <= text.len;) {
        int64_t comma = str_find(text, STR(","), from);
        size_t to = comma < 0 ? text.len : (size_t)comma;
        struct str field = str_trim(str_slice(text, from, to));
        struct order *o = &args->orders[args->order_count];

        from = to + 1;
        if (field.len == 0 || args->order_count == ORDERS_MAX)
            break;
        args->order_count++;
        o->descending = str_ends_with(field, STR(" desc"));
        if (o->descending)
            field = str_slice(field, 0, field.len - 5);
        else if (str_ends_with(field, STR(" asc")))
            field = str_slice(field, 0, field.len - 4);
        o->field = str_trim(field);
        if (to == text.len)
            return true;
    }
    if (text.len == 0)
        return true;
    call_refuse_text(c, ERR_BAD_REQUEST,
                     "orderBy is a field, \"field desc\", or up to %d of these with commas",
                     ORDERS_MAX);
    return false;
}

void records_list(struct call *c)
{
    struct list_args *args = ARENA_NEW(c->mem, struct list_args);

    *args = (struct list_args){.org_id = c->user.org_id,
                               .object = c->params[0],
                               .where = http_query(c->http, "where"),
                               .cursor = http_query(c->http, "cursor"),
                               .now_us = api_now_us(c->api)};
    if (records_check_object(c) && call_limit(c, LIST_LIMIT, &args->limit) && read_orders(c, args))
        query_start(c, args, run_list, NULL);
}
