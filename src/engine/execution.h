/*
 * execution.h - one run of a program: its state, and what may change it.
 *
 * State is history plus a checkpoint. Everything here is written by
 * engine_advance() and stored by the store; values are immutable and live in
 * the arena of the execution or of the turn. Texts that end in _json are JSON,
 * serialised once and used for history, checkpoint and answers alike.
 *
 * why: decision 0134
 */
#ifndef PAWL_ENGINE_EXECUTION_H
#define PAWL_ENGINE_EXECUTION_H

#include "base/uuid.h"
#include "base/vec.h"
#include "engine/command/items.h"
#include "engine/commit/ask_kind.h"
#include "engine/signals.h"
#include "engine/status.h"

/* The layout of the state columns; a node refuses a newer one. */
enum { EXECUTION_FORMAT = 2 };

enum {
    CONTEXT_BYTES_MAX = 1 << 20,  /* as JSON */
    STRANDS_BYTES_MAX = 16 << 20, /* inputs and ledgers of the steps that all strands are in */
    STATE_DEPTH_MAX = 200, /* lists and maps within one another: the stored form wraps them */
    TURN_STEPS_MAX = 64,
    JUMPS_MAX = 100,               /* of one execution: the next is limit_goto */
    START_DEPTH_MAX = 20,          /* starts by starts: the next is limit_depth */
    HISTORY_BYTES_MAX = 256 << 20, /* of one execution, rows of rolling back and operators apart */
    STRANDS_MAX = 1000,            /* of one execution at a time: the next is limit_strands */
    BRANCHES_SHOWN = 50,           /* of waitingFor.branches */
    ROLLBACK_PAGE = 64,            /* rows that rolling back reads at once */
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
    int64_t given;       /* of a step in rounds that run at once: the highest number given out */
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

/*
 * An attempt that may have happened, until it is known whether it has: see
 * reconcile.c. Meanwhile input and suspended_json of the cursor are those of the
 * current question.
 */
struct reconciling {
    int64_t since_us, asked_at_us; /* the first question of this round, the latest one */
    int64_t before;                /* questions of the visit before this round */
    int64_t retry_at_us; /* the next attempt, should it not have happened; 0 = there is none */
    struct str error_json, input_json, suspended_json; /* of the attempt */
    struct str letter; /* the id of the dead letter, when it was given up; else empty */
    int64_t sent;      /* the row of what the attempt has sent, or 0 */
};

/*
 * What fails between two steps, or was not reached any more because the execution was stopped. A
 * retry goes on there: what has ended does not run again.
 */
enum cursor_behind {
    BEHIND_NOTHING,
    BEHIND_STEP,    /* its goto */
    BEHIND_BLOCK,   /* `collect` of the loop whose round it ends */
    BEHIND_ROUND,   /* whether another round of the loop comes; completing the loop if none does */
    BEHIND_BREAK,   /* completing the loop that it has left */
    BEHIND_FAILURE, /* recording the failure of the step, with which the loop around it goes on */
    BEHIND_LEDGER,  /* the step itself has failed: what its visit has done stays done */
};

/* Where an execution stands in its current step. */
struct cursor {
    uint32_t step;   /* index in the program; step_count: all are done, or: */
    struct str past; /* rolling back: the code of a step that its version does not have; or empty */
    enum cursor_phase phase;
    int64_t visit, attempt;
    int64_t started_at_us; /* of this attempt */
    int64_t wake_at_us;    /* the next timer: of a wait, a retry, an attempt; 0 = none */
    int64_t stood_us; /* that timer was set while the execution was stopped, at this time; or 0 */
    struct str input_json; /* evaluated once per visit; empty when none */

    /* PHASE_WAIT */
    struct str types_json;        /* wait.signal: the list of signal types */
    struct str correlation;       /* wait.signal: what signals find it by, or empty */
    struct str assignees_json;    /* wait.signal: who may answer: a list of keys; or empty */
    struct str title;             /* ... and what they are asked, or empty */
    struct str show_json;         /* ... the facts that they are shown: a list, or empty */
    struct str then_json;         /* ... and what follows each answer: a list, or empty */
    int64_t timeout_at_us;        /* when it ends by itself, reminders apart; 0 = never */
    int64_t remind_at_us;         /* the next reminder; 0 = none, or one waits for an answer */
    int64_t remind_every_us;      /* 0 = no reminders, or those of remind_times_json */
    struct str remind_times_json; /* reminders `at`: the times of all of them, in order; or empty */
    int64_t reminders;            /* sent so far */
    int64_t unmatched;            /* signals of its type that did not match */
    struct str task;              /* task.create: the id of the task, else empty */
    bool keeps_task;              /* ... it stays when the time is up */
    bool is_overdue;              /* ... the time is up, and the planner was asked how it stands */

