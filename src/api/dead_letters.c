/* dead_letters.c - reading dead letters: one, a list. */
#include "api/dead_letters.h"

#include "api/filter.h"
#include "api/view.h"
#include "value/object.h"

enum { LIST_LIMIT = 50, LIST_PAGES_MAX = 20 };

static bool not_found(struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "there is no dead letter with this id");
}

bool dead_letters_id(struct call *c, struct uuid *out)
{
    struct err err;

    if (uuid_read(c->params[0], out))
        return true;
    (void)not_found(&err);
    call_refuse(c, &err);
    return false;
}

bool dead_letters_read(struct lookup *q, struct reader *reader, struct uuid id,
                       struct stored_letter *out, struct err *err)
{
    bool found, is_visible = false;

    if (!read_letter(reader, q->mem, id, out, &found, err) ||
        (found && !view_allows(q->call, q->mem, reader, out->org_id, out->code, out->version,
                               &is_visible, err)))
        return false;
    return is_visible ? true : not_found(err);
}

bool dead_letters_read_to_act(struct lookup *q, struct reader *reader, struct uuid id,
                              struct stored_letter *out, struct err *err)
{
    return dead_letters_read(q, reader, id, out, err) &&
           (!out->has_execution || view_check_acting(q->call, q->mem, reader, out->execution, err));
}

static void show(struct buf *out, const struct stored_letter *l)
{
    buf_char(out, '{');
    object_id(out, "id", l->id);
    object_text(out, "kind", l->kind);
    object_json(out, "cause", l->cause_json);
    object_int(out, "attempts", l->attempts);
    object_json(out, "payload", l->payload_json);
    if (l->has_execution)
        object_id(out, "executionId", l->execution);
    else
        object_json(out, "executionId", STR_NONE);
    object_text(out, "code", l->code);
    object_text(out, "key", l->key);
    object_text(out, "step", l->step);
    object_text(out, "status", str_of(letter_status_name(l->status)));
    object_text(out, "note", l->note);
    object_time(out, "createdAt", l->created_at_us);
    object_time(out, "resolvedAt", l->resolved_at_us);
    object_text(out, "resolvedBy", l->resolved_by);
    buf_char(out, '}');
}

bool dead_letters_show(struct arena *mem, const struct mask *mask,
                       const struct stored_letter *letter, struct buf *out, struct err *err)
{
    struct buf whole;

    if (mask_is_empty(mask)) {
        show(out, letter);
        return true;
    }
    buf_init_arena(&whole, mem);
    show(&whole, letter);
    return mask_view(mem, mask, buf_view(&whole), out, err);
}

/* --- one --- */

static bool run_get(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct uuid *id = q->args;
    struct stored_letter letter;
    struct mask mask;

    return dead_letters_read(q, reader, *id, &letter, err) &&
           read_mask(reader, q->mem, letter.execution, &mask, err) &&
           dead_letters_show(q->mem, &mask, &letter, &q->answer, err);
}

void dead_letters_get(struct call *c)
{
    struct uuid *id = ARENA_NEW(c->mem, struct uuid);

    if (dead_letters_id(c, id))
        lookup_start(c, id, run_get, NULL);
}

/* --- a list --- */

/* Append those of a page that the caller may see, and count them. */
static bool show_visible(struct lookup *q, struct reader *reader, const struct stored_letters *list,
                         int64_t *shown, struct err *err)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct stored_letter *l = &list->items[i];
        struct mask mask;
        bool is_visible;

        if (!view_allows(q->call, q->mem, reader, l->org_id, l->code, l->version, &is_visible, err))
            return false;
        if (!is_visible)
            continue;
        if (!read_mask(reader, q->mem, l->execution, &mask, err))
            return false;
        object_next(&q->answer);
        if (!dead_letters_show(q->mem, &mask, l, &q->answer, err))
            return false;
        ++*shown;
    }
    return true;
}

static bool run_list(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct letter_filter *filter = q->args;
    struct letter_filter page = *filter;
    struct stored_letters list;
    struct str next;
    int64_t shown = 0, before;
    int pages = 0;

    buf_text(&q->answer, "{\"items\":[");
    /* What the caller may not see leaves gaps, filled from the next pages: but not for ever. */
    do {
        before = shown;
        page.limit = filter->limit - shown;
        if (!read_letters(reader, q->mem, &page, &list, &next, err) ||
            !show_visible(q, reader, &list, &shown, err))
            return false;
        page.cursor = next;
    } while (shown - before < (int64_t)list.count && next.len > 0 && ++pages < LIST_PAGES_MAX);
    buf_char(&q->answer, ']');
    object_text(&q->answer, "nextCursor", next);
    buf_char(&q->answer, '}');
    return true;
}

/* "open, retried, resolved" */
static struct str names(struct arena *mem, const char *(*name)(unsigned i), unsigned count)
{
    struct buf all;

    buf_init_arena(&all, mem);
    for (unsigned i = 0; i < count; i++)
        buf_printf(&all, "%s%s", i > 0 ? ", " : "", name(i));
    return buf_view(&all);
}

static const char *status_of(unsigned i)
{
    return letter_status_name((enum letter_status)i);
}

static const char *letter_kind_of(unsigned i)
{
    return letter_kind_name((enum letter_kind)i);
}

/* ?status: those that are open unless it says otherwise. */
static bool take_status(struct call *c, struct letter_filter *out)
{
    struct str text = http_query(c->http, "status");

    out->has_status = !str_eq(text, STR("all"));
    out->status = LETTER_OPEN;
    if (text.len == 0 || !out->has_status || letter_status_read(text, &out->status))
        return true;
    call_refuse_text(c, ERR_BAD_REQUEST, "status is one of %.*s, all",
                     STR_ARG(names(c->mem, status_of, LETTER_STATUS_COUNT)));
    return false;
}

static bool take_kind(struct call *c, struct letter_filter *out)
{
    enum letter_kind kind;

    out->kind = http_query(c->http, "kind");
    if (out->kind.len == 0 || letter_kind_read(out->kind, &kind))
        return true;
    call_refuse_text(c, ERR_BAD_REQUEST, "kind is one of %.*s",
                     STR_ARG(names(c->mem, letter_kind_of, LETTER_KIND_COUNT)));
    return false;
}

void dead_letters_list(struct call *c)
{
    struct letter_filter *filter = ARENA_NEW(c->mem, struct letter_filter);

    *filter = (struct letter_filter){.org_id = c->user.org_id,
                                     .code = http_query(c->http, "code"),
                                     .cursor = http_query(c->http, "cursor")};
    if (take_status(c, filter) && take_kind(c, filter) &&
        filter_execution(c, &filter->has_execution, &filter->execution) &&
        filter_time(c, "from", false, &filter->from_us) &&
        filter_time(c, "to", true, &filter->to_us) && call_limit(c, LIST_LIMIT, &filter->limit))
        lookup_start(c, filter, run_list, NULL);
}
