/*
 * patterns.h - the constant patterns of expressions that are compiled together.
 *
 * Equal patterns are compiled once. All of them share one budget of compile
 * cost (see regex.h) and one limit of how many differ, so that one definition
 * can neither hold the compiler for long nor fill the memory with automata.
 * A pattern that is refused is remembered and costs nothing the second time.
 *
 * The pool owns the compiled patterns: it must outlive every program that was
 * compiled with it. Not for several threads at once while it grows.
 */
#ifndef PAWL_CEL_PATTERNS_H
#define PAWL_CEL_PATTERNS_H

#include "base/map.h"
#include "cel/lib/regex.h"

struct cel_patterns {
    struct map compiled; /* of struct pooled_pattern, by the text of the pattern */
    int64_t cost_left;
    uint32_t count_max;
};

/* Lives in `mem`, where the texts of its patterns are copied to. */
void patterns_init(struct cel_patterns *p, struct arena *mem, int64_t cost, uint32_t count_max);

/*
 * The compiled pattern, which stays the pool's. NULL as regex_new() says, or
 * ERR_LIMIT_EXPRESSION_SIZE when the pool's budget is used up.
 */
const struct regex *patterns_get(struct cel_patterns *p, struct str pattern,
                                 struct err *err) MUST_USE;

#endif
