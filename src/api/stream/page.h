/*
 * page.h - what an execution has done, as events for a client: rows of its
 * history, and how it stands.
 */
#ifndef PAWL_API_STREAM_PAGE_H
#define PAWL_API_STREAM_PAGE_H

#include "api/stream/sse.h"
#include "store/read_execution.h"
#include "value/mask.h"

/* Append a row of history that clients may see, masked. `mem` is for work. */
void page_row(struct buf *out, struct arena *mem, struct uuid id, const struct history_row *row,
              const struct mask *mask);

struct page_status {
    enum execution_status status;
    struct str current_step, waiting_for_json; /* or empty */
    int64_t row_version, seq, at_us;
};

void page_status(struct buf *out, struct arena *mem, const struct page_status *s);

/* The same for what a client sees as the same, which leaves seq and times out. */
uint64_t page_status_hash(const struct page_status *s);

/* A page of the store; `mem` is its own. */
struct page {
    struct arena mem;
    int64_t after, limit; /* asked for: rows behind `after`, as many as that */
    bool ok, found;
    struct err err;
    struct progress progress;
    struct mask mask;
    struct buf text;  /* rows as events, as many as may wait for a client, but at least one */
    int64_t last_seq; /* of the last row in it */
    size_t rows;      /* how many it has */
    bool is_all;      /* nothing comes behind it, and `progress` is how the execution stands */
};

/* Fill it, on a reader's thread. !ok: `err` says why. */
void page_read(struct page *p, struct reader *reader, struct uuid id);

#endif
