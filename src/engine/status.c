/* status.c - the tables of names that executions and their history use. */
#include "engine/advance.h"

static const bool terminal_statuses[] = {
#define STATUS(symbol, text, terminal) (terminal),
#include "engine/status.def"
#undef STATUS
};

bool status_is_terminal(enum execution_status s)
{
    ASSERT(s < STATUS_COUNT);
    return terminal_statuses[s];
}

/* The place of `name` among `count` names; `count` when it is none of them. */
static unsigned name_find(const char *const *names, unsigned count, struct str name)
{
    unsigned i = 0;

    while (i < count && !str_eq(name, str_of(names[i])))
        i++;
    return i;
}

/* A name for each value of an enumeration, and back: NAME_name() and NAME_read(). */
#define NAMES(prefix, type, names, count)                                                          \
    const char *prefix##_name(type value)                                                          \
    {                                                                                              \
        ASSERT((unsigned)value < (unsigned)(count));                                               \
        return (names)[value];                                                                     \
    }                                                                                              \
                                                                                                   \
    bool prefix##_read(struct str name, type *out)                                                 \
    {                                                                                              \
        unsigned i = name_find(names, count, name);                                                \
                                                                                                   \
        if (i < (unsigned)(count))                                                                 \
            *out = (type)i;                                                                        \
        return i < (unsigned)(count);                                                              \
    }

static const char *const statuses[] = {
#define STATUS(symbol, text, terminal) (text),
#include "engine/status.def"
#undef STATUS
};
NAMES(status, enum execution_status, statuses, STATUS_COUNT)

static const char *const phases[] = {
#define PHASE(symbol, text) (text),
#include "engine/phase.def"
#undef PHASE
};
NAMES(phase, enum cursor_phase, phases, PHASE_COUNT)

static const char *const history_kinds[] = {
#define HISTORY_KIND(symbol, text) (text),
#include "engine/history_kind.def"
#undef HISTORY_KIND
};
NAMES(history_kind, enum history_kind, history_kinds, HISTORY_KIND_COUNT)

static const char *const letter_kinds[] = {
#define LETTER_KIND(symbol, text) (text),
#include "engine/letter_kind.def"
#undef LETTER_KIND
};
NAMES(letter_kind, enum letter_kind, letter_kinds, LETTER_KIND_COUNT)

static const char *const letter_statuses[] = {
#define LETTER_STATUS(symbol, text) (text),
#include "engine/letter_status.def"
#undef LETTER_STATUS
};
NAMES(letter_status, enum letter_status, letter_statuses, LETTER_STATUS_COUNT)

static const char *const outcomes[] = {
#define OUTCOME_SAID(symbol, text) (text),
#include "engine/outcomes.def"
#undef OUTCOME_SAID
};
NAMES(outcome_said, enum outcome_said, outcomes, SAID_COUNT)

static const char *const waiting_kinds[] = {
#define WAITING_KIND(symbol, text) (text),
#include "engine/waiting_kind.def"
#undef WAITING_KIND
};
NAMES(waiting_kind, enum waiting_kind, waiting_kinds, WAITING_KIND_COUNT)

static const char *const tell_kinds[] = {
#define TELL_KIND(symbol, text) (text),
#include "engine/tell_kind.def"
#undef TELL_KIND
};
NAMES(tell_kind, enum tell_kind, tell_kinds, TELL_KIND_COUNT)
