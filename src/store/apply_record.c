/* apply_record.c - records that a commit writes, under the versions that it read; see apply_commit.h. */
#include "store/apply_commit.h"

#include "store/users.h"

struct str record_org(struct str org_id)
{
    return org_id.len > 0 ? org_id : ORG_DEFAULT;
}

bool apply_record_last(struct apply *a, struct str org_id, struct str object, struct str id,
                       int64_t *version, enum db_status *status)
{
    *status = db_run(a->db, SQL_RECORD_LAST,
                     DB_PARAMS(db_text(record_org(org_id)), db_text(object), db_text(id)));
    *version = *status == DB_ROW ? db_column_int(a->db, SQL_RECORD_LAST, 0) : 0;
    db_end(a->db, SQL_RECORD_LAST);
    return *status <= DB_DONE;
}

/* A record that a commit made and took away: it must not have been there, and counts on. */
static bool write_passing_record(struct apply *a, struct str org_id, const struct record_write *w,
                                 bool *is_stale, enum db_status *status)
{
    *status = db_run(a->db, SQL_RECORD_FIND,
                     DB_PARAMS(db_text(org_id), db_text(w->object), db_text(w->id)));
    *is_stale = *status == DB_ROW;
    db_end(a->db, SQL_RECORD_FIND);
    if (*status > DB_DONE)
        return false;
    return *is_stale || apply_write(a, SQL_RECORD_GONE,
                                    DB_PARAMS(db_text(org_id), db_text(w->object), db_text(w->id),
                                              db_int(w->version)),
                                    status);
}

/* False: *status says why. */
static bool write_record(struct apply *a, struct str org_id, const struct record_write *w,
                         int64_t now_us, bool *is_stale, enum db_status *status)
{
    int64_t last = 0;
    bool ok;

    /* It may have come and gone since it was read as missing. */
    if (w->read_version == 0 && !apply_record_last(a, org_id, w->object, w->id, &last, status))
        return false;
    *is_stale = last >= w->version;
    if (*is_stale)
        return true;
    if (w->is_delete && w->read_version == 0)
        return write_passing_record(a, org_id, w, is_stale, status);
    if (w->is_delete)
        ok = apply_write(
            a, SQL_RECORD_DELETE,
            DB_PARAMS(db_text(org_id), db_text(w->object), db_text(w->id), db_int(w->read_version)),
            status);
    else if (w->read_version == 0)
        ok = apply_write(a, SQL_RECORD_INSERT,
                         DB_PARAMS(db_text(org_id), db_text(w->object), db_text(w->id),
                                   db_int(w->version), db_text(w->data_json), db_int(now_us)),
                         status);
    else
        ok = apply_write(a, SQL_RECORD_UPDATE,
                         DB_PARAMS(db_text(org_id), db_text(w->object), db_text(w->id),
                                   db_int(w->version), db_text(w->data_json), db_int(now_us),
                                   db_int(w->read_version)),
                         status);
    *is_stale = ok && db_changes(a->db) == 0;
    return ok;
}

static const char *change_name(const struct record_write *w)
{
    if (w->is_delete)
        return "deleted";
    return w->read_version == 0 ? "created" : "updated";
}

bool apply_record_changes(struct apply *a, const struct member *m, enum db_status *status)
{
    const struct record_writes *writes = &m->commit->records;
    struct str org_id = record_org(m->commit->after->org_id);

    for (size_t i = 0; i < writes->count; i++) {
        const struct record_write *w = &writes->items[i];

        if (!apply_put(a, SQL_RECORD_CHANGE_INSERT,
                       DB_PARAMS(db_text(org_id), db_text(w->object), db_text(w->id),
                                 db_int(w->version), db_int(history_key(m->row, w->seq)),
                                 db_text(str_of(change_name(w)))),
                       status))
            return false;
    }
    return true;
}

/* APPLY_DONE with m->result RECORD_STALE, or unchanged when all were written. */
enum apply_result apply_records(struct apply *a, struct member *m, int64_t now_us,
                                enum db_status *status)
{
    const struct record_writes *writes = &m->commit->records;
    struct str org_id = record_org(m->commit->after->org_id);

    for (size_t i = 0; i < writes->count; i++) {
        bool is_stale = false;

        if (!write_record(a, org_id, &writes->items[i], now_us, &is_stale, status))
            return APPLY_FAILED;
        if (is_stale)
            return apply_refuse(a, m, MEMBER_RECORD_STALE);
    }
    return APPLY_DONE;
}
