/*
 * sim.h - the simulator: real nodes and the real engine in one thread, on a
 * disk, clocks and clients that are made up, all of it driven by one number.
 *
 *     generate*.c  scenarios that are made up
 *     client.c     requests; answer.c: what may be answered to them
 *     node         real ones, each with a cache and a clock of its own
 *     store.c      batches and reads wait here until the world lets them happen
 *     disk*.c      what is durable, and the invariants of every commit
 *     correlation.c  signals and waits that a correlation joins, on that disk
 *     world.c      what happens next: a pass, a batch, a read, time, a crash
 *     outside.c    what executions call; outbox.c: what they send
 *     worker.c     who does their jobs, which are in jobs.c
 *     automatic.h  processes that start by themselves: schedules, triggers
 *     inbox.h      people who answer waits
 *     planner.h    the task pool: people who move tasks
 *     drain.c      nodes that are stopped while work is in flight
 *     rest.c       letting everything come to rest, and what must hold then
 *
 * The same seed gives the same run to the byte: `digest` sums up everything
 * that became durable and everything that was answered. Nothing here sleeps,
 * asks the system for the time or for random numbers.
 *
 * The nodes are linked with the functions of store/read.h and log_write() that
 * are defined here, in place of the real ones.
 */
#ifndef PAWL_TESTS_SIM_SIM_H
#define PAWL_TESTS_SIM_SIM_H

#include "base/buf.h"
#include "base/map.h"
#include "define/program.h"
#include "engine/commit/commit.h"
#include "engine/commit/history.h"
#include "engine/execution.h"
#include "engine/stored_execution.h"
#include "node/node.h"
#include "node/poll.h"
#include "node/request.h"
#include "store/change_schedule.h"
#include "store/read_job.h"
#include "store/store.h"

struct stored_definitions;

/* --- numbers --- */

struct dice {
    uint64_t state;
};

static inline uint64_t dice_next(struct dice *d)
{
    uint64_t n = d->state += 0x9e3779b97f4a7c15u;

    n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9u;
    n = (n ^ n >> 27) * 0x94d049bb133111ebu;
    return n ^ n >> 31;
}

/* From 0 to sides - 1. */
static inline unsigned dice_roll(struct dice *d, unsigned sides)
{
    return (unsigned)((dice_next(d) >> 32) * sides >> 32);
}

/* True `permille` times of a thousand. */
static inline bool dice_hits(struct dice *d, unsigned permille)
{
    return permille > 0 && dice_roll(d, 1000) < permille;
}

/* --- what is durable --- */

struct disk_signal {
    struct str id, type, payload_json;
};

/* Something that was given up. */
struct disk_letter {
    struct uuid id;
    int64_t seq; /* of the row that says why */
    struct str step;
    bool is_incident, is_open;
};

/* What a version of an execution looked like to clients, and since when. */
struct disk_version {
    enum execution_status status;
    bool is_held;
    int64_t mono_us;
};

/* The state after row `seq`. */
struct disk_checkpoint {
    struct str context_json;
    int64_t seq;
};

struct disk_execution;

/* What a worker is to do, or has done. */
struct disk_job {
    struct disk_execution *of;
    struct stored_job job;
    struct {
        VEC_OF(struct str);
    } sent;                    /* digests of what was answered, heard or not */
    int64_t promised_until_us; /* monotonic: its worker was told that it has it so long */
    int64_t jumps;             /* of the wall clock, until it was told */
};

struct disk_jobs {
    VEC_OF(struct disk_job *);
};

struct disk_execution {
    struct stored_execution s;  /* without history */
    struct history history;     /* all of it, also what was deleted */
    size_t rows_deleted;        /* of it, the oldest ones */
    bool is_deleted;            /* there is a tombstone */
    bool is_purged;             /* its own row is gone, too */
    VEC_OF(struct disk_signal); /* received */
    struct {
        VEC_OF(struct disk_version);
    } versions; /* versions.items[n - 1] is row_version n */
    struct {
        VEC_OF(struct disk_letter);
    } letters;
    struct disk_jobs jobs;
    int64_t request; /* number of the request that started it; of a child: 0 */
    bool is_child;
    bool has_ended; /* once: an operator's retry may have let it go on since */
    /* At its first end: the first of its steps that could not be undone; or empty. */
    struct str first_failed;
    struct {
        VEC_OF(struct disk_execution *);
    } awaited;                     /* executions that it has started and waited for */
    bool has_moved;                /* to another version: no one program folds all its rows */
    unsigned repairs;              /* that were acknowledged */
    unsigned log_lines;            /* that its commits have promised */
    unsigned log_lines_seen;       /* that were written */
    const struct program *program; /* for restoring it */
};

