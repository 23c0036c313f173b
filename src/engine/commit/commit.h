/*
 * commit.h - all that one advance changes, as one unit that the store makes
 * durable or refuses: the output of engine_advance().
 *
 * why: decisions 0103, 0221, 0415
 */
#ifndef PAWL_ENGINE_COMMIT_H
#define PAWL_ENGINE_COMMIT_H

#include "define/findings.h"
#include "engine/commit/ask_kind.h"
#include "engine/commit/history.h"
#include "engine/commit/letter.h"
#include "engine/commit/message.h"
#include "engine/commit/notice.h"
#include "engine/commit/reads.h"
#include "engine/commit/task_act.h"
#include "engine/status.h"

struct command_spec;
struct execution;

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

/* A line for the log, written once the commit is durable. */
struct log_line {
    struct str level, message, data_json;
    struct str step;
};

struct log_lines {
    VEC_OF(struct log_line);
};

/* What the engine has given up on and a person must see. */
struct dead_letter {
    struct uuid id;
    struct str kind; /* its name */
    struct str step;
    int64_t seq; /* of the row that says why */
    int64_t attempts;
    struct str cause_json;   /* {code, message, class, ...} */
    struct str payload_json; /* the input of what failed, or empty */
    int64_t sent; /* the row `call` or `job` of the attempt that failed or is in doubt, or 0 */
};

struct dead_letters {
    VEC_OF(struct dead_letter);
};

/* Rows of the execution's own history that must be read: seq above `after`, at most ROLLBACK_PAGE. */
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
    int64_t buffered_up_to;    /* of one that opens: kept signals up to this row were looked at */
    struct str assignees_json; /* a list of keys; or empty */
    struct str title;          /* or empty */
    struct str form_json;      /* of one that opens: as it was written; or empty */
    struct str show_json;      /* facts beside the question: a list; or empty */
    struct str then_json;      /* what follows each answer: a list; or empty */
    struct str time_up_json;   /* of one that opens: what happens when its time is up; or empty */
    bool is_public;
    struct str scopes_json;     /* of one that opens and is public: link_scopes(); else empty */
    int64_t links_from;         /* ... link_floor() */
    int64_t since_us, until_us; /* until: 0 = it does not end by itself */
};

struct listed_waits {
    VEC_OF(struct listed_wait);
};

/* A wait of people has ended with this answer. */
struct wait_answer {
    int64_t seq; /* of the row that completes its step */
    struct str step;
    int64_t visit;
    struct str title;   /* or empty */
    struct str by_json; /* {id, name}, or {callback: true} */
    struct str user_id; /* or empty */
};

struct wait_answers {
    VEC_OF(struct wait_answer);
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
    int64_t epoch;           /* CALL: of the node that makes it; 0: there are no others */
    unsigned slot;           /* CALL: the node's own, where the attempt is noted, */
    int64_t reserved_us;     /* ... and since when its time runs; monotonic */
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
    ASK_LAPSED,    /* ... since its lease is over: the store refuses the commit when it is not */
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

/* A command that ran, however it ended. */
struct command_run {
    struct str step;
    enum history_kind kind; /* what of the step it belongs to */
    int64_t visit, attempt;
    struct str place;                   /* in the step: "2.1" */
    const struct command_spec *command; /* which: of the catalogue */
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

/*
 * What a commit leaves as it was. row_version is the fence: a store that finds the version which the
 * commit rests on knows that its row says this, and need not read it.
 */
struct commit_before {
    bool is_known; /* else the store reads the row, and nothing here counts */
    enum execution_status status;
    bool keeps_wake; /* wake_at */
    bool keeps_step; /* current_step */
    bool keeps_rest; /* status, error, kind of wait, whether there are branches */
};

/* All that one advance changes. */
struct commit {
    enum advance_result result;
    bool is_start;        /* the execution is new */
    int64_t read_version; /* the row_version that this rests on; 0 for a start */
    struct commit_before before;
    struct execution *after; /* the new state, in the turn's memory */
    int64_t wall_us;         /* when it was decided; unlike times of history, which never go back */
    struct history history;  /* rows in order of seq */
    struct record_writes records;
    struct log_lines logs;
    struct messages messages;  /* in the order in which they were sent */
    struct outbox_rows outbox; /* filled by the node: where these go */
    struct record_queries needs;
    struct history_need needs_history;
    struct process_reads needs_processes; /* code and key are what is asked for */
    struct {
        VEC_OF(struct str);
    } needs_formers; /* programs that it has run with before: former_read.name */
    struct {
        VEC_OF(struct uuid);
    } needs_children;  /* how these executions stand */
    bool needs_leases; /* which of its attempts workers hold */
    struct {
        VEC_OF(struct str);
    } needs_buffered;                  /* correlations: what is kept for them */
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
    struct notices notices; /* rows for other executions: its end, or that they are cancelled */
    struct notice_numbers consumed; /* rows for this execution that it has applied: they go */
    struct findings findings;       /* of what is refused as ERR_INVALID: what is wrong */
    bool moves;                     /* the version or the deadline of the execution has changed */
    const struct signal *received;  /* a signal to be stored, or NULL */
    bool is_kept;         /* ... which a machine judges when its transition under way is over */
    uint32_t not_allowed; /* events and times that a machine has judged, and none was open */
    struct buffered_takes buffered_taken; /* more of them, that were kept until now */
    struct listed_waits opened, closed;
    struct wait_answers answers;
    bool writes_context; /* checkpoint: context_json is set */
    struct str context_json;
    struct str cursor_json; /* the cursor as it is stored; empty once terminal */
};

#endif
