/* page.c - see page.h. */
#include "api/stream/page.h"

#include "api/sent.h"
#include "api/view.h"
#include "base/hash.h"
#include "value/object.h"

void page_row(struct buf *out, struct arena *mem, struct uuid id, const struct history_row *row,
              const struct mask *mask)
{
    struct buf json;

    buf_init_arena(&json, mem);
    view_history_row(mem, &json, mask, id, row);
    sse_event(out, "step", row->seq, buf_view(&json));
}

void page_status(struct buf *out, struct arena *mem, const struct page_status *s)
{
    struct buf json;

    object_begin(&json, mem);
    object_text(&json, "status", str_of(status_name(s->status)));
    object_text(&json, "currentStep", s->current_step);
    object_json(&json, "waitingFor", s->waiting_for_json);
    object_int(&json, "rowVersion", s->row_version);
    object_int(&json, "seq", s->seq);
    object_time(&json, "at", s->at_us);
    sse_event(out, "status", s->seq, object_end(&json));
}

uint64_t page_status_hash(const struct page_status *s)
{
    uint64_t step = hash_bytes(s->current_step.ptr, s->current_step.len);
    uint64_t waiting_for = hash_bytes(s->waiting_for_json.ptr, s->waiting_for_json.len);

    return hash_mix(hash_mix(hash_int((uint64_t)s->status) ^ step, hash_seed) ^ waiting_for,
                    hash_seed);
}

void page_read(struct page *p, struct reader *reader, struct uuid id)
{
    const struct history *rows = &p->progress.history;

    arena_reset(&p->mem);
    buf_init_arena(&p->text, &p->mem);
    p->rows = 0;
    p->last_seq = p->after;
    p->ok =
        read_progress(reader, &p->mem, id, p->after, p->limit, &p->progress, &p->found, &p->err) &&
        read_mask(reader, &p->mem, id, &p->mask, &p->err);
    if (!p->ok || !p->found)
        return;
    for (; p->rows < rows->count; p->rows++) {
        struct history_row *row = &rows->items[p->rows];
        size_t before = p->text.len;

        if (row->kind != HISTORY_EVENT) {
            p->ok = sent_fill(reader, &p->mem, id, row, &p->err);
            if (!p->ok)
                return;
            page_row(&p->text, &p->mem, id, row, &p->mask);
        }
        if (p->text.len > SSE_ROOM_BYTES && before > 0) {
            p->text.len = before;
            break;
        }
        p->last_seq = row->seq;
    }
    p->is_all = p->rows == rows->count && !p->progress.is_cut &&
                ((int64_t)rows->count < p->limit || p->last_seq >= p->progress.seq);
    if (p->is_all)
        p->last_seq = p->progress.seq;
}
