/* dead_letters.c - reading dead letters: one, a list. */
#include "api/executions/dead_letters.h"

#include "api/filter.h"
#include "api/list.h"
#include "api/view.h"
#include "engine/show.h"
#include "store/read_execution.h"
#include "store/read_letter.h"
#include "value/json.h"
#include "value/object.h"

static bool letter_not_found(struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "there is no dead letter with this id");
}

bool dead_letters_id(struct call *c, struct uuid *out)
{
    struct err err;

    return uuid_read(c->params[0], out) || letter_not_found(&err) || call_refuse(c, &err);
}

/* The letter, if the caller may see it; else ERR_NOT_FOUND. */
static bool dead_letters_read(struct lookup *q, struct reader *reader, struct uuid id,
                              struct stored_letter *out, struct err *err)
{
    bool found, is_visible = false;

    if (!read_letter(reader, q->mem, id, out, &found, err) ||
        (found && !view_allows(q->call, q->mem, reader, out->org_id, out->code, out->version,
                               &is_visible, err)))
        return false;
    return is_visible || letter_not_found(err);
}

bool dead_letters_read_to_act(struct lookup *q, struct reader *reader, struct uuid id,
                              struct stored_letter *out, struct err *err)
{
    return dead_letters_read(q, reader, id, out, err) &&
           (!out->has_execution || view_check_acting(q->call, q->mem, reader, out->execution, err));
}

/* The input of the step; where it had none, what was sent. */
static struct str letter_payload(struct arena *mem, const struct stored_letter *l)
{
    const struct history_row row = {
        .kind = HISTORY_EVENT, .status = l->sent_as, .input_json = l->sent_json};

    return l->payload_json.len > 0 || !show_is_sent(&row) ? l->payload_json : show_sent(mem, &row);
}

/*
 * Why it was given up. Only a failure of a step says by itself whether trying again may help; of
 * what the server gave up by itself, in rows of earlier versions, the class does.
 */
static struct str letter_cause(struct arena *mem, const struct stored_letter *l)
{
    struct value_entry *entries;
    struct value cause;
    struct err err;

    if (l->cause_json.len == 0 || !json_read(mem, l->cause_json, &cause, &err) ||
        cause.kind != VALUE_MAP || value_map_get_str(cause, STR("retryable")).kind != VALUE_ABSENT)
        return l->cause_json;
    entries = ARENA_ARRAY(mem, cause.len + 1u, struct value_entry);
    for (uint32_t i = 0; i < cause.len; i++)
        entries[i] = cause.map->entries[i];
    entries[cause.len] = (struct value_entry){
        value_key(STR("retryable")),
        value_bool(err_class_find(value_map_text(cause, STR("class"))) == ERR_CLASS_TRANSIENT)};
    return json_must_text(mem, value_map_take(mem, entries, cause.len + 1u));
}

static void letter_show(struct arena *mem, struct buf *out, const struct stored_letter *l)
{
    buf_char(out, '{');
    object_id(out, "id", l->id);
    object_text(out, "kind", l->kind);
    object_json(out, "cause", letter_cause(mem, l));
    object_int(out, "attempts", l->attempts);
    object_json(out, "payload", letter_payload(mem, l));
    object_text(out, "idempotencyKey", l->sent_key);
    if (l->has_execution)
        object_id(out, "executionId", l->execution);
    else
        object_json(out, "executionId", STR_NONE);
    object_text(out, "code", l->code);
    object_text(out, "key", l->key);
    object_text(out, "step", l->step);
    object_text(out, "status", str_of(letter_status_name(l->status)));
    object_json(out, "actions",
                l->status == LETTER_OPEN ? STR("[\"retry\",\"resolve\"]") : STR("[]"));
    object_text(out, "note", l->note);
    object_time(out, "createdAt", l->created_at_us);
    object_time(out, "resolvedAt", l->resolved_at_us);
    object_text(out, "resolvedBy", l->resolved_by);
    buf_char(out, '}');
}

void dead_letters_show(struct arena *mem, const struct mask *mask,
                       const struct stored_letter *letter, struct buf *out)
{
    struct buf whole;

    if (mask_is_empty(mask)) {
        letter_show(mem, out, letter);
        return;
    }
    buf_init_arena(&whole, mem);
    letter_show(mem, &whole, letter);
    mask_view(mem, mask, buf_view(&whole), out);
}

/* --- one --- */

static bool letter_run_get(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct uuid *id = q->args;
    struct stored_letter letter;
    struct mask mask;

    if (!dead_letters_read(q, reader, *id, &letter, err) ||
        !read_mask(reader, q->mem, letter.execution, &mask, err))
        return false;
    dead_letters_show(q->mem, &mask, &letter, &q->answer);
    return true;
}

void dead_letters_get(struct call *c)
{
    struct uuid *id = ARENA_NEW(c->mem, struct uuid);

    if (dead_letters_id(c, id))
        lookup_start(c, id, letter_run_get, NULL);
}

/* --- a list --- */

struct letters_page {
    struct list_page list;
    struct letter_filter filter;
};

static bool dead_letters_read_page(struct list_page *l)
{
    struct letter_filter *filter = &((struct letters_page *)l)->filter;
    struct stored_letters rows;

    filter->cursor = l->cursor;
    filter->limit = l->limit;
    if (!read_letters(l->reader, l->mem, filter, &rows, &l->next, l->err))
        return false;
    LIST_ROWS(l, &rows);
    return true;
}

static bool dead_letters_show_row(struct list_page *l, const void *row)
{
    const struct stored_letter *letter = row;
    struct mask mask;

    if (!read_mask(l->reader, l->mem, letter->execution, &mask, l->err))
        return false;
    dead_letters_show(l->mem, &mask, letter, l->out);
    return true;
}

static const struct list_kind dead_letters_kind = {
    .read = dead_letters_read_page,
    .show = dead_letters_show_row,
    .owner = LIST_OWNER(struct stored_letter, org_id, code, version),
};

static const char *letter_status_of(unsigned i)
{
    return letter_status_name((enum letter_status)i);
}

/* ?status: those that are open unless it says otherwise. */
static bool letter_take_status(struct call *c, struct letter_filter *out)
{
    struct str text = http_query(c->http, "status"), names;

    out->has_status = !str_eq(text, STR("all"));
    out->status = LETTER_OPEN;
    if (text.len == 0 || !out->has_status || letter_status_read(text, &out->status))
        return true;
    names = filter_names(c->mem, letter_status_of, LETTER_STATUS_COUNT);
    return call_refuse_text(c, ERR_BAD_REQUEST, "status is one of %.*s, all", STR_ARG(names));
}

static bool letter_take_kind(struct call *c, struct letter_filter *out)
{
    enum letter_kind kind;
    struct str names;

    out->kind = http_query(c->http, "kind");
    if (out->kind.len == 0 || letter_kind_read(out->kind, &kind))
        return true;
    names = filter_letter_kinds(c->mem);
    return call_refuse_text(c, ERR_BAD_REQUEST, "kind is one of %.*s", STR_ARG(names));
}

void dead_letters_list(struct call *c)
{
    struct letters_page *p = ARENA_NEW(c->mem, struct letters_page);
    struct letter_filter *filter = &p->filter;

    filter->org_id = c->user.org_id;
    filter->code = http_query(c->http, "code");
    if (letter_take_status(c, filter) && letter_take_kind(c, filter) &&
        filter_execution(c, &filter->has_execution, &filter->execution) &&
        filter_time(c, "from", false, &filter->from_us) &&
        filter_time(c, "to", true, &filter->to_us))
        list_start(c, &p->list, &dead_letters_kind);
}
