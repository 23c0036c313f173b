/*
 * link.h - links that answer a wait which is `public`: $.execution.callbackUrl.
 *
 *     link = BASE "pawlcb_" base64url(execution, seq, MAC of these and a scope)
 *
 * A link is made wherever an expression asks for it: by a step before the wait,
 * by the wait's reminders. Nothing of it is stored. It says the execution and
 * the row after which it was made (`seq`); who has no key cannot make one. The
 * scope is the branch or iteration that made it: within one that runs beside
 * others a link is for waits of that one alone, outside of any it is for all.
 *
 * A link is spent when a wait that it could have answered is over: of a later
 * one only links are taken that were made since. `links_from` of the execution,
 * and of the frame of a branch or iteration, is the row where these begin.
 *
 * Pure: the key is behind `sign`, which the node gives with the event.
 *
 * why: decision 0281
 */
#ifndef PAWL_ENGINE_LINK_H
#define PAWL_ENGINE_LINK_H

#include "base/uuid.h"
#include "value/mask.h"

struct execution;
struct frame;
struct program;

enum { LINK_MAC_LEN = 32, LINK_TOKEN_LEN = 7 + 75 }; /* "pawlcb_" and the rest */

#define LINK_MARK MASK_LINK_MARK

struct link_maker {
    struct str base; /* "https://pawl.example/callbacks/" */
    void (*sign)(void *key, struct str text, uint8_t out[LINK_MAC_LEN]);
    void *key;
};

struct link {
    struct uuid execution;
    int64_t seq;
    uint8_t mac[LINK_MAC_LEN];
};

/* The URL of a link made now, by the strand in hand, in `mem`. */
struct str link_url(struct arena *mem, const struct link_maker *maker, const struct execution *x);

/* What a token says. False when it is none; whether it is genuine is not known by that. */
bool link_read(struct str token, struct link *out) MUST_USE;

/* Whether it was made with this key, for the scope. Takes the same time for any MAC. */
bool link_is_genuine(const struct link_maker *maker, const struct link *link, struct str scope);

/* The scopes that a strand with these frames is in, all of it: a list of texts in `mem`. */
struct value link_scopes(struct arena *mem, const struct program *p, const struct frame *frames,
                         uint32_t count);

/* The row from which on links for waits of a strand with these frames are taken. */
int64_t link_floor(const struct execution *x, const struct frame *frames, uint32_t count);

/* The public wait of the strand in hand is over, with the row that comes next. New frames in `mem`. */
void link_spend(struct arena *mem, struct execution *x);

/* The frame of a step whose branches or iterations run at once is over. */
void link_leave(struct arena *mem, struct execution *x, const struct frame *popped);

#endif
