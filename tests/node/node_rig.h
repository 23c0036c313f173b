/* node_rig.h - a real node on a store and a clock of its own, for tests that ask it things. */
#ifndef PAWL_TESTS_NODE_NODE_RIG_H
#define PAWL_TESTS_NODE_NODE_RIG_H

#include "base/folder.h"
#include "base/time/clock.h"
#include "node/node.h"
#include "node/request.h"

struct fixture {
    char path[FOLDER_PATH_MAX]; /* of its folder */
    struct node *node;
    struct node_options options;
    struct node_user user; /* who asks */
    struct arena mem;      /* of what the test itself keeps */
    struct clock_manual clock;
};

/* A node with these options but for its clock and its folder, which are the fixture's. */
int node_rig_open(void **state, struct node_options options);
int node_rig_close(void **state);

/* Close the node and open another on what it has stored. */
void node_rig_reopen(struct fixture *f);

/* Submit a request whose memory is `mem`; *done when it is answered. */
void node_rig_submit(struct fixture *f, struct node_request *r, struct arena *mem, bool *done);
void node_rig_pass_until(struct fixture *f, const bool *done);

/* Time goes by. What the store owed by then is waited for, so that the node does not take it for away. */
void node_rig_advance(struct fixture *f, int64_t us);

/* Submit a request and pass until it is answered; node_rig_ask(): it must not be refused. */
void node_rig_try(struct fixture *f, struct node_request *r, struct arena *mem);
void node_rig_ask(struct fixture *f, struct node_request *r, struct arena *mem);

/* Publish a scenario, or save what is live at once. */
void node_rig_define(struct fixture *f, const char *kind, const char *code, const char *text);

/* Start an execution without input. */
struct uuid node_rig_start(struct fixture *f, const char *code);

#endif
