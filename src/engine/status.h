/* status.h - what an execution is doing: its status, and what it waits for. */
#ifndef PAWL_ENGINE_STATUS_H
#define PAWL_ENGINE_STATUS_H

#include "base/str.h"

enum execution_status {
#define STATUS(symbol, name, terminal) STATUS_##symbol,
#include "engine/status.def"
#undef STATUS
    STATUS_COUNT
};

const char *status_name(enum execution_status s);
bool status_is_terminal(enum execution_status s);
bool status_read(struct str name, enum execution_status *out) MUST_USE;

enum waiting_kind {
#define WAITING_KIND(symbol, name, shown, words) WAITING_##symbol,
#include "engine/waiting_kind.def"
#undef WAITING_KIND
    WAITING_COUNT
};

/* Of the column; "" for WAITING_NONE, which is stored as NULL. */
const char *waiting_kind_name(enum waiting_kind kind);
bool waiting_kind_read(struct str name, enum waiting_kind *out) MUST_USE;

/* waitingFor.kind, as clients see it. */
const char *waiting_kind_shown(enum waiting_kind kind);

#endif
