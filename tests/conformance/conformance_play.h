/*
 * conformance_play.h - one row of the suite, played on the engine alone.
 *
 * The clock is moved by the row's own events. Time passes continuously: each
 * timer on the way fires when its time has come.
 */
#ifndef PAWL_TESTS_CONFORMANCE_PLAY_H
#define PAWL_TESTS_CONFORMANCE_PLAY_H

#include "conformance/conformance_match.h"

/* A moment at which the execution has come to rest. */
struct play_point {
    int64_t at_us;       /* since the start */
    int64_t event;       /* the number of the event of the row; -1: a timer on the way */
    int64_t row_version; /* 0 = there is no execution */
    int refused;         /* HTTP status, or 0 */
};

struct play {
    struct rig rig;
    struct value row;
    struct {
        VEC_OF(const struct program *);
    } versions;
    struct findings findings; /* of a definition that does not compile */
    struct {
        VEC_OF(struct play_point);
    } points;
    struct dead_letters dead_letters;
    struct log_lines logs;
    const char *problem; /* an event that did not end as the row says, or NULL */
    bool has_started;
    int64_t gathered; /* the row version up to which logs and dead letters are here */
};

/* Compile what the row defines; play_fini() releases it. The row must outlive the play. */
void play_init(struct play *p, struct value row);
void play_fini(struct play *p);

/* Apply all events of the row. */
void play_events(struct play *p);

/* What clients see in the end, with the id of the execution written as ID. */
struct value play_shown(struct play *p);
/* The rows of history that clients see, the same. */
struct value play_steps(struct play *p);
/* The idempotency keys under which workers were asked, in order. */
struct value play_asked(struct play *p);

#endif
