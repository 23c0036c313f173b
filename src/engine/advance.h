/*
 * advance.h - move one execution forward by one event.
 *
 * The heart of the engine, and pure: no clock, no randomness, no I/O. The same
 * program, execution and event give the same commit on every machine; replay
 * and the crash tests rely on it.
 *
 *     program + execution + event  --advance-->  commit  --store-->  durable
 */
#ifndef PAWL_ENGINE_ADVANCE_H
#define PAWL_ENGINE_ADVANCE_H

#include "base/map.h"
#include "define/define.h"
#include "engine/execution.h"
#include "engine/message.h"
#include "engine/search.h"
#include "engine/task_act.h"

enum event_kind {
    EVENT_START,    /* a new execution: `execution` holds its identity and input */
    EVENT_WAKE,     /* its wake_at has come, or it was left in the middle of its work */
    EVENT_SIGNAL,   /* signal_* */
    EVENT_CANCEL,   /* reason, cancel_rollback */
    EVENT_ANSWER,   /* of a job: answer_* */
    EVENT_RETRY,    /* an operator: from, program, input */
    EVENT_SKIP,     /* an operator: output */
    EVENT_MIGRATE,  /* an operator: program */
    EVENT_RESOLVE,  /* an operator: letter, outcome, output, note */
    EVENT_ROLLBACK, /* an operator: a rollback that was given up is tried again: letter */
    EVENT_PAUSE,    /* an operator: reason, by */
    EVENT_RESUME,   /* an operator: by */
    EVENT_ASSIGN,   /* an operator: from, visit, assignee, by */
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

/* A record as it was read for a command. */
struct record_read {
    struct str object, id;
    int64_t version;      /* 0 = there is none */
    int64_t last_version; /* of one that is gone: the last it had; 0 = there never was one */
    struct value data;    /* a map */
    unsigned tries;       /* how often another had changed it when this turn was to be stored */
};

/* After so many tries a write of that record fails with conflict_version. */
enum { RECORD_TRIES_MAX = 5 };

/* What a command wants to see of the records. */
struct record_query {
    struct str object;
    struct str id;               /* one record; or empty: */
    const struct search *search; /* those that it finds */
};

struct record_reads {
    VEC_OF(struct record_read);
};

/* What a search has found, for record.query. */
struct search_read {
    const struct search *search;
    struct search_found found;
};

struct search_reads {
    VEC_OF(struct search_read);
};

/* A process as flow.start asks for it: its published program and, for a key, who holds that. */
struct process_read {
    struct str code;
    struct str key;                /* empty: only the program is asked for */
    const struct program *program; /* NULL = there is none; it must outlive the turn */
    bool is_held;                  /* a live execution of it has the key: */
    struct uuid holder;
};

struct process_reads {
    VEC_OF(struct process_read);
};

/* How an execution that was started stands. */
struct child_read {
    struct uuid id;
    bool is_found;
    enum execution_status status;
    struct value result; /* completed */
    struct value error;  /* failed: {code, message, ...}; or absent */
};

struct child_reads {
    VEC_OF(struct child_read);
};

/* The attempts of the execution that a worker holds as jobs. */
struct job_leases {
    VEC_OF(int64_t); /* seq of their rows */
};

/* A signal as it arrives. */
struct arrival {
    struct str id, type;
    struct value payload;
    struct value by; /* {id, name} or {callback: true} */
    int64_t received_at_us;
};

/* One that came by correlation, found no wait and is kept for it. */
struct kept_signal {
    int64_t row; /* the store's own key: later ones have larger ones */
    struct arrival signal;
};

/* One that a wait took when it began. */
struct kept_take {
    int64_t row;
    const struct signal *signal;
};

struct kept_takes {
    VEC_OF(struct kept_take);
};

/* All that is kept for a correlation, oldest first, but for what this execution has received. */
struct kept_read {
    struct str correlation;
    int64_t last_row; /* the store held none above this one */
    const struct kept_signal *signals;
    uint32_t count;
};

struct kept_reads {
    VEC_OF(struct kept_read);
};

/*
 * A procedure that a trial answers in place of running it. `call` tells one
 * call of it from any other: the same turn, run anew, asks for the same.
 */
struct mock_read {
    struct str name, call;
    struct value input;
    struct value output; /* or absent: then error says {code, message, class} */
    struct value error;
};

struct mock_reads {
    VEC_OF(struct mock_read);
};

/* What a template makes of data; `call` tells one use of it from any other, as of a mock. */
struct render_read {
    struct str code, call;
    struct value data, user, execution, config;
    int64_t now_us;
    struct str subject, body, html; /* what came of it; html may be empty */
    struct value error;             /* or absent: {code, message, class} */
};

struct render_reads {
    VEC_OF(struct render_read);
};

struct link;
struct link_maker;

/* A signal that answers one wait: see people.c. */
struct answer_to {
    struct str step;
    int64_t visit;
    struct value keys; /* of who answers, as assignee_keys() makes them: a list of texts; or */
    const struct link *link; /* what they answer by, or NULL: see link.h */
};

struct event {
    enum event_kind kind;
    struct str signal_id, signal_type;
    struct value signal_payload;
    struct value signal_by; /* {id, name} or {callback: true} */
    /* SIGNAL: only a wait that has this may take it, else ERR_CONFLICT; empty: as it is */
    struct str signal_correlation;
    const struct answer_to *answer_to;    /* SIGNAL: no other wait may take it; or NULL */
    struct str reason;                    /* CANCEL, PAUSE; or empty */
    struct value by;                      /* PAUSE, RESUME: {id, name}, or absent */
    enum cancel_rollback cancel_rollback; /* CANCEL */
    bool is_by_parent;                    /* CANCEL: only one that `parent` has started */
    struct uuid parent;
    struct str answer_key;      /* ANSWER: the idempotency key it is for */
    int64_t answer_seq;         /* ... and the row of its attempt, which is enough; or 0 */
    struct value answer_output; /* or absent: then answer_error says {code, message, class} */
    struct value answer_error;
    struct str
        answer_digest;     /* ... of a stored ask: kept with its end, to know it again; or empty */
    bool answer_is_lost;   /* ... it is the node's: nobody knows what became of it */
    struct str from;       /* RETRY, ASSIGN: the code of a step; empty = where it stands */
    int64_t visit;         /* ASSIGN: ... and its visit; 0 = the only one that waits */
    struct value assignee; /* ASSIGN: as a wait.signal has it */
    struct str held;       /* RETRY: the step that is held, of several; empty = the first */
    const struct program *program; /* RETRY, MIGRATE: another version; NULL = the same */
    struct value input;            /* RETRY: replaces $.input; absent = the same */
    struct value output;           /* SKIP, RESOLVE: of the step; absent = null */
    struct str letter;             /* RESOLVE, UNDO: the id of the dead letter */
    enum verdict verdict;          /* RESOLVE: what became of its step */
    struct str note;               /* ... and how that is known */
    struct value config;           /* $.config: installation values */
    struct value credentials;      /* {code: base_url}; may be absent */
    bool assumes_credentials; /* for trials: one that is not there has a base_url all the same */
    const struct link_maker *links; /* for $.execution.callbackUrl; NULL: there is none */
    uint64_t nonce[2];              /* that nobody can guess: what stands for secrets has it */
    /* What earlier answers NEED asked for; may be empty. */
    const struct record_reads *records;
    const struct search_reads *searches;
    const struct history *history;         /* the rows that NEED asked for, or NULL */
    const struct process_reads *processes; /* or NULL */
    const struct child_reads *children;    /* or NULL */
    const struct task_answers *tasks;      /* WAKE: what became of tasks, or NULL */
    const struct job_leases *leases;       /* or NULL: not read */
    const struct kept_reads *kept;         /* or NULL: nobody keeps signals */
    const struct render_reads *renders;    /* or NULL */
    const struct call_room *room;          /* how many calls may leave now; NULL = any number */
    /* Others keep changing records, and too many of them to tell which: writing any of them fails. */
    bool gives_up_on_records;
    /* For trials: the names of procedures that are asked for, not run; a map, or absent. */
    struct value mocked;
    const struct mock_reads *mocks; /* what was asked for, or NULL */
    bool traces;                    /* commit.commands is wanted */
};

enum history_kind {
#define HISTORY_KIND(symbol, name) HISTORY_##symbol,
#include "engine/history_kind.def"
#undef HISTORY_KIND
    HISTORY_KIND_COUNT
};

const char *history_kind_name(enum history_kind kind);
bool history_kind_read(struct str name, enum history_kind *out) MUST_USE;

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
    /* For traces, not stored: who was called, or empty; which of several alike in one attempt. */
    struct str dep;
    int64_t part;
};

