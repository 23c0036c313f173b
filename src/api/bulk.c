/*
 * bulk.c - the same action for every execution that a filter finds.
 *
 * Works through the pages of the list, newest first, with the requests that
 * anyone could make one by one: a page is read, its requests are made, and when
 * the last of them was answered the next page is read. So there are never more
 * than PAGE under way, each is durable for itself, and an execution that starts
 * meanwhile is not touched. The answer has the counts; with `more` it has the
 * cursor from which the next call goes on.
 *
 *     start --> read a page --> requests of the page --> ... --> counts
 *                   ^                   |
 *                   +-------------------+
 */
#include "api/bulk.h"
#include "api/api.h"
#include "api/executions_delete.h"
#include "api/executions_pause.h"
#include "api/executions_repair.h"
#include "api/filter.h"
#include "api/query.h"
#include "api/view.h"
#include "engine/show.h"
#include "value/json.h"
#include "value/object.h"

enum { PAGE = 200, PAGES_MAX = 200, LIMIT_MAX = 10000, TEXT_LEN_MAX = 255, ERRORS_MAX = 10 };

static const struct {
    enum action action;
    enum node_request_kind request;
} actions[] = {
#define BULK(symbol, kind) {.action = ACTION_##symbol, .request = (kind)},
#include "api/bulk.def"
#undef BULK
};

struct bulk_error {
    struct uuid execution;
    struct err err;
};

struct bulk {
    struct call *call;
    enum action action;
    enum node_request_kind request;
    struct execution_filter filter; /* its cursor is where the next page begins */
    struct str filter_json;
    bool is_dry_run;
    int64_t limit;
    struct str type, signal_id, reason; /* SIGNAL; CANCEL, PAUSE */
    struct value payload, by;
    struct repair_fields repair; /* RETRY, SKIP, MIGRATE */
    struct idempotency idempotency;
    struct kept_answer kept;
    int64_t now_us;

    int64_t matched, done, failed, skipped;
    struct bulk_error errors[ERRORS_MAX]; /* the first that failed */

    /* the page */
    struct node_read read;
    struct arena mem; /* of it */
    struct stored_executions list;
    struct str next;
    bool read_ok;
    struct err err;
    size_t under_way;
    int pages; /* that were read */
};

static void read_page(struct bulk *b);
static void finish(struct bulk *b, bool has_more);

/* --- one execution --- */

static bool is_repair(enum action action)
{
    return action == ACTION_RETRY || action == ACTION_SKIP || action == ACTION_MIGRATE;
}

static void count_failure(struct bulk *b, struct uuid execution, const struct err *err)
{
    /*
     * It has ended, or was deleted, between the list and the request. What cannot
     * be repaired for another reason, such as a step that a version lacks, is told.
     */
    if ((err->code == ERR_CONFLICT && !is_repair(b->action)) || err->code == ERR_NOT_FOUND) {
        b->skipped++;
        return;
    }
    if (b->failed < ERRORS_MAX)
        b->errors[b->failed] = (struct bulk_error){.execution = execution, .err = *err};
    b->failed++;
}

static void one_done(struct bulk *b)
{
    if (--b->under_way > 0)
        return;
    /* The page is dealt with. */
    b->filter.cursor = b->next.len > 0 ? str_copy(b->call->mem, b->next) : STR_NONE;
    arena_fini(&b->mem);
    if (b->filter.cursor.len > 0 && b->matched < b->limit && b->pages < PAGES_MAX)
        read_page(b);
    else
        finish(b, b->filter.cursor.len > 0);
}

static void request_done(struct node_request *r)
{
    struct bulk *b = r->owner;

    if (r->ok)
        b->done++;
    else
        count_failure(b, r->execution, &r->err);
    one_done(b);
}

static void deletion_done(struct deletion *d, const struct node_request *r)
{
    struct bulk *b = d->owner;

    if (r->ok)
        b->done++;
    else
        count_failure(b, d->id, &r->err);
    one_done(b);
}

