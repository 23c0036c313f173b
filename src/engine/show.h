/*
 * show.h - an execution as clients see it.
 *
 * The same JSON for answers that leave with a commit and for reads of the
 * store: {id, kind, code, version, status, key, input, context, currentStep,
 * waitingFor, error, result, rowVersion, debug, parentId, user, actions,
 * createdAt, startedAt, completedAt, updatedAt, deadlineAt}.
 *
 * why: decisions 0131, 0101
 */
#ifndef PAWL_ENGINE_SHOW_H
#define PAWL_ENGINE_SHOW_H

#include "base/buf.h"
#include "base/uuid.h"
#include "engine/actions.h"
#include "value/mask.h"

struct execution;
struct history_row;
struct stored_execution;

/*
 * Whether it may be done with an execution as it was stored: what is not, is
 * refused as ERR_CONFLICT. Its context need not be at hand.
 */
bool show_allows(const struct stored_execution *x, enum action action);

/* Append the execution as JSON, from its state in memory. */
void show_execution(struct buf *out, const struct execution *exec);

/*
 * The same from what was stored, the program not being at hand.
 * `with_context` is false in lists, which leave input and context out.
 */
bool show_stored(struct arena *mem, struct buf *out, const struct stored_execution *stored,
                 bool with_context, struct err *err) MUST_USE;

/*
 * What is sensitive in an execution: members of its input, fields of forms.
 * An answer that has left the state, as the oldest of more than a hundred
 * signals do, is not known here any more; it is to who reads the history.
 */
void show_mask(struct arena *mem, const struct execution *x, struct mask *out);

/* One row of GET /executions/{id}/steps. */
void show_history_row(struct buf *out, struct uuid execution, const struct history_row *row);

/* Whether a row is of a call or a job that has left: an event with what was sent and its key. */
bool show_is_sent(const struct history_row *row);

/*
 * What it has sent, as JSON in `mem`: of a call {method, url, headers, body?, credential?},
 * of a job its input.
 */
struct str show_sent(struct arena *mem, const struct history_row *row);

#endif
