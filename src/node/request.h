/*
 * request.h - what is asked of a node: requests that change something, and
 * reads on a reader thread.
 *
 * All of this is called on the loop; see node.h.
 */
#ifndef PAWL_NODE_REQUEST_H
#define PAWL_NODE_REQUEST_H

#include "define/findings.h"
#include "define/kind.h"
#include "engine/event.h"
#include "engine/status.h"
#include "store/audit.h"
#include "store/idempotency.h"
#include "store/lane.h"

struct change;
struct definition_change; /* store/change_definition.h */
struct node;
struct reader;

struct node_user {
    struct str id, name, email, role, org_id;
    struct value groups;     /* a list of texts */
    struct value namespaces; /* the same: whose jobs the user may do; none: all */
};

/* What the system does by itself: triggers run as this user, in an organisation. */
struct node_user node_system_user(struct str org_id);

/* A start by a trigger of type schedule, which gives its input. */
struct schedule_tick;
struct node_schedule {
    struct str id;
    uint32_t position; /* of the trigger */
    struct str cron, timezone;
    int64_t at_us;                    /* $.schedule.at */
    const struct schedule_tick *tick; /* what the start acts upon; NULL: it is started by hand */
};

/* What a trigger has made of a request. */
enum hook_result {
    HOOK_FAILED,  /* it could not be evaluated */
    HOOK_IDLE,    /* its `when` is false: nothing has happened */
    HOOK_STARTS,  /* a start */
    HOOK_SIGNALS, /* a signal */
};

/* A webhook that was called, or a button that was pressed: the trigger decides what becomes of it. */
struct node_hook {
    uint32_t position;     /* of the trigger, in the version that the request names */
    bool signals;          /* it signals: a retired process does so, too */
    struct value webhook;  /* what its expressions see: all of it; or absent */
    struct value record;   /* the same of an action; what event.input has is laid over its input */
    struct idempotency id; /* what a redelivery is known by; `key` is what the trigger says */
    /* --- the answer --- */
    enum hook_result result;
};

/* What a request of a client is called in its answer and in the log: "RUN-NUMBER". */
struct request_name {
    uint32_t run;    /* of the server */
    uint64_t number; /* 0: it is none of a client */
};

/* A start by a trigger of type event: see triggers.h. */
struct event_start;

enum node_request_kind {
    NODE_START,      /* an execution: code, version, event.input and what follows there */
    NODE_HOOK,       /* what a trigger makes of it, a start or a signal: code, version, hook */
    NODE_EVENT,      /* something happens to an execution: event */
    NODE_WAIT,       /* for the end of an execution, or for the step that takes a signal */
    NODE_UNPARK,     /* an operator: one that the node could not go on with runs: event.letter */
    NODE_DEFINITION, /* save a draft, delete it, publish, and what else can become of one */
    NODE_CHANGE,     /* any other change: see store/change.h */
};

/*
 * What is asked of the node. The caller fills the upper part, keeps it alive
 * with all it points to, and finds the answer in the lower part when `done` is
 * called. Allocate it in an arena of the request.
 */
struct node_request {
    enum node_request_kind kind;
    struct node_user user;
    struct idempotency idempotency; /* key.len == 0: none; RESOLVE: has the answer to be stored */
    struct audit audit;             /* action.len == 0: none */
    struct request_name name;       /* of the client's request, for the log */
    /* START, WAIT: answer when it ends; SIGNAL: when a step took it; or after this; 0 = at once */
    int64_t wait_us;

    /*
     * What happens to the execution, by event.kind: all that the engine is given
     * but for what was read and what surrounds the execution, which the node
     * adds. START: event.input alone.
     */
    struct event event;
    bool is_dry;           /* EVENT: it is answered whether it applies, and changes nothing */
    struct uuid execution; /* EVENT, WAIT, UNPARK; SIGNAL by correlation: an answer */
    int64_t version;       /* START: 0 = the published one; RETRY, MIGRATE: 0 = the one it has */
    int64_t signal_seq;    /* WAIT: for the step that takes this signal; an answer of SIGNAL */
    int64_t ttl_us;        /* SIGNAL by correlation: so long it is buffered when no wait takes it */
    bool names_execution;  /* SIGNAL: the answer that is stored says who received it */