static void delete_one(struct bulk *b, struct uuid id)
{
    struct deletion *d = ARENA_NEW(&b->mem, struct deletion);

    *d = (struct deletion){
        .call = b->call, .mem = &b->mem, .id = id, .done = deletion_done, .owner = b};
    deletion_start(d);
}

static void ask_one(struct bulk *b, struct uuid id)
{
    struct node_request *r = ARENA_NEW(&b->mem, struct node_request);
    char text[UUID_TEXT_LEN + 1];

    *r = (struct node_request){.kind = b->request,
                               .user = b->call->user,
                               .execution = id,
                               .reason = b->reason,
                               .signal_type = b->type,
                               .signal_id = b->signal_id,
                               .payload = b->payload,
                               .signal_by = b->by,
                               .mem = &b->mem,
                               .done = request_done,
                               .owner = b};
    uuid_write(id, text);
    if (b->action == ACTION_CANCEL)
        call_audit(b->call, r, "execution.cancel", str_copy(&b->mem, str_of(text)), STR_NONE);
    else if (b->action == ACTION_PAUSE || b->action == ACTION_RESUME)
        pause_audit(b->call, r, str_copy(&b->mem, str_of(text)));
    else if (is_repair(b->action))
        repair_fill(b->call, r, &b->repair, str_copy(&b->mem, str_of(text)));
    if (node_submit(b->call->node, r, &r->err))
        return;
    r->ok = false;
    request_done(r);
}

/* --- pages --- */

/* Only those that the caller may act on are meant. */
static bool leave_out(struct bulk *b, struct reader *reader)
{
    size_t kept = 0;

    for (size_t i = 0; i < b->list.count; i++) {
        const struct stored_execution *x = &b->list.items[i];
        bool may_act;

        if (!view_allows_acting(b->call, &b->mem, reader, x->org_id, x->code, x->version, &may_act,
                                &b->err))
            return false;
        if (may_act)
            b->list.items[kept++] = *x;
    }
    b->list.count = kept;
    return true;
}

static void run_page(struct node_read *read, struct reader *reader)
{
    struct bulk *b = read->owner;

    b->read_ok = read_executions(reader, &b->mem, &b->filter, &b->list, &b->next, &b->err) &&
                 leave_out(b, reader);
}

static void page_read(struct node_read *read)
{
    struct bulk *b = read->owner;

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
    for (size_t i = 0; i < b->list.count; i++) {
        const struct stored_execution *x = &b->list.items[i];

        b->matched++;
        if (!show_allows(x, b->action)) {
            b->skipped++;
            continue;
        }
        if (b->is_dry_run)
            continue;
        b->under_way++;
        if (b->action == ACTION_DELETE)
            delete_one(b, x->id);
        else
            ask_one(b, x->id);
    }
    one_done(b);
}

static void read_page(struct bulk *b)
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

static struct str answer_json(struct bulk *b, bool has_more)
{
    struct buf out;

    buf_init_arena(&out, b->call->mem);
    buf_char(&out, '{');
    object_text(&out, "action", str_of(action_name(b->action)));
    object_bool(&out, "dryRun", b->is_dry_run);
    object_int(&out, "matched", b->matched);
    object_int(&out, "done", b->done);
    object_int(&out, "failed", b->failed);
    object_int(&out, "skipped", b->skipped);
    object_bool(&out, "more", has_more);
    object_text(&out, "nextCursor", has_more ? b->filter.cursor : STR_NONE);
    object_name(&out, "errors");
    buf_char(&out, '[');
    for (int64_t i = 0; i < b->failed && i < ERRORS_MAX; i++) {
        object_next(&out);
        buf_char(&out, '{');
        object_id(&out, "executionId", b->errors[i].execution);
        object_text(&out, "code", str_of(err_code_name(b->errors[i].err.code)));
        object_text(&out, "message", str_of(b->errors[i].err.message));
        buf_char(&out, '}');
    }
    buf_text(&out, "]}");
    return buf_view(&out);
}

