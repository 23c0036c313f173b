/*
 * words.h - what the server says to people, in their language.
 *
 * Every sentence of the server is made in English (base/text/sentence.h): a finding
 * of the compiler, an error of an expression, the detail of a refusal. So it is
 * logged, stored in histories and compared by tests. Whoever shows one to a
 * person says it in that person's language: the tables russian_*.def have the
 * Russian for the format it was made with, and its arguments are put into that.
 *
 *     "%.*s must be %s, not %s" with  amount, a text, a list
 *       is "%s must be %s, not %s" in the table:  "%s: ожидается %s, получено: %s"
 *     "amount: ожидается текст, получено: список"
 *
 * An argument that is a sentence is said in the language too, and so is a text
 * that has a row of its own ("a text" above), unless it is in quotes. A row may
 * also stand for certain texts, where Russian grammar wants it: "the execution is
 * failed" beside "the execution is %s". What has no row stays English, and so
 * does what was cut or has been stored as text.
 * Nothing is decided by the outcome: codes, not messages, are for programs.
 *
 * why: decision 0352
 */
#ifndef PAWL_WORDS_WORDS_H
#define PAWL_WORDS_WORDS_H

#include "base/text/sentence.h"
#include "words/language.h"

/* The sentence in this language; lives in `mem` if it is not the text of `english` itself. */
struct str words_say(struct arena *mem, enum language language, struct sentence english);

/* --- the rows, for tests --- */

struct phrase {
    const char *english; /* %d stands for a whole number, %s for anything else, %% for '%' */
    const char *russian; /* the same in the same order, or by number: %2$s */
};

size_t words_count(void);
const struct phrase *words_at(size_t i);

#endif