    /* START */
    struct str code;
    const struct kind_spec *process_kind; /* that the process must be of; NULL: any */
    struct str key;
    struct str trace;         /* a traceparent that it takes over, or empty */
    struct value webhook;     /* the request that starts it, $.webhook: a map, or anything else */
    struct str record;        /* "object/id": the record whose card it is started from, or empty */
    bool is_debugged;         /* it stops behind its first step; or before these alone: */
    struct value breakpoints; /* a list of codes of steps, or absent */
    struct node_hook *hook;   /* HOOK; else NULL */
    bool answers_id;          /* the answer that is stored is {id} alone, 202 */
    const struct node_schedule *schedule; /* in place of event.input; or NULL */
    struct event_start *by_event;         /* a trigger makes input and key of an event; or NULL */
    bool has_again_of;
    struct uuid again_of; /* the execution that it is started again for */
    /* DEFINITION */
    struct definition_change *definitions; /* one or several, by `next` */
    /* CHANGE */
    struct change *change; /* its answer_json lives in `mem` when `done` is called */

    void (*done)(struct node_request *r);
    void *owner;

    /* --- the answer --- */
    struct arena *mem; /* given by the caller; the answer lives here */
    bool ok;
    struct err err;           /* !ok: code, message */
    struct findings findings; /* !ok with ERR_INVALID: what is wrong */
    struct uuid id;           /* START: the execution; ERR_KEY_BUSY: who has the key */
    bool joined;              /* START: it was there already (key or Idempotency-Key) */
    bool ended;               /* START, WAIT: it has ended */
    bool is_unconfirmed; /* START, SIGNAL: the store did not say in time how it stands by now */
    struct str execution_json; /* START, WAIT: as GET /executions/{id} would show it */
    struct str signal_id_out;  /* SIGNAL */
    bool is_buffered;          /* SIGNAL by correlation: no wait has taken it yet */
    struct str taken_json;     /* the row of the step that took the signal, as /steps shows it */
    enum execution_status taken_status; /* ... and what the execution was then */
    bool is_refused_later; /* ... which says that a machine had no open transition for it */
    bool is_unjudged;      /* SIGNAL: a machine judges it when its transition under way is over */
    bool taken_before;     /* it may have been taken before; the history says by which step */
    bool is_kept;          /* the answer is stored under the Idempotency-Key */
    struct str stored_answer; /* an earlier answer under the same Idempotency-Key */
    int32_t stored_status;

    /* the node's own */
    struct node_request *next;
    int64_t deadline_us;
    int64_t waits_since; /* it waits: the number of the last work before that */
    bool has_own_id;     /* SIGNAL: the id is the client's */
};

/* A request for a change: what it points to is the caller's until `done` is called. */
static inline struct node_request node_change_request(struct change *change, struct arena *mem,
                                                      void (*done)(struct node_request *r),
                                                      void *owner)
{
    return (struct node_request){
        .kind = NODE_CHANGE, .change = change, .mem = mem, .done = done, .owner = owner};
}

/*
 * Take a request. False: refused at once (ERR_OVERLOADED, ERR_STORE_AWAY) and
 * `done` will not be called.
 */
bool node_submit(struct node *n, struct node_request *r, struct err *err) MUST_USE;

/* Whether something of this kind is to happen to an execution. */
static inline bool node_request_is(const struct node_request *r, enum event_kind kind)
{
    return r->kind == NODE_EVENT && r->event.kind == kind;
}

/* --- reading --- */

/*
 * Read on a reader thread: `run` there, then `done` on the loop. False:
 * overloaded, or the store is away and this is no read of the engine.
 */
struct node_read {
    struct store_read task;
    enum read_lane lane;
    void (*run)(struct node_read *read, struct reader *reader);
    void (*done)(struct node_read *read);
    void *owner;
};
bool node_read(struct node *n, struct node_read *read, struct err *err) MUST_USE;

#endif
