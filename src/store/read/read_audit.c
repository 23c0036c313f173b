/*
 * read_audit.c - who did what; see users.h.
 *
 * Two streams, both the newest first: the table of the audit log, and the
 * starts of executions, which are not in it. A start is the execution itself,
 * who started it and when; to write that down once more would cost every start
 * a third of what it costs the store.
 *
 * Starts are read by id, which is made of the time. Those that nobody asked for
 * are passed over, some of them a page; a page that has come that far is short.
 */
#include "store/read_audit.h"
#include "store/org.h"
#include "store/read/read_row.h"
#include "store/users.h"
#include "value/json.h"
#include "value/object.h"

#include <inttypes.h>

enum { LOOKED_MAX = 1000 };

/* An id may be that much older or newer than its execution: clocks are set. */
#define SLACK_US INT64_C(60000000)

/* Where a page begins: behind what the one before it showed. */
struct position {
    int64_t at_us, row; /* of the log: below these */
    struct uuid id;     /* of starts: this, or below */
};

struct starts {
    struct stored_audits found;
    struct uuid last; /* that was looked at, if any was */
    size_t looked;
    bool is_all; /* there are no more */
};

/* --- positions --- */

static struct uuid id_before(struct uuid id)
{
    for (int i = 15; i >= 0; i--)
        if (id.bytes[i]-- != 0)
            break;
    return id;
}

/* The time and row of the last one of the log, and the id where starts go on: 17.3.0... */
static bool read_cursor(struct str cursor, struct position *out)
{
    int64_t first = str_find(cursor, STR("."), 0);
    int64_t second = first < 0 ? -1 : str_find(cursor, STR("."), (size_t)first + 1);

    return second > 0 && str_to_int64(str_slice(cursor, 0, (size_t)first), &out->at_us) &&
           str_to_int64(str_slice(cursor, (size_t)first + 1, (size_t)second), &out->row) &&
           uuid_read(str_slice(cursor, (size_t)second + 1, cursor.len), &out->id);
}

static struct str write_cursor(struct arena *mem, const struct position *p)
{
    return str_printf(mem, "%" PRId64 ".%" PRId64 ".%s", p->at_us, p->row, UUID_STR(p->id).ptr);
}

/* --- the log --- */

/* The index that finds the fewest. */
static enum sql choose_log(const struct audit_filter *f)
{
    if (f->target.len > 0)
        return SQL_READ_AUDIT_BY_TARGET;
    if (f->user_id.len > 0)
        return SQL_READ_AUDIT_BY_USER;
    if (f->action.len > 0)
        return SQL_READ_AUDIT_BY_ACTION;
    return f->org_id.len > 0 && !str_eq(f->org_id, ORG_DEFAULT) ? SQL_READ_AUDIT_BY_ORG
                                                                : SQL_READ_AUDIT;
}

/* One more than a page. */
static bool read_log(struct reader *r, struct arena *mem, const struct audit_filter *f,
                     const struct position *from, struct stored_audits *out, struct err *err)
{
    struct rows rows = rows_run(r, mem, choose_log(f),
                                DB_PARAMS(db_int(f->limit + 1), db_int(from->at_us),
                                          db_int(from->row), db_int(f->from_us),
                                          db_text_or_null(f->user_id), db_text_or_null(f->action),
                                          db_text_or_null(f->target), db_text_or_null(f->org_id)));

    for (; rows_has(&rows); rows_next(&rows)) {
        int64_t row = rows_int(&rows, 0);
        *VEC_ADD(mem, out) = (struct stored_audit){
            .id = str_printf(mem, "%" PRId64, row),
            .row = row,
            .at_us = rows_int(&rows, 1),
            .user_id = rows_text(&rows, 2),
            .user_name = rows_text(&rows, 3),
            .action = rows_text(&rows, 4),
            .target = rows_text(&rows, 5),
            .details_json = rows_text(&rows, 6),
        };
    }
    return rows_end(&rows, err);
}

/* --- starts --- */

/* {code, version, key}: what it was given is its own to show. */
static struct str start_details(const struct rows *rows)
{
    struct str key = rows_view(rows, 5);
    struct buf out;

    object_begin(&out, rows->mem);
    object_text(&out, "code", rows_view(rows, 3));
    object_int(&out, "version", rows_int(rows, 4));
    if (key.len > 0)
        object_text(&out, "key", key);
    return object_end(&out);
}

/* Take the row if it was asked for. */
static void look_at_start(const struct rows *rows, const struct audit_filter *f,
                          struct stored_audits *out)
{
    int64_t at_us = rows_int(rows, 1);
    struct value user = value_absent();
    struct err err;

    if (at_us < f->from_us || (f->to_us > 0 && at_us > f->to_us) ||
        (f->org_id.len > 0 && !str_eq(f->org_id, rows_view(rows, 6))))
        return;
    if (!json_read(rows->mem, rows_view(rows, 2), &user, &err))
        user = value_absent();
    if (f->user_id.len > 0 && !str_eq(f->user_id, value_map_text(user, STR("id"))))
        return;
    *VEC_ADD(rows->mem, out) = (struct stored_audit){
        .id = rows_text(rows, 0),
        .at_us = at_us,
        .user_id = value_map_text(user, STR("id")),
        .user_name = value_map_text(user, STR("name")),
        .action = STR("execution.start"),
        .target = rows_text(rows, 0),
        .details_json = start_details(rows),
    };
}

