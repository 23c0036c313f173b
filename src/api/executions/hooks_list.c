/*
 * hooks_list.c - the webhooks of published processes, and what came to them lately;
 * see deliveries.h.
 */
#include "api/api.h"
#include "api/deliveries.h"
#include "api/executions/hooks.h"
#include "api/list.h"
#include "api/view.h"
#include "base/text/ascii.h"
#include "base/text/utf8.h"
#include "store/org.h"
#include "store/read_definition.h"
#include "store/read_triggers.h"
#include "value/json.h"
#include "value/object.h"

#include <stdlib.h>

static const char *const hook_methods[] = {"POST", "PUT", "PATCH", "DELETE", "GET"};

/* --- the webhooks --- */

static bool hooks_read_page(struct list_page *l)
{
    struct stored_triggers all, page = {0};
    int64_t from;
    size_t i;

    if (!list_cursor_number(l->cursor, &from, l->err) ||
        !read_triggers(l->reader, l->mem, TRIGGER_WEBHOOK, &all, l->err))
        return false;
    for (i = (size_t)from; i < all.count && (int64_t)page.count < l->limit; i++) {
        struct stored_trigger *t = VEC_ADD(l->mem, &page);

        *t = all.items[i];
        if (t->org_id.len == 0)
            t->org_id = ORG_DEFAULT;
    }
    (void)LIST_ROWS(l, &page);
    if (i < all.count)
        l->next = list_number_cursor(l->mem, (int64_t)i);
    return true;
}

static void hooks_show_members(struct list_page *l, const void *row)
{
    const struct stored_trigger *t = row;
    struct str method = value_map_text(t->spec, STR("method"));
    struct value signal = value_map_get_str(t->spec, STR("signal"));

    object_text(l->out, "path", value_map_text(t->spec, STR("path")));
    object_text(l->out, "method", method.len > 0 ? method : STR("POST"));
    object_text(l->out, "code", t->code);
    object_int(l->out, "version", t->version);
    object_text(l->out, "signal", value_map_text(signal, STR("type")));
    object_bool(l->out, "verified", value_map_get_str(t->spec, STR("verify")).kind == VALUE_MAP);
    object_bool(l->out, "retired", t->is_retired);
}

static const struct list_kind hooks_kind = {
    .read = hooks_read_page,
    .show_members = hooks_show_members,
    .owner = LIST_OWNER(struct stored_trigger, org_id, code, version),
};

void hooks_list(struct call *c)
{
    list_start(c, ARENA_NEW(c->mem, struct list_page), &hooks_kind);
}

/* --- what came to one --- */

struct deliveries_args {
    struct str path;
    struct delivery_list of[ARRAY_SIZE(hook_methods)]; /* by method */
    struct delivery_list seen; /* of those that the caller may see, newest first */
    int64_t limit, before;
};

/* What has a name that lets somebody in is hidden, however deep it stands. */
static struct value hide_named(struct arena *mem, struct value v, unsigned depth)
{
    enum { DEPTH_MAX = 64 };
    struct value_entry *entries;
    struct value *items;

    if (depth > DEPTH_MAX)
        return value_string(STR("***"));
    if (v.kind == VALUE_LIST) {
        items = ARENA_ARRAY(mem, v.len + 1u, struct value);
        for (uint32_t i = 0; i < v.len; i++)
            items[i] = hide_named(mem, v.items[i], depth + 1);
        return value_list(items, v.len);
    }
    if (v.kind != VALUE_MAP)
        return v;
    entries = ARENA_ARRAY(mem, v.len + 1u, struct value_entry);
    for (uint32_t i = 0; i < v.len; i++) {
        const struct value_entry *e = &v.map->entries[i];
        bool is_secret = hook_is_secret(ascii_lower_copy(mem, value_text(e->key)));

        entries[i] = (struct value_entry){
            .key = e->key,
            .value = is_secret ? value_string(STR("***")) : hide_named(mem, e->value, depth + 1)};
    }
    return value_map_take(mem, entries, v.len);
}

/* A body as it was read: JSON, else a text; hidden where the process has something sensitive. */
static void show_body(struct arena *mem, struct buf *out, struct str body, bool is_hidden)
{
    struct value v;
    struct err err;

    if (body.len == 0) {
        object_json(out, "payload", STR_NONE);
    } else if (is_hidden) {
        object_text(out, "payload", STR("***"));
    } else if (json_read(mem, body, &v, &err)) {
        object_json(out, "payload", json_must_text(mem, hide_named(mem, v, 0)));
    } else if (utf8_is_valid(body) && memchr(body.ptr, '\0', body.len) == NULL) {
        object_text(out, "payload", body);
    } else {
        object_json(out, "payload", STR_NONE);
    }
}