struct disk_record {
    struct str object, id, data_json;
    int64_t version;      /* 0 = deleted */
    int64_t last_version; /* the highest it has had */
    struct value data;
};

struct disk_answer {
    struct str body_hash, answer;
    int32_t status;
};

struct disk_definition {
    struct str code, text;
    int64_t version;
    const struct program *program; /* compiled once, for checking */
};

/* A wait that is open, and a signal, kept or delivered: see correlation.c. */
struct disk_wait {
    int64_t row, visit;
    struct uuid execution;
    struct str step, correlation, types_json;
};

struct disk_correlated {
    int64_t row, received_at_us;
    struct str id, type, correlation, digest, payload_json;
    bool is_delivered;
    struct uuid execution;
};

/* What an execution was told and no commit has applied: a row of execution_events. */
struct disk_event {
    struct disk_execution *of;
    struct notice_row notice;
};

/* A message, in the order in which they became durable: its number is its row. */
enum disk_message_state { MESSAGE_PENDING, MESSAGE_GONE, MESSAGE_PARKED };

struct disk_message {
    struct disk_execution *of;
    struct outbox_row row;
    enum disk_message_state state;
    int64_t attempts, next_at_us;
    bool is_held;                        /* behind one that failed */
    bool is_received;                    /* by its subscriber, who may not have said so */
    const struct sim_node *confirmed_to; /* who has heard from its subscriber; or NULL */
    unsigned sends;
    struct str request_json; /* of its first attempt */
    int64_t sent_version;    /* to a trigger: of its process, when it was sent */
};

/* Which node delivers to a destination, until when by the clock of the database. */
struct disk_lane {
    struct str destination, node;
    int64_t until_us;
};

/* A wait that people were asked to end. */
struct disk_ask {
    struct disk_execution *of;
    struct str step, assignees_json;
    int64_t visit;
    struct str answer;    /* the id of the one that was acknowledged; or empty */
    int64_t answer_seq;   /* its row */
    struct str last_sent; /* the id of the last that was sent, and by whom */
    const char *last_user;
};

/* A tick that has started an execution; what is counted anew has another generation. */
struct disk_tick {
    int64_t at_us;
    unsigned generation;
};

struct disk_schedule {
    struct stored_schedule s;
    bool is_gone; /* the published version has none */
    unsigned generation;
    struct {
        VEC_OF(struct disk_tick);
    } ticks;
};

/* A task that an execution has asked for. */
struct disk_task {
    struct disk_execution *of;
    struct str id;
    bool is_awaited, has_ended;
};

struct disk {
    struct arena mem;
    struct arena scratch; /* for applying one member */
    const struct cel_env *env;
    struct map by_id; /* of struct disk_execution, by the bytes of the id */
    struct {
        VEC_OF(struct disk_execution *);
    } executions;         /* in order of their starts */
    struct map live_keys; /* of struct disk_execution, by code/key */
    struct map records;   /* of struct disk_record, by object/id */
    struct {
        VEC_OF(struct disk_record *);
    } record_list;
    struct map answers; /* of struct disk_answer */
    struct {
        VEC_OF(struct disk_definition);
    } definitions;
    struct {
        VEC_OF(struct disk_wait);
    } waits;
    int64_t wait_rows;
    struct {
        VEC_OF(struct disk_event);
    } events; /* by n */
    int64_t event_rows;
    struct {
        VEC_OF(struct disk_message);
    } outbox; /* also what was delivered */
    struct {
        VEC_OF(struct disk_lane);
    } lanes;
    struct {
        VEC_OF(struct disk_task *);
    } tasks;
    int64_t tasks_ended; /* by people */
    struct disk_jobs jobs;
    int64_t settled; /* attempts to deliver messages, recorded */
    int64_t leases, jobs_answered, jobs_expired;
    struct {
        VEC_OF(struct disk_schedule);
    } schedules;
    struct {
        VEC_OF(struct disk_ask *);
    } asked_people;
    int64_t people_answers, reminders;
    struct plan *plan;   /* the task pool, or NULL: planner.c */
    int64_t tasks_moved; /* rows of its log */
    bool ticks_are_over; /* no schedule is read any more */
    int64_t ticks_started, events_started;
    int64_t stamp; /* grows when a definition is published */
    struct {
        VEC_OF(struct disk_correlated);
    } correlated;
    int64_t commits, rows, increments, children, deleted;
    int64_t looks; /* of parents at their children */
};