static void finish(struct bulk *b, bool has_more)
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
    object_int(&details, "matched", b->matched);
    object_int(&details, "done", b->done);
    object_int(&details, "failed", b->failed);
    object_int(&details, "skipped", b->skipped);
    buf_char(&details, '}');
    bulk_answer(c, &b->idempotency,
                str_printf(c->mem, "execution.bulk_%s", action_name(b->action)).ptr,
                buf_view(&details), json);
}

/* --- the request --- */

static bool run_known(struct query *q, struct reader *reader, struct err *err)
{
    struct bulk *b = q->args;

    if (b->idempotency.key.len == 0)
        return true;
    return read_answer(reader, q->mem, &b->idempotency, b->now_us, &b->kept, err);
}

static void begin(struct query *q)
{
    struct bulk *b = q->args;

    if (!b->kept.is_kept)
        read_page(b);
    else if (b->kept.is_same)
        call_answer_again(q->call, b->kept.status, b->kept.text);
    else
        call_refuse_text(q->call, ERR_IDEMPOTENCY_CONFLICT,
                         "this Idempotency-Key was used with another request");
}

static bool find_action(struct bulk *b, struct str name)
{
    struct call *c = b->call;
    struct buf all;

    buf_init_arena(&all, c->mem);
    buf_text(&all, "action is one of ");
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        b->action = actions[i].action;
        b->request = actions[i].request;
        if (str_eq(name, str_of(action_name(b->action))))
            return true;
        buf_printf(&all, "%s%s", i > 0 ? ", " : "", action_name(b->action));
    }
    buf_char(&all, '\0');
    call_refuse_field(c, "action", "bad_value", all.ptr);
    return false;
}

/* The fields of a signal, which only a signal may have. */
static bool take_signal(struct bulk *b, struct value type, struct value id, struct value payload)
{
    struct call *c = b->call;
    bool is_signal = b->action == ACTION_SIGNAL;

    if (!is_signal &&
        (type.kind != VALUE_ABSENT || payload.kind != VALUE_ABSENT || id.kind != VALUE_ABSENT)) {
        call_refuse_field(c,
                          type.kind != VALUE_ABSENT      ? "type"
                          : payload.kind != VALUE_ABSENT ? "payload"
                                                         : "id",
                          "unknown_field", "only a signal has type, payload and id");
        return false;
    }
    if (is_signal && (type.kind != VALUE_STRING || type.len == 0 || type.len > TEXT_LEN_MAX)) {
        call_refuse_field(c, "type", type.kind == VALUE_ABSENT ? "missing_field" : "bad_value",
                          "the type of the signal has from 1 to 255 bytes");
        return false;
    }
    if (id.kind == VALUE_STRING && (id.len == 0 || id.len > TEXT_LEN_MAX)) {
        call_refuse_field(c, "id", "bad_value", "id has from 1 to 255 bytes");
        return false;
    }
    b->type = is_signal ? value_text(type) : STR_NONE;
    b->payload = payload.kind == VALUE_ABSENT ? value_null() : payload;
    b->by = call_by(c);
    /* A request that is repeated sends signals that are known: nobody gets one twice. */
    if (id.kind == VALUE_STRING)
        b->signal_id = value_text(id);
    else if (b->idempotency.key.len > 0)
        b->signal_id =
            str_printf(c->mem, "bulk-%.*s-%.*s",
                       (int)(b->idempotency.key.len > 100 ? 100 : b->idempotency.key.len),
                       b->idempotency.key.ptr, 32, b->idempotency.body_hash.ptr);
    return true;
}