    /* PHASE_JOB, and from then on: what the commands before it have done, see procedure.c */
    struct str suspended_json;
    struct str awaited; /* PHASE_JOB: the idempotency key whose answer it waits for */
    enum ask_kind ask;  /* ... what of; NONE: of an execution that it has started */
    /* ... which another has started: its end is awaited, and nothing else; or this one has. Neither:
     * a version that did not say so has stored it, and it is looked up when it matters. */
    bool is_joined, is_started;
    struct str child_code; /* ... and the code of its process; or empty */
    int64_t asked_seq;     /* ... the row of the attempt that has left; 0 = it waits for capacity */
    struct str host;       /* ... of a call: where it goes */
    int64_t asked_epoch; /* ... and of which epoch the node is that makes it; 0: no others could */
    /* The command that failed last, and how often it has: command.retry */
    struct str failed_at;
    int64_t tries;
    int64_t waits; /* attempts of this visit that a service has put off: they are no tries */

    bool is_unsure; /* an attempt of this visit that was tried again may have happened */
    int64_t behind; /* enum cursor_behind: the step has ended, and this behind it has failed */
    int64_t asked;  /* questions of this visit: their keys count on */
    const struct reconciling *reconciling; /* or NULL: no attempt of this visit is in doubt */
    /* Beside other strands: the row since which it stands here; else 0 */
    int64_t seq;
    /* While the execution is paused: the row that its wait ends with once it goes on; 0 = none */
    int64_t deferred_seq;
    struct str deferred_answer_json; /* ... of an answer: {output} or {error}; of a signal: empty */
};

/* A visit of a step by its code: of one that the version does not have, the last. */
struct past_visit {
    struct str code;
    int64_t visit;
    const struct past_visit *next;
};

/* A step that has steps in it, while it runs. */
struct frame {
    uint32_t step, block;
    int64_t visit;
    int64_t started_at_us;
    int64_t index;      /* LOOP: of the iteration, from 0 on */
    int64_t links_from; /* of one that runs beside others: see link.h */
};

/*
 * A line of work, immutable and shared by states: an execution has one, and in a parallel step, or a loop whose
 * iterations run at once, one for each branch or iteration that runs.
 */
struct strand {
    struct cursor cursor;
    const struct frame *frames; /* the steps around the current one, outermost first */
    uint32_t frame_count;
    enum waiting_kind waiting_kind; /* of waiting_for_json */
    struct str waiting_for_json;    /* or empty */
};

/*
 * What a running loop or parallel step holds. Unlike its frame, which is
 * stored with the cursor, it may be large: it is stored with the checkpoint,
 * and rows say what is added.
 */
struct loop_data {
    const struct loop_data *outer; /* of one that began before it, or NULL */
    uint32_t step;
    int64_t visit;     /* 0: the only one of that step */
    struct value list; /* for: what it goes over; else absent */
    size_t list_bytes; /* as JSON */
    /* Where several iterations or branches run at once, each is [number, value]. */
    struct items collected;
    struct items errors; /* {index, item, error} */
    /* Of a loop whose iterations run at once: */
    int64_t base;    /* the first visits of its steps have the numbers base + 1 + index */
    int64_t started; /* iterations so far */
    int64_t ended;
};

/* Which iteration of a loop whose iterations run at once. */
struct round {
    uint32_t loop; /* the step, + 1; 0 = none */
    int64_t visit, index;
};

/* What a step has come to in an iteration that runs. */
struct round_step {
    const struct round_step *next;
    struct round round;
    uint32_t step;
    struct step_state state;
};

/* Rolling back: how far it has come. NULL in an execution that goes forward. */
struct rollback {
    enum execution_status end; /* what it becomes: FAILED or CANCELLED */
    int64_t before;            /* rows below this seq have not been looked at */
    int64_t row;               /* the one that is being rolled back; 0 = none */
    int64_t commands_left;     /* of its commands that have a rollback of their own */
    bool has_failed;           /* the rollback of one of these */
    struct str under;       /* the program that ran up to `before`: former_name(); empty: its own */
    bool is_unreadable;     /* ... which is not there any more; a dead letter says so */
    int64_t deadline_at_us; /* of the rollback of `row`; 0 = it has not been tried yet */
    bool is_known;          /* what is lost before this place has its letters already */
    bool keeps_done;        /* nothing is undone: only those that it has started are waited for */
    bool returns;           /* a machine goes on in its old state behind it, whatever `end` says */
    bool is_retry;          /* this one alone is tried again, see rollback_retry.c */
    int64_t tried_before;   /* ... attempts that it had before */
    const struct cursor *from; /* where it stood, for a retry when nothing was undone; or NULL */
    /* Visits whose last attempt was looked at: earlier ones say nothing. */
    const struct past_visit *again;
    /* The strands that were stopped, for that retry: they begin their steps anew. */
    const struct strand *const *others;
    uint32_t other_count, strand_index;
};

/*
 * What a strand has asked for and waits for no more, until it is known to have ended: an execution
 * that it has started, which is cancelled, or an attempt of a call that has left. See stopped.c.
 */
struct stopped_child {
    struct uuid id;     /* of the execution */
    int64_t call_seq;   /* or the row of the attempt; 0: it is an execution */
    int64_t call_epoch; /* ... as cursor.asked_epoch */
    struct str step;    /* the code of the step that has asked */
    int64_t since_us;
    int64_t look_at_us; /* when rolling back looks for itself, or waits for the call no longer */
    /* Of a call: where its strand stood, for the answer; NULL: it was too large, or has been moved. */
    const struct strand *strand;
    struct str loop_json; /* ... and $.loop of its visit, or empty */
};

/* Of a machine: since when its state stands. All zeros in any other execution. */
struct machine_place {
    int64_t entered_at_us; /* by the clock of timers; 0 = the next wait of a state begins it */
    int64_t passed;        /* of its `after`, as bits: these were judged */
    int64_t final_seq;     /* what rows up to this one have done is never undone */
};

/* An operator has stopped it, see pause.c. NULL in an execution that goes on. */
struct pause {
    int64_t since_us;
    struct str reason;  /* or empty */
    struct str by_json; /* {id, name}, or empty */
};

/* How far `continue` lets an execution go that is debugged; it stops before breakpoints always. */
enum debug_until {
    DEBUG_STEP, /* before the next step */
    DEBUG_TO,   /* behind the step `to` */
    DEBUG_END,
};

/* It is debugged, see debug.h. NULL in any other execution. */
struct debug {
    int64_t until;               /* enum debug_until */
    struct str to;               /* DEBUG_TO: the code of a step */
    struct str breakpoints_json; /* a list of codes, or empty */
    struct str after;            /* the code of the step that has ended last, or empty */
    int64_t since_us;            /* it is stopped, by the clock; 0 = it goes on */
};

/* Reminders of one execution that may wait for an answer at a time, those of waits that are over included. */
enum { REMINDING_MAX = 100 };

/* An execution that has ended the process so often is parked: left alone until somebody acts. */
enum { CRASHES_MAX = 5 };

struct execution {
    /* identity, never changes */
    struct uuid id;
    int64_t row; /* the store's own key; 0 before the first commit is durable */
    const struct program *program;
    struct str key; /* business key, or empty */
    struct str org_id;
    bool has_parent;
    struct uuid parent_id; /* the execution that started it */
    int64_t depth;         /* how many starts by starts led to it; 0: somebody outside started it */
    bool has_again_of;
    struct uuid again_of;    /* the one that it was started again for */
    struct str user_json;    /* who started it: {id, name, email, role} */
    struct str trace;        /* what it has taken over of a trace, or empty: see trace.h */
    struct value webhook;    /* the request that started it; as long as webhook_json is there */
    struct str webhook_json; /* {payload, headers, query, method, path}, or empty */
    struct str record; /* "object/id" of the record whose card it was started from, or empty */
    struct str chain;  /* the triggers that led to it, or empty: see chain.h */
    int64_t created_at_us;
    int64_t deadline_at_us; /* 0 = none */
    struct value input;     /* an operator's retry may replace it: has_new_input */
    struct str input_json;
    bool has_new_input;
    struct value first_input; /* has_new_input: what the start gave */

