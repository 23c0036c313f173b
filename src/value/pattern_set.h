/*
 * pattern_set.h - find any of many texts within a text, in one pass.
 *
 * An automaton of Aho and Corasick: making it takes steps in proportion to the
 * bytes of the patterns, searching in proportion to those of the text, however
 * many patterns there are and whatever they have in common.
 */
#ifndef PAWL_VALUE_PATTERN_SET_H
#define PAWL_VALUE_PATTERN_SET_H

#include "base/str.h"

struct pattern_set;

/* A set of patterns, none of them empty, in `mem`. They are not needed afterwards. */
struct pattern_set *pattern_set_new(struct arena *mem, const struct str *patterns, size_t count);

/*
 * The text with `by` in place of every stretch that patterns cover, those that
 * overlap being one; the same text when there is none.
 */
struct str pattern_set_replace(struct arena *mem, struct pattern_set *set, struct str text,
                               struct str by);

/* How many steps from state to state were looked up so far: what making and searching cost. */
uint64_t pattern_set_steps(const struct pattern_set *set);

#endif
