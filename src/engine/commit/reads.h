/*
 * reads.h - what the engine asks to be read, and what was read for it.
 *
 * The engine reads nothing itself: a commit with the result ADVANCE_NEED names
 * what is missing, and the same event comes again with it.
 */
#ifndef PAWL_ENGINE_READS_H
#define PAWL_ENGINE_READS_H

#include "base/uuid.h"
#include "base/vec.h"
#include "engine/commit/history.h"
#include "engine/status.h"
#include "value/value.h"

struct program;
struct search;
struct search_read;
struct signal;

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

struct record_queries {
    VEC_OF(struct record_query);
};

struct search_reads {
    VEC_OF(struct search_read);
};

struct record_reads {
    VEC_OF(struct record_read);
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

/*
 * A program of the execution's code that it has run with before, by its name:
 * the version, and behind a colon the snapshot of what it reaches, if it has one.
 */
struct former_read {
    struct str name;
    const struct program *program; /* NULL = there is none; it must outlive the turn */
};

struct former_reads {
    VEC_OF(struct former_read);
};

struct str former_name(struct arena *mem, const struct program *p);

/* False: it is no such name. */
bool former_name_read(struct str name, int64_t *version, struct str *snapshot) MUST_USE;

/* How an execution that was started stands; or what it has said of its end. */
struct child_read {
    struct uuid id;
    bool is_found;
    bool is_unseen; /* it has said that it has ended and not how: it must be read */
    bool is_parked; /* it does not go on by itself */
    bool is_others; /* another than who asks has started it, or nobody */
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
struct buffered_signal {
    int64_t row; /* the store's own key: later ones have larger ones */
    struct arrival signal;
};

/* One that a wait took when it began. */
struct buffered_take {
    int64_t row;
    const struct signal *signal;
};

struct buffered_takes {
    VEC_OF(struct buffered_take);
};

/* All that is kept for a correlation, oldest first, but for what this execution has received. */
struct kept_read {
    struct str correlation;
    int64_t last_row; /* the store held none above this one */
    const struct buffered_signal *signals;
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

/* All that was read for one turn. */
struct turn_reads {
    struct record_reads records;
    struct search_reads searches;
    struct process_reads processes;
    struct former_reads formers;
    struct child_reads children;
    struct kept_reads kept;
    struct render_reads renders;
    struct mock_reads mocks;
    bool has_history; /* a page of the execution's own rows was read: */
    struct history history;
    bool has_leases; /* which of its attempts workers hold was read: */
    struct job_leases leases;
};

struct event;

/* What was read for the event, which may be nothing. */
const struct turn_reads *event_reads(const struct event *ev);

#endif
