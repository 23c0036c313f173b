/* describe.h - executions in words, for people. */
#ifndef PAWL_CLI_DESCRIBE_H
#define PAWL_CLI_DESCRIBE_H

#include "base/buf.h"
#include "cli/term.h"
#include "value/value.h"

/* The style of a word for a status, of an execution or of a step. */
enum term_style describe_style(struct str status);

/* What `execution` waits for, as in "for the signal "approved" or "refused"". */
void describe_wait(struct buf *out, struct value waiting_for);

/* What else it waits for in other branches: a list of the same. */
struct value describe_others(struct arena *mem, struct value waiting_for);

/* One sentence: where an execution stands and why, and what can be done. */
struct str describe_state(struct arena *mem, struct value execution);

/* How a person names an execution: key:K where that is its own, else the end of its id. */
void describe_name(struct buf *out, struct value execution);

#endif
