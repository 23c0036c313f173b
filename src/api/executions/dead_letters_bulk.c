/*
 * dead_letters_bulk.c - everything that open dead letters are about is tried again.
 *
 * A letter that is given up again is newer than the request, so it is not met
 * twice.
 */
#include "api/bulk.h"
#include "api/executions/dead_letters.h"
#include "api/filter.h"
#include "api/view.h"
#include "store/read_letter.h"
#include "value/object.h"

struct dead_letters_bulk {
    struct bulk bulk; /* first: see bulk.h */
    struct letter_filter filter;
    struct stored_letters list; /* the page */
};

static struct dead_letters_bulk *letters_of_bulk(const struct bulk *b)
{
    return (struct dead_letters_bulk *)b;
}

/* Letters that the caller may not act on are left out. */
static bool letters_read_page(struct bulk *b, struct reader *reader, size_t *count, struct err *err)
{
    struct dead_letters_bulk *d = letters_of_bulk(b);
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
    return letters_of_bulk(b)->list.items[i].id;
}

static void letter_retry(struct bulk *b, size_t i, struct bulk_member *m)
{
    const struct stored_letter *letter = &letters_of_bulk(b)->list.items[i];

    m->about = letter->execution;
    m->request.mem = &b->page_mem;
    dead_letters_fill_retry(b->call, &m->request, letter);
    bulk_ask(m);
}

static void letter_show_error(struct buf *out, struct uuid execution)
{
    object_id(out, "executionId", execution);
}

/*
 * Only open ones are read, so all of them may be tried. Every refusal is an
 * error of the answer: it names what is left to do by hand.
 */
static const struct bulk_kind dead_letters_kind = {
    .name = "dead_letter",
    .id_name = "id",
    .read = letters_read_page,
    .id = letter_id,
    .act = letter_retry,
    .show_error = letter_show_error,
};

void dead_letters_bulk(struct call *c)
{
    struct dead_letters_bulk *d = ARENA_NEW(c->mem, struct dead_letters_bulk);
    struct bulk_body body = {0};
    const struct body_field fields[] = {BULK_FIELDS(body, true)};
    struct findings findings = {0};

    d->bulk.kind = &dead_letters_kind;
    d->bulk.action = "retry";
    if (!call_body(c, fields, ARRAY_SIZE(fields)))
        return;
    if (!str_eq(value_text(body.action), STR("retry")))
        call_refuse_field(c, "action", "bad_value", "action is retry");
    else if (!filter_dead_letters_body(c, body.filter, &d->filter, &findings))
        call_refuse_findings(c, &findings);
    else if (bulk_take(&d->bulk, c, &body))
        bulk_start(&d->bulk);
}
