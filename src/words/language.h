/* language.h - the languages that Pawl speaks to people. */
#ifndef PAWL_WORDS_LANGUAGE_H
#define PAWL_WORDS_LANGUAGE_H

#include "base/attr.h"
#include "base/str.h"

enum language { LANGUAGE_EN, LANGUAGE_RU, LANGUAGE_COUNT };

/* "en" or "ru". False: there is no such language. */
bool language_find(struct str name, enum language *out) MUST_USE;

const char *language_name(enum language language);

/* What a header Accept-Language prefers of them; English when it names none. */
enum language language_accepted(struct str accept_language);

#endif
