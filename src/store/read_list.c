/*
 * read_list.c - lists of executions, newest first; see read.h.
 *
 * A list walks one index, the most selective one that a filter has, or several
 * side by side (a status each, the three things that `q` may be), always by
 * row from the newest down. Other filters are applied to what the walk finds.
 * Where these may throw much away the walk goes in windows that grow, and ends
 * with a cursor after LOOKED_AT_MAX rows whether or not the page is full: so
 * any combination comes to its end, page by page, and none takes long.
 */
#include "base/buf.h"
#include "store/apply.h"
#include "store/read_row.h"
#include "store/users.h"

#include <stdlib.h>

/*
 * Rows are given in order of arrival, and nearly in order of the time in the
 * id: how far a search by time looks beyond its bounds.
 */
enum { TIME_SLACK_ROWS = 10000 };

/* Tests that look for mistakes want many windows over few rows. */
#ifdef PAWL_SLOW_CHECKS
enum { WINDOW_FIRST = 2, WINDOW_GROWTH = 2, LOOKED_AT_MAX = 12 };
#else
enum { WINDOW_FIRST = 1000, WINDOW_GROWTH = 8, LOOKED_AT_MAX = 70000 };
#endif

enum { SOURCES_MAX = STATUS_COUNT };

/* One index to walk. */
struct source {
    enum sql list, window;
    struct str text; /* what is looked for in it; empty: the table itself */
};

struct sources {
    struct source items[SOURCES_MAX];
    unsigned count;
    bool is_exact; /* every row that it finds belongs to the list */
};

/* --- times --- */

/* The least id of a millisecond; times that no id can have are moved to the nearest. */
static struct uuid least_id(int64_t ms)
{
    static const uint8_t zeros[UUID_RANDOM_LEN];
    const int64_t last = (INT64_C(1) << 48) - 1;

    return uuid_v7(ms < last ? ms : last, zeros);
}