struct history {
    VEC_OF(struct history_row);
};

struct record_write {
    struct str object, id;
    int64_t read_version; /* 0 = it did not exist */
    bool is_delete;
    int64_t version; /* what it becomes */
    int64_t seq;     /* of the history row of the step that wrote it last */
    struct str data_json;
    /*
     * For a step that is suspended before the write is stored: it says what it
     * says whatever the record is by then; with `merged_json` that is laid over
     * it, else it replaces it. False: it rests on what the step has read.
     */
    bool may_rebase;
    struct str merged_json;
};

struct record_writes {
    VEC_OF(struct record_write);
};

struct record_queries {
    VEC_OF(struct record_query);
};

/* A line for the log, written once the commit is durable. */
struct log_line {
    struct str level, message, data_json;
    struct str step;
};

struct log_lines {
    VEC_OF(struct log_line);
};

enum letter_kind {
#define LETTER_KIND(symbol, name) LETTER_##symbol,
#include "engine/letter_kind.def"
#undef LETTER_KIND
    LETTER_KIND_COUNT
};

const char *letter_kind_name(enum letter_kind kind);
bool letter_kind_read(struct str name, enum letter_kind *out) MUST_USE;

enum letter_status {
#define LETTER_STATUS(symbol, name) LETTER_##symbol,
#include "engine/letter_status.def"
#undef LETTER_STATUS
    LETTER_STATUS_COUNT
};

