/*
 * executions_bulk.c - the same action for every execution that a filter finds; see bulk.h.
 */
#include "api/api.h"
#include "api/bulk.h"
#include "api/executions_again.h"
#include "api/executions_cancel.h"
#include "api/executions_delete.h"
#include "api/executions_pause.h"
#include "api/executions_repair.h"
#include "api/filter.h"
#include "api/view.h"
#include "engine/show.h"

enum { TEXT_LEN_MAX = 255 };

static const struct {
    enum action action;
    enum node_request_kind request;
} actions[] = {
#define BULK(symbol, kind) {.action = ACTION_##symbol, .request = (kind)},
#include "api/executions_bulk.def"
#undef BULK
};

struct executions_bulk {
    struct bulk bulk; /* first: see bulk.h */
    enum action action;
    enum node_request_kind request;
    struct execution_filter filter;
    struct str type, signal_id; /* SIGNAL */
    struct value payload, by;
    struct str reason;             /* PAUSE */
    struct cancel_fields cancel;   /* CANCEL */
    struct repair_fields repair;   /* RETRY, SKIP, MIGRATE */
    struct stored_executions list; /* the page */
    struct again *agains;          /* AGAIN: what each was started with */
};

static struct executions_bulk *self(const struct bulk *b)
{
    return (struct executions_bulk *)b;
}

/* --- a page --- */

/* What those that have ended were started with. */
static bool read_agains(struct executions_bulk *e, struct reader *reader, size_t count,
                        struct err *err)
{
    struct arena *mem = &e->bulk.page_mem;

    e->agains = arena_zalloc(mem, (count + 1) * sizeof(*e->agains));
    for (size_t i = 0; i < count; i++)
        if (show_allows(&e->list.items[i], ACTION_AGAIN) &&
            !again_read(e->bulk.call, mem, reader, e->list.items[i].id, &e->agains[i], err))
            return false;
    return true;
}

/* Only those that the caller may act on are meant. */
static bool executions_read_page(struct bulk *b, struct reader *reader, size_t *count,
                                 struct err *err)
{
    struct executions_bulk *e = self(b);
    struct execution_filter filter = e->filter;

    *count = 0;
    filter.cursor = b->cursor;
    filter.limit = b->page_limit;
    if (filter.to_us == 0 || filter.to_us > b->asked_at_us)
        filter.to_us = b->asked_at_us;
    if (!read_executions(reader, &b->page_mem, &filter, &e->list, &b->next, err))
        return false;
    for (size_t i = 0; i < e->list.count; i++) {
        const struct stored_execution *x = &e->list.items[i];
        bool may_act;

        if (!view_allows_acting(b->call, &b->page_mem, reader, x->org_id, x->code, x->version,
                                &may_act, err))
            return false;
        if (may_act)
            e->list.items[(*count)++] = *x;
    }
    return e->action != ACTION_AGAIN || b->is_dry_run || read_agains(e, reader, *count, err);
}

static struct uuid execution_id(const struct bulk *b, size_t i)
{
    return self(b)->list.items[i].id;
}

static bool execution_allows(const struct bulk *b, size_t i)
{
    return show_allows(&self(b)->list.items[i], self(b)->action);
}

/* --- one execution --- */

static bool is_repair(enum action action)
{
    return action == ACTION_RETRY || action == ACTION_SKIP || action == ACTION_MIGRATE;
}

/*
 * It has ended, or was deleted, between the list and the request. What cannot
 * be repaired for another reason, such as a step that a version lacks, is told.
 */
static bool execution_is_skipped(const struct bulk *b, const struct err *err)
{
    return (err->code == ERR_CONFLICT && !is_repair(self(b)->action)) || err->code == ERR_NOT_FOUND;
}

static void deletion_done(struct deletion *d, const struct node_request *r)
{
    bulk_member_done(d->owner, r->ok, &r->err);
}

static void delete_one(struct bulk *b, struct bulk_member *m)
{
    struct deletion *d = ARENA_NEW(&b->page_mem, struct deletion);

    *d = (struct deletion){.call = b->call,
                           .mem = &b->page_mem,
                           .id = m->id,
                           .idempotency = m->idempotency,
                           .done = deletion_done,
                           .owner = m};
    d->idempotency.status = 204;
    deletion_start(d);
}

static void ask_one(struct executions_bulk *e, size_t i, struct bulk_member *m)
{
    struct call *c = e->bulk.call;
    struct node_request *r = &m->request;
    char *id = arena_alloc(&e->bulk.page_mem, UUID_TEXT_LEN + 1);
    struct str target = str_from(id, UUID_TEXT_LEN);

    uuid_write(m->id, id);
    r->kind = e->request;
    r->execution = m->id;
    r->mem = &e->bulk.page_mem;
    if (e->action == ACTION_SIGNAL) {
        r->signal_type = e->type;
        r->signal_id = e->signal_id;
        r->payload = e->payload;
        r->signal_by = e->by;
        call_audit_signal(c, r);
    } else if (e->action == ACTION_AGAIN) {
        again_fill(c, r, &e->agains[i], m->id, target,
                   e->repair.version.kind == VALUE_INT ? e->repair.version.i : 0);
    } else if (e->action == ACTION_CANCEL) {
        cancel_fill(c, r, &e->cancel, target);
    } else if (is_repair(e->action)) {
        repair_fill(c, r, &e->repair, target);
    } else {
        r->reason = e->reason;
        r->signal_by = e->by;
        pause_audit(c, r, target);
    }
    bulk_ask(m);
}

