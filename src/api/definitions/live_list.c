/*
 * live_list.c - reading what is live as it is saved: functions, templates,
 * subscriptions, config and credentials. Secrets are never shown.
 */
#include "api/definitions/subscriptions.h"
#include "api/list.h"
#include "store/read_definition.h"
#include "value/json.h"
#include "value/object.h"

static bool live_write(struct arena *mem, struct buf *out, const struct kind_spec *spec,
                       const struct stored_definition *d, struct err *err)
{
    struct str text = d->text;
    struct value shown;
    bool is_filled;

    buf_char(out, '{');
    object_text(out, spec->key, d->code);
    object_int(out, "version", d->version);
    if (spec->kind == KIND_SUBSCRIPTION)
        text = subscriptions_shown(mem, d->text, true);
    if (spec->kind == KIND_CREDENTIAL) {
        if (!vault_shown(mem, d->text, &shown, &is_filled))
            return err_set(err, ERR_INTERNAL,
                           "what is stored of the credential '%.*s' is no object",
                           STR_ARG(d->code));
        text = json_must_text(mem, shown);
        object_bool(out, "filled", is_filled);
    }
    object_text(out, "updatedBy", d->created_by);
    object_time(out, "updatedAt", d->created_at_us);
    if (spec->kind == KIND_CONFIG) {
        object_json(out, "value", text);
    } else {
        /* The members of what is stored, which is an object and not empty. */
        buf_char(out, ',');
        buf_str(out, str_slice(text, 1, text.len - 1));
    }
    buf_char(out, '}');
    return true;
}

static bool live_read(struct list_page *l)
{
    struct str kind = str_of(definitions_kind(l->call)->name);
    struct stored_definitions rows;
    bool more;

    if (!read_published_page(l->reader, l->mem, kind, l->cursor, l->limit, PAGE_BYTES_MAX, &rows,
                             &more, l->err))
        return false;
    (void)LIST_ROWS(l, &rows);
    if (more)
        l->next = rows.items[rows.count - 1].code;
    return true;
}

static bool live_show(struct list_page *l, const void *row)
{
    return live_write(l->mem, l->out, definitions_kind(l->call), row, l->err);
}

static const struct list_kind live_kind = {.read = live_read, .show = live_show};

void live_list(struct call *c)
{
    list_start(c, ARENA_NEW(c->mem, struct list_page), &live_kind);
}

static bool live_run_get(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct kind_spec *spec = definitions_kind(q->call);
    struct stored_definition d;
    bool found;

    if (!read_definition(reader, q->mem, str_of(spec->name), q->call->params[0], -1, &d, &found,
                         err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, "there is no %s of this %s", spec->name, spec->key);
    q->etag = str_printf(q->mem, "\"%lld\"", (long long)d.version).ptr;
    return live_write(q->mem, &q->answer, spec, &d, err);
}

void live_get(struct call *c)
{
    lookup_start(c, NULL, live_run_get, NULL);
}