const char *letter_status_name(enum letter_status status);
bool letter_status_read(struct str name, enum letter_status *out) MUST_USE;

/* What the engine has given up on and a person must see. */
struct dead_letter {
    struct uuid id;
    struct str kind; /* its name */
    struct str step;
    int64_t seq; /* of the row that says why */
    int64_t attempts;
    struct str cause_json;   /* {code, message, class, ...} */
    struct str payload_json; /* the input of what failed, or empty */
};

struct dead_letters {
    VEC_OF(struct dead_letter);
};

/* Rows of the execution's own history that must be read: seq above `after`, at most UNDO_PAGE. */
struct history_need {
    bool is_needed;
    int64_t after;
};

/*
 * A wait that is found from outside: by signals, by its correlation, or by the
 * people who may answer it. Only one of an execution has this step and visit.
 */
struct listed_wait {
    struct str step;
    int64_t visit;
    struct str types_json;
    struct str correlation;    /* or empty */
    int64_t kept_up_to;        /* of one that opens: kept signals up to this row were looked at */
    struct str assignees_json; /* a list of keys; or empty */
    struct str title;          /* or empty */
    struct str form_json;      /* of one that opens: as it was written; or empty */
    bool is_public;
    struct str scopes_json;     /* of one that opens and is public: link_scopes(); else empty */
    int64_t links_from;         /* ... link_floor() */
    int64_t since_us, until_us; /* until: 0 = it does not end by itself */
};

struct listed_waits {
    VEC_OF(struct listed_wait);
};

enum tell_kind {
#define TELL_KIND(symbol, name) TELL_##symbol,
#include "engine/tell_kind.def"
#undef TELL_KIND
    TELL_KIND_COUNT
};

const char *tell_kind_name(enum tell_kind kind);
bool tell_kind_read(struct str name, enum tell_kind *out) MUST_USE;

