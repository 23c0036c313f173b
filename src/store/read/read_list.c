/*
 * read_list.c - lists of executions, newest or oldest first; see read.h.
 *
 * A list walks one index, the most selective one that a filter has, or several
 * side by side (a status each, the three things that `q` may be), always by
 * row from the newest down, or from the oldest up. Other filters are applied to what the walk finds.
 * Where these may throw much away the walk goes in windows that grow, and ends
 * with a cursor after LOOKED_AT_MAX rows whether or not the page is full: so
 * any combination comes to its end, page by page, and none takes long.
 */
#include "base/buf.h"
#include "store/org.h"
#include "store/read/read_row.h"
#include "store/read_executions.h"
#include "store/users.h"
#include "store/write/apply.h"

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

/* A status each; or the three things that `q` may be, and the codes that it may mean. */
enum { SOURCES_MAX = SEARCH_CODES_MAX + 3 };

_Static_assert((int)SOURCES_MAX >= (int)STATUS_COUNT, "each status is a source");

/* An index as it is walked, by the direction: [is_oldest]. */
struct list_index {
    enum sql list[2], window[2];
};

#define WALKED(name)                                                                               \
    {                                                                                              \
        .list = {SQL_LIST_##name, SQL_LIST_##name##_OLDEST}, .window = {                           \
            SQL_WINDOW_##name,                                                                     \
            SQL_WINDOW_##name##_OLDEST                                                             \
        }                                                                                          \
    }

static const struct list_index by_row = WALKED(ALL), by_code = WALKED(BY_CODE),
                               by_status = WALKED(BY_STATUS), by_key = WALKED(BY_KEY),
                               by_step = WALKED(BY_STEP), by_parent = WALKED(BY_PARENT),
                               by_record = WALKED(BY_RECORD), by_waiting = WALKED(BY_WAITING),
                               by_org = WALKED(BY_ORG), by_id = WALKED(BY_ID),
                               by_error = WALKED(BY_ERROR), with_branches = WALKED(WITH_BRANCHES);

/* One index to walk. */
struct list_source {
    const struct list_index *index;
    struct str text; /* what is looked for in it; empty: nothing, all of it */
};

struct sources {
    struct list_source items[SOURCES_MAX];
    unsigned count;
    bool is_exact; /* every row that it finds belongs to the list */
};

/* The rows beyond `from`, up to `to` and with it: below it, or above it when the oldest come first. */
struct stretch {
    bool is_oldest;
    int64_t from, to;
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
    enum db_status status = DB_ROW;
    int64_t row;

    *empty = false;
    if (f->from_us > 0) {
        status = row_int(r, SQL_READ_FIRST_ROW_FROM,
                         DB_PARAMS(db_text(UUID_STR(least_id(f->from_us / 1000)))), &row);
        if (status == DB_ROW)
            *low = row - TIME_SLACK_ROWS;
    }
    if (status == DB_ROW && f->to_us > 0) {
        status = row_int(r, SQL_READ_LAST_ROW_BEFORE,
                         DB_PARAMS(db_text(UUID_STR(least_id(f->to_us / 1000 + 1)))), &row);
        if (status == DB_ROW && row + TIME_SLACK_ROWS + 1 < *high)
            *high = row + TIME_SLACK_ROWS + 1;
    }
    *empty = status == DB_DONE;
    return status <= DB_DONE ? true : db_fail(r->db, status, err);
}

/* --- which index --- */

static void add_source(struct sources *s, const struct list_index *index, struct str text)
{
    ASSERT(s->count < SOURCES_MAX);
    s->items[s->count++] = (struct list_source){.index = index, .text = text};
}

/* Completed ones are so many that the table itself finds them. */
static bool has_status_index(const struct execution_filter *f)
{
    return f->statuses != 0 && (f->statuses & STATUS_BIT(STATUS_COMPLETED)) == 0;
}

static void add_statuses(struct sources *s, uint32_t statuses)
{
    for (unsigned i = 0; i < STATUS_COUNT; i++)
        if (statuses & STATUS_BIT(i))
            add_source(s, &by_status, status_text(i));
}

/* Each kind of wait that is shown as `kind`. */
static void add_waits(struct sources *s, struct str kind)
{
    for (unsigned i = WAITING_NONE + 1; i < WAITING_COUNT; i++)
        if (str_eq(kind, str_of(waiting_kind_shown((enum waiting_kind)i))))
            add_source(s, &by_waiting, str_of(waiting_kind_name((enum waiting_kind)i)));
}

static const uint32_t live_statuses =
    STATUS_BIT(STATUS_PENDING) | STATUS_BIT(STATUS_RUNNING) | STATUS_BIT(STATUS_WAITING) |
    STATUS_BIT(STATUS_WAITING_DEBUG) | STATUS_BIT(STATUS_COMPENSATING);

