/*
 * feed.h - a feed of hints: which executions, or which tasks, have moved.
 *
 * Hints are collected and handed out ten times a second, so that what a commit
 * costs does not grow with the number of listeners. A listener that would get
 * more than its share of them gets `reset` instead, at most once a second, and
 * asks the API for what it shows. So does one that comes back.
 *
 * why: decision 0041
 */
#ifndef PAWL_API_STREAM_FEED_H
#define PAWL_API_STREAM_FEED_H

#include "api/stream/sse.h"

struct feed;

struct feed *feed_new(const struct clock *clock);
void feed_free(struct feed *f);

/* Which hints a listener wants beside those of the own organisation. */
struct feed_filter {
    struct str code; /* empty: any */
    bool has_status;
    int status;
};

/* Answer the call with a stream; `gone` is called with `context` when it is over. */
void feed_listen(struct feed *f, struct call *c, const struct feed_filter *filter,
                 void (*gone)(void *context), void *context);

/* How many streams a user has. */
size_t feed_count_of(const struct feed *f, struct str user_id);

/* Something has moved: what listeners get of it, and by what they choose. */
struct feed_news {
    const char *type; /* of the event, and the first member of its data */
    struct str org_id, code;
    int status;
    struct value access; /* of a definition, or absent: all of the organisation may see it */
    struct str members;  /* of the data, as JSON without braces */
};

/* Whether anybody listens. */
bool feed_is_heard(const struct feed *f);
void feed_hear(struct feed *f, const struct feed_news *news);

/* Hand out what is due; lowers *timeout_ms to when there is something to do. */
void feed_run(struct feed *f, int64_t now_us, int *timeout_ms);

/* Users have changed: see events_recheck(). */
void feed_recheck(struct feed *f);

void feed_end(struct feed *f); /* end all streams */

#endif
