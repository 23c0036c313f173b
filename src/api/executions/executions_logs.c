/* executions_logs.c - the lines that the steps of one execution have logged, from its history. */
#include "api/list.h"
#include "api/view.h"
#include "store/read_execution.h"
#include "value/json.h"
#include "value/object.h"

enum { LOGS_LIMIT = 500, HISTORY_PAGE = 512 };

struct logs_args {
    struct uuid id;
    int64_t after, limit; /* behind this line of this row; see line_number() */
    struct mask mask;
};

/* A line is known by the number of its row and its place in it. */
enum { LINES_OF_A_ROW = 10000 };

static int64_t line_number(int64_t seq, uint32_t i)
{
    return seq * LINES_OF_A_ROW + (i < LINES_OF_A_ROW ? i : LINES_OF_A_ROW - 1);
}

static void show_line(struct lookup *q, struct arena *scratch, const struct history_row *row,
                      struct value line)
{
    const struct logs_args *args = q->args;
    struct value message =
        mask_value(scratch, &args->mask, value_map_get_str(line, STR("message")));
    struct value data = value_map_get_str(line, STR("data"));
    struct buf *out = &q->answer;

    data = data.kind == VALUE_ABSENT ? value_null() : mask_value(scratch, &args->mask, data);
    object_item(out);
    object_time(out, "at", row->completed_at_us);
    object_text(out, "step", row->step);
    object_int(out, "visit", row->visit);
    object_text(out, "kind", str_of(history_kind_name(row->kind)));
    object_text(out, "level", value_map_text(line, STR("level")));
    object_name(out, "message");
    mask_write(out, message);
    object_name(out, "data");
    mask_write(out, data);
    buf_char(out, '}');
}

/* The lines of one row. *last is the number of the last that was shown. */
static bool show_lines(struct lookup *q, struct arena *scratch, const struct history_row *row,
                       int64_t *left, int64_t *last, struct err *err)
{
    const struct logs_args *args = q->args;
    struct value delta = value_absent(), lines;

    if (row->delta_json.len > 0 && !json_read(scratch, row->delta_json, &delta, err))
        return false;
    lines = value_map_member(delta, STR("log"));
    for (uint32_t i = 0; lines.kind == VALUE_LIST && i < lines.len && (*left) > 0; i++) {
        if (line_number(row->seq, i) <= args->after || lines.items[i].kind != VALUE_MAP)
            continue;
        show_line(q, scratch, row, lines.items[i]);
        *last = line_number(row->seq, i);
        --*left;
    }
    return true;
}

static bool run_logs(struct lookup *q, struct reader *reader, struct err *err)
{
    struct logs_args *args = q->args;
    int64_t seq, left = args->limit, last;
    bool is_last = false, found, ok = true;

    if (!list_cursor_number(http_query(q->call->http, "cursor"), &args->after, err) ||
        !view_check_id(q->call, q->mem, reader, args->id, err) ||
        !read_mask(reader, q->mem, args->id, &args->mask, err))
        return false;
    seq = args->after / LINES_OF_A_ROW - 1;
    last = args->after;
    list_open(&q->answer);
    while (ok && left > 0 && !is_last && q->answer.len < PAGE_BYTES_MAX) {
        struct arena scratch;
        struct history page;
        bool is_cut;

        arena_init(&scratch);
        ok = read_history_page(reader, &scratch, args->id, seq < 0 ? 0 : seq, HISTORY_PAGE,
                               PAGE_BYTES_MAX, &page, &is_cut, &found, err) &&
             (found || err_set(err, ERR_NOT_FOUND, "there is no execution with this id"));
        for (size_t i = 0; ok && i < page.count && left > 0; i++) {
            struct arena_mark mark = arena_mark(&scratch);

            ok = show_lines(q, &scratch, &page.items[i], &left, &last, err);
            seq = page.items[i].seq;
            arena_release(&scratch, mark);
        }
        is_last = ok && !is_cut && page.count < HISTORY_PAGE;
        arena_fini(&scratch);
    }
    if (!ok)
        return false;
    if (left > 0 && line_number(seq, LINES_OF_A_ROW - 1) > last)
        last = line_number(seq, LINES_OF_A_ROW - 1);
    list_close(&q->answer, is_last && left > 0 ? STR_NONE : list_number_cursor(q->mem, last));
    return true;
}

void executions_logs(struct call *c)
{
    struct logs_args *args = ARENA_NEW(c->mem, struct logs_args);

    if (call_execution_id(c, &args->id) && call_limit(c, LOGS_LIMIT, &args->limit))
        lookup_start(c, args, run_logs, NULL);
}
