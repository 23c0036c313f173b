/*
 * executions_bulk.c - the same action for every execution that a filter finds or ids name; see bulk.h.
 */
#include "api/bulk.h"
#include "api/executions/executions_act.h"
#include "api/executions/executions_delete.h"
#include "api/filter.h"
#include "api/search.h"
#include "api/view.h"
#include "engine/show.h"
#include "store/read_executions.h"
#include "store/read_letter.h"

struct executions_bulk {
    struct bulk bulk; /* first: see bulk.h */
    enum action action;
    struct act_fields fields;
    struct execution_filter filter;
    struct stored_executions list; /* the page */
    struct again *agains;          /* AGAIN: what each was started with */
    bool *has_letter;              /* DELETE, when it is only counted: what is in its way */
};

static struct executions_bulk *executions_of_bulk(const struct bulk *b)
{
    return (struct executions_bulk *)b;
}

/* --- a page --- */

/* The inputs of executions that have ended. */
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

/* A deletion is refused by these when it is asked for; a count has to know before. */
static bool read_owners(struct executions_bulk *e, struct reader *reader, size_t count,
                        struct err *err)
{
    struct arena *mem = &e->bulk.page_mem;
    int64_t *rows = ARENA_ARRAY(mem, count + 1, int64_t);

    for (size_t i = 0; i < count; i++)
        rows[i] = e->list.items[i].row;
    return read_letter_owners(reader, mem, rows, count, &e->has_letter, err);
}

/* Whether the caller may act on it; the others are left out. */
static bool executions_may_act(struct bulk *b, struct reader *reader,
                               const struct stored_execution *x, bool *out, struct err *err)
{
    return view_allows_acting(b->call, &b->page_mem, reader, x->org_id, x->code, x->version, out,
                              err);
}

static bool executions_read_page(struct bulk *b, struct reader *reader, size_t *count,
                                 struct err *err)
{
    struct executions_bulk *e = executions_of_bulk(b);
    struct execution_filter filter = e->filter;

    *count = 0;
    filter.cursor = b->cursor;
    filter.limit = b->page_limit;
    if (filter.to_us == 0 || filter.to_us > b->asked_at_us)
        filter.to_us = b->asked_at_us;
    if (!search_processes(reader, &b->page_mem, &filter, err) ||
        !read_executions(reader, &b->page_mem, &filter, &e->list, &b->next, err))
        return false;
    for (size_t i = 0; i < e->list.count; i++) {
        bool may_act;

        if (!executions_may_act(b, reader, &e->list.items[i], &may_act, err))
            return false;
        if (may_act)
            e->list.items[(*count)++] = e->list.items[i];
    }
    return true;
}

static void executions_clear(struct bulk *b)
{
    executions_of_bulk(b)->list = (struct stored_executions){0};
}

/* As a list shows it: without its context. */
static bool executions_add(struct bulk *b, struct reader *reader, struct uuid id, size_t *bytes,
                           struct err *err)
{
    const struct execution_filter filter = {
        .org_id = b->call->user.org_id, .q = uuid_text(&b->page_mem, id), .limit = 1};
    struct stored_executions one;
    bool may_act = false;
    struct str next;

    *bytes = 0;
    if (!read_executions(reader, &b->page_mem, &filter, &one, &next, err) ||
        (one.count > 0 && !executions_may_act(b, reader, &one.items[0], &may_act, err)))
        return false;
    if (!may_act)
        return true;
    *VEC_ADD(&b->page_mem, &executions_of_bulk(b)->list) = one.items[0];
    *bytes = sizeof(one.items[0]) + one.items[0].input_json.len + one.items[0].result_json.len +
             one.items[0].error_json.len + one.items[0].waiting_for_json.len;
    return true;
}

static bool executions_complete(struct bulk *b, struct reader *reader, size_t count,
                                struct err *err)
{
    struct executions_bulk *e = executions_of_bulk(b);

    e->has_letter = NULL;
    if (e->action == ACTION_DELETE && b->is_dry_run)
        return read_owners(e, reader, count, err);
    return e->action != ACTION_AGAIN || b->is_dry_run || read_agains(e, reader, count, err);
}

static struct uuid execution_id(const struct bulk *b, size_t i)
{
    return executions_of_bulk(b)->list.items[i].id;
}

static bool execution_allows(const struct bulk *b, size_t i)
{
    const struct executions_bulk *e = executions_of_bulk(b);

    return show_allows(&e->list.items[i], e->action) &&
           (e->has_letter == NULL || !e->has_letter[i]);
}

/* --- one execution --- */

static bool is_repair(enum action action)
{
    return action == ACTION_RETRY || action == ACTION_SKIP || action == ACTION_MIGRATE;
}