/* The newest and the oldest id that may be meant; false when none is. */
static bool find_bounds(const struct audit_filter *f, const struct position *from,
                        struct uuid *newest, struct uuid *oldest)
{
    static const uint8_t zeros[10] = {0};
    int64_t oldest_us = f->from_us > SLACK_US ? f->from_us - SLACK_US : 0;

    *newest = from->id;
    *oldest = uuid_v7(oldest_us / 1000, zeros);
    if (uuid_cmp(from->id, (struct uuid){0}) == 0 ||
        (f->action.len > 0 && !str_eq(f->action, STR("execution.start"))))
        return false;
    if (f->target.len == 0)
        return true;
    *oldest = *newest;
    if (!uuid_read(f->target, oldest) || uuid_cmp(*oldest, *newest) > 0)
        return false;
    *newest = *oldest;
    return true;
}

/* Up to one more than a page, or as many as one may look at. */
static bool read_starts(struct reader *r, struct arena *mem, const struct audit_filter *f,
                        const struct position *from, struct starts *out, struct err *err)
{
    struct uuid newest, oldest;
    struct rows rows;

    *out = (struct starts){.is_all = !find_bounds(f, from, &newest, &oldest)};
    if (out->is_all)
        return true;
    rows = rows_run(
        r, mem, SQL_READ_STARTS,
        DB_PARAMS(db_int(LOOKED_MAX), db_text(UUID_STR(newest)), db_text(UUID_STR(oldest))));
    for (; rows_has(&rows) && (int64_t)out->found.count <= f->limit; rows_next(&rows)) {
        if (!uuid_read(rows_view(&rows, 0), &out->last)) {
            (void)rows_end(&rows, err);
            return err_set(err, ERR_IO, "an execution has no id");
        }
        out->looked++;
        look_at_start(&rows, f, &out->found);
    }
    out->is_all = rows.status == DB_DONE && out->looked < LOOKED_MAX;
    return rows_end(&rows, err);
}

/* --- together --- */

/*
 * The newest of both, as many as a page has. What is older than the last start
 * that was looked at waits until all starts before it were.
 */
static void audit_merge(struct arena *mem, int64_t limit, const struct stored_audits *log,
                        const struct starts *starts, struct position *at, bool *has_more,
                        struct stored_audits *out)
{
    size_t taken = 0, started = 0;
    /* Of the end of what was looked at, when there is more. */
    int64_t reached_us =
        starts->is_all || starts->looked == 0 ? INT64_MIN : uuid_ms(starts->last) * 1000;

    while ((int64_t)out->count < limit) {
        const struct stored_audit *a = taken < log->count ? &log->items[taken] : NULL;
        const struct stored_audit *s =
            started < starts->found.count ? &starts->found.items[started] : NULL;

        if (s != NULL && (a == NULL || s->at_us >= a->at_us)) {
            *VEC_ADD(mem, out) = *s;
            started++;
        } else if (a != NULL && a->at_us >= reached_us) {
            *VEC_ADD(mem, out) = *a;
            at->at_us = a->at_us;
            at->row = a->row;
            taken++;
        } else {
            break;
        }
    }
    *has_more = taken < log->count || started < starts->found.count || !starts->is_all;
    if (started < starts->found.count) {
        if (started > 0 && uuid_read(starts->found.items[started - 1].id, &at->id))
            at->id = id_before(at->id);
    } else if (starts->is_all) {
        at->id = (struct uuid){0};
    } else {
        at->id = id_before(starts->last);
    }
}

bool read_audit(struct reader *r, struct arena *mem, const struct audit_filter *f,
                struct stored_audits *out, struct str *next, struct err *err)
{
    static const uint8_t ones[10] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    int64_t to_us = f->to_us > 0 ? f->to_us : INT64_MAX;
    struct position at = {.at_us = to_us, .row = INT64_MAX};
    struct stored_audits log = {0};
    struct starts starts;
    bool has_more, ok;

    *out = (struct stored_audits){0};
    *next = STR_NONE;
    if (f->to_us > 0)
        at.id = uuid_v7((f->to_us + SLACK_US) / 1000, ones);
    else
        memset(at.id.bytes, 255, sizeof(at.id.bytes));
    if (f->cursor.len > 0 && !read_cursor(f->cursor, &at))
        return err_set(err, ERR_BAD_REQUEST, "this cursor is not one of ours");
    if (!reader_begin(r, err))
        return false;
    ok = read_log(r, mem, f, &at, &log, err) && read_starts(r, mem, f, &at, &starts, err);
    reader_end(r);
    if (!ok)
        return false;
    audit_merge(mem, f->limit, &log, &starts, &at, &has_more, out);
    if (has_more)
        *next = write_cursor(mem, &at);
    return true;
}
