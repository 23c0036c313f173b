/* change_record.c - see change_record.h. */
#include "store/change_record.h"

#include "store/db/db.h"
#include "store/event_routes.h"
#include "store/org.h"
#include "store/store.h"
#include "store/write/announce.h"
#include "store/write/apply.h"
#include "store/write/change_apply.h"
#include "value/json.h"
#include "value/object.h"

/* --- the record as it is --- */

struct current {
    int64_t version; /* 0 = there is none */
    struct value data;
};

static bool record_load(struct apply *a, const struct record_change *r, struct current *out,
                        struct err *err)
{
    const enum sql sql = SQL_RECORD_LOAD;
    bool ok = true;

    *out = (struct current){.data = value_map_empty()};
    a->status = db_run(
        a->db, sql, DB_PARAMS(db_text(record_org(r->org_id)), db_text(r->object), db_text(r->id)));
    if (a->status == DB_ROW) {
        out->version = db_column_int(a->db, sql, 0);
        if (r->action == RECORD_PATCH)
            ok = json_read(a->mem, db_column_text(a->db, sql, 1), &out->data, err);
    }
    db_end(a->db, sql);
    return ok;
}

static bool is_as_expected(const struct record_change *r, int64_t version)
{
    if (r->expected == RECORD_WHATEVER)
        return true;
    return r->expected == RECORD_ANY_VERSION ? version > 0 : version == r->expected;
}

/* --- a merge patch --- */

static struct value json_merge(struct arena *mem, struct value target, struct value patch)
{
    struct value_entry *entries;
    size_t count = 0, duplicate;

    if (patch.kind != VALUE_MAP)
        return patch;
    if (target.kind != VALUE_MAP)
        target = value_map_empty();
    entries = ARENA_ARRAY(mem, target.len + patch.len + 1u, struct value_entry);
    for (uint32_t i = 0; i < target.len; i++) {
        struct value_entry e = target.map->entries[i];
        struct value over = value_map_get_str(patch, value_text(e.key));
        if (over.kind == VALUE_NULL)
            continue;
        if (over.kind != VALUE_ABSENT)
            e.value = json_merge(mem, e.value, over);
        entries[count++] = e;
    }
    for (uint32_t i = 0; i < patch.len; i++) {
        struct value_entry e = patch.map->entries[i];
        if (e.value.kind == VALUE_NULL ||
            value_map_get_str(target, value_text(e.key)).kind != VALUE_ABSENT)
            continue;
        e.value = json_merge(mem, value_absent(), e.value);
        entries[count++] = e;
    }
    return value_map_make(mem, entries, count, &duplicate);
}

/* --- writing --- */

bool record_write_json(struct buf *out, struct str id, int64_t version, struct value data,
                       struct err *err)
{
    buf_char(out, '{');
    object_text(out, "id", id);
    object_int(out, "version", version);
    for (uint32_t i = 0; i < data.len; i++) {
        const struct value_entry *e = &data.map->entries[i];
        struct str name = value_text(e->key);
        if (str_eq(name, STR("id")) || str_eq(name, STR("version")))
            continue;
        buf_char(out, ',');
        json_write_string(out, name);
        buf_char(out, ':');
        if (!json_write(out, e->value, err))
            return false;
    }
    buf_char(out, '}');
    return true;
}

/* record.created, record.updated or record.deleted, to whoever wants it. */
static bool announce_record(struct apply *a, const struct member *m, const char *name,
                            int64_t version, struct str data_json)
{
    const struct record_change *r = (const struct record_change *)m->change;
    struct announced_event e = {
        .name = str_of(name), .org_id = r->org_id, .now_us = r->change.now_us};

    if (!event_is_wanted(m, e.name, e.org_id))
        return true;
    e.about = str_printf(a->mem, "record/%.*s/%.*s", STR_ARG(r->object), STR_ARG(r->id));
    e.payload_json = event_record_json(a->mem, r->object, r->id, version, data_json);
    return event_announce(a, m, &e);
}

/* `last` is the version that an earlier record of this id ended with. */
static enum apply_result record_put(struct apply *a, struct member *m, const struct current *before,
                                    int64_t last, struct value data)
{
    struct record_change *r = (struct record_change *)m->change;
    struct buf json, answer;
    struct db_value columns[7];
    bool ok;

    buf_init_arena(&json, a->mem);
    buf_init_arena(&answer, a->mem);
    r->is_new = before->version == 0;
    r->now_version = (before->version > last ? before->version : last) + 1;
    if (!json_write(&json, data, &m->err) ||
        !record_write_json(&answer, r->id, r->now_version, data, &m->err))
        return apply_refuse(a, m, MEMBER_FAILED);
    if (json.len > RECORD_BYTES_MAX)
        return apply_refuse_with(a, m, ERR_TOO_LARGE, "a record has at most %d bytes",
                                 RECORD_BYTES_MAX);
    columns[0] = db_text(record_org(r->org_id));
    columns[1] = db_text(r->object);
    columns[2] = db_text(r->id);
    columns[3] = db_int(r->now_version);
    columns[4] = db_text(buf_view(&json));
    columns[5] = db_int(r->change.now_us);
    columns[6] = db_int(before->version);
    ok = r->is_new ? apply_write(a, SQL_RECORD_INSERT, columns, 6)
                   : apply_write(a, SQL_RECORD_UPDATE, columns, 7);
    if (!ok)
        return APPLY_FAILED;
    if (db_changes(a->db) == 0) {
        /* Another node was faster; the repeated batch will see what it wrote. */
        a->status = DB_CONFLICT;
        return APPLY_FAILED;
    }
    r->change.answer_status = r->is_new ? 201 : 200;
    r->change.answer_json = buf_view(&answer);
    return apply_done_if(announce_record(a, m, r->is_new ? "record.created" : "record.updated",
                                         r->now_version, buf_view(&json)));
}

enum apply_result record_change_apply(struct apply *a, struct member *m)
{
    struct record_change *r = (struct record_change *)m->change;
    struct current before;
    int64_t last = 0;

    if (!record_load(a, r, &before, &m->err))
        return apply_refuse(a, m, MEMBER_FAILED);
    if (a->status > DB_DONE)
        return APPLY_FAILED;
    if (!is_as_expected(r, before.version)) {
        if (before.version == 0)
            return apply_refuse_with(a, m, ERR_PRECONDITION_FAILED, "there is no such record");
        return apply_refuse_with(a, m, ERR_PRECONDITION_FAILED, "the record has version %lld now",
                                 (long long)before.version);
    }
    if (before.version == 0 && r->action != RECORD_PUT)
        return apply_refuse_with(a, m, ERR_NOT_FOUND, "there is no such record");
    if (before.version == 0 && !apply_record_last(a, r->org_id, r->object, r->id, &last))
        return APPLY_FAILED;
    if (r->action == RECORD_PUT)
        return record_put(a, m, &before, last, r->data);
    if (r->action == RECORD_PATCH)
        return record_put(a, m, &before, last, json_merge(a->mem, before.data, r->data));
    r->now_version = 0;
    r->change.answer_status = 204;
    r->change.answer_json = STR_NONE;
    return apply_done_if(apply_write(a, SQL_RECORD_DELETE,
                                     DB_PARAMS(db_text(record_org(r->org_id)), db_text(r->object),
                                               db_text(r->id), db_int(before.version))) &&
                         announce_record(a, m, "record.deleted", before.version, STR_NONE));
}