struct plan;
struct sim;
struct sim_node;
struct sim_request;

/* Whether a commit has not seen what is kept: then m->result says so. */
bool correlation_refuses(const struct disk *d, struct member *m);
void correlation_apply(struct sim *sim, const struct member *m);
void correlation_keep(struct sim *sim, struct member *m);
void correlation_check(struct sim *sim); /* when nothing is under way */
const struct disk_correlated *correlation_find(const struct disk *d, struct str id);

/* A reader is the node that reads; and what the database may say at any time. */
struct sim *sim_of(struct reader *r);
bool sim_read_fails(struct reader *r, struct err *err);

void disk_init(struct disk *d, const struct cel_env *env);
void disk_fini(struct disk *d);
/* Make a member durable, or refuse it, as a store does; and check what must hold. */
/* A change that parks an execution: see store/change_park.h. */
void disk_park(struct sim *sim, struct member *m);
void disk_apply(struct sim_node *by, struct member *m);
/* One that is there; or that has been there, deleted since. Or NULL. */
struct disk_execution *disk_find(struct disk *d, struct uuid id);
struct disk_execution *disk_find_ever(struct disk *d, struct uuid id);
const struct disk_signal *disk_find_signal(const struct disk_execution *x, struct str id);
void disk_publish(struct sim *sim, struct str code, struct str text, int64_t *version);
void disk_put_record(struct disk *d, struct str object, struct str id, struct str data_json);
struct disk_record *disk_find_record(struct disk *d, struct str object, struct str id);
/* outbox.c: messages of executions */
void disk_subscriptions(const struct sim *sim, struct arena *mem, struct stored_definitions *out);
bool disk_sends(const struct disk *d, const struct disk_execution *x); /* some wait */
bool disk_settle(struct sim *sim, struct member *m); /* whether the change is one of the outbox */
void disk_take_message(struct sim *sim, struct disk_message *m); /* a commit answers it */
void disk_check_outbox(struct sim *sim);                         /* nothing waits any more */
/* tasks.c */
void people_act(struct sim *sim);       /* somebody ends a task */
void disk_check_tasks(struct sim *sim); /* each end has reached the other side */
/* jobs.c */
struct disk_job *disk_job_find(const struct disk *d, struct uuid id);
/* A worker hears that it has the job, and until when. */
void disk_job_promised(struct sim *sim, struct disk_job *j);
/* What is heard of a heartbeat is so. */
void disk_check_beat(struct sim *sim, const struct sim_request *q);
bool disk_has_ready_job(const struct disk *d);
void disk_check_leases(struct sim *sim); /* none is over that nobody has noticed */
/* Everything on the disk is as it must be when nothing is under way. */
void disk_check_all(struct sim *sim);
/* Whoever should have moved within a minute has moved. */
void disk_check_nobody_sleeps(struct sim *sim);

/* --- the store --- */

/* How often something goes wrong, in a thousand. */
struct faults {
    unsigned refuse_batch, refuse_member, unknown, read_error, read_full, crash, clock_back;
    unsigned clock_forward; /* of one node, while its monotonic clock stands */
    unsigned stall;         /* batches that were submitted are not written for a while */
    unsigned contend;       /* another writer changes a record that all of them write to */
    unsigned cut;    /* a node does not reach the store for a while, longer than its leases */
    bool no_workers; /* endpoints of workers cannot be read, ever */
};

struct executions_refused {
    VEC_OF(struct uuid);
};

