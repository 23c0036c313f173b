/*
 * search.h - which processes a text that somebody types may mean.
 *
 * Executions are found by their code through an index; names are those of definitions, of which
 * there are few. So a text is held against the words of all codes and names, in any case, and the
 * codes that fit are looked up.
 *
 * why: decision 0492
 */
#ifndef PAWL_API_SEARCH_H
#define PAWL_API_SEARCH_H

#include "store/read_executions.h"

/* Whether some word of the text begins with `q`, whatever the case; both are valid UTF-8. */
bool search_has_word(struct arena *mem, struct str text, struct str q);

/*
 * On a reader thread: fill filter->q_codes with the processes that filter->q may mean.
 * ERR_BAD_REQUEST: so many that the text says nothing.
 */
bool search_processes(struct reader *reader, struct arena *mem, struct execution_filter *filter,
                      struct err *err) MUST_USE;

#endif
