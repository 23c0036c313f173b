/*
 * execution.h - one run of a program: its state, and what may change it.
 *
 * State is history plus a checkpoint. Everything here is written by
 * engine_advance() and stored by the store; values are immutable and live in
 * the arena of the execution or of the turn. Texts that end in _json are JSON,
 * serialised once and used for history, checkpoint and answers alike.
 */
#ifndef PAWL_ENGINE_EXECUTION_H
#define PAWL_ENGINE_EXECUTION_H

#include "base/uuid.h"
#include "base/vec.h"
#include "define/program.h"
#include "engine/signals.h"

enum execution_status {
#define STATUS(symbol, name, terminal) STATUS_##symbol,
#include "engine/status.def"
#undef STATUS
    STATUS_COUNT
};

const char *status_name(enum execution_status s);
bool status_is_terminal(enum execution_status s);
bool status_read(struct str name, enum execution_status *out) MUST_USE;

/* The layout of the state columns; a node refuses a newer one. */
enum { EXECUTION_FORMAT = 1 };

enum {
    CONTEXT_BYTES_MAX = 1 << 20, /* as JSON */
    STATE_DEPTH_MAX = 200,       /* lists and maps within one another: the stored form wraps them */
    TURN_STEPS_MAX = 64,
};

/*
 * wake_at of work that is ready: due whatever the clock says, also after it
 * was set back.
 */
#define WAKE_AT_ONCE INT64_C(1)

enum step_outcome { OUTCOME_NONE, OUTCOME_SKIPPED, OUTCOME_COMPLETED, OUTCOME_FAILED };

/* The latest visit of one step. */
struct step_state {
    enum step_outcome outcome;
    int64_t visit;       /* how often it was entered */
    struct value output; /* COMPLETED: the result */
    struct str output_json;
    struct value error; /* FAILED: {code, message, class, ...} */
    struct str error_json;
};

enum cursor_phase {
#define PHASE(symbol, name) PHASE_##symbol,
#include "engine/phase.def"
#undef PHASE
    PHASE_COUNT
};

const char *phase_name(enum cursor_phase phase);
bool phase_read(struct str name, enum cursor_phase *out) MUST_USE;

/* Where an execution stands. */
struct cursor {
    uint32_t step; /* index in the program */
    enum cursor_phase phase;
    int64_t visit, attempt;
    int64_t started_at_us; /* of this visit */
    int64_t wake_at_us;    /* timer or timeout of the wait; 0 = none */
    struct str input_json; /* evaluated once per visit; empty when none */
    struct str types_json; /* wait.signal: the list of signal types */
};

struct execution {
    /* identity, never changes */
    struct uuid id;
    int64_t row; /* the store's own key; 0 before the first commit is durable */
    const struct program *program;
    struct str key; /* business key, or empty */
    struct str org_id;
    struct str user_json; /* who started it: {id, name, email, role} */
    int64_t created_at_us;
    int64_t deadline_at_us; /* 0 = none */
    struct value input;
    struct str input_json;

    /* state */
    enum execution_status status;
    int64_t row_version;    /* of the commit that made this state */
    int64_t seq;            /* of the last history row */
    int64_t checkpoint_seq; /* the context column holds the state after this row */
    int64_t log_bytes;      /* of history since then */
    int64_t started_at_us, completed_at_us, updated_at_us;
    int64_t wake_at_us; /* 0 = never by itself; WAKE_AT_ONCE = now */
    bool stop_requested;
    int32_t crash_count;
    struct cursor cursor;      /* meaningless once terminal */
    struct step_state *steps;  /* by index, step_count of the program */
    struct value variables;    /* a map */
    struct str variables_json; /* the same, or empty when there are none */
    struct signals signals;
    struct str error_json;       /* or empty */
    struct str result_json;      /* or empty */
    struct str waiting_for_json; /* or empty */
    size_t context_bytes; /* what the limit of the context counts: see state_context_bytes() */
};

#endif
