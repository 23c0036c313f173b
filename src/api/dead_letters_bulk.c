/*
 * dead_letters_bulk.c - everything that open dead letters are about is tried again.
 *
 * A letter that is given up again is newer than the request, so it is not met
 * twice.
 */
#include "api/bulk.h"
#include "api/dead_letters.h"
#include "api/filter.h"
#include "api/view.h"
#include "value/object.h"

struct dead_letters_bulk {
    struct bulk bulk; /* first: see bulk.h */
    struct letter_filter filter;
    struct stored_letters list; /* the page */
};

static struct dead_letters_bulk *self(const struct bulk *b)
{
    return (struct dead_letters_bulk *)b;
}

/* Only those that the caller may act on are meant. */
static bool letters_read_page(struct bulk *b, struct reader *reader, size_t *count, struct err *err)
{
    struct dead_letters_bulk *d = self(b);
    struct letter_filter filter = d->filter;

    *count = 0;
    filter.cursor = b->cursor;
    filter.limit = b->page_limit;
    if (filter.to_us == 0 || filter.to_us > b->asked_at_us)
        filter.to_us = b->asked_at_us;
    if (!read_letters(reader, &b->page_mem, &filter, &d->list, &b->next, err))
        return false;
    for (size_t i = 0; i < d->list.count; i++) {
        const struct stored_letter *l = &d->list.items[i];
        bool may_act = false;

        if (!view_allows_acting(b->call, &b->page_mem, reader, l->org_id, l->code, l->version,
                                &may_act, err))
            return false;
        if (may_act)
            d->list.items[(*count)++] = *l;
    }
    return true;
}

static struct uuid letter_id(const struct bulk *b, size_t i)
{
    return self(b)->list.items[i].id;
}

static bool letter_allows(const struct bulk *b, size_t i)
{
    (void)b;
    (void)i;
    return true; /* only open ones are read */
}

static void letter_retry(struct bulk *b, size_t i, struct bulk_member *m)
{
    const struct stored_letter *letter = &self(b)->list.items[i];

    m->about = letter->execution;
    m->request.mem = &b->page_mem;
    dead_letters_fill_retry(b->call, &m->request, letter);
    bulk_ask(m);
}

/* Whoever asks for a retry wants to know what is left to do by hand. */
static bool letter_is_skipped(const struct bulk *b, const struct err *err)
{
    (void)b;
    (void)err;
    return false;
}

static void letter_show_error(struct buf *out, struct uuid execution)
{
    object_id(out, "executionId", execution);
}

static const struct bulk_kind dead_letters_kind = {
    .name = "dead_letter",
    .id_name = "id",
    .read = letters_read_page,
    .id = letter_id,
    .allows = letter_allows,
    .act = letter_retry,
    .is_skipped = letter_is_skipped,
    .show_error = letter_show_error,
};

static bool take_filter(struct dead_letters_bulk *d, struct call *c, struct value filter)
{
    struct findings findings = {0};
    struct err err;

    if (filter_dead_letters_body(c, filter, &d->filter, &findings))
        return true;
    (void)err_set(&err, ERR_INVALID, "%.*s", STR_ARG(findings.items[0].message));
    call_refuse_with(c, &err, &findings, STR_NONE);
    return false;
}

void dead_letters_bulk(struct call *c)
{
    struct dead_letters_bulk *d = ARENA_NEW(c->mem, struct dead_letters_bulk);
    struct value action, filter, dry_run, limit, cursor;
    const struct body_field fields[] = {
        {"action", BODY_TEXT, true, &action},   {"filter", BODY_OBJECT, true, &filter},
        {"dryRun", BODY_BOOL, false, &dry_run}, {"limit", BODY_INT, false, &limit},
        {"cursor", BODY_TEXT, false, &cursor},
    };

    d->bulk.kind = &dead_letters_kind;
    d->bulk.action = "retry";
    if (!call_body(c, fields, ARRAY_SIZE(fields)))
        return;
    if (!str_eq(value_text(action), STR("retry")))
        call_refuse_field(c, "action", "bad_value", "action is retry");
    else if (take_filter(d, c, filter) && bulk_take(&d->bulk, c, filter, dry_run, limit, cursor))
        bulk_start(&d->bulk);
}
