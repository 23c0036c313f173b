/*
 * read_record.c - reading records; see read_record.h.
 *
 * In a search rows are walked in their order, some thousands by one statement, in one
 * snapshot; of each only what fits is kept. The walk ends when the page is
 * full, or with its budget.
 */
#include "store/read_record.h"
#include "base/time/clock.h"
#include "engine/commit/reads.h"
#include "engine/commit/search.h"
#include "store/org.h"
#include "store/read/read_row.h"
#include "value/json.h"

enum {
    CHUNK_ROWS = 4000,
    LOOK_EVERY = 32, /* rows between two looks at the clock */
};

struct walk {
    struct reader *reader;
    struct collector *collector;
    const struct search_bounds *bounds;
    struct search_found *found; /* or NULL: hidden records that are met are not wanted */
    struct arena *mem;
    int64_t end_us;
    int64_t after, looked_at;
    bool is_full;
};

static bool is_hidden(const struct search *s, struct str id)
{
    for (size_t i = 0; i < s->hidden.count; i++)
        if (str_eq(s->hidden.items[i], id))
            return true;
    return false;
}

static void note_hidden(struct walk *w, struct str id, int64_t row)
{
    size_t capacity = w->collector->search->hidden.count;

    if (w->found == NULL || w->found->hidden_count == capacity)
        return;
    if (w->found->hidden == NULL)
        w->found->hidden = ARENA_ARRAY(w->mem, capacity, struct search_hidden);
    w->found->hidden[w->found->hidden_count++] =
        (struct search_hidden){.id = str_copy(w->mem, id), .row = row};
}

static bool check_time(const struct walk *w, struct err *err)
{
    const struct search_bounds *b = w->bounds;

    if (w->looked_at % LOOK_EVERY != 0)
        return true;
    if (b->is_gone != NULL && b->is_gone(b->context))
        return err_set(err, ERR_OVERLOADED, "nobody waits for the answer any more");
    return clock_mono_us(&clock_system) < w->end_us ||
           err_set(err, ERR_LIMIT_QUERY,
                   "looking through the records took more than %lld s: find them with fewer "
                   "records, or a simpler 'where'",
                   (long long)(SEARCH_ALLOWED_US / 1000000));
}

static bool look_at(struct walk *w, enum sql sql, struct err *err)
{
    struct db *db = w->reader->db;
    int64_t row = db_column_int(db, sql, 0);
    struct str id = db_column_text(db, sql, 2);

    if (!check_time(w, err))
        return false;
    if (is_hidden(w->collector->search, id))
        note_hidden(w, id, row);
    else if (!search_offer(w->collector, row, id, db_column_int(db, sql, 1),
                           db_column_text(db, sql, 3), &w->is_full, err))
        return false;
    w->looked_at++;
    w->after = row;
    return true;
}

/* One statement. *is_last: nothing comes behind it. */
static bool walk_chunk(struct walk *w, int64_t rows, bool *is_last, struct err *err)
{
    const enum sql sql = SQL_READ_RECORDS_AFTER;
    const struct search *s = w->collector->search;
    struct db *db = w->reader->db;
    enum db_status status = db_stream(db, sql,
                                      DB_PARAMS(db_text(record_org(s->org_id)), db_text(s->object),
                                                db_int(w->after), db_int(rows)));
    bool ok = true;
    int64_t count = 0;

    for (; ok && status == DB_ROW; count++) {
        ok = look_at(w, sql, err);
        if (!ok || w->is_full)
            break;
        status = db_next(db, sql);
    }
    if (ok && status > DB_DONE)
        ok = status == DB_CUT ? err_set(err, ERR_LIMIT_QUERY, "reading the records took too long")
                              : db_fail(db, status, err);
    db_end(db, sql);
    *is_last = count < rows;
    return ok;
}

static bool walk_all(struct walk *w, struct err *err)
{
    const struct search *s = w->collector->search;
    const struct search_bounds *b = w->bounds;
    bool is_plain = s->where == NULL && s->order_count == 0 && s->limit != SEARCH_NO_LIMIT;
    int64_t rows = is_plain && s->limit + 1 < CHUNK_ROWS ? s->limit + 1 : CHUNK_ROWS;
    bool is_last = false;

    while (!is_last && !w->is_full && (b->rows_max == 0 || w->looked_at < b->rows_max)) {
        /* Another page than the first was not even begun: what was found is an answer. */
        if (!walk_chunk(w, rows, &is_last, err)) {
            if (err->code != ERR_LIMIT_QUERY || !b->may_be_part || w->looked_at == 0)
                return false;
            break;
        }
    }
    if (!is_last && !w->is_full) {
        w->collector->more = true;
        w->collector->stopped_at = w->after;
    }
    return true;
}

/* A record that was not stored when it became a cursor may have a row by now. */
static bool find_after(struct walk *w, struct err *err)
{
    struct collector *c = w->collector;
    int64_t row;
    enum db_status status;

    if (!c->has_after)
        return true;
    if (c->after.row >= SEARCH_NEW_ROW) {
        status = row_int(w->reader, SQL_READ_RECORD_ROW,
                         DB_PARAMS(db_text(record_org(c->search->org_id)),
                                   db_text(c->search->object), db_text(c->after.id)),
                         &row);
        if (status > DB_DONE)
            return db_fail(w->reader->db, status, err);
        if (status == DB_ROW)
            c->after.row = row;
    }
    if (w->found != NULL && c->after.row < SEARCH_NEW_ROW)
        w->found->after_row = c->after.row;
    if (c->search->order_count == 0)
        w->after = c->after.row;
    return true;
}

