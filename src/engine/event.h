/*
 * event.h - what happens to an execution: the input of engine_advance().
 *
 * Whoever makes an event fills the upper part, by its kind. The node adds what
 * surrounds the execution and what was read for it.
 */
#ifndef PAWL_ENGINE_EVENT_H
#define PAWL_ENGINE_EVENT_H

#include "base/uuid.h"
#include "value/value.h"

enum event_kind {
    EVENT_START,    /* a new execution: `execution` holds its identity and input */
    EVENT_WAKE,     /* its wake_at has come, or it was left in the middle of its work */
    EVENT_ANSWER,   /* of a call or a job: answer_* */
    EVENT_RESOLVE,  /* an operator: letter, verdict, output, note */
    EVENT_ROLLBACK, /* an operator: a rollback that was given up is tried again: letter */
/* The actions that are events: EVENT_CANCEL, EVENT_SIGNAL ...; below is what each has. */
#define ACTION(symbol, name, makes, ...) makes(symbol)
#define BY_EVENT(symbol) EVENT_##symbol,
#define BY_SIGNAL(symbol) EVENT_##symbol,
#define BY_START(symbol)
#define BY_DELETION(symbol)
#include "engine/actions.def"
#undef ACTION
#undef BY_EVENT
#undef BY_SIGNAL
#undef BY_START
#undef BY_DELETION
};

/* Whether what was done is undone before an execution is cancelled. */
enum cancel_rollback {
    CANCEL_BY_STRATEGY, /* when the scenario's onError is compensate */
    CANCEL_ROLLS_BACK,
    CANCEL_LEAVES, /* what was done stays done */
};

/* What became of an attempt, as its reconcile or an operator says. */
enum verdict {
#define VERDICT(symbol, name) VERDICT_##symbol,
#include "engine/verdict.def"
#undef VERDICT
    VERDICT_COUNT
};

const char *verdict_name(enum verdict verdict);
bool verdict_read(struct str name, enum verdict *out) MUST_USE;

struct call_capacity;
struct child_reads;
struct link;
struct link_maker;
struct program;
struct task_answers;
struct turn_reads;

/* A signal that answers one wait: see people.c. */
struct answer_to {
    struct str step;
    int64_t visit;
    struct value keys; /* of who answers, as assignee_keys() makes them: a list of texts; or */
    const struct link *link; /* what they answer by, or NULL: see link.h */
};

struct event {
    enum event_kind kind;
    struct value by;   /* SIGNAL: {id, name} or {callback: true}; other actions: {id, name} */
    struct str reason; /* CANCEL, PAUSE; or empty */
    enum cancel_rollback cancel_rollback; /* CANCEL */
    bool is_by_parent;                    /* CANCEL: only one that `parent` has started */
    struct uuid parent;

    /* SIGNAL */
    struct str signal_id, signal_type;
    struct value signal_payload;
    struct str signal_correlation;     /* only a wait that has this may take it; empty: any */
    const struct answer_to *answer_to; /* no other wait may take it; or NULL */

    /* ANSWER */
    struct str answer_key;      /* the idempotency key it is for */
    int64_t answer_seq;         /* ... and the row of its attempt, which is enough; or 0 */
    struct value answer_output; /* or absent: then answer_error says {code, message, class} */
    struct value answer_error;
    struct str answer_digest; /* of a stored ask: stored with its end, to know it again; or empty */
    bool is_only_kept;        /* it is parked: the answer is stored for later, and nothing runs */
    bool answer_is_lost;      /* it is the node's: nobody knows what became of the attempt */
    bool answer_is_lapsed;    /* ... since the lease of its worker is over */

    /* operators */
    struct str from;               /* RETRY, ASSIGN: the code of a step; empty = where it stands */
    int64_t visit;                 /* ASSIGN: ... and its visit; 0 = the only one that waits */
    struct value assignee;         /* ASSIGN: as a wait.signal has it */
    struct str held;               /* RETRY: the step that is held, of several; empty = the first */
    const struct program *program; /* RETRY, MIGRATE: another version; NULL = the same */
    struct value input;            /* RETRY: replaces $.input; absent = the same */
    struct value output;           /* SKIP, RESOLVE: of the step; absent = null */
    struct str letter;             /* RESOLVE, ROLLBACK: the id of the dead letter */
    enum verdict verdict;          /* RESOLVE: what became of its step */
    struct str note;               /* ... and how that is known */

    /* CONTINUE, BREAKPOINTS */
    struct str to;      /* the code of a step, "end", or empty: the next one alone */
    struct str branch;  /* of several strands that could go on, which does; or empty: the first */
    struct value set;   /* {variables: {...}}, or absent */
    struct value nodes; /* BREAKPOINTS: codes of steps */

    /* --- what surrounds the execution --- */
    struct value config;      /* $.config: installation values */
    struct value credentials; /* {code: base_url}; may be absent */
    bool assumes_credentials; /* for trials: one that is not there has a base_url all the same */
    const struct link_maker *links; /* for $.execution.callbackUrl; NULL: there is none */
    uint64_t nonce[2];              /* that nobody can guess: what stands for secrets has it */
    const struct call_capacity *capacity; /* how many calls may leave now; NULL = any number */
    /* For trials: the names of procedures that are asked for, not run; a map, or absent. */
    struct value mocked;
    /* Others keep changing records, and too many of them to tell which: writing any of them fails. */
    bool gives_up_on_records;
    bool traces;          /* commit.commands is wanted */
    bool buffers_signals; /* signals may be buffered for a correlation: they are asked for */

    /* --- what was read --- */
    const struct turn_reads *reads;   /* what earlier answers NEED asked for; NULL: nothing */
    const struct task_answers *tasks; /* WAKE: what became of tasks, or NULL */
    /* WAKE, CANCEL: executions that have said that they have ended, or NULL */
    const struct child_reads *children;
};

#endif
