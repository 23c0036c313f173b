/* status.c - the tables of names that executions and their history use. */
#include "engine/advance.h"

static const struct {
    const char *name;
    bool is_terminal;
} statuses[] = {
#define STATUS(symbol, text, terminal) {.name = (text), .is_terminal = (terminal)},
#include "engine/status.def"
#undef STATUS
};

const char *status_name(enum execution_status s)
{
    ASSERT(s < STATUS_COUNT);
    return statuses[s].name;
}

bool status_is_terminal(enum execution_status s)
{
    ASSERT(s < STATUS_COUNT);
    return statuses[s].is_terminal;
}

bool status_read(struct str name, enum execution_status *out)
{
    for (unsigned i = 0; i < STATUS_COUNT; i++)
        if (str_eq(name, str_of(statuses[i].name))) {
            *out = (enum execution_status)i;
            return true;
        }
    return false;
}

static const struct {
    const char *name, *shown;
} waiting_kinds[] = {
#define WAITING_KIND(symbol, text, text_shown) {.name = (text), .shown = (text_shown)},
#include "engine/waiting_kind.def"
#undef WAITING_KIND
};

const char *waiting_kind_name(enum waiting_kind kind)
{
    ASSERT(kind < WAITING_COUNT);
    return waiting_kinds[kind].name;
}

const char *waiting_kind_shown(enum waiting_kind kind)
{
    ASSERT(kind < WAITING_COUNT);
    return waiting_kinds[kind].shown;
}

bool waiting_kind_read(struct str name, enum waiting_kind *out)
{
    for (unsigned i = 0; i < WAITING_COUNT; i++)
        if (str_eq(name, str_of(waiting_kinds[i].name))) {
            *out = (enum waiting_kind)i;
            return true;
        }
    return false;
}

/* The place of a name in a table of them; `count` when it is not there. */
static unsigned name_find(const char *const *names, unsigned count, struct str name)
{
    unsigned i = 0;

    while (i < count && !str_eq(name, str_of(names[i])))
        i++;
    return i;
}

static const char *const phases[] = {
#define PHASE(symbol, text) (text),
#include "engine/phase.def"
#undef PHASE
};

const char *phase_name(enum cursor_phase phase)
{
    ASSERT(phase < PHASE_COUNT);
    return phases[phase];
}

bool phase_read(struct str name, enum cursor_phase *out)
{
    unsigned i = name_find(phases, PHASE_COUNT, name);

    if (i < PHASE_COUNT)
        *out = (enum cursor_phase)i;
    return i < PHASE_COUNT;
}

static const char *const history_kinds[] = {
#define HISTORY_KIND(symbol, text) (text),
#include "engine/history_kind.def"
#undef HISTORY_KIND
};

const char *history_kind_name(enum history_kind kind)
{
    ASSERT(kind < HISTORY_KIND_COUNT);
    return history_kinds[kind];
}

bool history_kind_read(struct str name, enum history_kind *out)
{
    unsigned i = name_find(history_kinds, HISTORY_KIND_COUNT, name);

    if (i < HISTORY_KIND_COUNT)
        *out = (enum history_kind)i;
    return i < HISTORY_KIND_COUNT;
}

static const char *const letter_kinds[] = {
#define LETTER_KIND(symbol, text) (text),
#include "engine/letter_kind.def"
#undef LETTER_KIND
};

const char *letter_kind_name(enum letter_kind kind)
{
    ASSERT(kind < LETTER_KIND_COUNT);
    return letter_kinds[kind];
}

bool letter_kind_read(struct str name, enum letter_kind *out)
{
    unsigned i = name_find(letter_kinds, LETTER_KIND_COUNT, name);

    if (i < LETTER_KIND_COUNT)
        *out = (enum letter_kind)i;
    return i < LETTER_KIND_COUNT;
}

static const char *const letter_statuses[] = {
#define LETTER_STATUS(symbol, text) (text),
#include "engine/letter_status.def"
#undef LETTER_STATUS
};

const char *letter_status_name(enum letter_status status)
{
    ASSERT(status < LETTER_STATUS_COUNT);
    return letter_statuses[status];
}

bool letter_status_read(struct str name, enum letter_status *out)
{
    unsigned i = name_find(letter_statuses, LETTER_STATUS_COUNT, name);

    if (i < LETTER_STATUS_COUNT)
        *out = (enum letter_status)i;
    return i < LETTER_STATUS_COUNT;
}

static const char *const verdicts[] = {
#define VERDICT(symbol, text) (text),
#include "engine/verdict.def"
#undef VERDICT
};

const char *verdict_name(enum verdict verdict)
{
    ASSERT(verdict < VERDICT_COUNT);
    return verdicts[verdict];
}

bool verdict_read(struct str name, enum verdict *out)
{
    unsigned i = name_find(verdicts, VERDICT_COUNT, name);

    if (i < VERDICT_COUNT)
        *out = (enum verdict)i;
    return i < VERDICT_COUNT;
}

static const char *const tell_kinds[] = {
#define TELL_KIND(symbol, text) (text),
#include "engine/tell_kind.def"
#undef TELL_KIND
};

const char *tell_kind_name(enum tell_kind kind)
{
    ASSERT(kind < TELL_KIND_COUNT);
    return tell_kinds[kind];
}

bool tell_kind_read(struct str name, enum tell_kind *out)
{
    unsigned i = name_find(tell_kinds, TELL_KIND_COUNT, name);

    if (i < TELL_KIND_COUNT)
        *out = (enum tell_kind)i;
    return i < TELL_KIND_COUNT;
}
