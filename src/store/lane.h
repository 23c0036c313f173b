/*
 * lane.h - what is read on a thread of the store, and the lane that it takes. See store.h.
 */
#ifndef PAWL_STORE_LANE_H
#define PAWL_STORE_LANE_H

struct reader; /* a connection for reading; see read.h */

/* What a mailbox item is; the first field of batches and reads. */
enum store_item { STORE_BATCH, STORE_READ };

/*
 * Who reads. Each lane has threads, connections and a queue of its own, so that
 * no lane holds up another: clients never the engine, and what may take seconds
 * never what takes milliseconds.
 */
enum read_lane {
    LANE_ENGINE,        /* executions, timers, records by id */
    LANE_SEARCH,        /* record.query of executions */
    LANE_CLIENT,        /* lists and the like */
    LANE_CLIENT_SEARCH, /* what walks many rows, or computes for long, for a client */
    LANE_COUNT
};

/*
 * Something to be read on a reader thread. `run` fills what the owner embeds
 * this in; it may not touch anything of the loop.
 */
struct store_read {
    enum store_item item; /* STORE_READ */
    enum read_lane lane;
    void (*run)(struct store_read *read, struct reader *reader);
    void *owner;
};

#endif
