/*
 * view.h - which executions a caller may see: those of the own organisation,
 * unless the `access` of their definition keeps them for others. What one may
 * not see is not there.
 *
 * Runs on reader threads. A version of a definition never changes, so what its
 * `access` says is remembered.
 */
#ifndef PAWL_API_VIEW_H
#define PAWL_API_VIEW_H

#include "api/call.h"

struct history_row;
struct mask;
struct view_memory;

struct view_memory *view_memory_new(void);
void view_memory_free(struct view_memory *m);

/* Whether the caller may see an execution of this organisation and version. False: *err. */
bool view_allows(const struct call *c, struct arena *mem, struct reader *reader, struct str org_id,
                 struct str code, int64_t version, bool *out, struct err *err) MUST_USE;

/* Whether the caller may act on it; only who may see it may. */
bool view_allows_acting(const struct call *c, struct arena *mem, struct reader *reader,
                        struct str org_id, struct str code, int64_t version, bool *out,
                        struct err *err) MUST_USE;

/* False with ERR_NOT_FOUND when the caller may not see it. */
bool view_check(const struct call *c, struct arena *mem, struct reader *reader, struct str org_id,
                struct str code, int64_t version, struct err *err) MUST_USE;

/*
 * The same for an execution of which only the id is known; and for acting on
 * it: ERR_FORBIDDEN when the caller may only see it.
 */
bool view_check_id(const struct call *c, struct arena *mem, struct reader *reader, struct uuid id,
                   struct err *err) MUST_USE;
bool view_check_acting(const struct call *c, struct arena *mem, struct reader *reader,
                       struct uuid id, struct err *err) MUST_USE;

/* Append a row of the history of an execution, without what `mask` hides. `mem` is for work. */
void view_history_row(struct arena *mem, struct buf *out, const struct mask *mask, struct uuid id,
                      const struct history_row *row);

#endif
