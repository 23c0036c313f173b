/* apply_record.c - records that a commit writes, under the versions that it read; see apply_commit.h. */
#include "store/write/apply_commit.h"

#include "engine/commit/commit.h"
#include "engine/execution.h"
#include "store/org.h"
#include "store/write/gather.h"

bool apply_record_last(struct apply *a, struct str org_id, struct str object, struct str id,
                       int64_t *version)
{
    a->status = db_run(a->db, SQL_RECORD_LAST,
                       DB_PARAMS(db_text(record_org(org_id)), db_text(object), db_text(id)));
    *version = a->status == DB_ROW ? db_column_int(a->db, SQL_RECORD_LAST, 0) : 0;
    db_end(a->db, SQL_RECORD_LAST);
    return a->status <= DB_DONE;
}

/* --- where a statement is a round trip: versions are gathered, and rows written together --- */

/* A record as the members so far leave it. */
struct cached_record {
    int64_t version; /* 0: it is not there */
    int64_t last;    /* of one that is gone; 0: there was none */
    bool is_put;     /* a row of it waits to be written, or was written */
};

static struct str record_key_of(struct arena *mem, struct str org_id, struct str object,
                                struct str id)
{
    return str_printf(mem, "%.*s\n%.*s\n%.*s", STR_ARG(org_id), STR_ARG(object), STR_ARG(id));
}

enum db_status apply_ask_records(struct apply *a, const struct commit *c)
{
    struct str org_id = record_org(c->after->org_id);
    enum db_status status = DB_DONE;

    for (size_t i = 0; i < c->records.count && status == DB_DONE; i++) {
        const struct record_write *w = &c->records.items[i];
        struct map_entry *entry;
        bool is_new;

        entry = map_add(&a->records, record_key_of(a->mem, org_id, w->object, w->id), &is_new);
        if (!is_new)
            continue;
        entry->ptr = ARENA_NEW(a->mem, struct cached_record);
        a->asks = true;
        status = db_put(a->db, SQL_GATHER_RECORDS,
                        DB_PARAMS(db_text(org_id), db_text(w->object), db_text(w->id)));
    }
    return status;
}

bool apply_take_record(struct apply *a, enum sql sql)
{
    struct cached_record *r = map_get(
        &a->records, record_key_of(a->mem, db_column_text(a->db, sql, 0),
                                   db_column_text(a->db, sql, 1), db_column_text(a->db, sql, 2)));

    if (r == NULL)
        return false;
    r->version = db_column_int(a->db, sql, 3);
    r->last = db_column_int(a->db, sql, 4);
    return true;
}

/* What was gathered of it; or NULL: it was not asked for, or is forgotten. */
static struct cached_record *find_cached(struct apply *a, struct str org_id,
                                         const struct record_write *w)
{
    return a->records.count == 0
               ? NULL
               : map_get(&a->records, record_key_of(a->mem, org_id, w->object, w->id));
}

static bool put_record_row(struct apply *a, struct str org_id, const struct record_write *w,
                           int64_t now_us)
{
    const struct db_value org = db_text(org_id), object = db_text(w->object), id = db_text(w->id);
    const struct db_value version = db_int(w->version), read_version = db_int(w->read_version);

    if (w->is_delete && w->read_version == 0)
        return apply_put(a, SQL_RECORDS_GONE, DB_PARAMS(org, object, id, version));
    if (w->is_delete)
        return apply_put(a, SQL_RECORDS_DELETE, DB_PARAMS(org, object, id, read_version));
    if (w->read_version == 0)
        return apply_put(
            a, SQL_RECORDS_INSERT,
            DB_PARAMS(org, object, id, version, db_text(w->data_json), db_int(now_us)));
    return apply_put(
        a, SQL_RECORDS_UPDATE,
        DB_PARAMS(org, object, id, version, db_text(w->data_json), db_int(now_us), read_version));
}

static bool is_outdated(const struct cached_record *r, const struct record_write *w)
{
    return r->version != w->read_version || (w->read_version == 0 && r->last >= w->version);
}

static bool put_record(struct apply *a, struct cached_record *r, struct str org_id,
                       const struct record_write *w, int64_t now_us)
{
    /* Rows of one flush are not written in the order of the members. */
    a->status = r->is_put ? gather_flush(a) : DB_DONE;
    if (a->status != DB_DONE || !put_record_row(a, org_id, w, now_us))
        return false;
    r->is_put = true;
    return true;
}

static void take_version(struct cached_record *r, const struct record_write *w)
{
    r->version = w->is_delete ? 0 : w->version;
    if (w->is_delete)
        r->last = w->read_version == 0 ? w->version : w->read_version + 1; /* as the trigger does */
}

