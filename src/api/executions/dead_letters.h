/*
 * dead_letters.h - what calls about dead letters share.
 *
 * why: decision 0122
 */
#ifndef PAWL_API_EXECUTIONS_DEAD_LETTERS_H
#define PAWL_API_EXECUTIONS_DEAD_LETTERS_H

#include "api/lookup.h"

struct mask;
struct stored_letter;

/* The id in params[0]; refused as not found when it is none. */
bool dead_letters_id(struct call *c, struct uuid *out) MUST_USE;

/*
 * On a reader thread: the letter, for who wants to act on it. ERR_NOT_FOUND: the
 * caller may not see it; ERR_FORBIDDEN: the caller may only see it.
 */
bool dead_letters_read_to_act(struct lookup *q, struct reader *reader, struct uuid id,
                              struct stored_letter *out, struct err *err) MUST_USE;

/* Make a request of it that tries again what the letter is about; see EVENT_RETRY and EVENT_ROLLBACK. */
void dead_letters_fill_retry(struct call *c, struct node_request *r,
                             const struct stored_letter *letter);

/* Append the letter as JSON, without what `mask` hides. */
void dead_letters_show(struct arena *mem, const struct mask *mask,
                       const struct stored_letter *letter, struct buf *out);

/* Of what was done about a letter. */
enum { NOTE_LEN_MAX = 2000 };

#endif