/* The store as one node sees it. */
struct sim_store {
    struct store base;
    struct sim_node *node;
    struct mailbox done;
    struct batch *batches[2]; /* submitted, oldest first */
    unsigned batch_count;
    bool is_written; /* the oldest has ended and has not come back yet */
    struct {
        VEC_OF(struct store_read *);
    } reads;                                           /* waiting to run; the arena is the sim's */
    struct executions_refused refused, refused_before; /* in the batch, and in the one before it */
    /* What the next batches end with; for named cases. */
    const char *script; /* c: committed, r: refused, u: unknown, k: unknown and kept, or NULL */
    const char
        *member_script; /* .: as it is, s: stale, d: record, k: start stale, f: failed, or NULL */
};

/* A node: the real one, its view of the store, and a clock that may be wrong. */
struct sim_node {
    struct sim *sim;
    struct node *node; /* NULL while it is down */
    struct sim_store store;
    struct clock_manual clock;
    bool is_draining; /* it was told to stop, at this time of the monotonic clock */
    int64_t draining_since_us;
    int64_t cut_until_us; /* monotonic: until then it does not reach the store; all else goes on */
    unsigned opened;      /* how often */
    char name[16];        /* another one each time */
    int64_t planned_us;   /* by its clock: when it has last read which schedules are due */
};

bool store_init(struct sim_node *at, struct err *err);
void store_fini(struct sim_node *at);
/* Everything under way is gone; what was written stays. */
void store_crash(struct sim_node *at);
bool store_write_one(struct sim_node *at);   /* the oldest batch ends, on the disk */
bool store_deliver_one(struct sim_node *at); /* ... and comes back */
bool store_read_one(struct sim_node *at);    /* one of the reads happens and comes back */
bool store_is_idle(const struct sim_node *at);

/* --- clients --- */

/* What was answered to a request of a named case. */
struct asked {
    bool is_answered, ok, ended, joined;
    enum err_code code;
    struct uuid id;
    struct str json; /* of the execution */
};

struct sim_request {
    struct node_request r;
    struct arena mem;
    struct sim_node *at; /* whom it was sent to */
    struct asked *asked; /* or NULL */
    int64_t number;
    /* Of the execution that it names, if there is one: */
    int64_t first_version;             /* durable when it was sent */
    bool was_gone;                     /* it was not there when it was sent */
    bool was_conflict;                 /* a refusal was true of a version since then */
    int64_t deadline_us;               /* monotonic; of its wait */
    struct execution_delete *deletion; /* or NULL */
    struct job_beat *beat;             /* or NULL */
    /* What its answer is held against; NULL: what answer.c says. */
    void (*check)(struct sim *sim, const struct sim_request *q);
    bool was_sent_again;  /* another one has its id */
    struct disk_ask *ask; /* what it answers, and who does; or NULL */
    const char *user;
    int64_t sent_us;            /* monotonic */
    const struct disk_job *job; /* EVENT_ANSWER: whose answer it is */
    bool is_answered;
    bool has_unique_signal;
    struct str payload_json;
    struct sim_request *next_free;
};

struct clients {
    struct sim_request *free;
    struct {
        VEC_OF(struct sim_request *);
    } pending;
    struct uuid recent[64]; /* executions to talk to */
    unsigned recent_count;
    struct uuid deleting; /* whose deletion was asked for last */
    int64_t requests, answered, refused;
    int64_t starts;     /* asked for */
    int64_t repeatable; /* requests that may be sent again */
};

/* Make up a request and submit it. */
void client_ask(struct sim *sim);
/* The execution that a request is about. */
struct uuid client_asks_about(const struct sim_request *q);
/* A request to be filled and submitted, to a node that is up. */
struct sim_request *client_new(struct sim *sim, enum node_request_kind kind);
struct sim_request *client_new_event(struct sim *sim, enum event_kind kind);
/* False: it was refused at once, and is gone. */
bool client_submit(struct sim *sim, struct sim_request *q);
void client_free(struct sim *sim, struct sim_request *q);
/* A node is gone: nobody will answer what was sent to it. */
void client_crash(struct sim_node *at);
/* An execution has a new version: requests that are about it may be refused because of that. */
void client_saw(struct sim *sim, const struct disk_execution *x);
/* Hold an answer against the disk. */
void answer_check(struct sim *sim, const struct sim_request *q);
/* Whether this conflict is true of the execution as it is on the disk. */
bool answer_is_conflict(struct sim *sim, const struct sim_request *q,
                        const struct disk_execution *x);
/* An open letter: of that id, or any of them; or NULL. */
const struct disk_letter *letter_open(struct arena *mem, const struct disk_execution *x,
                                      struct str id);
