/*
 * trial.h - run a process in memory, with a clock that is moved by hand.
 *
 * What `pawl test` and dry-run are made of: the real engine, records in
 * memory, no effects. Time passes only as far as the next thing that happens,
 * so that a process of 30 days ends at once. Signals and operators follow a
 * script; what others would do is answered by mocks; processes that it starts
 * run beside it.
 *
 * why: decisions 0095, 0096, 0097
 */
#ifndef PAWL_TRIAL_TRIAL_H
#define PAWL_TRIAL_TRIAL_H

#include "define/define.h"
#include "engine/advance.h"
#include "engine/state.h"

struct search_found;

/* --- what is to happen --- */

/* A signal of the script. */
struct trial_signal {
    struct str type;
    struct value payload;
    struct value by;  /* a map, or absent */
    struct str to;    /* the code of a process that was started; empty: the process itself */
    bool has_time;    /* else: when the execution waits for a signal and it is this one's turn */
    int64_t after_us; /* since the start */
    /* Absent: it must be received. Else it must be refused: true, or members that a finding has. */
    struct value refused;
};

struct trial_signals {
    VEC_OF(struct trial_signal);
};

/* What an operator does. */
struct trial_action {
    enum event_kind kind; /* EVENT_CANCEL, EVENT_RETRY, EVENT_SKIP or EVENT_RESOLVE */
    bool has_time;        /* else: when the execution is held, or has failed, and it is its turn */
    int64_t after_us;     /* since the start */
    struct str from;      /* RETRY, or empty */
    struct value input;   /* RETRY, or absent */
    struct value output;  /* SKIP, RESOLVE, or absent */
    enum verdict verdict; /* RESOLVE */
    struct str reason;    /* CANCEL, or empty */
    enum cancel_rollback rollback; /* CANCEL */
};

struct trial_actions {
    VEC_OF(struct trial_action);
};

/*
 * What others would answer, by name: an output; {"output": ...};
 * {"error": {code, message, class}}; or {"answers": [...]}, one after the
 * other and the last again and again. Each is a map, or absent, but for http.
 */
struct trial_mocks {
    struct value procedures; /* external ones, and any other that is not to run */
    struct value processes;  /* that flow.start starts */
    struct value tasks;      /* by step: what is laid over a task of task.create that has ended */
    struct value http;       /* a list, or absent: what is called answers so */
};

struct trial_script {
    struct value input; /* absent: what the trigger makes of `webhook`, or nothing */
    /*
     * $.webhook: a map, or absent. Without an `input` it goes through the webhook of
     * the process that has its `path` and `method`, or the first that starts.
     */
    struct value webhook;
    struct str key;
    struct value user;   /* who starts it: a map, or absent */
    struct value config; /* $.config: a map, or absent */
    /* {code: base_url}: a map, or absent; another credential has https://CODE.invalid. */
    struct value credentials;
    struct trial_mocks mocks;
    struct trial_signals signals;
    struct trial_actions actions;
    struct record_reads records; /* that exist before */
    int64_t now_us;              /* when it starts; 0 = 2026-01-01T00:00:00Z */
};

/* What a trial finds outside of itself. Each function may be NULL. */
struct trial_world {
    void *context;
    /* The program of a process that is started, or NULL; it must outlive the trial. */
    const struct program *(*process)(void *context, struct str code);
    /* Records that neither the script nor the trial itself has written: one, or none, ... */
    bool (*record)(void *context, struct arena *mem, struct str object, struct str id,
                   struct record_read *out, struct err *err);
    /* ... and a page of them. */
    bool (*search)(void *context, struct arena *mem, const struct search *search,
                   struct search_found *out, struct err *err);
    /* What a template makes of data; without it, a text that names the template. */
    bool (*render)(void *context, struct arena *mem, const struct render_read *need,
                   struct render_read *out, struct err *err);
    /* Whether the time for it is up. */
    bool (*is_late)(void *context);
    size_t memory_max; /* bytes; 0 = no limit */
};

/* --- how it went --- */

struct trial_execution {
    struct execution *x; /* as it stands at the end */
    struct history history;
    struct command_runs commands;
};

struct trial_record {
    struct record_read read; /* version 0: deleted */
    bool is_written;         /* by the trial */
};

/* A call of a mock. */
struct trial_call {
    struct str name;
    struct value input; /* or absent */
};

/* What became of a signal of the script that must be refused. */
struct trial_reply {
    size_t signal; /* its number, from 0 on */
    bool is_refused;
    struct sentence message; /* if it is */
    struct findings findings;
};

/* Why a trial was not run to its end. */
enum trial_stop {
#define TRIAL_STOP(symbol, code, message) TRIAL_##symbol,
#include "trial/stops.def"
#undef TRIAL_STOP
};

struct trial {
    struct trial_execution main;
    struct {
        VEC_OF(struct trial_execution);
    } children; /* in the order in which they were started */
    struct log_lines logs;
    struct messages messages; /* nobody is sent them */
    struct dead_letters dead_letters;
    struct {
        VEC_OF(struct trial_record);
    } records;
    struct {
        VEC_OF(struct trial_call);
    } calls;
    struct {
        VEC_OF(struct trial_reply);
    } replies;
    bool is_started; /* else the start itself was refused */
    int64_t started_at_us;
    int64_t ended_at_us;      /* when the last thing happened to the process itself */
    const bool *signals_sent; /* of the script, by their numbers */
    size_t signals_unsent;
    size_t actions_undone;
    enum trial_stop stop;
};

enum { TRIAL_EVENTS_MAX = 20000 };

/*
 * Run `program` by the script until it ends, waits for something that does not
 * come, or goes on for too long. Everything lives in `mem`; `world` may be
 * NULL. False: it cannot be started, or a part of the script is refused;
 * problems of input and forms are added to `findings`.
 */
bool trial_run(struct arena *mem, const struct program *program, const struct trial_script *script,
               const struct trial_world *world, struct trial *out, struct findings *findings,
               struct err *err) MUST_USE;

/* Why it was stopped, in words, and as the code of a finding. */
const char *trial_stop_message(enum trial_stop stop);
const char *trial_stop_code(enum trial_stop stop);

/*
 * All of it as a map: {status, result, error, waitingFor, currentStep, input,
 * context, steps, commands, logs, messages, records, children, deadLetters, startedAt,
 * endedAt, duration}.
 */
struct value trial_value(struct arena *mem, const struct trial *trial);

#endif
