/*
 * load.h - what the node reads from the store for itself. Internal to src/node.
 *
 * Each read runs on a reader thread and fills memory that the loop does not
 * touch meanwhile; it comes back through the mailbox. Executions that are to be
 * loaded in one pass are read together, some at a time: where a statement costs
 * a round trip it is the same for one and for many.
 *
 * why: decision 0181
 */
#ifndef PAWL_NODE_LOAD_H
#define PAWL_NODE_LOAD_H

#include "engine/stored_execution.h"
#include "node/cache/entry.h"
#include "store/read.h"
#include "store/read_definition.h"
#include "store/read_find.h"
#include "store/read_outbox.h"
#include "store/read_retention.h"
#include "store/read_signal.h"
#include "store/read_triggers.h"

struct load;
typedef void load_run_fn(struct load *load, struct reader *reader); /* on a reader thread */
typedef void load_done_fn(struct load *load);                       /* on the loop */

/*
 * The first member of what is read, which has arguments and results beside it:
 *
 *     struct ended_load {
 *         struct load load;
 *         int64_t after_row;
 *         struct ended_executions rows;
 *     };
 *
 * `done` frees it by load_free(), or sends it again.
 */
struct load {
    struct node_read read;
    struct node *node;
    load_run_fn *run;
    load_done_fn *done;
    struct uuid about; /* the execution that is worked on; or none */
    struct err err;
    bool ok;
    LIST_ENTRY(load) in_flight;
    struct load *next_unsent; /* the readers' queue was full */
    struct arena mem;         /* what is read, unless it belongs to an entry or a program */
};

/* An execution that is read into its entry. */
struct execution_load {
    struct load load; /* first */
    struct entry *entry;
    struct stored_execution stored;
    bool found;
    struct execution_load *next_for_program; /* those that wait for the same program */
    struct execution_load *next_in_group;    /* those that are read together */
};

/* Those that are read together. */
struct group_load;

struct load_queue {
    struct load *first, *last;
};

enum { LOAD_GROUP_MAX = 32 }; /* executions that are read together */

struct loads {
    LIST_HEAD(, load) in_flight;
    struct load_queue unsent[LANE_COUNT]; /* the queue of that lane was full */
    struct group_load *group;             /* executions to be read together; or NULL */
};

/* `size` bytes, zeroed, that begin with a struct load. */
struct load *load_new(struct node *n, size_t size, load_run_fn *run, load_done_fn *done);
#define LOAD_NEW(n, type, run, done) ((type *)load_new((n), sizeof(type), (run), (done)))

void load_send(struct load *l); /* sooner or later `done` is called */
void load_free(struct load *l);
bool loads_resend(struct node *n); /* those that did not fit; whether any went */
bool loads_are_unsent(const struct node *n);
void loads_free(struct node *n);

/* --- load_execution.c --- */

void load_entry(struct node *n, struct entry *e);
void load_events(struct node *n, struct entry *e); /* its rows of execution_events; unpinned */
void load_restore(struct execution_load *l);       /* its program has come */
void loads_send_group(
    struct node *n); /* those that load_entry() has gathered since the last call */

/* --- load_turn.c --- */

/*
 * What the commit of the work, an ADVANCE_NEED, asks for. True: all of it was in
 * memory, and the work may go on at once; else the entry is being read.
 */
bool load_turn(struct node *n, struct entry *e, struct work *w);

#endif