/* What a commit lets another execution know: it becomes a row of execution_events. */
struct tell {
    struct uuid execution; /* nothing is written when that is gone, or unless JOIN has ended */
    enum tell_kind kind;
    struct str key;
    struct str payload_json; /* or empty */
};

struct tells {
    VEC_OF(struct tell);
};

/* Such a row, as the execution that it is for finds it. It stays until a commit names its number. */
struct told {
    int64_t n; /* later ones have larger ones */
    enum tell_kind kind;
    struct str key;
    struct str payload_json; /* or empty: what happened must be looked up */
};

struct tolds {
    VEC_OF(struct told);
};

struct told_numbers {
    VEC_OF(int64_t);
};

/*
 * An attempt to ask somebody outside. It is durable as the row `seq` before it
 * leaves, so that one whose answer nobody has seen is known to have left.
 */
struct ask {
    enum ask_kind kind;
    struct str key;          /* the idempotency key: the same for every attempt */
    int64_t seq;             /* of the row that holds this attempt */
    struct str request_json; /* CALL: see call.c; JOB: the input, or empty */
    int64_t timeout_us;      /* 0 = none */
    struct str host;         /* CALL: where it goes */
    unsigned slot;           /* CALL: the node's own, where the attempt is noted */
    struct str type;         /* JOB: the procedure, "integrations.sync_1c" */
    struct uuid id;          /* JOB */
};

struct asks {
    VEC_OF(struct ask);
};

enum ask_result {
    ASK_ANSWERED,  /* with an output */
    ASK_REFUSED,   /* with an error */
    ASK_LOST,      /* there will be no answer: event.answer_is_lost */
    ASK_UNWANTED,  /* nobody waits for it any more */
    ASK_UNCLAIMED, /* ... and nobody has begun it: the store refuses the commit when somebody has */
};

/* A stored one has an end. */
struct ask_end {
    enum ask_kind kind;
    int64_t seq;
    enum ask_result how;
    struct str digest; /* of the answer, as the event has it; or empty */
};

struct asks_ended {
    VEC_OF(struct ask_end);
};

/* How many calls are under way to a host. */
struct call_host {
    struct str name;
    size_t under_way;
};

/* How many calls may leave: a host with as many as `limit` under way makes others wait. */
struct call_room {
    const struct map *hosts; /* of struct call_host, by name */
    size_t limit;            /* for each of them */
    size_t left;             /* for all of them together */
};

/* A command that ran, however it ended. */
struct command_run {
    struct str step;
    enum history_kind kind; /* what of the step it belongs to */
    int64_t visit, attempt;
    struct str place; /* in the step: "2.1" */
    enum command_type type;
};

struct command_runs {
    VEC_OF(struct command_run);
};

/* A message on its way to one destination: a row of the table outbox. */
struct outbox_row {
    struct uuid id; /* of this delivery: the same however often it is tried */
    enum message_kind kind;
    struct str destination; /* "subscription:CODE", "email", "sms", "push" */
    struct str name;        /* of the message */
    struct str body_json;
};

struct outbox_rows {
    VEC_OF(struct outbox_row);
};

enum advance_result {
    ADVANCE_COMMIT, /* the commit says what changes */
    ADVANCE_NEED,   /* reads are needed first; nothing else of the commit counts */
};

/* What becomes of letters that are open. */
struct letter_close {
    enum letter_status status; /* OPEN: they stay */
    struct str note;           /* what an operator says about that, or empty */
    /* While other strands are held on: the oldest letter of each of these steps; none: all. */
    struct {
        VEC_OF(struct str);
    } steps;
};

