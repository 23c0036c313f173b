/* history.h - rows of the history of an execution: the log of what its steps did. */
#ifndef PAWL_ENGINE_HISTORY_H
#define PAWL_ENGINE_HISTORY_H

#include "base/str.h"
#include "base/vec.h"

enum history_kind {
#define HISTORY_KIND(symbol, name) HISTORY_##symbol,
#include "engine/commit/history_kind.def"
#undef HISTORY_KIND
    HISTORY_KIND_COUNT
};

const char *history_kind_name(enum history_kind kind);

struct history_row {
    int64_t seq;
    enum history_kind kind;
    struct str step;   /* code, or empty */
    struct str status; /* completed failed skipped compensated; of events: what happened */
    int64_t visit, attempt;
    struct str key;                                 /* idempotency key, or empty */
    struct str input_json, output_json, error_json; /* or empty */
    struct str delta_json; /* what else this row changed, or empty: see state.h */
    int64_t started_at_us, completed_at_us;
    /* Of a row that is written now; not stored: */
    int64_t took;   /* the seq of the signal that the step took, or 0; of a stored row: state.h */
    struct str dep; /* for traces: who was called, or empty */
    int64_t part;   /* ... and which of several alike in one attempt */
    struct str answered; /* the key of the attempt whose answer this row records, or empty */
    /*
     * The row `call` or `job` that has what the attempt sent last, or 0; of a stored row:
     * state_row_sent(). What it says, where a reader has looked: sent_fill() of the API.
     */
    int64_t sent;
    struct str sent_json, sent_key;
};

struct history {
    VEC_OF(struct history_row);
};

#endif
