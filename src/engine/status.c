/* status.c - the tables of names that executions and their history use. */
#include "base/names.h"
#include "engine/advance.h"
#include "engine/execution.h"

static const struct {
    const char *name;
    bool is_terminal;
} statuses[] = {
#define STATUS(symbol, text, terminal) {.name = (text), .is_terminal = (terminal)},
#include "engine/status.def"
#undef STATUS
};

NAMES_NAME(status_name, enum execution_status, statuses)

bool status_is_terminal(enum execution_status s)
{
    ASSERT(s < STATUS_COUNT);
    return statuses[s].is_terminal;
}

NAMES_READ(status_read, enum execution_status, statuses)

static const struct {
    const char *name, *shown;
} waiting_kinds[] = {
#define WAITING_KIND(symbol, text, text_shown, words) {.name = (text), .shown = (text_shown)},
#include "engine/waiting_kind.def"
#undef WAITING_KIND
};

NAMES_NAME(waiting_kind_name, enum waiting_kind, waiting_kinds)

const char *waiting_kind_shown(enum waiting_kind kind)
{
    ASSERT(kind < WAITING_COUNT);
    return waiting_kinds[kind].shown;
}

NAMES_READ(waiting_kind_read, enum waiting_kind, waiting_kinds)

static const char *const phases[] = {
#define PHASE(symbol, text) (text),
#include "engine/phase.def"
#undef PHASE
};

NAMES_NAME(phase_name, enum cursor_phase, phases)
NAMES_READ(phase_read, enum cursor_phase, phases)

static const char *const history_kinds[] = {
#define HISTORY_KIND(symbol, text) (text),
#include "engine/commit/history_kind.def"
#undef HISTORY_KIND
};

NAMES_NAME(history_kind_name, enum history_kind, history_kinds)

static const char *const letter_kinds[] = {
#define LETTER_KIND(symbol, text) (text),
#include "engine/commit/letter_kind.def"
#undef LETTER_KIND
};

NAMES_NAME(letter_kind_name, enum letter_kind, letter_kinds)
NAMES_READ(letter_kind_read, enum letter_kind, letter_kinds)

static const char *const letter_statuses[] = {
#define LETTER_STATUS(symbol, text) (text),
#include "engine/commit/letter_status.def"
#undef LETTER_STATUS
};

NAMES_NAME(letter_status_name, enum letter_status, letter_statuses)
NAMES_READ(letter_status_read, enum letter_status, letter_statuses)

static const char *const verdicts[] = {
#define VERDICT(symbol, text) (text),
#include "engine/verdict.def"
#undef VERDICT
};

NAMES_NAME(verdict_name, enum verdict, verdicts)
NAMES_READ(verdict_read, enum verdict, verdicts)

static const char *const notice_kinds[] = {
#define NOTICE_KIND(symbol, text) (text),
#include "engine/commit/notice_kind.def"
#undef NOTICE_KIND
};

NAMES_NAME(notice_kind_name, enum notice_kind, notice_kinds)
NAMES_READ(notice_kind_read, enum notice_kind, notice_kinds)
