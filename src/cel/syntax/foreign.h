/* foreign.h - words of other languages, and what to write here instead: for messages. */
#ifndef PAWL_CEL_FOREIGN_H
#define PAWL_CEL_FOREIGN_H

#include "base/str.h"

#include <stdint.h>

enum foreign_place { FOREIGN_SYMBOL, FOREIGN_WORD, FOREIGN_NAME, FOREIGN_FUNCTION, FOREIGN_FIELD };

/* What to write instead of `word` there; NULL when nothing is known. */
const char *foreign_advice(enum foreign_place place, struct str word);

/*
 * What to write instead of the SYMBOL or WORD in a source that cannot be
 * parsed at `offset`: the last one that begins there or before, else the first
 * one close behind, outside texts; *at is where. NULL when there is none, or
 * when the source is long.
 */
const char *foreign_syntax(struct str source, size_t offset, uint32_t *at);

#endif
