/*
 * conformance_match.h - what a row of the suite says must be, held against what is.
 *
 * Of objects, what is given must be there and members may be left out; lists
 * are whole. "<missing>" is a member that must not be there.
 */
#ifndef PAWL_TESTS_CONFORMANCE_MATCH_H
#define PAWL_TESTS_CONFORMANCE_MATCH_H

#include "engine/rig.h"

/* A member of a map; absent when it has none, or is no map. */
struct value match_member(struct value map, const char *name);

/* A value as JSON with a zero behind it, in `mem`. */
const char *match_text(struct arena *mem, struct value v);

/* Where and how `is` is not what is expected, in `mem`; NULL when it is. */
const char *match_value(struct arena *mem, const char *path, struct value expected,
                        struct value is);

/*
 * The history as people write it, a list with an entry for each row that
 * clients see:
 *
 *     "pay"                      completed, the first visit, the first attempt
 *     "pay skipped"              or "pay failed"
 *     "pay#2@3 failed"           the second visit, its third attempt
 *     "pay rollback"             undone; "pay rollback failed"
 *     "ask reminder"             completed; "ask reminder failed"
 *     {"row": "pay", ...}        one of these, and members of the row as clients see it
 *
 * Answers as match_value() does. `rows` is the list that clients see.
 */
const char *match_history(struct arena *mem, struct value expected, struct value rows);

#endif