static void show_query(struct arena *mem, struct buf *out, struct str query, bool is_hidden)
{
    struct value v;
    struct err err;

    if (query.len == 0 || !hook_query(mem, query, &v, &err))
        object_json(out, "query", STR_NONE);
    else if (is_hidden)
        object_text(out, "query", STR("***"));
    else
        object_json(out, "query", json_must_text(mem, hide_named(mem, v, 0)));
}

static void show_delivery(struct arena *mem, struct buf *out, const struct hook_delivery *d,
                          bool is_hidden)
{
    bool is_execution = str_eq(d->outcome, STR("started")) || str_eq(d->outcome, STR("joined"));
    int64_t space = str_find(d->topic, STR(" "), 0);

    object_item(out);
    object_time(out, "at", d->at_us);
    object_text(out, "method", str_slice(d->topic, 0, space < 0 ? 0 : (size_t)space));
    object_text(out, "code", d->code);
    object_int(out, "version", d->version);
    object_text(out, "outcome", d->outcome);
    object_int(out, "status", d->status);
    object_text(out, "error", d->error);
    /* It may name what was sent. */
    object_text(out, "why", is_hidden && d->why.len > 0 ? STR("***") : d->why);
    object_text(out, "executionId", is_execution ? d->id : STR_NONE);
    object_text(out, "id", d->id);
    object_text(out, "address", d->address);
    object_text(out, "requestId", d->request_id);
    object_json(out, "headers", is_hidden ? STR_NONE : d->headers_json);
    show_query(mem, out, d->query, is_hidden);
    show_body(mem, out, d->body, is_hidden);
    object_int(out, "bodyBytes", (int64_t)d->body_bytes);
    buf_char(out, '}');
}

static int compare_age(const void *a, const void *b)
{
    const struct hook_delivery *x = a, *y = b;

    return x->number > y->number ? -1 : x->number < y->number;
}

/* Those of one method, when the process that has the webhook may be seen; *found: there is one. */
static bool take_method(struct lookup *q, struct reader *reader, size_t method, bool *found,
                        struct err *err)
{
    struct deliveries_args *args = q->args;
    const struct delivery_list *of = &args->of[method];
    struct str topic = trigger_webhook_topic(q->mem, str_of(hook_methods[method]), args->path);
    struct stored_triggers triggers;
    bool is_visible = false;

    if (!read_triggers_of_topic(reader, q->mem, TRIGGER_WEBHOOK, topic, &triggers, err))
        return false;
    for (size_t i = 0; i < triggers.count && !is_visible; i++) {
        const struct stored_trigger *t = &triggers.items[i];

        if (!view_allows(q->call, q->mem, reader, t->org_id.len > 0 ? t->org_id : ORG_DEFAULT,
                         t->code, t->version, &is_visible, err))
            return false;
    }
    *found |= is_visible;
    for (size_t i = 0; is_visible && i < of->count; i++)
        if (args->before == 0 || of->items[i].number < args->before)
            *VEC_ADD(q->mem, &args->seen) = of->items[i];
    return true;
}

static bool run_deliveries(struct lookup *q, struct reader *reader, struct err *err)
{
    struct deliveries_args *args = q->args;
    const struct delivery_list *seen = &args->seen;
    bool found = false, is_hidden;
    size_t i = 0;

    if (!list_cursor_number(http_query(q->call->http, "cursor"), &args->before, err))
        return false;
    for (size_t k = 0; k < ARRAY_SIZE(hook_methods); k++)
        if (!take_method(q, reader, k, &found, err))
            return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, "no process has a webhook with this path");
    if (seen->count > 0)
        qsort(seen->items, seen->count, sizeof(seen->items[0]), compare_age);
    list_open(&q->answer);
    for (; i < seen->count && (int64_t)i < args->limit && q->answer.len < PAGE_BYTES_MAX; i++) {
        const struct hook_delivery *d = &seen->items[i];

        if (!read_is_sensitive(reader, q->mem, d->code, d->version, &is_hidden, err))
            return false;
        show_delivery(q->mem, &q->answer, d, is_hidden);
    }
    list_close(&q->answer,
               i < seen->count ? list_number_cursor(q->mem, seen->items[i - 1].number) : STR_NONE);
    return true;
}

void hooks_deliveries(struct call *c)
{
    struct deliveries_args *args = ARENA_NEW(c->mem, struct deliveries_args);

    args->path = c->params[0];
    if (!call_limit(c, DELIVERIES_MAX, &args->limit))
        return;
    for (size_t i = 0; i < ARRAY_SIZE(hook_methods); i++)
        deliveries_of(api_parts(c->api)->deliveries, c->mem,
                      trigger_webhook_topic(c->mem, str_of(hook_methods[i]), args->path),
                      api_now_us(c->api), &args->of[i]);
    lookup_start(c, args, run_deliveries, NULL);
}
