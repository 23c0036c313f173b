/* outbox.h - what calls about messages share. */
#ifndef PAWL_API_EXECUTIONS_OUTBOX_H
#define PAWL_API_EXECUTIONS_OUTBOX_H

#include "api/lookup.h"

struct stored_message;

/* The id in params[0]; refused as not found when it is none. */
bool outbox_id(struct call *c, struct uuid *out) MUST_USE;

/*
 * On a reader thread: the message, for who wants to act on it. ERR_NOT_FOUND: the
 * caller may not see it; ERR_FORBIDDEN: the caller may only see it.
 */
bool outbox_read_to_act(struct lookup *q, struct reader *reader, struct uuid id,
                        struct stored_message *out, struct err *err) MUST_USE;

/* Make a request of it that tries the message now, or gives it up with a note. */
void outbox_fill_retry(struct call *c, struct node_request *r, struct uuid id);
void outbox_fill_resolve(struct call *c, struct node_request *r, struct uuid id, struct str note);

/* The change of a retry alone, without its line of the audit log; `by_letter`: id is that of its dead letter. */
void outbox_fill_retry_change(struct call *c, struct node_request *r, struct uuid id,
                              bool by_letter);

#endif
