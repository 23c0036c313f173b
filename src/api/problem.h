/* problem.h - refusals as RFC 9457 describes them. */
#ifndef PAWL_API_PROBLEM_H
#define PAWL_API_PROBLEM_H

#include "define/findings.h"
#include "words/language.h"

/* Findings with messages and hints in this language, as the API shows them: findings_copy(). */
struct value problem_findings(struct arena *mem, enum language language,
                              const struct findings *findings);

/*
 * {type, title, status, code, detail, errors, requestId}, with line and column
 * when the error has a place, and the members of `more` at the end. What it
 * says is in this language.
 */
struct str problem_json(struct arena *mem, enum language language, const struct err *err,
                        const struct findings *findings, struct str more, struct str request_id);

#endif