static bool walk_snapshot(struct walk *w, struct err *err)
{
    bool ok;

    if (!reader_begin(w->reader, err))
        return false;
    ok = find_after(w, err) && walk_all(w, err);
    reader_end(w->reader);
    if (ok)
        search_end(w->collector);
    return ok;
}

bool read_search(struct reader *r, struct collector *c, const struct search_bounds *bounds,
                 struct err *err)
{
    struct walk w = {.reader = r,
                     .collector = c,
                     .bounds = bounds,
                     .mem = c->mem,
                     .end_us = clock_mono_us(&clock_system) + SEARCH_ALLOWED_US};

    return walk_snapshot(&w, err);
}

bool read_found(struct reader *r, struct arena *mem, const struct search *s,
                struct search_found *out, struct err *err)
{
    static const struct search_bounds bounds = {0};
    struct collector c;
    struct walk w = {.reader = r,
                     .collector = &c,
                     .bounds = &bounds,
                     .found = out,
                     .mem = mem,
                     .end_us = clock_mono_us(&clock_system) + SEARCH_ALLOWED_US};
    bool ok;

    *out = (struct search_found){.err = {.code = ERR_NONE}};
    if (!search_begin(&c, mem, s, SEARCH_BYTES_MAX, false, err))
        return false;
    ok = walk_snapshot(&w, err);
    if (ok)
        search_take(mem, &c, out);
    else if (!err_is_retryable(err->code)) {
        out->err = *err;
        ok = true;
    }
    search_fini(&c);
    return ok;
}

/* --- one record --- */

bool read_record(struct reader *r, struct arena *mem, struct str org_id, struct str object,
                 struct str id, struct record_read *out, struct err *err)
{
    struct rows rows =
        rows_run(r, mem, SQL_READ_RECORD,
                 DB_PARAMS(db_text(record_org(org_id)), db_text(object), db_text(id)));
    bool ok = true;

    *out = (struct record_read){.object = object, .id = id};
    if (rows_has(&rows)) {
        out->version = rows_int(&rows, 2);
        ok = json_read(mem, rows_view(&rows, 3), &out->data, err);
    }
    return rows_end(&rows, err) && ok;
}

/* --- which executions have written one --- */

static bool row_change(const struct rows *rows, struct record_change_row *out)
{
    *out = (struct record_change_row){
        .version = rows_int(rows, 0),
        .action = rows_text(rows, 1),
        .kind = rows_text(rows, 3),
        .code = rows_text(rows, 4),
        .code_version = rows_int(rows, 5),
        .status = rows_text(rows, 6),
        .key = rows_text(rows, 7),
        .waiting = rows_text(rows, 8),
        .org_id = rows_text(rows, 9),
        .step_kind = (enum history_kind)rows_int(rows, 10),
        .step = rows_text(rows, 11),
        .visit = rows_int(rows, 12),
        .attempt = rows_int(rows, 13),
        .at_us = rows_int(rows, 14),
    };
    return uuid_read(rows_view(rows, 2), &out->execution);
}

bool read_record_changes(struct reader *r, struct arena *mem, const struct record_change_filter *f,
                         struct record_change_rows *out, struct str *next, struct err *err)
{
    int64_t below = INT64_MAX;
    struct rows rows;

    *out = (struct record_change_rows){0};
    *next = STR_NONE;
    if (!row_cursor_read(f->cursor, &below, err))
        return false;
    rows = rows_run(r, mem, SQL_READ_RECORD_CHANGES,
                    DB_PARAMS(db_text(record_org(f->org_id)), db_text(f->object), db_text(f->id),
                              db_int(below), db_int(f->limit + 1)));
    for (; rows_has(&rows); rows_next(&rows))
        if (!row_change(&rows, VEC_ADD(mem, out)))
            rows_damaged(&rows);
    if (!rows_end(&rows, err))
        return false;
    if ((int64_t)out->count > f->limit) {
        out->count = (size_t)f->limit;
        *next = row_cursor(mem, out->items[out->count - 1].version);
    }
    return true;
}

/* --- which objects there are --- */

bool read_record_objects(struct reader *r, struct arena *mem, struct str org_id, struct str after,
                         int64_t limit, struct record_objects *out, struct err *err)
{
    struct rows rows = rows_run(r, mem, SQL_RECORD_OBJECTS,
                                DB_PARAMS(db_text(org_id), db_text(after), db_int(limit + 1)));
    int64_t counted = 0;

    *out = (struct record_objects){0};
    for (; rows_has(&rows); rows_next(&rows))
        *VEC_ADD(mem, out) = (struct record_object){.name = rows_text(&rows, 0)};
    if (!rows_end(&rows, err))
        return false;
    for (size_t i = 0; i < out->count; i++) {
        struct record_object *o = &out->items[i];

        if ((int64_t)i == limit || counted >= RECORDS_COUNTED_MAX) {
            out->count = i;
            out->is_cut = true;
            break;
        }
        if (!row_int_or_0(r, SQL_RECORDS_COUNT,
                          DB_PARAMS(db_text(org_id), db_text(o->name), db_int(RECORDS_COUNTED_MAX)),
                          &o->count, err))
            return false;
        counted += o->count;
    }
    return true;
}
