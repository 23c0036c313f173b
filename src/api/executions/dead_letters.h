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

/* Make a request of it that closes the letter, whose outcome is known, with a note. */
void dead_letters_fill_resolve(struct call *c, struct node_request *r,
                               const struct stored_letter *letter, struct str note);

/* Append the letter as JSON, without what `mask` hides. */
void dead_letters_show(struct arena *mem, const struct mask *mask,
                       const struct stored_letter *letter, struct buf *out);

/* --- what people do with letters and messages: retry, or resolve with a note --- */

enum { NOTE_LEN_MAX = 2000 };

/* What was done about it, as a field of a body. */
#define NOTE_FIELD(note)                                                                           \
    {                                                                                              \
        "note", BODY_TEXT, false, .out = &(note)                                                   \
    }

/* Whether a note that must be there says something; else refused. */
bool dead_letters_check_note(struct call *c, struct value note) MUST_USE;

/* The action of a bulk request; resolve needs a note, and retry has none. False: refused. */
bool dead_letters_take_action(struct call *c, struct value action, struct value note,
                              bool *resolves) MUST_USE;

#endif
