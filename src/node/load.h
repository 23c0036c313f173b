/*
 * load.h - what the node reads from the store for itself. Internal to src/node.
 *
 * Each read runs on a reader thread and fills memory that the loop does not
 * touch meanwhile; it comes back through the mailbox. Executions that are to be
 * loaded in one pass are read together, some at a time: where a statement costs
 * a round trip it is the same for one and for many.
 */
#ifndef PAWL_NODE_LOAD_H
#define PAWL_NODE_LOAD_H

#include "node/entry.h"
#include "node/program.h"
#include "node/relay.h"
#include "node/triggers.h"
#include "store/read.h"

/* Freed when it is done. */
struct load {
    struct node_read read;
    struct node *node;
    void (*run)(struct node_read *read, struct reader *reader);
    struct uuid about; /* the execution that is worked on; or none */
    struct err err;
    bool ok;
    struct load *newer, *older;    /* all that are under way */
    struct load *next_unsent;      /* the readers' queue was full */
    struct load *next_for_program; /* executions that wait for the same program */
    struct load *next_in_group;    /* executions that are read together */
    struct arena mem;              /* what is read, unless it belongs to an entry or a program */
    union {
        struct {
            struct entry *entry;
            struct stored_execution stored;
            bool found;
        } execution;
        struct {
            struct load *first, *last; /* each of an execution */
            size_t count;
        } group;
        struct {
            struct entry *entry;
            struct work *work;
        } records;
        struct {
            struct program_ref *ref;
            struct program_read read;
        } program;
        struct {
            struct published *published;
            int64_t version;
            int64_t forgotten; /* how often the node had forgotten them when it was sent */
        } published;
        struct {
            int64_t stamp;   /* known before, and what it is */
            int64_t changes; /* of this node, when it was sent */
            bool is_new;     /* there were changes: `entries` is the config */
            struct value_entry *entries;
            size_t count;
            struct stored_definitions subscriptions, credentials;
            struct stored_triggers triggers;
            int64_t key_version;   /* of the row that names the master key */
            struct pins reachable; /* procedures and functions as they are now */
        } look;
        struct {
            struct node_request *request; /* is answered when they are known */
            struct stored_triggers all;
            int64_t stamp; /* of the definitions that the node knew when it was sent */
            unsigned tries;
        } triggers;
        struct {
            int64_t after_us, until_us;
            struct uuid after_id;
            struct dues dues;
        } due;
        struct {
            int64_t after; /* the number of the last row that was seen */
            struct told_executions rows;
        } told;
        struct {
            struct entry *entry;
            struct tolds tolds;
        } news;
        struct {
            struct str ids_json;
            struct execution_versions found;
        } awaited;
        struct {
            int64_t after_row;
            struct ended_executions rows;
        } ended;
        struct {
            int64_t before_us, after_row;
            struct str after_hash;
            struct snapshot_hashes old;
            struct pinned_snapshots pinned;
        } snapshots;
        struct {
            struct work *work;
            int64_t now_us;
            bool is_known, is_found;
            struct known_signal known;
            struct open_wait wait;
        } correlate;
        struct {
            int64_t now_us;
            bool found;
        } expired;
        struct {
            struct str destination;
            int64_t now_us, next_at_us;
            struct due_messages due;
        } page;
        struct lane_names lanes;
        struct {
            int64_t now_us, next_in_us;
            struct leases_over over;
            struct stored_workers workers;
            struct job_types ready; /* of their namespaces */
        } leases;
        struct {
            struct str wanted_json;
            struct job_types ready;
        } types;
    };
};

struct load_queue {
    struct load *first, *last;
};

struct load *load_new(struct node *n, void (*run)(struct node_read *, struct reader *),
                      void (*done)(struct node_read *));
void load_send(struct load *l); /* sooner or later `done` is called */
void load_free(struct load *l);
bool loads_resend(struct node *n); /* those that did not fit; whether any went */
bool loads_are_unsent(const struct node *n);
void loads_send_group(
    struct node *n); /* executions that are to be loaded since it was last called */
void loads_free(struct node *n);
void load_entry(struct node *n, struct entry *e);
void load_records(struct node *n, struct entry *e, struct work *w);
void load_told(struct node *n, struct entry *e); /* what it was told; it must be unpinned */
void load_restore(struct load *l);               /* the program of a loaded execution has come */

#endif
