/* view.h - executions and rows as they are shown. Internal to src/node. */
#ifndef PAWL_NODE_VIEW_H
#define PAWL_NODE_VIEW_H

#include "base/buf.h"
#include "engine/commit/history.h"

struct execution;

/* Append it as the API shows it, or a row of its history. */
void view_execution(struct arena *mem, struct buf *out, const struct execution *x);
void view_row(struct arena *mem, struct buf *out, const struct execution *x,
              const struct history_row *row);

#endif