/* All that one advance changes. */
struct commit {
    enum advance_result result;
    bool is_start;           /* the execution is new */
    int64_t read_version;    /* the row_version that this rests on; 0 for a start */
    struct execution *after; /* the new state, in the turn's memory */
    struct history history;  /* rows in order of seq */
    struct record_writes records;
    struct log_lines logs;
    struct messages messages;  /* in the order in which they were sent */
    struct outbox_rows outbox; /* filled by the node: where these go */
    struct record_queries needs;
    struct history_need needs_history;
    struct process_reads needs_processes; /* code and key are what is asked for */
    struct {
        VEC_OF(struct uuid);
    } needs_children;  /* how these executions stand */
    bool needs_leases; /* which of its attempts workers hold */
    struct {
        VEC_OF(struct str);
    } needs_kept;                      /* correlations: what is kept for them */
    struct render_reads needs_renders; /* all but what came of it */
    struct mock_reads needs_mocks;     /* name, call and input are what is asked for */
    struct command_runs commands;      /* when the event traces */
    struct dead_letters dead_letters;
    struct letter_close incident; /* what becomes of the letter of a hold that there was before */
    bool ends_parking;            /* it was parked before: the letter that says so is resolved */
    bool retries_letter;          /* this one is tried again: */
    struct uuid retried_letter;
    /*
     * Executions that begin with this commit: pending, due at once, with the
     * parent that is this one. They have no history yet; WAKE starts them.
     */
    struct {
        VEC_OF(struct execution *);
    } starts;
    struct asks asks;             /* that leave once this is durable */
    struct asks_ended asks_ended; /* stored ones that nobody waits for any more */
    struct task_acts tasks;       /* what the planner is asked for */
    struct tells tells; /* rows for other executions: its end, or that they are cancelled */
    struct told_numbers consumed;  /* rows for this execution that it has applied: they go */
    struct findings findings;      /* of what is refused as ERR_INVALID: what is wrong */
    bool moves;                    /* the version or the deadline of the execution has changed */
    const struct signal *received; /* a signal to be stored, or NULL */
    struct kept_takes kept_taken;  /* more of them, that were kept until now */
    struct listed_waits opened, closed;
    bool writes_context; /* checkpoint: context_json is set */
    struct str context_json;
    struct str cursor_json; /* the cursor as it is stored; empty once terminal */
};

/*
 * Run what `ev` wakes until everything waits or the execution ends, and
 * describe the outcome in `*out`.
 *
 * `exec` and `ev` are only read; `*out` lives in `mem`. Nothing has happened
 * when this returns: the outcome becomes true when the store has committed it.
 * A step that fails is an outcome, not an error. False means that `ev` cannot
 * apply: ERR_CONFLICT (not allowed in this state), ERR_TOO_LARGE (a signal that
 * would overfill the context) or ERR_INVALID (out->findings may say more).
 */
bool engine_advance(struct arena *mem, const struct execution *exec, const struct event *ev,
                    int64_t now_us, struct commit *out, struct err *err) MUST_USE;

/*
 * Whether an operator may RETRY, SKIP or MIGRATE the execution as it stands,
 * whatever else the request says; ERR_CONFLICT says why not.
 */
bool engine_may_repair(const struct execution *exec, enum event_kind kind,
                       struct err *err) MUST_USE;

/* Whether an execution has received a signal of this id already. */
enum signal_known { SIGNAL_NEW, SIGNAL_SAME, SIGNAL_DIFFERS };

/* Looks at those that the state still holds; the store knows all of them. */
enum signal_known engine_signal_known(const struct execution *exec, struct str id, struct str type,
                                      struct value payload);

/*
 * Whether an execution is told by the one that started it that it is cancelled:
 * then that is the event. Its texts are in `mem`, or those of `told`.
 */
bool engine_told_cancel(struct arena *mem, const struct told *told, struct event *out);

/*
 * Whether `told` says that another waits for the end of this execution, which
 * has ended: then *out tells that one. Its texts are in `mem`.
 */
bool engine_told_join(struct arena *mem, const struct execution *exec, const struct told *told,
                      struct tell *out);

/* Whether `told` says what became of a task: then that is *out. Its texts are in `mem`. */
bool engine_told_task(struct arena *mem, const struct told *told, struct task_answer *out);

/* The id of history row `seq`, as the API and the view scenario_step_history show it. */
struct uuid engine_row_id(struct uuid execution, int64_t seq, int64_t completed_at_us);

#endif
