/* act.h - what an operator does to one execution, or with --where to many. */
#ifndef PAWL_CLI_ACT_H
#define PAWL_CLI_ACT_H

#include "cli/client.h"

struct act {
    const char *action; /* of POST /executions/{id}/... and POST /executions/bulk */
    const char *done;   /* the same in the past: "retried" */
    const char *begun;  /* of one execution, where it has only begun: "being ..."; or NULL */
    const char *where;  /* or NULL */
    bool is_dry_run, as_json;
};

/* Whether there is one ID, or none with --where. */
bool act_fits(const struct act *act, int argc);

/*
 * Do it: to the execution argv[1] unless there is --where. `body` is a JSON
 * object, or empty. Answers the exit status.
 */
int act_run(struct client *c, const struct act *act, char **argv, struct str body);

/* The body that gives a reason, in the client's memory; empty when there is none. */
struct str act_reason(struct client *c, const char *reason);

#endif
