/* work_request.h - requests as works: their beginning and their end. Internal to src/node. */
#ifndef PAWL_NODE_WORK_REQUEST_H
#define PAWL_NODE_WORK_REQUEST_H

#include "node/work.h"

/*
 * Record what has happened already: a message was delivered, a job goes back. It
 * is refused for no reason, also not because the node stops; `done` is called.
 * Whoever asks has one of these in flight at a time, or few.
 */
void node_record(struct node *n, struct node_request *r);

void request_begin_start(struct node *n, struct work *w); /* find out which version is meant */
void request_start(struct node *n, struct work *w);
void request_refuse(struct node *n, struct node_request *r, enum err_code code, const char *format,
                    ...) PRINTF_LIKE(4, 5);
void request_done(struct node *n, struct node_request *r);

/* Fill the answer with the execution as it is, which is durable. */
void request_show(struct node_request *r, const struct execution *x);

/* The same, and answer. */
void request_answer(struct node *n, struct node_request *r, const struct execution *x);

/* {id, name, email, role} of who asks, in its memory. */
struct str request_user_json(const struct node_request *r);

#endif
