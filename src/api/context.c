/* context.c - see context.h. */
#include "api/context.h"

#include "api/view.h"
#include "engine/advance.h"
#include "engine/show.h"
#include "store/read_execution.h"

enum {
    HISTORY_PAGE = 512,
    ROW_ID_BITS = 12,            /* the id of a row holds this many low bits of its seq */
    FOLDED_MAX_BYTES = 64 << 20, /* of history that is put together again */
};

/*
 * The number of the row with that id, which holds the low bits of it: few rows
 * are to be looked at. 0 when there is none.
 */
static bool context_find_row(struct lookup *q, struct reader *reader,
                             const struct stored_execution *stored, struct uuid at, int64_t *out,
                             struct err *err)
{
    const int64_t step = INT64_C(1) << ROW_ID_BITS;

    *out = 0;
    for (int64_t seq = at.bytes[6] % 16 * 256 + at.bytes[7]; seq <= stored->seq && *out == 0;
         seq += step) {
        struct history row;
        bool found;

        if (seq == 0)
            continue;
        if (!read_history(reader, q->mem, stored->id, seq - 1, 1, &row, &found, err))
            return false;
        if (found && row.count == 1 && row.items[0].seq == seq &&
            uuid_cmp(engine_row_id(stored->id, seq, row.items[0].completed_at_us), at) == 0)
            *out = seq;
    }
    return true;
}

/* All rows up to `seq`. */
static bool read_until(struct lookup *q, struct reader *reader, struct uuid id, int64_t seq,
                       struct history *out, struct err *err)
{
    size_t bytes = 0;
    int64_t after = 0;

    *out = (struct history){0};
    while (after < seq) {
        int64_t left = seq - after;
        struct history page;
        bool found;

        if (!read_history(reader, q->mem, id, after, left < HISTORY_PAGE ? left : HISTORY_PAGE,
                          &page, &found, err))
            return false;
        if (!found || page.count == 0 || page.items[0].seq != after + 1)
            return err_set(err, ERR_NOT_FOUND, "the history of this execution is being deleted");
        for (size_t i = 0; i < page.count; i++) {
            bytes += page.items[i].output_json.len + page.items[i].delta_json.len;
            *VEC_ADD(q->mem, out) = page.items[i];
        }
        if (bytes > FOLDED_MAX_BYTES)
            return err_set(err, ERR_TOO_LARGE, "the history up to this step is too long");
        after = page.items[page.count - 1].seq;
    }
    return true;
}

/* Make of what is stored now what was stored after row `seq`, as far as the context goes. */
static bool go_back(struct lookup *q, struct reader *reader, int64_t seq,
                    struct stored_execution *stored, struct err *err)
{
    stored->context_json = STR_NONE;
    stored->cursor_json = STR_NONE;
    stored->checkpoint_seq = 0;
    stored->seq = seq;
    return read_until(q, reader, stored->id, seq, &stored->history, err);
}

/* The member `context` of an execution as it is shown. */
static bool context_show(struct lookup *q, const struct stored_execution *stored,
                         const struct mask *mask, struct str *out, struct err *err)
{
    struct buf whole, masked;

    buf_init_arena(&whole, q->mem);
    buf_init_arena(&masked, q->mem);
    if (!show_stored(q->mem, &whole, stored, true, err))
        return false;
    mask_view(q->mem, mask, buf_view(&whole), &masked);
    *out = mask_view_member(buf_view(&masked), STR("context"));
    return true;
}

bool context_read(struct lookup *q, struct reader *reader, struct uuid id, const struct uuid *at,
                  struct str *out, struct err *err)
{
    struct stored_execution stored;
    struct mask mask;
    int64_t seq = 0;
    bool found;

    if (!read_execution(reader, q->mem, id, &stored, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, "there is no execution with this id");
    if (!view_check(q->call, q->mem, reader, stored.org_id, stored.code, stored.version, err))
        return false;
    if (at != NULL && !context_find_row(q, reader, &stored, *at, &seq, err))
        return false;
    if (at != NULL && seq == 0)
        return err_set(err, ERR_NOT_FOUND, "the execution has no step with the id in `at`");
    if (at != NULL && !go_back(q, reader, seq, &stored, err))
        return false;
    return read_step_meta(reader, q->mem, id, &stored.step_meta, err) &&
           read_mask(reader, q->mem, id, &mask, err) && context_show(q, &stored, &mask, out, err);
}