/* How many conditions a filter has. */
static unsigned count_conditions(const struct execution_filter *f)
{
    const bool given[] = {
        f->q.len > 0,       f->key.len > 0,    f->step.len > 0,   f->statuses != 0,
        f->code.len > 0,    f->kind.len > 0,   f->org_id.len > 0, f->from_us > 0,
        f->to_us > 0,       f->parent.len > 0, f->error.len > 0,  f->waiting.len > 0,
        f->deadline_us > 0, f->record.len > 0,
    };
    unsigned count = 0;

    for (size_t i = 0; i < ARRAY_SIZE(given); i++)
        count += given[i];
    return count;
}

/* The index of a condition that few executions meet. False: there is none. */
static bool choose_rare(const struct execution_filter *f, struct sources *out)
{
    struct uuid id;

    if (f->q.len > 0 && uuid_read(f->q, &id)) {
        add_source(out, &by_id, f->q);
    } else if (f->q.len > 0) {
        add_source(out, &by_code, f->q);
        add_source(out, &by_key, f->q);
        add_source(out, &by_error, f->q);
        for (size_t i = 0; i < f->q_codes.count && i < SEARCH_CODES_MAX; i++)
            add_source(out, &by_code, f->q_codes.items[i]);
    } else if (f->key.len > 0) {
        add_source(out, &by_key, f->key);
    } else if (f->record.len > 0) {
        add_source(out, &by_record, f->record);
    } else if (f->parent.len > 0) {
        add_source(out, &by_parent, f->parent);
    } else if (f->step.len > 0) {
        add_source(out, &by_step, f->step);
        add_source(out, &with_branches, STR_NONE);
        out->is_exact = false;
    } else if (f->error.len > 0) {
        add_source(out, &by_error, f->error);
        add_waits(out, str_of(waiting_kind_shown(WAITING_INCIDENT)));
        out->is_exact = false;
    } else if (f->waiting.len > 0) {
        add_waits(out, f->waiting);
    } else if (f->org_id.len > 0 && !str_eq(f->org_id, ORG_DEFAULT)) {
        add_source(out, &by_org, f->org_id);
    }
    return out->count > 0;
}

