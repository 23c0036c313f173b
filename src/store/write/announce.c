/* announce.c - see announce.h. */

#include "store/write/announce.h"
#include "base/hash.h"
#include "engine/chain.h"
#include "engine/commit/message.h"
#include "engine/ident.h"
#include "store/event_routes.h"
#include "store/org.h"
#include "store/write/gather.h"
#include "value/object.h"

static bool route_wants(const struct event_route *r, struct str name, struct str org_id)
{
    if (r->org_id.len > 0 && !str_eq(r->org_id, org_id.len > 0 ? org_id : ORG_DEFAULT))
        return false;
    return r->is_prefix ? str_starts_with(name, r->name) : str_eq(name, r->name);
}

bool event_is_wanted(const struct member *m, struct str name, struct str org_id)
{
    for (size_t i = 0; m->events != NULL && i < m->events->count; i++)
        if (route_wants(&m->events->items[i], name, org_id))
            return true;
    return false;
}

struct str event_letter_json(struct arena *mem, const struct announced_letter *l)
{
    struct buf out;

    object_begin(&out, mem);
    object_id(&out, "id", l->id);
    object_text(&out, "kind", l->kind);
    object_text(&out, "code", l->code);
    object_text(&out, "key", l->key);
    object_text(&out, "step", l->step);
    object_int(&out, "attempts", l->attempts);
    object_json(&out, "cause", l->cause_json);
    return object_end(&out);
}

struct str event_record_json(struct arena *mem, struct str object, struct str id, int64_t version,
                             struct str data_json)
{
    struct buf out;

    object_begin(&out, mem);
    object_text(&out, "object", object);
    object_text(&out, "id", id);
    object_int(&out, "version", version);
    object_json(&out, "data", data_json);
    return object_end(&out);
}

/* What an event says of the execution that it is about. */
struct event_source {
    int64_t row; /* below 0: none; events with the same number come in order */
    struct str code;
    struct str chain; /* the triggers that led to it */
};

/* DB_DONE: there is no such execution any more. */
static enum db_status source_of_execution(struct apply *a, struct uuid execution,
                                          struct event_source *out)
{
    const enum sql sql = SQL_EVENT_SOURCE;
    enum db_status status = gather_flush(a);

    if (status != DB_DONE)
        return status;
    status = db_run(a->db, sql, DB_PARAMS(db_text(UUID_STR(execution))));
    if (status == DB_ROW)
        *out = (struct event_source){.row = db_column_int(a->db, sql, 0),
                                     .code = db_column_copy(a->db, a->mem, sql, 1),
                                     .chain = db_column_copy(a->db, a->mem, sql, 2)};
    db_end(a->db, sql);
    return status;
}

static int64_t order_of(struct str about)
{
    return -1 - (int64_t)(hash_bytes(about.ptr, about.len) >> 2);
}

static bool insert_row(struct apply *a, const struct event_route *route,
                       const struct announced_event *e, int64_t source, struct uuid id,
                       struct str body_json)
{
    if (!apply_put(a, SQL_OUTBOX_INSERT,
                   DB_PARAMS(db_text(UUID_STR(id)), db_int(source), db_int(e->now_us),
                             db_text_or_null(e->org_id),
                             db_text(str_of(message_kind_name(route->kind))),
                             db_text(route->destination), db_text(e->name), db_text(body_json))))
        return false;
    a->outbox_pending++;
    return true;
}

/* Whether it leads to a trigger that has fired in this chain. */
static bool is_fired_before(const struct event_route *r, struct str chain)
{
    const struct str lane = STR(MESSAGE_TRIGGER_LANE);

    return r->kind == MESSAGE_TRIGGER && chain.len > 0 &&
           chain_has(chain, str_slice(r->destination, lane.len, r->destination.len));
}

bool event_announce(struct apply *a, const struct member *m, const struct announced_event *e)
{
    struct event_routes *events = m->events;
    struct event_source source = {.row = order_of(e->about)};
    struct str last = STR_NONE, body_json;
    struct uuid id;

    if (!event_is_wanted(m, e->name, e->org_id))
        return true;
    if (e->has_execution) {
        a->status = source_of_execution(a, e->execution, &source);
        if (a->status > DB_DONE)
            return false;
    }
    id = ident_make(events->seed, ++events->notice, 0, e->now_us);
    body_json = message_event_write(a->mem, &(struct event_text){.id = id,
                                                                 .name = e->name,
                                                                 .payload_json = e->payload_json,
                                                                 .key = e->key,
                                                                 .has_execution = e->has_execution,
                                                                 .execution = e->execution,
                                                                 .code = source.code,
                                                                 .at_us = e->now_us});
    for (size_t i = 0; i < events->count; i++) {
        const struct event_route *r = &events->items[i];

        if (!route_wants(r, e->name, e->org_id) || str_eq(r->destination, last) ||
            is_fired_before(r, source.chain))
            continue;
        last = r->destination;
        if (!insert_row(a, r, e, source.row,
                        ident_make(events->seed, events->notice, (uint32_t)i + 1, e->now_us),
                        r->kind == MESSAGE_TRIGGER
                            ? message_trigger_write(a->mem, body_json, source.chain)
                            : body_json))
            return false;
        *VEC_ADD(a->mem, &events->lanes) = r->destination;
    }
    /* Whoever comes next in the batch begins with nothing that waits. */
    a->status = db_flush(a->db);
    return a->status == DB_DONE;
}
