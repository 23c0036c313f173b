/*
 * letters_bulk.c - everything that open dead letters are about is tried again.
 *
 * As bulk.c does it for executions: page by page, newest first, with the
 * requests that anyone could make one by one. A letter that is given up again
 * is newer than the pages that are still to come, so it is not met twice.
 */
#include "api/api.h"
#include "api/bulk.h"
#include "api/filter.h"
#include "api/letters.h"
#include "api/view.h"
#include "value/json.h"
#include "value/object.h"

enum { PAGE = 200, PAGES_MAX = 200, LIMIT_MAX = 10000, ERRORS_MAX = 10 };

struct letters_bulk {
    struct call *call;
    struct letter_filter filter; /* its cursor is where the next page begins */
    struct str filter_json;
    bool is_dry_run;
    int64_t limit;
    struct idempotency idempotency;
    struct kept_answer kept;
    int64_t now_us;

    int64_t matched, done, failed;
    struct bulk_error {
        struct uuid letter, execution;
        struct err err;
    } errors[ERRORS_MAX]; /* the first that failed */

    /* the page */
    struct node_read read;
    struct arena mem; /* of it */
    struct stored_letters list;
    struct str next;
    bool read_ok;
    struct err err;
    size_t under_way;
    int pages; /* that were read */
};

/* One letter of a page. */
struct one {
    struct node_request request;
    struct letters_bulk *bulk;
    const struct stored_letter *letter;
};

static void read_page(struct letters_bulk *b);
static void finish(struct letters_bulk *b, bool has_more);

static void one_done(struct letters_bulk *b)
{
    if (--b->under_way > 0)
        return;
    b->filter.cursor = b->next.len > 0 ? str_copy(b->call->mem, b->next) : STR_NONE;
    arena_fini(&b->mem);
    if (b->filter.cursor.len > 0 && b->matched < b->limit && b->pages < PAGES_MAX)
        read_page(b);
    else
        finish(b, b->filter.cursor.len > 0);
}

static void request_done(struct node_request *r)
{
    struct one *one = r->owner;
    struct letters_bulk *b = one->bulk;

    if (r->ok) {
        b->done++;
    } else {
        if (b->failed < ERRORS_MAX)
            b->errors[b->failed] = (struct bulk_error){
                .letter = one->letter->id, .execution = r->execution, .err = r->err};
        b->failed++;
    }
    one_done(b);
}

static void ask_one(struct letters_bulk *b, const struct stored_letter *letter)
{
    struct one *one = ARENA_NEW(&b->mem, struct one);
    struct node_request *r = &one->request;

    *one = (struct one){.bulk = b, .letter = letter};
    r->user = b->call->user;
    r->mem = &b->mem;
    r->done = request_done;
    r->owner = one;
    letters_fill_retry(b->call, r, letter);
    if (node_submit(b->call->node, r, &r->err))
        return;
    r->ok = false;
    request_done(r);
}

/* --- pages --- */

/* Only those that the caller may act on are meant. */
static void run_page(struct node_read *read, struct reader *reader)
{
    struct letters_bulk *b = read->owner;
    size_t kept = 0;

    b->read_ok = read_letters(reader, &b->mem, &b->filter, &b->list, &b->next, &b->err);
    for (size_t i = 0; b->read_ok && i < b->list.count; i++) {
        const struct stored_letter *l = &b->list.items[i];
        bool may_act = false;

        b->read_ok = view_allows_acting(b->call, &b->mem, reader, l->org_id, l->code, l->version,
                                        &may_act, &b->err);
        if (may_act)
            b->list.items[kept++] = *l;
    }
    b->list.count = kept;
}

static void page_read(struct node_read *read)
{
    struct letters_bulk *b = read->owner;

    if (!b->read_ok) {
        arena_fini(&b->mem);
        if (b->matched == 0)
            call_refuse(b->call, &b->err);
        else
            finish(b, true);
        return;
    }
    /* One for the loop itself: requests may be answered while it runs. */
    b->under_way = 1;
    b->matched += (int64_t)b->list.count;
    for (size_t i = 0; !b->is_dry_run && i < b->list.count; i++) {
        b->under_way++;
        ask_one(b, &b->list.items[i]);
    }
    one_done(b);
}

static void read_page(struct letters_bulk *b)
{
    int64_t left = b->limit - b->matched;
    struct err err;

    b->pages++;
    b->filter.limit = left < PAGE ? left : PAGE;
    b->read =
        (struct node_read){.lane = LANE_CLIENT, .run = run_page, .done = page_read, .owner = b};
    arena_init(&b->mem);
    if (node_read(b->call->node, &b->read, &err))
        return;
    arena_fini(&b->mem);
    if (b->matched == 0)
        call_refuse(b->call, &err);
    else
        finish(b, true);
}

