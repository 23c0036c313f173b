/*
 * ask.h - a step asks somebody outside and waits. Internal to src/engine.
 *
 *     command --> suspended --> attempt in the commit --durable--> leaves --> answer, an event
 *
 * What is asked for is evaluated once a visit and is the same for all attempts,
 * as is its idempotency key. An attempt is a row of history; its answer names
 * that row (event.answer_seq), so that the late answer of an earlier attempt is
 * not that of a later one. How the kinds of ask.def differ is in their
 * functions; the rest of the engine knows asks and no kinds.
 *
 * why: decisions 0200, 0270
 */
#ifndef PAWL_ENGINE_ASK_H
#define PAWL_ENGINE_ASK_H

#include "engine/turn.h"

struct ask_functions {
    enum waiting_kind waiting;

    /* Before rolling back, the answer of an attempt that has left is waited for. */
    bool is_waited_for;

    /* Whether something beside its timer lets the strand go on. NULL: nothing does. */
    bool (*has_news)(const struct turn *t, const struct cursor *cursor);

    /*
     * The strand in hand is woken. STEP_WAITS: an attempt leaves, or it waits on;
     * STEP_FAILED: there will be no answer; STEP_DONE: it never left, and is asked for
     * once more; STEP_SKIPPED: nothing has changed;
     * STEP_NEEDS: the commit says what must be read first.
     */
    enum step_result (*wake)(struct turn *t);

    /* What an answer means to the strand in hand: STEP_DONE or STEP_FAILED. NULL: it is the result. */
    enum step_result (*judge)(struct turn *t, struct value answer);

    /* An answer that cannot be kept, without its details. NULL: it has none. */
    struct value (*reduce)(struct turn *t, struct value answer);
};

extern const struct ask_functions ask_call, ask_job;

/* Of the kind that a strand asks by; it asks. */
const struct ask_functions *ask_of(const struct cursor *cursor);

const char *ask_name(enum ask_kind kind);
bool ask_read(struct str name, enum ask_kind *out) MUST_USE;

/* Whether something beside its timer lets the strand go on. */
bool ask_has_news(const struct turn *t, const struct cursor *cursor);

/* Whether rolling back waits for the answer that the strand waits for. */
bool ask_is_waited_for(const struct cursor *cursor);

/* Whether the store keeps what the strand has asked for until there is an answer. */
bool ask_is_open(const struct cursor *cursor);

/* Whether a worker holds the attempt of the strand; leases have been read. */
bool ask_is_leased(const struct event *ev, const struct cursor *cursor);

/*
 * The commands of the step stop at `place` until there is an answer. False: the
 * step has failed.
 */
bool ask_begin(struct turn *t, enum ask_kind kind, struct str place);

/*
 * An attempt of the strand in hand, whose timer is set, is part of this commit
 * and leaves with it. `a` says what is asked for; kind, key and row are filled in.
 */
struct ask *ask_leave(struct turn *t, struct ask a, struct str why);

/*
 * What was asked for in this turn leaves only if somebody waits for it still,
 * and the commit says which stored asks nobody waits for any more; `before` is
 * what it rests on.
 */
void ask_compare(struct turn *t, const struct execution *before);

/* --- call.c: integration.http --- */

enum step_result call_run(struct turn *t, const struct command *c, struct value *out);

/* --- job.c: procedures that workers do --- */

enum step_result job_run(struct turn *t, const struct procedure *p, struct str place,
                         struct value input, struct value *out);

#endif
