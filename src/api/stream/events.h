/*
 * events.h - server-sent events: one execution as it goes on, and the feed of
 * hints about all of them.
 *
 *     commit durable --> events.c: followers of that execution --> client
 *                   \--> feed.c: listeners, ten times a second --> client
 *
 * Without a stream nothing of this runs. Everything is on the node's loop; what
 * an execution did before a client came is read by a reader thread.
 *
 * why: decision 0040
 */
#ifndef PAWL_API_STREAM_EVENTS_H
#define PAWL_API_STREAM_EVENTS_H

#include "node/node.h"

struct events;

struct events *events_new(struct node *node, const struct clock *clock);

/* A task that has changed, on this node. */
struct task_news {
    struct str id, org_id, project_id, status;
    int64_t at_us;
};
void events_hear_task(struct events *e, const struct task_news *news);

/* Before the loop sleeps: heartbeats, and hints that are due. */
void events_before_sleep(struct events *e, int *timeout_ms);

/* Users or tokens have changed: close the streams of who would not be let in now. */
void events_recheck(struct events *e);

/* End all streams and take no more: the server stops. */
void events_drain(struct events *e);

/* Reader threads have ended: what was asked of them will not be answered. */
void events_readers_ended(struct events *e);

/* When no connection is left. */
void events_free(struct events *e);

#endif
