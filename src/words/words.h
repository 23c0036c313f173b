/*
 * words.h - what the server says to people, in their language.
 *
 * Every message of the server is made in English: a finding of the compiler,
 * an error of an expression, the detail of a refusal. So it is logged, kept in
 * histories and compared by tests. Whoever shows one to a person says it anew
 * in that person's language, by the tables russian_*.def:
 *
 *     "amount must be a text, not a list"
 *       matches "%s must be %s, not %s"  and becomes  "%s: ожидается %s, получено: %s"
 *     "amount: ожидается текст, получено: список"
 *
 * A message that no row matches stays English. Nothing is decided by the
 * outcome: codes, not messages, are for programs.
 */
#ifndef PAWL_WORDS_WORDS_H
#define PAWL_WORDS_WORDS_H

#include "base/arena.h"
#include "base/str.h"
#include "words/language.h"

/* The English message in this language; lives in `mem` if it is not `english` itself. */
struct str words_say(struct arena *mem, enum language language, struct str english);

/* --- the rows, for tests --- */

struct phrase {
    const char *english; /* %s stands for any text, %d for a whole number, %% for '%' */
    const char *russian; /* the same in the same order, or by number: %2$s */
};

size_t words_count(void);
const struct phrase *words_at(size_t i);

#endif
