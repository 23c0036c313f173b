/* definitions.c - reading definitions that have versions: the list, one, its versions. */
#include "api/definitions.h"
#include "base/utf8.h"
#include "value/object.h"

enum { LIST_LIMIT = 50 };

static struct str kind_name(const struct lookup *q)
{
    return str_of(definitions_kind(q->call)->name);
}

static bool not_found(const struct lookup *q, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "there is no %s of this code",
                   definitions_kind(q->call)->name);
}

static bool is_draft(const struct stored_definition *d)
{
    return d->version == 0;
}

/* {version, status, ...} of one version, or of the draft. */
static void write_version(struct buf *out, const char *name, const struct stored_definition *d)
{
    if (name != NULL)
        object_name(out, name);
    else
        object_next(out);
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
    object_next(out);
    buf_char(out, '{');
    if (with_kind)
        object_text(out, "kind", any->kind);
    object_text(out, "code", any->code);
    object_text(out, "name", any->name);
    if (published != NULL)
        write_version(out, "published", published);
    else
        object_json(out, "published", STR_NONE);
    if (draft != NULL)
        write_version(out, "draft", draft);
    else
        object_json(out, "draft", STR_NONE);
    buf_char(out, '}');
}

/* --- the list --- */

struct list_args {
    struct str kind;  /* or empty: processes of every kind */
    struct str after; /* the cursor: a code */
    int64_t limit;
};

static bool run_list(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct list_args *args = q->args;
    struct stored_definitions all;
    struct str next = STR_NONE, last = STR_NONE;
    int64_t left = args->limit;

    /* Two rows for each, and one more to know whether there are more. */
    if (!read_definitions(reader, q->mem, args->kind, args->after, 2 * args->limit + 1, &all, err))
        return false;
    buf_text(&q->answer, "{\"items\":[");
    for (size_t i = 0, end; i < all.count; i = end) {
        const struct stored_definition *published = NULL, *draft = NULL;
        for (end = i; end < all.count && str_eq(all.items[end].code, all.items[i].code); end++)
            *(is_draft(&all.items[end]) ? &draft : &published) = &all.items[end];
        if (left-- == 0) {
            next = last;
            break;
        }
        write_one(&q->answer, args->kind.len == 0, published, draft);
        last = all.items[i].code;
    }
    buf_char(&q->answer, ']');
    object_text(&q->answer, "nextCursor", next);
    buf_char(&q->answer, '}');
    return true;
}

static void start_list(struct call *c, struct str kind)
{
    struct list_args *args = ARENA_NEW(c->mem, struct list_args);

    args->kind = kind;
    args->after = http_query(c->http, "cursor");
    if (!utf8_is_valid(args->after))
        call_refuse_text(c, ERR_BAD_REQUEST, "this cursor is not one of ours");
    else if (call_limit(c, LIST_LIMIT, &args->limit))
        lookup_start(c, args, run_list, NULL);
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

static bool run_get(struct lookup *q, struct reader *reader, struct err *err)
{
    struct stored_definition published, draft;
    bool has_published, has_draft;
    struct str code = q->call->params[0];

    if (!read_definition(reader, q->mem, kind_name(q), code, -1, &published, &has_published, err) ||
        !read_definition(reader, q->mem, kind_name(q), code, 0, &draft, &has_draft, err))
        return false;
    if (!has_published && !has_draft)
        return not_found(q, err);
    if (has_draft)
        q->etag = str_printf(q->mem, "\"%lld\"", (long long)draft.revision).ptr;
    write_one(&q->answer, false, has_published ? &published : NULL, has_draft ? &draft : NULL);
    return true;
}

void definitions_get(struct call *c)
{
    lookup_start(c, NULL, run_get, NULL);
}

/* --- versions --- */

struct versions_args {
    int64_t before; /* the cursor: a version */
    int64_t limit;
};

static bool run_versions(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct versions_args *args = q->args;
    struct stored_definitions all;
    struct str next = STR_NONE;
    int64_t left = args->limit, last = 0;

    /* The draft may be among them, and one more says whether there are more. */
    if (!read_versions(reader, q->mem, kind_name(q), q->call->params[0], args->before,
                       args->limit + 2, &all, err))
        return false;
    if (all.count == 0 && args->before == INT64_MAX)
        return not_found(q, err);
    buf_text(&q->answer, "{\"items\":[");
    for (size_t i = 0; i < all.count; i++) {
        if (is_draft(&all.items[i]))
            continue;
        if (left-- == 0) {
            next = str_printf(q->mem, "%lld", (long long)last);
            break;
        }
        write_version(&q->answer, NULL, &all.items[i]);
        last = all.items[i].version;
    }
    buf_char(&q->answer, ']');
    object_text(&q->answer, "nextCursor", next);
    buf_char(&q->answer, '}');
    return true;
}

void definitions_versions(struct call *c)
{
    struct versions_args *args = ARENA_NEW(c->mem, struct versions_args);
    struct str cursor = http_query(c->http, "cursor");

    args->before = INT64_MAX;
    if (cursor.len > 0 && (!str_to_int64(cursor, &args->before) || args->before < 1))
        call_refuse_text(c, ERR_BAD_REQUEST, "this cursor is not one of ours");
    else if (call_limit(c, LIST_LIMIT, &args->limit))
        lookup_start(c, args, run_versions, NULL);
}

static bool run_version(struct lookup *q, struct reader *reader, struct err *err)
{
    const int64_t *version = q->args;
    struct stored_definition d;
    bool found;

    if (!read_definition(reader, q->mem, kind_name(q), q->call->params[0], *version, &d, &found,
                         err))
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