/* --- the answer --- */

static void write_counts(struct buf *out, const struct letters_bulk *b)
{
    object_int(out, "matched", b->matched);
    object_int(out, "done", b->done);
    object_int(out, "failed", b->failed);
}

static struct str answer_json(struct letters_bulk *b, bool has_more)
{
    struct buf out;

    buf_init_arena(&out, b->call->mem);
    buf_char(&out, '{');
    object_text(&out, "action", STR("retry"));
    object_bool(&out, "dryRun", b->is_dry_run);
    write_counts(&out, b);
    object_bool(&out, "more", has_more);
    object_text(&out, "nextCursor", has_more ? b->filter.cursor : STR_NONE);
    object_name(&out, "errors");
    buf_char(&out, '[');
    for (int64_t i = 0; i < b->failed && i < ERRORS_MAX; i++) {
        object_next(&out);
        buf_char(&out, '{');
        object_id(&out, "id", b->errors[i].letter);
        object_id(&out, "executionId", b->errors[i].execution);
        object_text(&out, "code", str_of(err_code_name(b->errors[i].err.code)));
        object_text(&out, "message", str_of(b->errors[i].err.message));
        buf_char(&out, '}');
    }
    buf_text(&out, "]}");
    return buf_view(&out);
}

static void finish(struct letters_bulk *b, bool has_more)
{
    struct call *c = b->call;
    struct str json = answer_json(b, has_more);
    struct buf details;

    if (b->is_dry_run) {
        call_answer(c, 200, json);
        return;
    }
    buf_init_arena(&details, c->mem);
    buf_char(&details, '{');
    object_json(&details, "filter", b->filter_json);
    write_counts(&details, b);
    buf_char(&details, '}');
    bulk_answer(c, &b->idempotency, "dead_letter.bulk_retry", buf_view(&details), json);
}

/* --- the request --- */

static bool run_known(struct query *q, struct reader *reader, struct err *err)
{
    struct letters_bulk *b = q->args;

    return b->idempotency.key.len == 0 ||
           read_answer(reader, q->mem, &b->idempotency, b->now_us, &b->kept, err);
}

static void begin(struct query *q)
{
    struct letters_bulk *b = q->args;

    if (!b->kept.is_kept)
        read_page(b);
    else if (b->kept.is_same)
        call_answer_again(q->call, b->kept.status, b->kept.text);
    else
        call_refuse_text(q->call, ERR_IDEMPOTENCY_CONFLICT,
                         "this Idempotency-Key was used with another request");
}

static bool take_filter(struct letters_bulk *b, struct value filter, struct value cursor)
{
    struct findings findings = {0};
    struct err err;
    struct buf json;

    if (!filter_letters_body(b->call, filter, &b->filter, &findings)) {
        (void)err_set(&err, ERR_INVALID, "%.*s", STR_ARG(findings.items[0].message));
        call_refuse_with(b->call, &err, &findings, STR_NONE);
        return false;
    }
    b->filter.cursor = cursor.kind == VALUE_STRING ? value_text(cursor) : STR_NONE;
    buf_init_arena(&json, b->call->mem);
    b->filter_json = json_write(&json, filter, &err) ? buf_view(&json) : STR_NONE;
    return true;
}

void letters_bulk(struct call *c)
{
    struct letters_bulk *b = ARENA_NEW(c->mem, struct letters_bulk);
    struct value action, filter, dry_run, limit, cursor;
    const struct body_field fields[] = {
        {"action", BODY_TEXT, true, &action},   {"filter", BODY_OBJECT, true, &filter},
        {"dryRun", BODY_BOOL, false, &dry_run}, {"limit", BODY_INT, false, &limit},
        {"cursor", BODY_TEXT, false, &cursor},
    };

    b->call = c;
    b->now_us = api_now_us(c->api);
    if (!call_body(c, fields, sizeof(fields) / sizeof(fields[0])) ||
        !call_idempotency(c, &b->idempotency) || !take_filter(b, filter, cursor))
        return;
    b->is_dry_run = value_is_true(dry_run);
    b->limit = limit.kind == VALUE_INT ? limit.i : LIMIT_MAX;
    if (!str_eq(value_text(action), STR("retry")))
        call_refuse_field(c, "action", "bad_value", "action is retry");
    else if (b->limit < 1 || b->limit > LIMIT_MAX)
        call_refuse_field(c, "limit", "bad_value", "limit is a number from 1 to 10000");
    else
        query_start(c, b, run_known, begin);
}