static void execution_act(struct bulk *b, size_t i, struct bulk_member *m)
{
    if (self(b)->action == ACTION_DELETE)
        delete_one(b, m);
    else
        ask_one(self(b), i, m);
}

static const struct bulk_kind executions_kind = {
    .name = "execution",
    .id_name = "executionId",
    .read = executions_read_page,
    .id = execution_id,
    .allows = execution_allows,
    .act = execution_act,
    .is_skipped = execution_is_skipped,
};

/* --- the request --- */

static bool find_action(struct executions_bulk *e, struct str name)
{
    struct call *c = e->bulk.call;
    struct buf all;

    buf_init_arena(&all, c->mem);
    buf_text(&all, "action is one of ");
    for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
        e->action = actions[i].action;
        e->request = actions[i].request;
        if (str_eq(name, str_of(action_name(e->action))))
            return true;
        buf_printf(&all, "%s%s", i > 0 ? ", " : "", action_name(e->action));
    }
    buf_char(&all, '\0');
    call_refuse_field(c, "action", "bad_value", all.ptr);
    return false;
}

/* The fields of a signal, which only a signal may have. */
static bool take_signal(struct executions_bulk *e, struct value type, struct value id,
                        struct value payload)
{
    struct call *c = e->bulk.call;
    bool is_signal = e->action == ACTION_SIGNAL;

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
    e->type = is_signal ? value_text(type) : STR_NONE;
    e->payload = payload.kind == VALUE_ABSENT ? value_null() : payload;
    e->by = call_by(c);
    e->signal_id = id.kind == VALUE_STRING ? value_text(id) : STR_NONE;
    return true;
}

/* The fields of repairs, each of which only some actions may have. */
static bool take_repair(struct executions_bulk *e)
{
    const struct repair_fields *f = &e->repair;
    bool is_retry = e->action == ACTION_RETRY, is_migration = e->action == ACTION_MIGRATE;
    bool has_version = is_retry || is_migration || e->action == ACTION_AGAIN;

    if (f->from.kind != VALUE_ABSENT && !is_retry)
        call_refuse_field(e->bulk.call, "from", "unknown_field", "only a retry has from");
    else if (f->input.kind != VALUE_ABSENT && !is_retry)
        call_refuse_field(e->bulk.call, "input", "unknown_field", "only a retry has an input");
    else if (f->output.kind != VALUE_ABSENT && e->action != ACTION_SKIP)
        call_refuse_field(e->bulk.call, "output", "unknown_field", "only a skip has an output");
    else if (f->version.kind != VALUE_ABSENT && !has_version)
        call_refuse_field(e->bulk.call, "version", "unknown_field",
                          "only a retry, a migration and a new start have a version");
    else if (f->version.kind == VALUE_ABSENT && is_migration)
        call_refuse_field(e->bulk.call, "version", "missing_field",
                          "version is missing: where are they to go?");
    else
        return repair_check(e->bulk.call, f);
    return false;
}

/* The fields that only cancellations and pauses have. */
static bool take_reason(struct executions_bulk *e, struct value reason)
{
    struct call *c = e->bulk.call;

    e->reason = reason.kind == VALUE_STRING ? value_text(reason) : STR_NONE;
    e->cancel.reason = reason;
    if (reason.kind == VALUE_STRING && e->action != ACTION_CANCEL && e->action != ACTION_PAUSE)
        call_refuse_field(c, "reason", "unknown_field",
                          "only a cancellation and a pause have a reason");
    else if (e->cancel.compensate.kind != VALUE_ABSENT && e->action != ACTION_CANCEL)
        call_refuse_field(c, "compensate", "unknown_field",
                          "only a cancellation says whether to compensate");
    else
        return e->action != ACTION_PAUSE || pause_check(c, e->reason);
    return false;
}

static bool take_filter(struct executions_bulk *e, struct value filter)
{
    struct findings findings = {0};
    struct err err;

    if (filter_body(e->bulk.call, filter, &e->filter, &findings))
        return true;
    (void)err_set(&err, ERR_INVALID, "%.*s", STR_ARG(findings.items[0].message));
    call_refuse_with(e->bulk.call, &err, &findings, STR_NONE);
    return false;
}

void executions_bulk(struct call *c)
{
    struct executions_bulk *e = ARENA_NEW(c->mem, struct executions_bulk);
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
        {"compensate", BODY_BOOL, false, &e->cancel.compensate},
        {"from", BODY_TEXT, false, &e->repair.from},
        {"version", BODY_INT, false, &e->repair.version},
        {"input", BODY_OBJECT, false, &e->repair.input},
        {"output", BODY_ANY, false, &e->repair.output},
    };

    e->bulk.call = c;
    e->bulk.kind = &executions_kind;
    if (!call_body(c, fields, ARRAY_SIZE(fields)) || !find_action(e, value_text(action)) ||
        !take_signal(e, type, id, payload) || !take_repair(e) || !take_reason(e, reason) ||
        !take_filter(e, filter) || !bulk_take(&e->bulk, c, filter, dry_run, limit, cursor))
        return;
    e->bulk.action = action_name(e->action);
    bulk_start(&e->bulk);
}