static void choose_sources(const struct execution_filter *f, struct sources *out)
{
    *out = (struct sources){.is_exact = count_conditions(f) <= 1};
    if (choose_rare(f, out))
        return;
    if (has_status_index(f)) {
        add_statuses(out, f->statuses);
    } else if (f->deadline_us > 0) {
        add_statuses(out, live_statuses);
        out->is_exact = false;
    } else if (f->code.len > 0) {
        add_source(out, &by_code, f->code);
    } else {
        out->is_exact = count_conditions(f) == 0;
        add_source(out, &by_row, STR_NONE);
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

/* The kinds of waits that are shown as `kind`, in the same way. */
static struct db_value waiting_list(struct arena *mem, struct str kind)
{
    struct buf out;

    if (kind.len == 0)
        return db_null();
    buf_init_arena(&out, mem);
    buf_char(&out, ' ');
    for (unsigned i = WAITING_NONE + 1; i < WAITING_COUNT; i++)
        if (str_eq(kind, str_of(waiting_kind_shown((enum waiting_kind)i))))
            buf_printf(&out, "%s ", waiting_kind_name((enum waiting_kind)i));
    return db_text(buf_view(&out));
}

static size_t execution_bytes(const struct stored_execution *e)
{
    return e->input_json.len + e->result_json.len + e->error_json.len + e->waiting_for_json.len +
           e->cursor_json.len;
}

/* Whether row a comes behind row b. */
static bool is_behind(const struct stretch *s, int64_t a, int64_t b)
{
    return s->is_oldest ? a > b : a < b;
}

/*
 * Add what one index has on a stretch, `limit` at most, and no more when these
 * rows and the `bytes` of those in front of the stretch exceed READ_BYTES_MAX:
 * *cut then becomes the last row that was read, unless it is one before that
 * already.
 */
static bool walk_source(struct reader *r, struct arena *mem, const struct execution_filter *f,
                        const struct list_source *source, const struct stretch *s, int64_t limit,
                        size_t bytes, struct stored_executions *out, int64_t *cut, struct err *err)
{
    struct db_value params[] = {
        db_int(limit),
        db_int(s->from),
        db_int(s->to),
        db_int(f->from_us),
        db_int(f->to_us > 0 ? f->to_us : INT64_MAX),
        db_text_or_null(f->code),
        status_list(mem, f->statuses),
        db_text_or_null(f->key),
        db_text_or_null(f->kind),
        db_text_or_null(f->step),
        db_text_or_null(f->org_id),
        db_text_or_null(f->parent),
        waiting_list(mem, f->waiting),
        db_text_or_null(f->error),
        db_int(f->deadline_us),
        db_text_or_null(f->record),
        db_text(source->text),
    };
    struct rows rows = rows_stream(r, mem, source->index->list[s->is_oldest], params,
                                   source->text.len > 0 ? 17 : 16);
    bool ok = true;

    for (; ok && rows_has(&rows); rows_next(&rows)) {
        struct stored_execution e;

        ok = row_execution(&rows, &e, err);
        *VEC_ADD(mem, out) = e;
        bytes += execution_bytes(&e);
        if (ok && bytes > READ_BYTES_MAX) {
            if (*cut == 0 || is_behind(s, *cut, e.row))
                *cut = e.row;
            rows_stop(&rows);
        }
    }
    return rows_end(&rows, err) && ok;
}

/* *end becomes the row before which at most `size` rows of each index lie on the stretch. */
static bool lay_window(struct reader *r, const struct sources *sources, const struct stretch *all,
                       int64_t size, int64_t *end, struct err *err)
{
    *end = all->to;
    for (unsigned i = 0; i < sources->count; i++) {
        const struct list_source *s = &sources->items[i];
        int64_t row;
        const struct db_value params[] = {db_int(all->from), db_int(all->to), db_int(size),
                                          db_text(s->text)};
        enum db_status status =
            row_int(r, s->index->window[all->is_oldest], params, s->text.len > 0 ? 4 : 3, &row);

        if (status > DB_DONE)
            return db_fail(r->db, status, err);
        if (status == DB_ROW && is_behind(all, *end, row))
            *end = row;
    }
    return true;
}

static int by_row_falling(const void *a, const void *b)
{
    const struct stored_execution *x = a, *y = b;

    return (x->row < y->row) - (x->row > y->row);
}

static int by_row_rising(const void *a, const void *b)
{
    return by_row_falling(b, a);
}

/* In the order of the list, each once, from the `from`th on. */
static void merge_sources(struct stored_executions *list, size_t from, bool is_oldest)
{
    size_t kept = from;

    if (list->count - from > 1)
        qsort(list->items + from, list->count - from, sizeof(*list->items),
              is_oldest ? by_row_rising : by_row_falling);
    for (size_t i = from; i < list->count; i++)
        if (kept == from || list->items[kept - 1].row != list->items[i].row)
            list->items[kept++] = list->items[i];
    list->count = kept;
}

/* Everything on a stretch, until more than the page holds is there. */
static bool walk_sources(struct reader *r, struct arena *mem, const struct execution_filter *f,
                         const struct sources *sources, const struct stretch *s,
                         struct stored_executions *out, int64_t *cut, struct err *err)
{
    size_t from = out->count, bytes = 0;
    int64_t limit = f->limit + 1 - (int64_t)from;

    for (size_t i = 0; i < from; i++)
        bytes += execution_bytes(&out->items[i]);
    for (unsigned i = 0; i < sources->count; i++)
        if (!walk_source(r, mem, f, &sources->items[i], s, limit, bytes, out, cut, err))
            return false;
    if (sources->count > 1)
        merge_sources(out, from, s->is_oldest);
    /* Behind the place where one index was left, others may have rows that come first. */
    while (*cut > 0 && is_behind(s, out->items[out->count - 1].row, *cut))
        out->count--;
    return true;
}

/* Between which rows the list lies, from its cursor on. *empty: there are none. */
static bool lay_stretch(struct reader *r, const struct execution_filter *f, struct stretch *out,
                        bool *empty, struct err *err)
{
    int64_t low = 0, high = INT64_MAX, cursor = 0;

    *empty = false;
    if (!row_cursor_read(f->cursor, &cursor, err))
        return false;
    if (!f->is_oldest_first && cursor > 0)
        high = cursor;
    if (!row_bounds(r, f, &low, &high, empty, err))
        return false;
    *out = (struct stretch){.from = high, .to = low};
    if (f->is_oldest_first)
        *out = (struct stretch){
            .is_oldest = true, .from = cursor > low - 1 ? cursor : low - 1, .to = high - 1};
    return true;
}

bool read_executions(struct reader *r, struct arena *mem, const struct execution_filter *filter,
                     struct stored_executions *out, struct str *next, struct err *err)
{
    int64_t looked_at = 0, cut = 0;
    struct stretch rest, window;
    struct sources sources;
    bool empty;

    *out = (struct stored_executions){0};
    *next = STR_NONE;
    if (!lay_stretch(r, filter, &rest, &empty, err))
        return false;
    if (empty)
        return true;
    choose_sources(filter, &sources);
    for (int64_t size = WINDOW_FIRST;; size *= WINDOW_GROWTH, rest.from = window.to) {
        window = rest;
        if (!sources.is_exact && !lay_window(r, &sources, &rest, size, &window.to, err))
            return false;
        if (!walk_sources(r, mem, filter, &sources, &window, out, &cut, err))
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
        if (window.to == rest.to)
            return true;
        if (looked_at >= LOOKED_AT_MAX) {
            *next = row_cursor(mem, window.to);
            return true;
        }
    }
}
