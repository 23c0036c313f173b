/* problem.h - refusals as RFC 9457 describes them. */
#ifndef PAWL_API_PROBLEM_H
#define PAWL_API_PROBLEM_H

#include "define/define.h"

/*
 * {type, title, status, code, detail, errors, requestId}, with line and column
 * when the error has a place, and the members of `more` at the end.
 */
struct str problem_json(struct arena *mem, const struct err *err, const struct findings *findings,
                        struct str more, struct str request_id);

#endif
