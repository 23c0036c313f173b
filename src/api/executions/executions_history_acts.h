/* executions_history_acts.h - what operators did to an execution, as rows of its history. */
#ifndef PAWL_API_EXECUTIONS_EXECUTIONS_HISTORY_ACTS_H
#define PAWL_API_EXECUTIONS_EXECUTIONS_HISTORY_ACTS_H

#include "engine/commit/history.h"

/*
 * Whether the row says what an operator did. Then *out is the row as it is
 * shown, in `mem`: its output is {reason?, version?, input?, outcome?,
 * assignee?}, where `input` only says that it was replaced.
 */
bool executions_act_row(struct arena *mem, const struct history_row *row, struct history_row *out);

#endif
