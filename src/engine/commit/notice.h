/* notice.h - what executions notify each other of: rows of execution_events. */
#ifndef PAWL_ENGINE_NOTICE_H
#define PAWL_ENGINE_NOTICE_H

#include "base/str.h"
#include "base/uuid.h"
#include "base/vec.h"

enum notice_kind {
#define NOTICE_KIND(symbol, name) NOTICE_##symbol,
#include "engine/commit/notice_kind.def"
#undef NOTICE_KIND
    NOTICE_KIND_COUNT
};

const char *notice_kind_name(enum notice_kind kind);
bool notice_kind_read(struct str name, enum notice_kind *out) MUST_USE;

/* What a commit lets another execution know: it becomes a row of execution_events. */
struct notice {
    struct uuid execution; /* nothing is written when that is gone, or unless JOIN has ended */
    enum notice_kind kind;
    struct str key;
    struct str payload_json; /* or empty */
};

struct notices {
    VEC_OF(struct notice);
};

/* Such a row, as the execution that it is for finds it. It stays until a commit names its number. */
struct notice_row {
    int64_t n; /* later ones have larger ones */
    enum notice_kind kind;
    struct str key;
    struct str payload_json; /* or empty: what happened must be looked up */
};

struct notice_rows {
    VEC_OF(struct notice_row);
    bool is_cut; /* there are more: their texts would take too much memory */
};

struct notice_numbers {
    VEC_OF(int64_t);
};

#endif
