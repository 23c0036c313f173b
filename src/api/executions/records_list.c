/*
 * records_list.c - which objects there are; lists of records: where, orderBy, pages.
 *
 * Without an order the records come as they were made. With one, every page
 * looks through all records of the object and keeps the first that come after
 * the cursor, which holds what the last one was ordered by: so records that are
 * added meanwhile neither repeat nor hide others. What a record holds is passed
 * on as the text that is stored.
 */
#include "api/api.h"
#include "api/executions/records.h"
#include "api/list.h"
#include "cel/cel.h"
#include "engine/commit/search.h"
#include "store/change_record.h"
#include "store/read_record.h"
#include "value/json.h"
#include "value/object.h"

enum {
    LOOKED_AT_MAX = 20000, /* for one page without an order, which then may not be full */
    ORDER_TEXT_MAX = 1000,
};

struct list_args {
    struct search search;
    struct str where;
};

/* --- objects --- */

static bool objects_read(struct list_page *l)
{
    struct record_objects rows;

    if (!read_record_objects(l->reader, l->mem, l->call->user.org_id, l->cursor, l->limit, &rows,
                             l->err))
        return false;
    (void)LIST_ROWS(l, &rows);
    if (rows.is_cut)
        l->next = rows.items[rows.count - 1].name;
    return true;
}

static void objects_show(struct list_page *l, const void *row)
{
    const struct record_object *o = row;

    object_text(l->out, "object", o->name);
    object_int(l->out, "count", o->count);
    object_bool(l->out, "partial", o->count == RECORDS_COUNTED_MAX);
}

static const struct list_kind objects_kind = {.read = objects_read, .show_members = objects_show};

void records_objects(struct call *c)
{
    list_start(c, ARENA_NEW(c->mem, struct list_page), &objects_kind);
}

/* --- where --- */

/* Where in the request the mistake is. */
static void point_at_where(struct lookup *q, struct err *err)
{
    body_finding(q->mem, &q->findings, "where", err_code_name(err->code), "%pS", ERR_ARG(err));
    q->findings.items[0].column = err->column;
    (void)err_set(err, err->code, "where: %pS", ERR_ARG(err));
}

static bool compile_where(struct lookup *q, struct list_args *args, struct err *err)
{
    struct cel_env *env;

    if (args->where.len == 0)
        return true;
    env = cel_env_new(q->mem, CEL_DEFINITION);
    if (!cel_env_variable(env, STR("record"), STR("dyn"), &args->search.record_slot, err))
        return false;
    args->search.slot_count = args->search.record_slot + 1;
    args->search.slots = ARENA_ARRAY(q->mem, args->search.slot_count, struct value);
    return cel_compile(q->mem, env, args->where, NULL, &args->search.where, err);
}

/* --- the page --- */

/* Whether the text of a record may name its id or version itself, which the engine's stand for. */
static bool may_have_identity(struct str json)
{
    return str_find(json, STR("\"id\""), 0) >= 0 || str_find(json, STR("\"version\""), 0) >= 0;
}

static bool show_record(struct buf *out, struct arena *scratch, const struct search_item *item,
                        struct err *err)
{
    struct str json = item->data_json;
    struct value data;

    if (json.len < 2 || json.ptr[0] != '{' || may_have_identity(json)) {
        arena_reset(scratch);
        return json_read(scratch, json, &data, err) &&
               record_write_json(out, item->rank.id, item->version, data, err);
    }
    buf_char(out, '{');
    object_text(out, "id", item->rank.id);
    object_int(out, "version", item->version);
    if (json.len > 2)
        buf_char(out, ',');
    buf_str(out, str_slice(json, 1, json.len));
    return true;
}

static struct str next_cursor(struct lookup *q, const struct collector *c)
{
    struct search_rank rank = {.row = c->stopped_at};

    if (!c->more)
        return STR_NONE;
    if (c->stopped_at > 0)
        return search_cursor(q->mem, c->search, &rank);
    return c->count > 0 ? search_cursor(q->mem, c->search, &c->items[c->count - 1]->rank)
                        : STR_NONE;
}

static bool records_show_page(struct lookup *q, const struct collector *c, struct err *err)
{
    struct arena scratch;
    size_t bytes = 1000;
    bool ok = true;

    for (size_t i = 0; i < c->count; i++)
        bytes += c->items[i]->data_json.len + 400;
    (void)buf_reserve(&q->answer, bytes); /* at once: what it outgrows stays until the end */
    arena_init(&scratch);
    list_open(&q->answer);
    for (size_t i = 0; ok && i < c->count; i++) {
        object_next(&q->answer);
        ok = show_record(&q->answer, &scratch, c->items[i], err);
    }
    arena_fini(&scratch);
    list_close(&q->answer, next_cursor(q, c));
    return ok;
}

static bool run_search(struct lookup *q, struct reader *reader, const struct list_args *args,
                       struct err *err)
{
    bool is_ordered = args->search.order_count > 0;
    const struct search_bounds bounds = {
        .rows_max = is_ordered ? 0 : LOOKED_AT_MAX,
        .may_be_part = !is_ordered,
        .is_gone = lookup_is_gone,
        .context = q,
    };
    struct collector c;
    bool ok;

    if (!search_begin(&c, q->mem, &args->search, PAGE_BYTES_MAX, true, err))
        return false;
    ok = read_search(reader, &c, &bounds, err) && records_show_page(q, &c, err);
    search_fini(&c);
    return ok;
}

static bool records_run_list(struct lookup *q, struct reader *reader, struct err *err)
{
    struct list_args *args = q->args;
    bool ok = compile_where(q, args, err) && run_search(q, reader, args, err);

    if (!ok && args->where.len > 0 &&
        str_starts_with(str_of(err_code_name(err->code)), STR("expression_")))
        point_at_where(q, err);
    if (args->search.where != NULL)
        cel_program_release(args->search.where);
    return ok;
}

/* "amount", "amount desc", several with commas. */
static bool read_orders(struct call *c, struct search *s)
{
    struct str text = http_query(c->http, "orderBy");
    bool ok = text.len <= ORDER_TEXT_MAX;

    for (size_t from = 0; ok && text.len > 0 && from <= text.len;) {
        int64_t comma = str_find(text, STR(","), from);
        size_t to = comma < 0 ? text.len : (size_t)comma;

        ok = search_add_order(s, str_slice(text, from, to));
        from = to + 1;
    }
    if (!ok)
        call_refuse_text(c, ERR_BAD_REQUEST,
                         "orderBy is a field, \"field desc\", or up to %d of these with commas",
                         SEARCH_ORDERS_MAX);
    return ok;
}

void records_list(struct call *c)
{
    struct list_args *args = ARENA_NEW(c->mem, struct list_args);
    struct search *s = &args->search;

    *args = (struct list_args){.search = {.org_id = c->user.org_id,
                                          .object = c->params[0],
                                          .after = http_query(c->http, "cursor"),
                                          .now_us = api_now_us(c->api)},
                               .where = http_query(c->http, "where")};
    if (!records_check_object(c) || !call_limit(c, LIST_LIMIT, &s->limit) || !read_orders(c, s))
        return;
    /* A search through all records may take seconds. */
    if (args->where.len > 0 || s->order_count > 0)
        lookup_start_long(c, args, records_run_list, NULL);
    else
        lookup_start(c, args, records_run_list, NULL);
}
