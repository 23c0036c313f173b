/* dead_letters.h - what calls about dead letters share. */
#ifndef PAWL_API_DEAD_LETTERS_H
#define PAWL_API_DEAD_LETTERS_H

#include "api/lookup.h"

/* The id in params[0]; refused as not found when it is none. */
bool dead_letters_id(struct call *c, struct uuid *out) MUST_USE;

/* On a reader thread: the letter, if the caller may see it; else ERR_NOT_FOUND. */
bool dead_letters_read(struct lookup *q, struct reader *reader, struct uuid id,
                       struct stored_letter *out, struct err *err) MUST_USE;

/* The same for who wants to act on it; ERR_FORBIDDEN for who may only see it. */
bool dead_letters_read_to_act(struct lookup *q, struct reader *reader, struct uuid id,
                              struct stored_letter *out, struct err *err) MUST_USE;

/* Make a request of it that tries again what the letter is about; see NODE_RETRY and NODE_UNDO. */
void dead_letters_fill_retry(struct call *c, struct node_request *r,
                             const struct stored_letter *letter);

/* Append the letter as JSON, without what `mask` hides. */
bool dead_letters_show(struct arena *mem, const struct mask *mask,
                       const struct stored_letter *letter, struct buf *out,
                       struct err *err) MUST_USE;

#endif
