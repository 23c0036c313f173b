/* definitions.c - reading definitions that have versions: the list, one, its versions. */
#include "api/definitions/definitions.h"
#include "api/list.h"
#include "base/text/utf8.h"
#include "store/read_definition.h"
#include "value/object.h"

static struct str kind_name(const struct call *c)
{
    return str_of(definitions_kind(c)->name);
}

static bool definition_not_found(const struct call *c, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "there is no %s of this code", definitions_kind(c)->name);
}

static bool is_draft(const struct stored_definition *d)
{
    return d->version == 0;
}

/* {version, status, ...} of one version, or of the draft; null for NULL. */
static void write_version(struct buf *out, const char *name, const struct stored_definition *d)
{
    if (name != NULL)
        object_name(out, name);
    if (d == NULL) {
        buf_text(out, "null");
        return;
    }
    buf_char(out, '{');
    object_int(out, "version", is_draft(d) ? d->revision : d->version);
    object_text(out, "status", d->status);
    object_text(out, "name", d->name);
    object_text(out, "changeSummary", d->summary);
    object_text(out, "createdBy", d->created_by);
    object_time(out, "createdAt", d->created_at_us);
    if (d->text.len > 0 && str_eq(d->kind, str_of(kind_spec(KIND_CONFIG)->name))) {
        object_name(out, "definition");
        buf_printf(out, "{\"value\":%.*s}", STR_ARG(d->text));
    } else if (d->text.len > 0) {
        object_json(out, "definition", d->text);
    }
    buf_char(out, '}');
}

/* {code, name, published, draft}, each of the two or NULL. */
static void write_one(struct buf *out, bool with_kind, const struct stored_definition *published,
                      const struct stored_definition *draft)
{
    const struct stored_definition *any = published != NULL ? published : draft;

    ASSERT(any != NULL);
    buf_char(out, '{');
    if (with_kind)
        object_text(out, "kind", any->kind);
    object_text(out, "code", any->code);
    object_text(out, "name", any->name);
    write_version(out, "published", published);
    write_version(out, "draft", draft);
    buf_char(out, '}');
}

/* --- the list --- */

/* What an item is made of. */
struct listed_definition {
    const struct stored_definition *published, *draft; /* or NULL, each of them */
};

struct definitions_page {
    struct list_page list;
    struct str kind; /* or empty: processes of every kind */
};

static bool definitions_read(struct list_page *l)
{
    const struct definitions_page *p = (struct definitions_page *)l;
    const struct listed_definition *last;
    struct stored_definitions rows;
    struct {
        VEC_OF(struct listed_definition);
    } items = {0};

    if (!utf8_is_valid(l->cursor))
        return list_bad_cursor(l->err);
    /* Two rows for each, and one more to know whether there are more. */
    if (!read_definitions(l->reader, l->mem, p->kind, l->cursor, 2 * l->limit + 1, &rows, l->err))
        return false;
    for (size_t i = 0; i < rows.count; i++) {
        if (i == 0 || !str_eq(rows.items[i].code, rows.items[i - 1].code))
            *VEC_ADD(l->mem, &items) = (struct listed_definition){0};
        if (is_draft(&rows.items[i]))
            items.items[items.count - 1].draft = &rows.items[i];
        else
            items.items[items.count - 1].published = &rows.items[i];
    }
    last = LIST_ROWS(l, &items);
    if (last != NULL)
        l->next = (last->published != NULL ? last->published : last->draft)->code;
    return true;
}

static bool definitions_show(struct list_page *l, const void *row)
{
    const struct listed_definition *d = row;

    write_one(l->out, ((struct definitions_page *)l)->kind.len == 0, d->published, d->draft);
    return true;
}

static const struct list_kind definitions_kind_of_list = {
    .read = definitions_read,
    .show = definitions_show,
};

static void start_list(struct call *c, struct str kind)
{
    struct definitions_page *p = ARENA_NEW(c->mem, struct definitions_page);

    p->kind = kind;
    list_start(c, &p->list, &definitions_kind_of_list);
}

void definitions_list(struct call *c)
{
    start_list(c, str_of(definitions_kind(c)->name));
}

void processes_list(struct call *c)
{
    start_list(c, STR_NONE);
}

/* --- one --- */

static bool definition_run_get(struct lookup *q, struct reader *reader, struct err *err)
{
    struct stored_definition published, draft;
    bool has_published, has_draft;
    struct str code = q->call->params[0];

    if (!read_definition(reader, q->mem, kind_name(q->call), code, -1, &published, &has_published,
                         err) ||
        !read_definition(reader, q->mem, kind_name(q->call), code, 0, &draft, &has_draft, err))
        return false;
    if (!has_published && !has_draft)
        return definition_not_found(q->call, err);
    if (has_draft)
        q->etag = str_printf(q->mem, "\"%lld\"", (long long)draft.revision).ptr;
    write_one(&q->answer, false, has_published ? &published : NULL, has_draft ? &draft : NULL);
    return true;
}

void definitions_get(struct call *c)
{
    lookup_start(c, NULL, definition_run_get, NULL);
}

/* --- versions --- */

static bool versions_read(struct list_page *l)
{
    const struct stored_definition *last;
    struct stored_definitions rows;
    int64_t before; /* the cursor: the last version of the page before */

    if (!list_cursor_number(l->cursor, &before, l->err))
        return false;
    /* The draft, which comes first, may be among them, and one more says whether more follow. */
    if (!read_versions(l->reader, l->mem, kind_name(l->call), l->call->params[0],
                       before > 0 ? before : INT64_MAX, l->limit + 2, &rows, l->err))
        return false;
    if (rows.count == 0 && before == 0)
        return definition_not_found(l->call, l->err);
    if (rows.count > 0 && is_draft(rows.items)) {
        rows.items++;
        rows.count--;
    }
    last = LIST_ROWS(l, &rows);
    if (last != NULL)
        l->next = list_number_cursor(l->mem, last->version);
    return true;
}

static bool versions_show(struct list_page *l, const void *row)
{
    write_version(l->out, NULL, row);
    return true;
}

static const struct list_kind versions_kind = {.read = versions_read, .show = versions_show};

void definitions_versions(struct call *c)
{
    list_start(c, ARENA_NEW(c->mem, struct list_page), &versions_kind);
}

static bool run_version(struct lookup *q, struct reader *reader, struct err *err)
{
    const int64_t *version = q->args;
    struct stored_definition d;
    bool found;

    if (!read_definition(reader, q->mem, kind_name(q->call), q->call->params[0], *version, &d,
                         &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, "there is no such version of it");
    write_version(&q->answer, NULL, &d);
    return true;
}

void definitions_version(struct call *c)
{
    int64_t *version = ARENA_NEW(c->mem, int64_t);

    if (str_eq(c->params[1], STR("draft")) || (str_to_int64(c->params[1], version) && *version > 0))
        lookup_start(c, version, run_version, NULL);
    else
        call_refuse_text(c, ERR_NOT_FOUND, "a version is a number from 1 on, or draft");
}