/* The rows between which the executions of that time lie. *empty: there are none. */
static bool row_bounds(struct reader *r, const struct execution_filter *f, int64_t *low,
                       int64_t *high, bool *empty, struct err *err)
{
    struct row_id room;
    enum db_status status = DB_ROW;
    int64_t row;

    *empty = false;
    if (f->from_us > 0) {
        status = row_int(r, SQL_READ_FIRST_ROW_FROM,
                         DB_PARAMS(row_uuid(least_id(f->from_us / 1000), &room)), &row);
        if (status == DB_ROW)
            *low = row - TIME_SLACK_ROWS;
    }
    if (status == DB_ROW && f->to_us > 0) {
        status = row_int(r, SQL_READ_LAST_ROW_BEFORE,
                         DB_PARAMS(row_uuid(least_id(f->to_us / 1000 + 1), &room)), &row);
        if (status == DB_ROW && row + TIME_SLACK_ROWS + 1 < *high)
            *high = row + TIME_SLACK_ROWS + 1;
    }
    *empty = status == DB_DONE;
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

/* --- which index --- */

static void add_source(struct sources *s, enum sql list, enum sql window, struct str text)
{
    ASSERT(s->count < SOURCES_MAX);
    s->items[s->count++] = (struct source){.list = list, .window = window, .text = text};
}

/* Completed ones are so many that the table itself finds them. */
static bool has_status_index(const struct execution_filter *f)
{
    return f->statuses != 0 && (f->statuses & STATUS_BIT(STATUS_COMPLETED)) == 0;
}

static void add_statuses(struct sources *s, const struct execution_filter *f)
{
    for (unsigned i = 0; i < STATUS_COUNT; i++)
        if (f->statuses & STATUS_BIT(i))
            add_source(s, SQL_LIST_BY_STATUS, SQL_WINDOW_BY_STATUS, status_text(i));
}

/* How many conditions a filter has. */
static unsigned count_conditions(const struct execution_filter *f)
{
    const bool given[] = {
        f->q.len > 0,    f->key.len > 0,    f->step.len > 0, f->statuses != 0, f->code.len > 0,
        f->kind.len > 0, f->org_id.len > 0, f->from_us > 0,  f->to_us > 0,
    };
    unsigned count = 0;

    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
        count += given[i];
    return count;
}

static void choose_sources(const struct execution_filter *f, struct sources *out)
{
    struct uuid id;

    *out = (struct sources){.is_exact = count_conditions(f) <= 1};
    if (f->q.len > 0 && uuid_read(f->q, &id)) {
        add_source(out, SQL_LIST_BY_ID, SQL_WINDOW_BY_ID, f->q);
    } else if (f->q.len > 0) {
        add_source(out, SQL_LIST_BY_CODE, SQL_WINDOW_BY_CODE, f->q);
        add_source(out, SQL_LIST_BY_KEY, SQL_WINDOW_BY_KEY, f->q);
        add_source(out, SQL_LIST_BY_ERROR, SQL_WINDOW_BY_ERROR, f->q);
    } else if (f->key.len > 0) {
        add_source(out, SQL_LIST_BY_KEY, SQL_WINDOW_BY_KEY, f->key);
    } else if (f->step.len > 0) {
        add_source(out, SQL_LIST_BY_STEP, SQL_WINDOW_BY_STEP, f->step);
    } else if (f->org_id.len > 0 && !str_eq(f->org_id, ORG_DEFAULT)) {
        add_source(out, SQL_LIST_BY_ORG, SQL_WINDOW_BY_ORG, f->org_id);
    } else if (has_status_index(f)) {
        add_statuses(out, f);
    } else if (f->code.len > 0) {
        add_source(out, SQL_LIST_BY_CODE, SQL_WINDOW_BY_CODE, f->code);
    } else {
        out->is_exact = count_conditions(f) == 0;
        add_source(out, SQL_LIST, SQL_WINDOW, STR_NONE);
    }
}

/* --- walking --- */

/* " waiting failed ", or nothing for any. */
static struct db_value status_list(struct arena *mem, uint32_t statuses)
{
    struct buf out;

    if (statuses == 0)
        return db_null();
    buf_init_arena(&out, mem);
    buf_char(&out, ' ');
    for (unsigned i = 0; i < STATUS_COUNT; i++)
        if (statuses & STATUS_BIT(i)) {
            buf_str(&out, status_text(i));
            buf_char(&out, ' ');
        }
    return db_text(buf_view(&out));
}

static size_t execution_bytes(const struct stored_execution *e)
{
    return e->input_json.len + e->result_json.len + e->error_json.len + e->waiting_for_json.len +
           e->cursor_json.len;
}

/*
 * Add what one index has between two rows, `limit` at most, and no more when
 * READ_BYTES_MAX are exceeded: *cut is then raised to the last row that was read.
 */
static bool walk(struct reader *r, struct arena *mem, const struct execution_filter *f,
                 const struct source *source, int64_t low, int64_t high, int64_t limit,
                 struct stored_executions *out, int64_t *cut, struct err *err)
{
    size_t bytes = 0;
    struct db_value params[] = {
        db_int(limit),
        db_int(high),
        db_int(low),
        db_int(f->from_us),
        db_int(f->to_us > 0 ? f->to_us : INT64_MAX),
        db_some_text(f->code),
        status_list(mem, f->statuses),
        db_some_text(f->key),
        db_some_text(f->kind),
        db_some_text(f->step),
        db_some_text(f->org_id),
        db_text(source->text),
    };
    enum db_status status = reader_stream(r, source->list, params, source->text.len > 0 ? 12 : 11);
    bool ok = true;

    for (; ok && status == DB_ROW; status = db_next(r->db, source->list)) {
        struct stored_execution e;

        ok = row_execution(r, mem, source->list, &e, err);
        *VEC_ADD(mem, out) = e;
        bytes += execution_bytes(&e);
        if (ok && bytes > READ_BYTES_MAX) {
            *cut = e.row > *cut ? e.row : *cut;
            status = DB_DONE;
            break;
        }
    }
    db_end(r->db, source->list);
    if (!ok)
        return false;
    return status == DB_DONE ? true : db_fail(r->db, status, err);
}

/* Raise *floor to the row up to which `size` rows of each index lie above it. */
static bool lay_window(struct reader *r, const struct sources *sources, int64_t low, int64_t high,
                       int64_t size, int64_t *floor, struct err *err)
{
    *floor = low;
    for (unsigned i = 0; i < sources->count; i++) {
        const struct source *s = &sources->items[i];
        int64_t row;
        const struct db_value params[] = {db_int(high), db_int(low), db_int(size),
                                          db_text(s->text)};
        enum db_status status = row_int(r, s->window, params, s->text.len > 0 ? 4 : 3, &row);

        if (status > DB_DONE)
            return db_fail(r->db, status, err);
        if (status == DB_ROW && row > *floor)
            *floor = row;
    }
    return true;
}

static int by_row_falling(const void *a, const void *b)
{
    const struct stored_execution *x = a, *y = b;

    return (x->row < y->row) - (x->row > y->row);
}

/* Newest first, each once, from the `from`th on. */
static void merge(struct stored_executions *list, size_t from)
{
    size_t kept = from;

    if (list->count - from > 1)
        qsort(list->items + from, list->count - from, sizeof(*list->items), by_row_falling);
    for (size_t i = from; i < list->count; i++)
        if (kept == from || list->items[kept - 1].row != list->items[i].row)
            list->items[kept++] = list->items[i];
    list->count = kept;
}

/* Everything between two rows, until more than the page holds is there. */
static bool walk_all(struct reader *r, struct arena *mem, const struct execution_filter *f,
                     const struct sources *sources, int64_t low, int64_t high,
                     struct stored_executions *out, int64_t *cut, struct err *err)
{
    size_t from = out->count;
    int64_t limit = f->limit + 1 - (int64_t)from;

    for (unsigned i = 0; i < sources->count; i++)
        if (!walk(r, mem, f, &sources->items[i], low, high, limit, out, cut, err))
            return false;
    if (sources->count > 1)
        merge(out, from);
    /* Below the place where one index was left, others may have rows that come first. */
    while (*cut > 0 && out->items[out->count - 1].row < *cut)
        out->count--;
    return true;
}

bool read_executions(struct reader *r, struct arena *mem, const struct execution_filter *filter,
                     struct stored_executions *out, struct str *next, struct err *err)
{
    int64_t low = 0, high = INT64_MAX, floor, looked_at = 0, cut = 0;
    struct sources sources;
    bool empty;

    *out = (struct stored_executions){0};
    *next = STR_NONE;
    if (filter->cursor.len > 0 && !row_cursor_read(filter->cursor, &high))
        return err_set(err, ERR_BAD_REQUEST, "this cursor is not one of ours");
    if (!row_bounds(r, filter, &low, &high, &empty, err))
        return false;
    if (empty)
        return true;
    choose_sources(filter, &sources);
    for (int64_t size = WINDOW_FIRST;; size *= WINDOW_GROWTH, high = floor) {
        floor = low;
        if (!sources.is_exact && !lay_window(r, &sources, low, high, size, &floor, err))
            return false;
        if (!walk_all(r, mem, filter, &sources, floor, high, out, &cut, err))
            return false;
        looked_at += size;
        if ((int64_t)out->count > filter->limit) {
            out->count = (size_t)filter->limit;
            *next = row_cursor(mem, out->items[out->count - 1].row);
            return true;
        }
        if (cut > 0) {
            *next = row_cursor(mem, out->items[out->count - 1].row);
            return true;
        }
        if (floor == low)
            return true;
        if (looked_at >= LOOKED_AT_MAX) {
            *next = row_cursor(mem, floor);
            return true;
        }
    }
}
