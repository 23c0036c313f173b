/* read_definition.c - reading definitions, records and kept answers; see read.h. */
#include "store/read_definition.h"
#include "define/facts.h"
#include "store/idempotency.h"
#include "store/read/read_row.h"
#include "store/read_node.h"
#include "value/json.h"

/* The columns of DEFINITION_COLUMNS, and the text behind them. */
static struct stored_definition definition_of_row(struct rows *rows, bool with_text)
{
    return (struct stored_definition){
        .kind = rows_text(rows, 0),
        .code = rows_text(rows, 1),
        .version = rows_int(rows, 2),
        .revision = rows_int(rows, 3),
        .status = rows_text(rows, 4),
        .name = rows_text(rows, 5),
        .summary = rows_text(rows, 6),
        .created_by = rows_text(rows, 7),
        .created_at_us = rows_int(rows, 8),
        .previous = rows_int(rows, 9),
        .facts = rows_text(rows, 10),
        .text = with_text ? rows_text(rows, 11) : STR_NONE,
    };
}

static bool load_definition(struct reader *r, struct arena *mem, enum sql sql,
                            const struct db_value *params, unsigned count,
                            struct stored_definition *out, bool *found, struct err *err)
{
    struct rows rows = rows_run(r, mem, sql, params, count);

    *found = rows_has(&rows);
    if (*found)
        *out = definition_of_row(&rows, true);
    return rows_end(&rows, err);
}

bool read_definition(struct reader *r, struct arena *mem, struct str kind, struct str code,
                     int64_t version, struct stored_definition *out, bool *found, struct err *err)
{
    struct db_value params[] = {db_text(kind), db_text(code), db_int(version)};

    return load_definition(r, mem, version < 0 ? SQL_READ_PUBLISHED : SQL_READ_DEFINITION, params,
                           version < 0 ? 2 : 3, out, found, err);
}

bool read_process(struct reader *r, struct arena *mem, struct str code, int64_t version,
                  struct stored_definition *out, bool *found, struct err *err)
{
    struct db_value params[] = {db_text(code), db_int(version)};

    return load_definition(r, mem, version < 0 ? SQL_READ_PUBLISHED_PROCESS : SQL_READ_PROCESS,
                           params, version < 0 ? 1 : 2, out, found, err);
}

bool read_access(struct reader *r, struct arena *mem, struct str code, int64_t version,
                 struct str *out, struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_READ_ACCESS, DB_PARAMS(db_text(code), db_int(version)));
    struct value facts = value_absent(), access;
    struct buf text;
    bool ok = true;

    *out = STR_NONE;
    if (rows_has(&rows))
        ok = json_read(mem, rows_view(&rows, 0), &facts, err);
    if (!rows_end(&rows, err) || !ok)
        return false;
    access = facts_get(facts, "access");
    buf_init_arena(&text, mem);
    if (access.kind == VALUE_ABSENT)
        return true;
    ok = json_write(&text, access, err);
    *out = buf_view(&text);
    return ok;
}

bool read_is_sensitive(struct reader *r, struct arena *mem, struct str code, int64_t version,
                       bool *out, struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_READ_ACCESS, DB_PARAMS(db_text(code), db_int(version)));
    struct value facts = value_absent(), names;
    bool ok = true, is_there = rows_has(&rows);

    if (is_there)
        ok = json_read(mem, rows_view(&rows, 0), &facts, err);
    if (!rows_end(&rows, err) || !ok)
        return false;
    names = facts_get(facts, "sensitive");
    *out = !is_there || (names.kind == VALUE_LIST && names.len > 0);
    return true;
}

static bool load_definitions(struct reader *r, struct arena *mem, enum sql sql,
                             const struct db_value *params, unsigned count, bool with_texts,
                             struct stored_definitions *out, struct err *err)
{
    struct rows rows = rows_run(r, mem, sql, params, count);

    *out = (struct stored_definitions){0};
    for (; rows_has(&rows); rows_next(&rows))
        *VEC_ADD(mem, out) = definition_of_row(&rows, with_texts);
    return rows_end(&rows, err);
}