/* The fields of repairs, each of which only some actions may have. */
static bool take_repair(struct bulk *b)
{
    const struct repair_fields *f = &b->repair;
    bool is_retry = b->action == ACTION_RETRY, is_migration = b->action == ACTION_MIGRATE;

    if (f->from.kind != VALUE_ABSENT && !is_retry)
        call_refuse_field(b->call, "from", "unknown_field", "only a retry has from");
    else if (f->input.kind != VALUE_ABSENT && !is_retry)
        call_refuse_field(b->call, "input", "unknown_field", "only a retry has an input");
    else if (f->output.kind != VALUE_ABSENT && b->action != ACTION_SKIP)
        call_refuse_field(b->call, "output", "unknown_field", "only a skip has an output");
    else if (f->version.kind != VALUE_ABSENT && !is_retry && !is_migration)
        call_refuse_field(b->call, "version", "unknown_field",
                          "only a retry and a migration have a version");
    else if (f->version.kind == VALUE_ABSENT && is_migration)
        call_refuse_field(b->call, "version", "missing_field",
                          "version is missing: where are they to go?");
    else
        return repair_check(b->call, f);
    return false;
}

static bool take_filter(struct bulk *b, struct value filter, struct value cursor)
{
    struct findings findings = {0};
    struct err err;
    struct buf json;

    if (!filter_body(b->call, filter, &b->filter, &findings)) {
        (void)err_set(&err, ERR_INVALID, "%.*s", STR_ARG(findings.items[0].message));
        call_refuse_with(b->call, &err, &findings, STR_NONE);
        return false;
    }
    b->filter.cursor = cursor.kind == VALUE_STRING ? value_text(cursor) : STR_NONE;
    buf_init_arena(&json, b->call->mem);
    b->filter_json = json_write(&json, filter, &err) ? buf_view(&json) : STR_NONE;
    return true;
}

void bulk_start(struct call *c)
{
    struct bulk *b = ARENA_NEW(c->mem, struct bulk);
    struct value action, filter, dry_run, limit, cursor, type, payload, id, reason;
    const struct body_field fields[] = {
        {"action", BODY_TEXT, true, &action},
        {"filter", BODY_OBJECT, true, &filter},
        {"dryRun", BODY_BOOL, false, &dry_run},
        {"limit", BODY_INT, false, &limit},
        {"cursor", BODY_TEXT, false, &cursor},
        {"type", BODY_TEXT, false, &type},
        {"payload", BODY_ANY, false, &payload},
        {"id", BODY_TEXT, false, &id},
        {"reason", BODY_TEXT, false, &reason},
        {"from", BODY_TEXT, false, &b->repair.from},
        {"version", BODY_INT, false, &b->repair.version},
        {"input", BODY_OBJECT, false, &b->repair.input},
        {"output", BODY_ANY, false, &b->repair.output},
    };

    b->call = c;
    b->now_us = api_now_us(c->api);
    if (!call_body(c, fields, sizeof(fields) / sizeof(fields[0])) ||
        !find_action(b, value_text(action)) || !call_idempotency(c, &b->idempotency) ||
        !take_signal(b, type, id, payload) || !take_repair(b) || !take_filter(b, filter, cursor))
        return;
    b->is_dry_run = value_is_true(dry_run);
    b->limit = limit.kind == VALUE_INT ? limit.i : LIMIT_MAX;
    b->reason = reason.kind == VALUE_STRING ? value_text(reason) : STR_NONE;
    if (reason.kind == VALUE_STRING && b->action != ACTION_CANCEL && b->action != ACTION_PAUSE)
        call_refuse_field(c, "reason", "unknown_field",
                          "only a cancellation and a pause have a reason");
    else if (b->action == ACTION_PAUSE && !pause_check(c, b->reason))
        return;
    else if (b->limit < 1 || b->limit > LIMIT_MAX)
        call_refuse_field(c, "limit", "bad_value", "limit is a number from 1 to 10000");
    else
        query_start(c, b, run_known, begin);
}
