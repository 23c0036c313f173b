/* timeline.h - what happened to an execution, one line for each thing, in order. */
#ifndef PAWL_CLI_OPERATE_TIMELINE_H
#define PAWL_CLI_OPERATE_TIMELINE_H

#include "cli/client.h"

struct timeline {
    struct arena *mem;
    int64_t start_us;     /* offsets count from here */
    size_t step_width;    /* columns for the names of steps */
    struct value signals; /* those received, oldest first, or no list */
    uint32_t printed;     /* how many of them have been printed */
};

/* Read the whole history of an execution, as a list in the client's memory. False after a message. */
bool timeline_read(struct client *c, struct str id, struct value *steps) MUST_USE;

/* Begin a timeline of `execution`; `steps`, a list, is what is known of its history. */
void timeline_init(struct timeline *t, struct arena *mem, struct value execution,
                   struct value steps);

/* Print one row of the history, after the signals that came before it. */
void timeline_print_step(struct timeline *t, struct value row);

/* Print the signals that are left, and what goes on now. */
void timeline_print_now(struct timeline *t, struct value execution);

#endif