struct str letter_text(struct arena *mem, const struct disk_letter *l);
/* Whether a live parent waits for the end of this one. */
bool disk_is_awaited(struct disk *d, const struct disk_execution *x);
/* Whether the execution that has started it lives. */
bool disk_has_live_parent(struct disk *d, const struct disk_execution *x);
void client_fini(struct sim *sim);
/* Remember an execution to talk to. */
void client_remember(struct sim *sim, struct uuid id);

/* --- what executions call: outside.c --- */

struct effect_call;

struct call_outside {
    struct sim_node *at; /* who makes it */
    struct effect_call *call;
};

struct calls_outside {
    VEC_OF(struct call_outside);
};

/* An answer that a node has heard while its attempt was open. */
struct answer_heard {
    const struct sim_node *at;
    struct uuid execution;
    int64_t seq; /* of the attempt */
    struct str key;
};

struct answers_heard {
    VEC_OF(struct answer_heard);
};

struct outside {
    bool is_away; /* whoever has subscribed: nothing is received */
    struct calls_outside under_way;
    struct answers_heard heard; /* and not applied by a commit */
    struct map asked;           /* by idempotency key */
    struct map effects;         /* the same: what services have done, effects.c */
    int64_t calls;
};

/* --- what services have done: effects.c --- */

/* Whether the call is to a service that keeps a ledger. */
bool effects_has(const struct effect_call *call);
/*
 * It does what is asked, or not: the status that it answers; 0: the answer is lost.
 * `is_late`: another node has ended the attempt meanwhile.
 */
int effects_answer(struct sim *sim, const struct effect_call *call, bool is_late);
/* Nobody hears what became of it. */
void effects_lose(struct sim *sim, const struct effect_call *call, bool is_late);
/* I10, when nothing is in flight. */
void effects_check(struct sim *sim);

/* A message leaves; its subscriber says something. */
void outbox_sent(struct sim_node *at, const struct effect_call *call);
void outbox_answer(struct sim_node *at, struct effect_call *call);
/* What the node has heard from subscribers is recorded; or it is gone with the node. */
void outbox_check_drained(const struct sim_node *at);
void outbox_forget_confirmed(const struct sim_node *at);
void outbox_leave_lanes(const struct sim_node *at); /* it has drained: others may deliver */

struct node_caller outside_caller(struct sim_node *at);
bool outside_answer_one(struct sim_node *at); /* one of its calls ends; false: it has none */
void outside_forget(struct sim_node *at);     /* the node is gone, with its calls */

/* A commit that `by` has made is durable: answers that were heard must not end in it unapplied. */
void outside_committed(struct sim *sim, const struct sim_node *by, const struct disk_execution *x,
                       const struct commit *commit);

/* Nothing is in flight: every answer that was heard is applied, or nobody waits for it. */
void outside_check_heard(struct sim *sim);
/* The same of what one node has heard. */
void outside_check_drained(const struct sim_node *at);

/* All attempts under one key ask for the same. */
void outside_note_asked(struct sim *sim, const struct disk_execution *x, struct str key,
                        struct str request_json);

/* --- who does jobs: worker.c --- */

struct worker_poll {
    struct node_poll poll;
    struct arena mem;
    bool has_mem;
    struct sim_node *at; /* whom it asks; NULL: it does not */
    struct str types[3];
};

/* A job that a worker has, or has had. */
struct held_job {
    struct disk_job *job;
    struct str token;
    struct str said, digest; /* once it has answered; or empty */
    bool is_error;
};

struct workers {
    struct worker_poll polls[5];
    struct {
        VEC_OF(struct held_job);
    } held;
    int64_t answers;
};

void worker_act(struct sim *sim); /* one of them asks, answers, or is gone */
/* An idle one asks for jobs; false: none is idle, or it was refused. */
bool worker_ask(struct sim *sim, struct sim_node *at, int64_t wait_us, int64_t lease_us);
void worker_beat(struct sim *sim, const struct held_job *h);
bool worker_settle(struct sim_node *at); /* all that is to be done is done, at this node */
void worker_crash(struct sim_node *at);  /* the node is gone: nobody is answered */
void worker_fini(struct sim *sim);

/* --- definitions that are made up --- */

