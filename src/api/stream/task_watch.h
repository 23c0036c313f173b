/*
 * task_watch.h - tasks that moved without a call of this server: by another
 * node, by time, by a process.
 *
 * While anybody listens to tasks the log and the newest tasks are read once a
 * second. A hint that was sent is not sent again.
 */
#ifndef PAWL_API_STREAM_TASK_WATCH_H
#define PAWL_API_STREAM_TASK_WATCH_H

#include "api/stream/events.h"

struct task_watch;

struct task_watch *task_watch_new(struct node *node, struct events *events);

/* Whether this is news: no hint of it was sent lately. It counts as sent from now on. */
bool task_watch_is_new(struct task_watch *w, const struct task_news *news);

/* Look if it is time to; lowers *timeout_ms to when it is. `is_heard`: somebody listens. */
void task_watch_run(struct task_watch *w, bool is_heard, int64_t now_us, int *timeout_ms);

/* When no read is in flight any more. */
void task_watch_free(struct task_watch *w);

#endif
