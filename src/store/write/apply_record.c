/* apply_record.c - records that a commit writes, under the versions that it read; see apply_commit.h. */
#include "store/write/apply_commit.h"

#include "engine/commit/commit.h"
#include "engine/execution.h"
#include "store/org.h"

bool apply_record_last(struct apply *a, struct str org_id, struct str object, struct str id,
                       int64_t *version)
{
    a->status = db_run(a->db, SQL_RECORD_LAST,
                       DB_PARAMS(db_text(record_org(org_id)), db_text(object), db_text(id)));
    *version = a->status == DB_ROW ? db_column_int(a->db, SQL_RECORD_LAST, 0) : 0;
    db_end(a->db, SQL_RECORD_LAST);
    return a->status <= DB_DONE;
}

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

    for (size_t i = 0; i < writes->count; i++) {
        bool is_stale = false;

        if (!write_record(a, org_id, &writes->items[i], now_us, &is_stale))
            return APPLY_FAILED;
        if (is_stale)
            return apply_refuse(a, m, MEMBER_RECORD_STALE);
    }
    return APPLY_DONE;
}