/* What the made-up world has beside the ordinary: bits. */
enum mix {
#define MIX(symbol, name, on, what) MIX_##symbol##_BIT,
#include "sim/mix.def"
#undef MIX
    MIX_COUNT
};
#define MIX_OF(symbol) (1u << MIX_##symbol##_BIT)
unsigned mix_default(void);

/*
 * The text of a random scenario of that code, in `mem`. `kids` is how many of
 * the processes k0, k1 ... it may start.
 */
struct str generate_scenario(struct arena *mem, struct dice *dice, struct str code, unsigned mix,
                             unsigned kids);

/* Another version of one: a step has another code, or calls have no rollback; or neither. */
struct str generate_variant(struct arena *mem, struct dice *dice, struct str text);

/* --- the world --- */

/* Whether nodes share the store: then it is one that may not know how a batch ended. */
bool sim_is_shared(const struct sim *sim);

enum { NODES_MAX = 3 };

struct sim_config {
    uint64_t seed;
    int64_t starts; /* how many executions are asked for */
    struct faults faults;
    unsigned scenarios;
    unsigned kids; /* processes that others start */
    unsigned nodes;
    unsigned calls_per_host;
    unsigned mix; /* MIX_OF(...) of what it has */
    size_t cache_bytes;
    struct str data_path; /* for the poison file; empty = none */
    struct str trace;     /* part of the id of an execution whose commits are printed; or empty */
};

struct sim {
    struct sim_config config;
    struct dice dice;
    struct arena mem;
    struct disk disk;
    struct sim_node nodes[NODES_MAX];
    struct clients clients;
    struct outside outside;
    struct workers workers;
    uint64_t digest;
    int64_t events;
    int64_t crashes, drains, cuts, refused_batches, unknown_batches, refused_members, jumps_back,
        jumps_forward;
    bool no_faults;
    int64_t latest_wall_us; /* the furthest that the wall clock has been */
};

/* The configuration that a seed stands for, of a world that may have these things. */
struct sim_config sim_config_of(uint64_t seed, unsigned mix);

void sim_init(struct sim *sim, const struct sim_config *config);
void sim_fini(struct sim *sim);

/* Everything that a seed stands for; then come to rest and check. */
void sim_run(struct sim *sim);

/* Let everything under way happen, without faults, at this time. */
void sim_settle(struct sim *sim);
/* The same, then a minute more, so that whatever failed is tried again: nobody may sleep then. */
void sim_calm(struct sim *sim);
/* Let time pass until nothing is due any more, and check that nothing is stuck. */
void sim_come_to_rest(struct sim *sim);

/* --- nodes that stop: drain.c --- */

void drain_begin(struct sim_node *at);
/* The node has drained, or given up: then it is down. */
bool drain_has_ended(struct sim_node *at);

void sim_open_node(struct sim_node *at);
/* A node dies. */
void sim_kill_node(struct sim_node *at);
/* What the node had in memory and in flight is gone. */
void sim_forget_node(struct sim_node *at);
/* It dies, and a new one opens on what is durable. */
void sim_crash(struct sim_node *at);
/* Let time pass on all clocks. */
void sim_let_pass(struct sim *sim, int64_t us);
/* The earliest of the clocks of nodes that are up; and the monotonic one, which they share. */
int64_t sim_wall_us(const struct sim *sim);
int64_t sim_mono_us(const struct sim *sim);
struct sim_node *sim_some_node(struct sim *sim); /* that is up */

struct str sim_id(struct sim *sim, struct uuid id); /* as text, for a message */

/* Add to the digest. */
void sim_note(struct sim *sim, uint64_t n);
void sim_note_str(struct sim *sim, struct str s);

/* A rule was broken: say which, with the seed, and end the process. */
_Noreturn void sim_fail(const struct sim *sim, const char *format, ...) PRINTF_LIKE(2, 3);

#define SIM_CHECK(sim, condition, ...)                                                             \
    do {                                                                                           \
        if (!(condition))                                                                          \
            sim_fail((sim), __VA_ARGS__);                                                          \
    } while (0)

/* The sim that runs: log lines are checked against it. */
extern struct sim *sim_running;

/* --- named cases: cases.def --- */

struct sim_case {
    const char *name;
    const char *claim;
    void (*run)(void);
};

extern const struct sim_case sim_cases[];
extern const size_t sim_case_count;

#endif
