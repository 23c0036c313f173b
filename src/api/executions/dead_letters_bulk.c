/*
 * dead_letters_bulk.c - everything that open dead letters are about is tried again, or they are
 * closed with a note.
 *
 * A step in doubt needs its outcome, which is known of one alone: its letter is
 * not closed here. A letter that is given up again is newer than the request, so it is not met
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
    bool resolves;
    struct str note;            /* ... with it */
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

static void letters_clear(struct bulk *b)
{
    letters_of_bulk(b)->list = (struct stored_letters){0};
}

/* One that is not open is skipped later. */
static bool letters_add(struct bulk *b, struct reader *reader, struct uuid id, size_t *bytes,
                        struct err *err)
{
    struct stored_letter l;
    bool found, may_act = false;

    *bytes = 0;
    if (!read_letter(reader, &b->page_mem, id, &l, &found, err) ||
        (found && !view_allows_acting(b->call, &b->page_mem, reader, l.org_id, l.code, l.version,
                                      &may_act, err)))
        return false;
    if (!may_act)
        return true;
    *VEC_ADD(&b->page_mem, &letters_of_bulk(b)->list) = l;
    *bytes = sizeof(l) + l.payload_json.len + l.cause_json.len + l.sent_json.len;
    return true;
}

static struct uuid letter_id(const struct bulk *b, size_t i)
{
    return letters_of_bulk(b)->list.items[i].id;
}

static bool letter_allows(const struct bulk *b, size_t i)
{
    const struct dead_letters_bulk *d = letters_of_bulk(b);
    const struct stored_letter *letter = &d->list.items[i];

    return letter->status == LETTER_OPEN &&
           (!d->resolves || !str_eq(letter->kind, str_of(letter_kind_name(LETTER_RECONCILE))));
}

static void letter_act(struct bulk *b, size_t i, struct bulk_member *m)
{
    const struct dead_letters_bulk *d = letters_of_bulk(b);
    const struct stored_letter *letter = &d->list.items[i];

    m->about = letter->execution;
    m->request.mem = &b->page_mem;
    if (d->resolves)
        dead_letters_fill_resolve(b->call, &m->request, letter, d->note);
    else
        dead_letters_fill_retry(b->call, &m->request, letter);
    bulk_ask(m);
}

/* A message that no execution has sent has a letter without one. */
static void letter_show_error(struct buf *out, struct uuid execution)
{
    static const struct uuid none;

    if (memcmp(&execution, &none, sizeof(none)) != 0)
        object_id(out, "executionId", execution);
}

/* Every refusal of one that is open is an error of the answer: it names what is left to do by hand. */
static const struct bulk_kind dead_letters_kind = {
    .name = "dead_letter",
    .id_name = "id",
    .read = letters_read_page,
    .clear = letters_clear,
    .add = letters_add,
    .id = letter_id,
    .allows = letter_allows,
    .act = letter_act,
    .show_error = letter_show_error,
};

static bool letters_take_filter(struct dead_letters_bulk *d, struct call *c, struct value filter)
{
    struct findings findings = {0};

    return filter.kind != VALUE_MAP || filter_dead_letters_body(c, filter, &d->filter, &findings) ||
           call_refuse_findings(c, &findings);
}

void dead_letters_bulk(struct call *c)
{
    struct dead_letters_bulk *d = ARENA_NEW(c->mem, struct dead_letters_bulk);
    struct bulk_body body = {0};
    struct value note = value_null();
    const struct body_field fields[] = {BULK_FIELDS(body), NOTE_FIELD(note)};

    d->bulk.kind = &dead_letters_kind;
    if (call_body(c, fields, ARRAY_SIZE(fields)) &&
        dead_letters_take_action(c, body.action, note, &d->resolves) &&
        letters_take_filter(d, c, body.filter) && bulk_take(&d->bulk, c, &body)) {
        d->note = value_text_or(note, STR_NONE);
        d->bulk.action = d->resolves ? "resolve" : "retry";
        bulk_start(&d->bulk);
    }
}
