/* letter.h - kinds and states of dead letters. */
#ifndef PAWL_ENGINE_LETTER_H
#define PAWL_ENGINE_LETTER_H

#include "base/str.h"

enum letter_kind {
#define LETTER_KIND(symbol, name) LETTER_##symbol,
#include "engine/commit/letter_kind.def"
#undef LETTER_KIND
    LETTER_KIND_COUNT
};

const char *letter_kind_name(enum letter_kind kind);
bool letter_kind_read(struct str name, enum letter_kind *out) MUST_USE;

enum letter_status {
#define LETTER_STATUS(symbol, name) LETTER_##symbol,
#include "engine/commit/letter_status.def"
#undef LETTER_STATUS
    LETTER_STATUS_COUNT
};

const char *letter_status_name(enum letter_status status);
bool letter_status_read(struct str name, enum letter_status *out) MUST_USE;

#endif
