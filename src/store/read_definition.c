/* read_definition.c - reading definitions, records and kept answers; see read.h. */
#include "store/read.h"

#include "define/facts.h"
#include "store/reader.h"
#include "value/json.h"

/* The columns of DEFINITION_COLUMNS, and the text behind them. */
static struct stored_definition load(struct reader *r, struct arena *mem, enum sql sql,
                                     bool with_text)
{
    struct db *db = r->db;

    return (struct stored_definition){
        .kind = str_copy(mem, db_column_text(db, sql, 0)),
        .code = str_copy(mem, db_column_text(db, sql, 1)),
        .version = db_column_int(db, sql, 2),
        .revision = db_column_int(db, sql, 3),
        .status = str_copy(mem, db_column_text(db, sql, 4)),
        .name = str_copy(mem, db_column_text(db, sql, 5)),
        .summary = str_copy(mem, db_column_text(db, sql, 6)),
        .created_by = str_copy(mem, db_column_text(db, sql, 7)),
        .created_at_us = db_column_int(db, sql, 8),
        .previous = db_column_int(db, sql, 9),
        .facts = str_copy(mem, db_column_text(db, sql, 10)),
        .text = with_text ? str_copy(mem, db_column_text(db, sql, 11)) : STR_NONE,
    };
}

bool read_definition(struct reader *r, struct arena *mem, struct str kind, struct str code,
                     int64_t version, struct stored_definition *out, bool *found, struct err *err)
{
    enum sql sql = version < 0 ? SQL_READ_PUBLISHED : SQL_READ_DEFINITION;
    struct db_value params[] = {db_text(kind), db_text(code), db_int(version)};
    enum db_status status = reader_run(r, sql, params, version < 0 ? 2 : 3);

    *found = status == DB_ROW;
    if (*found)
        *out = load(r, mem, sql, true);
    db_end(r->db, sql);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_process(struct reader *r, struct arena *mem, struct str code, int64_t version,
                  struct stored_definition *out, bool *found, struct err *err)
{
    enum sql sql = version < 0 ? SQL_READ_PUBLISHED_PROCESS : SQL_READ_PROCESS;
    struct db_value params[] = {db_text(code), db_int(version)};
    enum db_status status = reader_run(r, sql, params, version < 0 ? 1 : 2);

    *found = status == DB_ROW;
    if (*found)
        *out = load(r, mem, sql, true);
    db_end(r->db, sql);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_access(struct reader *r, struct arena *mem, struct str code, int64_t version,
                 struct str *out, struct err *err)
{
    enum db_status status =
        reader_run(r, SQL_READ_ACCESS, DB_PARAMS(db_text(code), db_int(version)));
    struct value facts = value_absent(), access;
    struct buf text;
    bool ok = true;

    *out = STR_NONE;
    if (status == DB_ROW)
        ok = json_read(mem, db_column_text(r->db, SQL_READ_ACCESS, 0), &facts, err);
    db_end(r->db, SQL_READ_ACCESS);
    if (!ok)
        return false;
    if (status > DB_DONE)
        return db_fail(r->db, status, err);
    access = facts_get(facts, "access");
    buf_init_arena(&text, mem);
    if (access.kind == VALUE_ABSENT)
        return true;
    ok = json_write(&text, access, err);
    *out = buf_view(&text);
    return ok;
}

static bool load_all(struct reader *r, struct arena *mem, enum sql sql, enum db_status status,
                     bool with_texts, struct stored_definitions *out, struct err *err)
{
    *out = (struct stored_definitions){0};
    for (; status == DB_ROW; status = db_next(r->db, sql))
        *VEC_ADD(mem, out) = load(r, mem, sql, with_texts);
    db_end(r->db, sql);
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_versions(struct reader *r, struct arena *mem, struct str kind, struct str code,
                   int64_t before, int64_t limit, struct stored_definitions *out, struct err *err)
{
    enum db_status status =
        reader_run(r, SQL_READ_VERSIONS,
                   DB_PARAMS(db_text(kind), db_text(code), db_int(before), db_int(limit)));

    return load_all(r, mem, SQL_READ_VERSIONS, status, false, out, err);
}

bool read_definitions(struct reader *r, struct arena *mem, struct str kind, struct str after,
                      int64_t limit, struct stored_definitions *out, struct err *err)
{
    enum sql sql = kind.len > 0 ? SQL_READ_DEFINITIONS : SQL_READ_PROCESSES;
    struct db_value params[] = {db_int(limit), db_text(after), db_text(kind)};
    enum db_status status = reader_run(r, sql, params, kind.len > 0 ? 3 : 2);

    return load_all(r, mem, sql, status, false, out, err);
}

bool read_published(struct reader *r, struct arena *mem, struct str kind,
                    struct stored_definitions *out, struct err *err)
{
    enum db_status status = reader_run(r, SQL_READ_ALL_PUBLISHED, DB_PARAMS(db_text(kind)));

    return load_all(r, mem, SQL_READ_ALL_PUBLISHED, status, true, out, err);
}

bool read_newest(struct reader *r, struct arena *mem, struct str kind,
                 struct stored_definitions *out, struct err *err)
{
    enum db_status status = reader_run(r, SQL_READ_ALL_NEWEST, DB_PARAMS(db_text(kind)));

    return load_all(r, mem, SQL_READ_ALL_NEWEST, status, true, out, err);
}

bool read_reachable(struct reader *r, struct arena *mem, struct stored_definitions *out,
                    struct err *err)
{
    enum db_status status = reader_run(r, SQL_READ_REACHABLE, DB_NO_PARAMS);

    return load_all(r, mem, SQL_READ_REACHABLE, status, false, out, err);
}

bool read_snapshot(struct reader *r, struct arena *mem, struct str hash, struct str *pins_json,
                   bool *found, struct err *err)
{
    enum db_status status = reader_run(r, SQL_READ_SNAPSHOT, DB_PARAMS(db_text(hash)));

    *found = status == DB_ROW;
    if (*found)
        *pins_json = str_copy(mem, db_column_text(r->db, SQL_READ_SNAPSHOT, 0));
    db_end(r->db, SQL_READ_SNAPSHOT);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_definition_stamp(struct reader *r, int64_t *out, struct err *err)
{
    enum db_status status = reader_run(r, SQL_READ_DEFINITION_STAMP, DB_NO_PARAMS);

    *out = status == DB_ROW ? db_column_int(r->db, SQL_READ_DEFINITION_STAMP, 0) : 0;
    db_end(r->db, SQL_READ_DEFINITION_STAMP);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

bool read_answer(struct reader *r, struct arena *mem, const struct idempotency *asked,
                 int64_t now_us, struct stored_answer *out, struct err *err)
{
    const enum sql sql = SQL_IDEMPOTENCY_FIND;
    enum db_status status = reader_run(r, sql,
                                       DB_PARAMS(db_text(asked->key), db_text(asked->user),
                                                 db_text(asked->path), db_text(asked->method)));

    *out = (struct stored_answer){.is_kept = status == DB_ROW && db_column_int(r->db, sql, 3) >
                                                                     now_us - ANSWERS_KEPT_US};
    if (out->is_kept) {
        out->is_same = str_eq(db_column_text(r->db, sql, 0), asked->body_hash);
        out->status = (int32_t)db_column_int(r->db, sql, 1);
        out->text = str_copy(mem, db_column_text(r->db, sql, 2));
    }
    db_end(r->db, sql);
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}