    /* state */
    enum execution_status status;
    int64_t row_version;    /* of the commit that made this state */
    int64_t seq;            /* of the last history row */
    int64_t checkpoint_seq; /* the context column holds the state after this row */
    int64_t log_bytes;      /* of history since then */
    int64_t history_bytes;  /* of all its rows; its next step is limit_history beyond the limit */
    int64_t started_at_us, completed_at_us, updated_at_us;
    int64_t reopened_at_us; /* when it last went on after an end; 0 = never: see trace.h */
    int64_t wake_at_us;     /* 0 = never by itself; WAKE_AT_ONCE = now */
    bool stop_requested;
    bool has_moved; /* it has run with another program before: former_read in reads.h */
    int32_t crash_count;
    /* The strand that comes first, or that is held; meaningless once completed or cancelled. */
    struct cursor cursor;
    const struct frame *frames;
    uint32_t frame_count;
    const struct strand *const *others; /* the other ones, in the order of the program */
    uint32_t other_count;               /* 0 but within parallel */
    uint32_t strand_index;              /* of the first one among them */
    struct str strand_waiting_json;     /* what the first one waits for: beside others, or paused */
    enum waiting_kind strand_waiting_kind;
    /*
     * Reminders that have asked somebody, or are tried again later: cursors of their own, at the
     * step and the visit of their wait, without frames; at most REMINDING_MAX.
     */
    const struct strand *const *reminding;
    uint32_t reminding_count;
    uint32_t jumps;                      /* taken so far */
    int64_t links_from;                  /* links to answer waits that were made before are spent */
    int64_t links_spent;                 /* the last row that has spent some, in whatever strand */
    const struct loop_data *loops;       /* newest first, those that hold something; or NULL */
    const struct round_step *rounds;     /* results within iterations that run at once; or NULL */
    const struct rollback *rollback;     /* or NULL */
    const struct stopped_child *stopped; /* the oldest first; at most STRANDS_MAX */
    uint32_t stopped_count;
    bool has_unrolled;         /* one that it has started could not undo something; rows say what */
    const struct pause *pause; /* or NULL */
    const struct debug *debug; /* or NULL */
    struct machine_place machine;
    struct items compensated, failed; /* codes of steps: $.compensation */
    struct items given_up;            /* rollbacks that may be tried again: rollback_retry.c */
    uint32_t last_done;               /* the step that completed last, as index + 1; 0 = none */
    struct step_state *steps;         /* by index, step_count of the program */
    const struct past_visit *past_visits;
    struct items
        secrets; /* of answers that have left it, to be hidden; null: there were too many */
    struct items past_steps;   /* results that a move has dropped: past_steps.c */
    struct value variables;    /* a map */
    struct str variables_json; /* the same, or empty when there are none */
    struct signals signals;
    struct str error_json;          /* or empty */
    struct str result_json;         /* or empty */
    enum waiting_kind waiting_kind; /* of waiting_for_json; of several strands that of the first */
    struct str waiting_for_json;    /* or empty */
    size_t context_bytes; /* what the limit of the context counts: see state_context_bytes() */
};

/* Whether no step may begin: it is debugged, and stopped. */
static inline bool execution_is_stopped(const struct execution *x)
{
    return x->debug != NULL && x->debug->since_us > 0;
}

/* Whether the strand waits for a call: one that has left, or one that waits for capacity. */
static inline bool call_is_awaited(const struct cursor *cursor)
{
    return cursor->ask == ASK_CALL;
}

/* Whether such a call has not left yet. */
static inline bool call_is_queued(const struct cursor *cursor)
{
    return call_is_awaited(cursor) && cursor->asked_seq == 0;
}

/* How many strands it has, and where each stands; 0 is the first. */
static inline uint32_t execution_strands(const struct execution *x)
{
    return x->other_count + 1;
}

static inline const struct cursor *execution_cursor(const struct execution *x, uint32_t i)
{
    return i == 0 ? &x->cursor : &x->others[i - 1]->cursor;
}

/* Whoever may have asked somebody: the strands, then the reminders that wait for an answer. */
static inline uint32_t execution_askers(const struct execution *x)
{
    return execution_strands(x) + x->reminding_count;
}

static inline const struct cursor *execution_asker(const struct execution *x, uint32_t i)
{
    return i < execution_strands(x) ? execution_cursor(x, i)
                                    : &x->reminding[i - execution_strands(x)]->cursor;
}

/* Whether what it waits for as a whole is something else than what its first strand waits for. */
static inline bool execution_waits_below(const struct execution *x)
{
    return x->other_count > 0 || x->pause != NULL || execution_is_stopped(x);
}

/* What the strand waits for; empty when it does not wait. */
static inline struct str execution_waits(const struct execution *x, uint32_t i)
{
    if (i > 0)
        return x->others[i - 1]->waiting_for_json;
    return execution_waits_below(x) ? x->strand_waiting_json : x->waiting_for_json;
}

/* The same as a fact. */
static inline enum waiting_kind execution_waits_for(const struct execution *x, uint32_t i)
{
    if (i > 0)
        return x->others[i - 1]->waiting_kind;
    return execution_waits_below(x) ? x->strand_waiting_kind : x->waiting_kind;
}

/* The strand in hand, or the execution, waits for this; WAITING_NONE: for nothing. */
static inline void execution_set_waiting(struct execution *x, enum waiting_kind kind,
                                         struct str waiting_for_json)
{
    x->waiting_kind = kind;
    x->waiting_for_json = waiting_for_json;
}

/* The code of the step that the cursor stands at, also of one that only an earlier version has. */
struct str execution_code(const struct execution *x, const struct cursor *cursor);

/* The code of the step that it stands at, of a machine that of its state; empty once it has ended, or when all steps are done. */
struct str execution_current_step(const struct execution *x);

/* Whether steps of it were rolled back, or could not be: it cannot be tried again. */
static inline bool execution_is_rolled_back(const struct execution *x)
{
    return x->compensated.list.count + x->failed.list.count > 0;
}

/* Whether it has come to a halt that only an operator can end: an incident. */
static inline bool execution_is_held(const struct execution *x)
{
    return x->status == STATUS_WAITING && x->cursor.phase == PHASE_HELD;
}

#endif
