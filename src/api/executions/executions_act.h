/*
 * executions_act.h - what operators do with executions, one or many: the rows of
 * engine/actions.def.
 *
 * An action is an event of the engine, but for two: `again` starts a new
 * execution with what another was started with, and `delete` changes the store.
 */
#ifndef PAWL_API_EXECUTIONS_EXECUTIONS_ACT_H
#define PAWL_API_EXECUTIONS_EXECUTIONS_ACT_H

#include "api/call.h"
#include "engine/actions.h"

/* The fields of a request; absent when it does not have them. */
struct act_fields {
    struct value at[ACTION_FIELD_COUNT];
    struct value by; /* who asks: {id, name} */
};

/* Append the rows of a body for a set of fields, and answer how many. */
size_t act_body_fields(struct act_fields *f, unsigned takes, unsigned needs,
                       struct body_field *out);

/* Whether the fields are within bounds; else the call is refused. */
bool act_check(struct call *c, enum action action, const struct act_fields *f) MUST_USE;

/*
 * The execution that the path names, and the fields of the action from the
 * body; false after a refusal.
 */
bool act_read(struct call *c, enum action action, struct uuid *execution,
              struct act_fields *out) MUST_USE;

/*
 * Make the request the event of an action, and say for the audit log what it
 * does. r->mem is set, and `f` lives as long as it.
 */
void act_fill(const struct call *c, struct node_request *r, enum action action,
              const struct act_fields *f, struct uuid execution);

/* What an execution was started with, for a new start. */
struct again {
    struct str code, key;        /* the key is empty while another has it */
    struct value input, webhook; /* the latter a map, or absent */
    struct str record;           /* or empty */
};

/*
 * On a reader thread: what an execution was started with, in `mem`.
 * ERR_NOT_FOUND, ERR_FORBIDDEN: not for the caller; ERR_CONFLICT: it has not ended.
 */
bool again_read(const struct call *c, struct arena *mem, struct reader *reader, struct uuid id,
                struct again *out, struct err *err) MUST_USE;

/* Make the request a start like that of `of`, and say for the audit log what it does. */
void again_fill(const struct call *c, struct node_request *r, const struct again *a,
                const struct act_fields *f, struct uuid of);

#endif