bool read_versions(struct reader *r, struct arena *mem, struct str kind, struct str code,
                   int64_t before, int64_t limit, struct stored_definitions *out, struct err *err)
{
    return load_definitions(r, mem, SQL_READ_VERSIONS,
                            DB_PARAMS(db_text(kind), db_text(code), db_int(before), db_int(limit)),
                            false, out, err);
}

bool read_definitions(struct reader *r, struct arena *mem, struct str kind, struct str after,
                      int64_t limit, struct stored_definitions *out, struct err *err)
{
    struct db_value params[] = {db_int(limit), db_text(after), db_text(kind)};

    return load_definitions(r, mem, kind.len > 0 ? SQL_READ_DEFINITIONS : SQL_READ_PROCESSES,
                            params, kind.len > 0 ? 3 : 2, false, out, err);
}

bool read_published(struct reader *r, struct arena *mem, struct str kind,
                    struct stored_definitions *out, struct err *err)
{
    return load_definitions(r, mem, SQL_READ_ALL_PUBLISHED, DB_PARAMS(db_text(kind)), true, out,
                            err);
}

/* So many rows of a page are in memory before their bytes are counted. */
enum { PUBLISHED_AT_ONCE = 8 };

bool read_published_page(struct reader *r, struct arena *mem, struct str kind, struct str after,
                         int64_t limit, size_t bytes_max, struct stored_definitions *out,
                         bool *more, struct err *err)
{
    size_t bytes = 0;

    *out = (struct stored_definitions){0};
    *more = true;
    while (*more && (int64_t)out->count < limit && bytes < bytes_max) {
        struct stored_definitions some;
        size_t i;

        if (!load_definitions(
                r, mem, SQL_READ_SOME_PUBLISHED,
                DB_PARAMS(db_text(kind), db_text(after), db_int(PUBLISHED_AT_ONCE + 1)), true,
                &some, err))
            return false;
        for (i = 0; i < some.count && i < PUBLISHED_AT_ONCE && (int64_t)out->count < limit &&
                    bytes < bytes_max;
             i++) {
            bytes += some.items[i].text.len;
            after = some.items[i].code;
            *VEC_ADD(mem, out) = some.items[i];
        }
        *more = i < some.count;
    }
    return true;
}

bool read_newest(struct reader *r, struct arena *mem, struct str kind,
                 struct stored_definitions *out, struct err *err)
{
    return load_definitions(r, mem, SQL_READ_ALL_NEWEST, DB_PARAMS(db_text(kind)), true, out, err);
}

bool read_reachable(struct reader *r, struct arena *mem, struct stored_definitions *out,
                    struct err *err)
{
    return load_definitions(r, mem, SQL_READ_REACHABLE, DB_NO_PARAMS, false, out, err);
}

bool read_snapshot(struct reader *r, struct arena *mem, struct str hash, struct str *pins_json,
                   bool *found, struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_READ_SNAPSHOT, DB_PARAMS(db_text(hash)));

    *found = rows_has(&rows);
    if (*found)
        *pins_json = rows_text(&rows, 0);
    return rows_end(&rows, err);
}

bool read_definition_stamp(struct reader *r, int64_t *out, struct err *err)
{
    return row_int_or_0(r, SQL_READ_DEFINITION_STAMP, DB_NO_PARAMS, out, err);
}

bool read_answer(struct reader *r, struct arena *mem, const struct idempotency *asked,
                 int64_t now_us, struct stored_answer *out, struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_IDEMPOTENCY_FIND,
                                DB_PARAMS(db_text(asked->key), db_text(asked->user),
                                          db_text(asked->path), db_text(asked->method)));

    *out = (struct stored_answer){.is_kept = rows_has(&rows) &&
                                             rows_int(&rows, 3) > now_us - ANSWERS_KEPT_US};
    if (out->is_kept) {
        out->is_same = str_eq(rows_view(&rows, 0), asked->body_hash);
        out->status = (int32_t)rows_int(&rows, 1);
        out->text = rows_text(&rows, 2);
    }
    return rows_end(&rows, err);
}
