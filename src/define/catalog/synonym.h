/* synonym.h - the word of ours for one that people bring from elsewhere: synonyms.def for C code. */
#ifndef PAWL_DEFINE_CATALOG_SYNONYM_H
#define PAWL_DEFINE_CATALOG_SYNONYM_H

#include "base/str.h"

enum synonym_kind { SYNONYM_FIELD, SYNONYM_WORD, SYNONYM_COMMAND };

/* Our words for `theirs`, one by one: *at is 0 before the first; NULL: there is no other. */
const char *synonym_next(enum synonym_kind kind, struct str theirs, size_t *at);

#endif