/* Whether one of them rests on another version. A commit may write a record more than once. */
static bool are_outdated(struct apply *a, const struct record_writes *writes, struct str org_id)
{
    struct cached_record *before = ARENA_ARRAY(a->mem, writes->count, struct cached_record);
    size_t i;

    for (i = 0; i < writes->count; i++) {
        struct cached_record *r = find_cached(a, org_id, &writes->items[i]);

        before[i] = *r;
        if (is_outdated(r, &writes->items[i]))
            break;
        take_version(r, &writes->items[i]);
    }
    if (i == writes->count)
        return false;
    while (i-- > 0)
        *find_cached(a, org_id, &writes->items[i]) = before[i];
    return true;
}

/* Whether all that the commit writes were gathered. */
static bool has_gathered(struct apply *a, const struct commit *c, struct str org_id)
{
    for (size_t i = 0; i < c->records.count; i++)
        if (find_cached(a, org_id, &c->records.items[i]) == NULL)
            return false;
    return true;
}

/* The same as with statements, decided on what was gathered before anything is written. */
static enum apply_result put_records(struct apply *a, struct member *m, struct str org_id,
                                     int64_t now_us)
{
    const struct record_writes *writes = &m->commit->records;

    if (are_outdated(a, writes, org_id))
        return apply_refuse(a, m, MEMBER_RECORD_STALE);
    for (size_t i = 0; i < writes->count; i++) {
        const struct record_write *w = &writes->items[i];

        if (!put_record(a, find_cached(a, org_id, w), org_id, w, now_us))
            return APPLY_FAILED;
    }
    return APPLY_DONE;
}

/* --- one statement after the other --- */

/* A record that a commit made and took away: it must not have been there, and counts on. */
static bool write_passing_record(struct apply *a, struct str org_id, const struct record_write *w,
                                 bool *is_stale)
{
    if (!apply_finds(a, SQL_RECORD_FIND,
                     DB_PARAMS(db_text(org_id), db_text(w->object), db_text(w->id)), is_stale))
        return false;
    return *is_stale || apply_write(a, SQL_RECORD_GONE,
                                    DB_PARAMS(db_text(org_id), db_text(w->object), db_text(w->id),
                                              db_int(w->version)));
}

/* False: a->status says why. */
static bool write_record(struct apply *a, struct str org_id, const struct record_write *w,
                         int64_t now_us, bool *is_stale)
{
    int64_t last = 0;
    bool ok;

    /* It may have come and gone since it was read as missing. */
    if (w->read_version == 0 && !apply_record_last(a, org_id, w->object, w->id, &last))
        return false;
    *is_stale = last >= w->version;
    if (*is_stale)
        return true;
    if (w->is_delete && w->read_version == 0)
        return write_passing_record(a, org_id, w, is_stale);
    if (w->is_delete)
        ok = apply_write(a, SQL_RECORD_DELETE,
                         DB_PARAMS(db_text(org_id), db_text(w->object), db_text(w->id),
                                   db_int(w->read_version)));
    else if (w->read_version == 0)
        ok = apply_write(a, SQL_RECORD_INSERT,
                         DB_PARAMS(db_text(org_id), db_text(w->object), db_text(w->id),
                                   db_int(w->version), db_text(w->data_json), db_int(now_us)));
    else
        ok = apply_write(a, SQL_RECORD_UPDATE,
                         DB_PARAMS(db_text(org_id), db_text(w->object), db_text(w->id),
                                   db_int(w->version), db_text(w->data_json), db_int(now_us),
                                   db_int(w->read_version)));
    *is_stale = ok && db_changes(a->db) == 0;
    return ok;
}

static const char *change_name(const struct record_write *w)
{
    if (w->is_delete)
        return "deleted";
    return w->read_version == 0 ? "created" : "updated";
}

bool apply_record_changes(struct apply *a, const struct member *m)
{
    const struct record_writes *writes = &m->commit->records;
    struct str org_id = record_org(m->commit->after->org_id);

    for (size_t i = 0; i < writes->count; i++) {
        const struct record_write *w = &writes->items[i];

        if (!apply_put(a, SQL_RECORD_CHANGE_INSERT,
                       DB_PARAMS(db_text(org_id), db_text(w->object), db_text(w->id),
                                 db_int(w->version), db_int(history_key(m->row, w->seq)),
                                 db_text(str_of(change_name(w))))))
            return false;
    }
    return true;
}

/* APPLY_DONE with m->result RECORD_STALE, or unchanged when all were written. */
enum apply_result apply_records(struct apply *a, struct member *m, int64_t now_us)
{
    const struct record_writes *writes = &m->commit->records;
    struct str org_id = record_org(m->commit->after->org_id);

    if (a->db->has_sets && has_gathered(a, m->commit, org_id))
        return put_records(a, m, org_id, now_us);
    for (size_t i = 0; i < writes->count; i++) {
        const struct record_write *w = &writes->items[i];
        bool is_stale = false;

        if (!write_record(a, org_id, w, now_us, &is_stale))
            return APPLY_FAILED;
        if (is_stale)
            return apply_refuse(a, m, MEMBER_RECORD_STALE);
    }
    return APPLY_DONE;
}