/*
 * It has ended, or was deleted, between the list and the request. What cannot
 * be repaired for another reason, such as a step that a version lacks, is an error.
 */
static bool execution_is_skipped(const struct bulk *b, const struct err *err)
{
    return (err->code == ERR_CONFLICT && !is_repair(executions_of_bulk(b)->action)) ||
           err->code == ERR_NOT_FOUND;
}

/* What a repair would do is decided by the engine: a dry run asks it. */
static bool execution_is_tried(const struct bulk *b)
{
    return is_repair(executions_of_bulk(b)->action);
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

static void execution_act(struct bulk *b, size_t i, struct bulk_member *m)
{
    struct executions_bulk *e = executions_of_bulk(b);

    if (e->action == ACTION_DELETE) {
        delete_one(b, m);
        return;
    }
    m->request.mem = &b->page_mem;
    if (e->action == ACTION_AGAIN)
        again_fill(b->call, &m->request, &e->agains[i], &e->fields, m->id);
    else
        act_fill(b->call, &m->request, e->action, &e->fields, m->id);
    m->request.is_dry = b->is_dry_run;
    if (b->is_dry_run)
        m->request.audit = (struct audit){0};
    bulk_ask(m);
}

static const struct bulk_kind executions_kind = {
    .name = "execution",
    .id_name = "executionId",
    .read = executions_read_page,
    .clear = executions_clear,
    .add = executions_add,
    .complete = executions_complete,
    .id = execution_id,
    .allows = execution_allows,
    .act = execution_act,
    .is_tried = execution_is_tried,
    .is_skipped = execution_is_skipped,
};

/* --- the request --- */

static bool find_action(struct executions_bulk *e, struct str name)
{
    struct call *c = e->bulk.call;
    struct buf all;

    if (action_read(name, &e->action) && action_specs[e->action].is_for_many)
        return true;
    buf_init_arena(&all, c->mem);
    for (unsigned i = 0; i < ACTION_COUNT; i++)
        if (action_specs[i].is_for_many)
            buf_printf(&all, "%s%s", all.len > 0 ? ", " : "", action_specs[i].name);
    return call_refuse_field(c, "action", "bad_value", "action is one of %.*s",
                             STR_ARG(buf_view(&all)));
}

/* Each action has fields of its own; those of others are refused, and so is what it lacks. */
static bool check_fields(struct executions_bulk *e)
{
    const struct action_spec *spec = &action_specs[e->action];
    struct call *c = e->bulk.call;

    for (unsigned i = 0; i < ACTION_FIELD_COUNT; i++) {
        bool is_there = e->fields.at[i].kind != VALUE_ABSENT;

        if (is_there && (spec->takes & 1u << i) == 0)
            return call_refuse_field(c, action_field_specs[i].name, "unknown_field", "%s",
                                     action_field_specs[i].only);
        if (!is_there && (spec->needs & 1u << i) != 0)
            return call_refuse_field(c, action_field_specs[i].name, "missing_field", "%s",
                                     action_field_specs[i].missing);
    }
    return act_check(c, e->action, &e->fields);
}

/* The fields of all actions that are for many. */
static unsigned fields_for_many(void)
{
    unsigned takes = 0;

    for (unsigned i = 0; i < ACTION_COUNT; i++)
        takes |= action_specs[i].is_for_many ? action_specs[i].takes : 0;
    return takes;
}

static bool executions_take_filter(struct executions_bulk *e, struct value filter)
{
    struct findings findings = {0};

    return filter.kind != VALUE_MAP || filter_body(e->bulk.call, filter, &e->filter, &findings) ||
           call_refuse_findings(e->bulk.call, &findings);
}

void executions_bulk(struct call *c)
{
    struct executions_bulk *e = ARENA_NEW(c->mem, struct executions_bulk);
    struct bulk_body body = {0};
    struct body_field fields[BULK_FIELD_COUNT + ACTION_FIELD_COUNT] = {BULK_FIELDS(body)};
    size_t count = BULK_FIELD_COUNT +
                   act_body_fields(&e->fields, fields_for_many(), 0, fields + BULK_FIELD_COUNT);

    e->bulk.call = c;
    e->bulk.kind = &executions_kind;
    e->fields.by = call_by(c);
    if (!call_body(c, fields, count) || !find_action(e, value_text(body.action)) ||
        !check_fields(e) || !executions_take_filter(e, body.filter) ||
        !bulk_take(&e->bulk, c, &body))
        return;
    e->bulk.action = action_specs[e->action].name;
    e->bulk.makes_space = e->action == ACTION_DELETE;
    bulk_start(&e->bulk);
}
