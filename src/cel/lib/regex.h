/*
 * regex.h - regular expressions of the RE2 syntax, matched in linear time.
 *
 * A thin face in C over RE2, which CEL's matches() is defined by. No exception
 * leaves it and nothing is logged.
 */
#ifndef PAWL_CEL_LIB_REGEX_H
#define PAWL_CEL_LIB_REGEX_H

#include "base/err.h"

enum {
    REGEX_PATTERN_MAX = 1000,   /* bytes */
    REGEX_MEMORY_MAX = 1 << 20, /* bytes that one pattern may hold, about */
};

struct regex;

/*
 * Compile `pattern`, of which nothing is kept. regex_free() the answer. NULL
 * when it is not a pattern (ERR_EXPRESSION_ERROR) or when it is longer than
 * REGEX_PATTERN_MAX or compiles to something too large
 * (ERR_LIMIT_EXPRESSION_SIZE).
 */
struct regex *regex_new(struct str pattern, struct err *err) MUST_USE;

/* Whether some part of `text` matches. Any number of threads may ask at once. */
bool regex_matches(const struct regex *re, struct str text);

/* The same for regex_capture(). */
struct regex *regex_new_capturing(struct str pattern, struct err *err) MUST_USE;

enum regex_capture {
    REGEX_CAPTURED,
    REGEX_CAPTURED_NOTHING, /* no part of the text matches, or the group has no share in it */
    REGEX_HAS_GROUPS,       /* more than one */
};

/*
 * The first part of `text` that matches: what its group has caught, or the
 * whole of it when the pattern has none. *out is a part of `text`.
 */
enum regex_capture regex_capture(const struct regex *re, struct str text, struct str *out);

/* What that costs in the worst case: groups are followed by slower means. */
uint64_t regex_capture_cost(const struct regex *re, size_t text_bytes);

/*
 * Units of cost (see eval.h) of matching a text of that length in the worst
 * case, and of having compiled the pattern. REGEX_COST_TOO_LARGE is what it
 * costs to find out that a pattern is too large.
 */
uint64_t regex_match_cost(const struct regex *re, size_t text_bytes);
uint64_t regex_compile_cost(const struct regex *re);
enum { REGEX_COST_TOO_LARGE = 700000 };

/* NULL is allowed. */
void regex_free(struct regex *re);

#endif
